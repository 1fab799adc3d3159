"""The files of `xrelay-run`: inputs and outputs (`.npz`), parameters (`.safetensors`)."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..runtime.derived_weights import weights_in
from ..runtime.program import Array, Param
from .errors import FileError, UsageError
from .output_files import OutputFiles

Arrays = dict[str, Array]
AnyPath = str | os.PathLike[str]


def read_inputs(path: str, function: str, params: Sequence[Param]) -> Arrays:
    """
    Read the inputs of `function` from the `.npz` file at `path`.

    Raises `FileError`, before any data is read, when an array does not fit a parameter.
    """
    from .npz import open_npz  # imports zipfile, as below

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
                message = f"member {name!r} must be {spec} for {function}, but is"
                raise FileError(path, f"{message} {header.spec}")
        return {name: file.read(name) for name in file.headers}


def write_outputs(path: str, arrays: Mapping[str, Any], files: OutputFiles) -> None:
    """Write `arrays` to the `.npz` file at `path`; `UsageError` when that fails."""
    for name, value in arrays.items():
        if not isinstance(value, np.ndarray):
            raise UsageError(f"'{name}' is not a tensor, but {path} can only hold tensors")
    from .npz import npz_pieces

    files.write(path, npz_pieces(arrays))


def read_parameters(given: AnyPath | Mapping[str, Array], wanted: Sequence[str]) -> Arrays:
    """
    Return those of the weights `wanted` that are in a `.safetensors` file, or among `given` ones.

    They are views, or computed. Raises `MachineError` for a file that cannot be read.
    """
    weights = weights_in(given)
    return {name: weights.array(name) for name in wanted if name in weights}
