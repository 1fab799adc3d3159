"""The files of `xrelay-run`: inputs and outputs (`.npz`), parameters (`.safetensors`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from .diagnostics import UsageError

Array: TypeAlias = npt.NDArray[Any]
Arrays: TypeAlias = dict[str, Array]


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def read_inputs(path: str) -> Arrays:
    """The arrays of the `.npz` file at `path`; `UsageError` when it is none."""
    try:
        loaded: Any = np.load(path, allow_pickle=False)
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            raise UsageError(f"{path} is not an .npz file: it holds one array without a name")
        with cast(Any, loaded) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, EOFError, BadZipFile) as error:  # NumPy takes anything else for a pickle
        message = f"cannot read inputs from '{path}': it is no .npz file of arrays, or is damaged"
        raise UsageError(message) from error
    except OSError as error:
        raise UsageError(f"cannot read inputs from '{path}': {_reason(error)}") from error


def write_outputs(path: str, arrays: Mapping[str, Any]) -> None:
    """Write `arrays` to the `.npz` file at `path`; `UsageError` when that cannot be done."""
    for name, value in arrays.items():
        if not isinstance(value, np.ndarray):
            raise UsageError(f"'{name}' is no tensor, and {path} can hold tensors only")
    try:
        with open(path, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
    except OSError as error:
        raise UsageError(f"cannot write outputs to '{path}': {_reason(error)}") from error


def read_parameters(path: Path, wanted: Sequence[str]) -> Arrays:
    """
    Those of the tensors `wanted` that the `.safetensors` file at `path` has.

    Raises `UsageError` when it cannot be read.
    """
    from safetensors import (
        SafetensorError,
        safe_open,  # pyright: ignore[reportUnknownVariableType]
    )

    try:
        opened: Any = safe_open(path, framework="numpy")
        with opened as file:
            names = set(file.keys())
            return {name: file.get_tensor(name) for name in wanted if name in names}
    except (OSError, SafetensorError, TypeError, ValueError) as error:
        raise UsageError(f"cannot read parameters from '{path}': {_reason(error)}") from error
