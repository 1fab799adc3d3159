"""The files of `xrelay-run`: inputs and outputs (`.npz`), parameters (`.safetensors`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..runtime.program import Array, Param
from .diagnostics import UsageError
from .npz import FileError, open_npz, plain, write_npz

Arrays = dict[str, Array]


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def read_inputs(path: str, function: str, params: Sequence[Param]) -> Arrays:
    """
    Read the inputs of `function` from the `.npz` file at `path`.

    Raises `FileError`, before any data is read, when an array does not fit a parameter.
    """
    specs = {param.name: param.spec for param in params}
    with open_npz(path) as file:
        for name, header in file.headers.items():
            if name not in specs:
                raise FileError(
                    path,
                    f"member {name!r} is not an input of {function}; its inputs are: "
                    f"{', '.join(specs) or 'none'}",
                )
            spec = specs[name]
            if spec is not None and not spec.accepts(header.spec):
                message = f"member {name!r} must be {spec}, as {function} takes it, but is"
                raise FileError(path, f"{message} {header.spec}")
        return {name: file.read(name) for name in file.headers}


def write_outputs(path: str, arrays: Mapping[str, Any]) -> None:
    """Write `arrays` to the `.npz` file at `path`; `UsageError` when that fails."""
    for name, value in arrays.items():
        if not isinstance(value, np.ndarray):
            raise UsageError(f"'{name}' is not a tensor, but {path} can only hold tensors")
    try:
        write_npz(path, arrays)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write outputs to '{path}': {_reason(error)}") from error


def read_parameters(path: Path, wanted: Sequence[str] | None = None) -> Arrays:
    """
    Read those of the tensors `wanted` (None: all) that are in the `.safetensors` file at `path`.

    Raises `UsageError` when it cannot be read.
    """
    from safetensors import (
        SafetensorError,
        safe_open,  # pyright: ignore[reportUnknownVariableType]
    )

    try:
        opened: Any = safe_open(path, framework="numpy")
        with opened as file:
            names: list[str] = list(file.keys())
            chosen = names if wanted is None else [name for name in wanted if name in names]
            return {name: plain(file.get_tensor(name)) for name in chosen}
    except (OSError, SafetensorError, TypeError, ValueError) as error:
        raise UsageError(f"cannot read parameters from '{path}': {_reason(error)}") from error
