"""The files of `xrelay-run`: outputs (`.npz`), parameters (`.safetensors`)."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...runtime.program.program import Array
from ...runtime.weights.derived_weights import weights_in
from ..errors import UsageError
from ..output_files import OutputFiles

Arrays = dict[str, Array]
AnyPath = str | os.PathLike[str]

Weights = Path | Mapping[str, Array] | None
"""The weights of a program: the file that it names, those that came with it, or none."""


def write_outputs(path: str, arrays: Mapping[str, Any], files: OutputFiles) -> None:
    """Write `arrays` to the `.npz` file at `path`; `UsageError` when that fails."""
    for name, value in arrays.items():
        if not isinstance(value, np.ndarray):
            raise UsageError(f"'{name}' is not a tensor, but {path} can only hold tensors")
    from ..array_files.npz import npz_pieces  # imports zipfile

    files.write(path, npz_pieces(arrays))


def read_parameters(given: AnyPath | Mapping[str, Array], wanted: Sequence[str]) -> Arrays:
    """
    Return those of the weights `wanted` that are in a `.safetensors` file, or among `given` ones.

    They are views, or computed. Raises `MachineError` for a file that cannot be read.
    """
    weights = weights_in(given)
    return {name: weights.array(name) for name in wanted if name in weights}
