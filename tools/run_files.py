"""The files of `xrelay-run`: outputs (`.npz`), parameters (`.safetensors`)."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..runtime.derived_weights import Weights
from ..runtime.errors import reason_of
from ..runtime.program import Array
from ..runtime.tensor_file import TensorFile
from .errors import UsageError

Arrays = dict[str, Array]
AnyPath = str | os.PathLike[str]


def write_outputs(path: str, arrays: Mapping[str, Any]) -> None:
    """Write `arrays` to the `.npz` file at `path`; `UsageError` when that fails."""
    for name, value in arrays.items():
        if not isinstance(value, np.ndarray):
            raise UsageError(f"'{name}' is not a tensor, but {path} can only hold tensors")
    from .npz import write_npz  # imports zipfile

    try:
        write_npz(path, arrays)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write outputs to '{path}': {reason_of(error)}") from error


def read_parameters(path: AnyPath, wanted: Sequence[str] | None = None) -> Arrays:
    """
    Return those of the tensors `wanted` (None: all) that are in the `.safetensors` file at `path`.

    They are views of the file, or computed from it. Raises `MachineError` when it cannot be read.
    """
    file = Weights(TensorFile(path))
    return {
        name: file.array(name)
        for name in (file.names if wanted is None else wanted)
        if name in file
    }
