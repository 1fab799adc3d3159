"""
Bindings of a program's inputs: by options of the commands, and arguments of the Python API.

    --shape x=1x3x224x224           shapes={"x": (1, 3, 224, 224)}
    --dim batch=1 --dim x:3=224     dims={"batch": 1, "x:3": 224}
    --constant sr=16000             inputs={"sr": 16000}

An ONNX model is converted with them. Other programs are bound by `passes_of` before their pipeline,
but for sizes in `xrelay-run`, which calls the program with inputs of such sizes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, cast

from ...runtime.calls.input_bindings import (
    MAX_DIGITS,
    SINGLE,
    InputBindings,
    Listed,
    Value,
    parse_value,
)
from ..errors import UsageError

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from ..array_files import ArrayFiles

Shapes: TypeAlias = "Mapping[str, Sequence[int | None]]"
Dims: TypeAlias = Mapping[str, int]
Inputs: TypeAlias = Mapping[str, Any]

UNBOUND = InputBindings()


def bindings_of(
    shapes: Mapping[str, Sequence[int | None]], dims: Dims, constants: Mapping[str, str]
) -> InputBindings:
    """
    Return what `--shape`, `--dim` and `--constant` say.

    Raises `FileError` for a file that is not an array, and `UsageError` for other text.
    """
    values = {name: _value("--constant", name, text) for name, text in constants.items()}
    return InputBindings(shapes, dims, values)


def values_and_files(texts: Sequence[str]) -> tuple[dict[str, Value], list[str]]:
    """
    Return the values among what follows `--inputs`, by name (`n=3`), and the files.

    Raises `UsageError` for text that is neither.
    """
    values: dict[str, Value] = {}
    files: list[str] = []
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value or os.path.exists(text) or os.path.exists(value):
            files.append(text)
        elif value.endswith(SINGLE) or text.endswith(".npz"):
            files.append(text)
        else:
            values[name] = _value("--inputs", name, value)
    return values, files


def with_shapes(bindings: InputBindings, arrays: ArrayFiles) -> InputBindings:
    """Return `bindings` with the shapes of arrays for inputs that have none in `bindings`."""
    shapes: dict[str, Sequence[int | None]] = {
        name: array.spec.dims
        for name, array in arrays.named.items()
        if isinstance(bindings.values.get(name, 0), bool | int | float)
    }
    return replace(bindings, shapes={**shapes, **bindings.shapes})


def _value(option: str, name: str, text: str) -> Value:
    if text.endswith(SINGLE):
        from ..array_files import read_array  # imports NumPy

        return read_array(text)
    try:
        return parse_value(text)
    except ValueError as error:
        raise UsageError(f"{option} {name}: {error}") from None


def checked_bindings(
    shapes: Shapes | None, dims: Dims | None, inputs: Inputs | None
) -> InputBindings:
    """Check what a caller in Python gives; `UsageError` for arguments of other types."""
    _require_mapping("shapes", shapes, "inputs to shapes")
    _require_mapping("dims", dims, "dims to sizes")
    _require_mapping("inputs", inputs, "inputs to values")
    sizes = {name: _size(f"dims: {name}", size) for name, size in (dims or {}).items()}
    known: dict[str, tuple[int | None, ...]] = {}
    for name, given in (shapes or {}).items():
        value: object = given
        if not isinstance(value, tuple | list):
            raise UsageError(f"shapes: '{name}' must have a tuple of sizes, but has {value!r}")
        what = f"shapes: each dim of '{name}'"
        known[name] = tuple(None if dim is None else _size(what, dim) for dim in given)
    return InputBindings(known, sizes, {n: _checked(n, v) for n, v in (inputs or {}).items()})


def _require_mapping(name: str, argument: object, what: str) -> None:
    if argument is not None and not isinstance(argument, Mapping):
        got = f"{type(argument).__name__} {argument!r:.80}"
        raise UsageError(f"{name} must be a mapping from {what}, but got {got}")


def _size(what: str, given: object) -> int:
    try:
        size = index(cast(SupportsIndex, given))
    except TypeError:
        size = -1
    if isinstance(given, bool) or not 0 <= size < 10**MAX_DIGITS:
        raise UsageError(f"{what} must be a size of at least 0, but is {given!r}")
    return size


def _checked(name: str, value: object) -> Value:
    """Return a value for the input `name` as a number or an array."""
    if isinstance(value, bool | int | float):
        return value
    import numpy as np

    try:
        array = np.asarray(value)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise UsageError(
            f"inputs: '{name}' must have a number or an array of numbers, but has {value!r:.80}"
        )
    return array


def passes_of(bindings: InputBindings) -> list[ModulePass]:
    """Return the passes that bind the inputs of a program at level `relay`."""
    from ...passes.bind_dims import BindDimsPass
    from ...passes.bind_inputs import BindInputsPass

    shapes = (f"{name}={'x'.join(map(_dim, s))}" for name, s in bindings.all_shapes.items())
    dims = (f"{name}={size}" for name, size in bindings.dims.items())
    values = (f"{name}={value_text(name, v)}" for name, v in bindings.values.items())
    passes: list[ModulePass] = []
    if bindings.all_shapes or bindings.dims:
        passes.append(BindDimsPass((*shapes,), (*dims,)))
    if bindings.values:
        passes.append(BindInputsPass((*values,)))
    return passes


def _dim(size: int | None) -> str:
    return "?" if size is None else str(size)


def value_text(name: str, value: Value) -> str:
    """Return a value for the input `name` as text, which `parse_value` accepts."""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    from ...passes.bind_inputs import MAX_ELEMENTS

    if isinstance(value, Listed):
        from ...runtime.calls.input_values import as_array

        value = as_array(value)
    array: Any = value
    if array.size > MAX_ELEMENTS:
        raise UsageError(
            f"the value of input '{name}' has {array.size} elements; supported: up to "
            f"{MAX_ELEMENTS} (xrelay-run --inputs gives it when the program runs)"
        )
    return json.dumps(array.tolist())
