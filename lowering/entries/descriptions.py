"""
The descriptions of functions for callers from outside, as attributes that upstream MLIR reads.

    xrelay.entry = {inputs = [{name = "x", dtype = "uint8", shape = [-1, 8], dims = ["n", ""],
                               device = "cpu:0"}],
                    outputs = […], bounds = {n = [1, 64]}, allocated = [1], structure = {…}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute

from ...operators.named_dims import Bounds
from ...passes.support.diagnostics import PassError
from ...runtime.native.interface import spec_of
from ...runtime.native.structures import Nested, Structure
from ...runtime.program.program import Function, Param, TensorSpec

ENTRY = "xrelay.entry"
"""The description of a function."""
STEPS = "xrelay.steps"
"""The operators of a kernel that the runtime supplies, as JSON."""
PARAMS = "xrelay.params"
"""The element type of each param of a module."""
DEVICES = "xrelay.devices"
"""The devices of a module, the host first."""

DYNAMIC = -1
"""The size of a dim that is known when the function is called."""

Plain: TypeAlias = "int | str | Sequence[Plain] | Mapping[str, Plain]"


def attribute_of(value: Plain) -> Attribute:
    """Return `value` as an attribute."""
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    if isinstance(value, str):
        return StringAttr(value)
    if isinstance(value, Mapping):
        return DictionaryAttr({name: attribute_of(part) for name, part in value.items()})
    return ArrayAttr(map(attribute_of, value))


def value_of(attribute: Attribute) -> Plain:
    """Return the value that `attribute_of` made an attribute of."""
    if isinstance(attribute, IntegerAttr):
        return cast("IntegerAttr[IntegerType]", attribute).value.data
    if isinstance(attribute, StringAttr):
        return attribute.data
    if isinstance(attribute, DictionaryAttr):
        return {name: value_of(part) for name, part in attribute.data.items()}
    if isinstance(attribute, ArrayAttr):
        return [value_of(part) for part in cast("ArrayAttr[Attribute]", attribute).data]
    raise ValueError(f"{attribute} is not part of a description")


def texts_of(attribute: Attribute | None) -> list[str]:
    """Return the strings of a list; a missing attribute is an empty list."""
    found = cast("ArrayAttr[Attribute]", attribute) if isinstance(attribute, ArrayAttr) else ()
    return [text.data for text in found if isinstance(text, StringAttr)]


def table_of(attribute: Attribute | None) -> dict[str, str]:
    """Return the strings of a dictionary by name; a missing attribute is an empty dictionary."""
    empty = DictionaryAttr({})
    found = attribute if isinstance(attribute, DictionaryAttr) else empty
    return {name: text.data for name, text in found.data.items() if isinstance(text, StringAttr)}


@dataclass(frozen=True)
class Described:
    """A function's types, the outputs that it allocates, and the tuples that its callers see."""

    function: Function
    allocated: Sequence[int]
    structure: Structure | None


def description(
    function: Function,
    devices: Sequence[str],
    allocated: Sequence[int],
    structure: Attribute | None,
) -> Attribute:
    """Return the description of `function`, of tensors only, which allocates some outputs."""
    bounds = {
        name: [low] if high is None else [low, high]
        for name, (low, high) in function.dim_bounds.items()
    }
    found: dict[str, Plain] = {
        "inputs": [_of_param(param, devices) for param in function.params],
        "outputs": [_of_param(param, devices) for param in function.results or ()],
        "bounds": bounds,
    }
    if allocated:
        found["allocated"] = allocated
    if structure is not None:
        found["structure"] = value_of(structure)
    return attribute_of(found)


def _of_param(param: Param, devices: Sequence[str]) -> Plain:
    spec = spec_of(param)
    return {
        "name": param.name,
        "dtype": spec.dtype,
        "shape": [DYNAMIC if size is None else size for size in spec.shape],
        "dims": param.dims or [""] * len(spec.shape),
        "device": devices[param.device],
    }


def described(op: func.FuncOp, devices: Sequence[str]) -> Described:
    """Read the description of a function; raise `PassError` at `op` if it is malformed."""
    try:
        found = value_of(op.attributes[ENTRY])
        assert isinstance(found, Mapping)
        bounds = found["bounds"]
        assert isinstance(bounds, Mapping)
        function = Function(
            op.sym_name.data,
            _params(found["inputs"], devices),
            0,
            (),
            dim_bounds={name: _bounds(limits) for name, limits in bounds.items()},
            results=_params(found["outputs"], devices),
        )
        structure = _structure(found["structure"]) if "structure" in found else None
        if structure is not None:
            structure.require_fit(function)
        return Described(function, _integers(found.get("allocated", ())), structure)
    except (ValueError, KeyError, TypeError, AssertionError) as error:
        m = f"the attribute {ENTRY} must be a description; run describe-entries to make one"
        raise PassError(m, op) from error


def _params(listed: Plain, devices: Sequence[str]) -> tuple[Param, ...]:
    assert not isinstance(listed, int | str | Mapping)
    return tuple(_param(each, devices) for each in listed)


def _param(found: Plain, devices: Sequence[str]) -> Param:
    assert isinstance(found, Mapping)
    name, dtype, device = found["name"], found["dtype"], found["device"]
    assert isinstance(name, str)
    assert isinstance(dtype, str)
    sizes = [None if size == DYNAMIC else size for size in _integers(found["shape"])]
    dims = tuple(map(str, cast("Sequence[str]", found["dims"])))
    named = dims if any(dims) else ()
    return Param(name, TensorSpec(dtype, tuple(sizes)), devices.index(str(device)), named)


def _structure(found: Plain) -> Structure:
    assert isinstance(found, Mapping)
    return Structure(_nested(found["inputs"]), _nested(found["outputs"]))


def _nested(listed: Plain) -> tuple[Nested, ...]:
    assert not isinstance(listed, int | str | Mapping)
    found: list[Nested] = []
    for each in listed:
        assert isinstance(each, Mapping)
        sizes = _integers(each["fields"])
        found.append(Nested(str(each["name"]), tuple(None if n < 0 else n for n in sizes)))
    return tuple(found)


def _bounds(limits: Plain) -> Bounds:
    low, *high = _integers(limits)
    return Bounds(low, high[0] if high else None)


def _integers(values: Plain) -> list[int]:
    assert not isinstance(values, int | str | Mapping)
    found: list[int] = []
    for value in values:
        assert isinstance(value, int)
        found.append(value)
    return found
