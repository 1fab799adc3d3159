"""
Files of arrays, as after `--inputs` and `--expect`.

    in.npz                  arrays by name
    x=x.npy, x=x.pb         one array, with the name before "="
    x.pb                    one array, with its own name, as in ONNX's test data
    test_data_set_0         the tensors input_0.pb, input_1.pb, … (or output_0.pb, …), in order

What comes later on the command line replaces what has the same name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ...operators.element_types import ONNX_DTYPES
from ...runtime.files import is_stream
from ...runtime.program.program import Array, TensorSpec, spec_of
from ..errors import FileError, UsageError
from .npz import MAGIC, open_npz, opened, plain, read_npy, stream_data

SINGLE = (".npy", ".pb")
"""The extensions of files of one array."""


@dataclass(frozen=True)
class FileArray:
    """An array in a file: its type is known, its elements are read when needed."""

    path: str
    what: str
    """Its name in messages."""
    spec: TensorSpec
    read: Callable[[], Array]


@dataclass(frozen=True)
class ArrayFiles:
    """Arrays by name, and those known by their position only."""

    named: dict[str, FileArray]
    ordered: Sequence[FileArray] = ()

    def with_names(self, names: Sequence[str], kind: str) -> dict[str, FileArray]:
        """
        Return the arrays by name, where the ones without a name have those of `names` in order.

        `kind` is what the names are of. Raises `FileError` if there are too many.
        """
        if len(self.ordered) > len(names):
            raise FileError(
                self.ordered[len(names)].path,
                f"there are {len(self.ordered)} {kind}s, but the program has {len(names)}",
            )
        found = dict(zip(names, self.ordered, strict=False))
        return {**found, **self.named}

    def __bool__(self) -> bool:
        return bool(self.named or self.ordered)


def read_array(path: str) -> Array:
    """Return the array in a `.npy` or `.pb` file, or in a pipe in such a format."""
    data = stream_data(path)
    is_npy = path.endswith(".npy") if data is None else bytes(data[: len(MAGIC)]) == MAGIC
    return read_npy(path, data) if is_npy else read_tensor(path, data)[1]


def read_tensor(path: str, data: memoryview | None = None) -> tuple[str, Array]:
    """Return name and array of the ONNX tensor in the file at `path`, as `opened` opens it."""
    if find_spec("onnx") is None:
        text = "an ONNX tensor, which the package onnx reads: pip install 'xrelay[onnx]'"
        raise UsageError(f"'{path}' is {text}")
    from google.protobuf.message import DecodeError
    from onnx import TensorProto, numpy_helper

    with opened(path, data, "not an ONNX tensor, or damaged: ") as file:
        try:
            tensor = TensorProto.FromString(file.read())
        except DecodeError as error:
            raise ValueError(error) from None
        if tensor.data_location == TensorProto.EXTERNAL:
            raise ValueError("its data are in another file")
        if tensor.data_type not in ONNX_DTYPES:
            known = ", ".join(f"{number} ({name})" for number, name in ONNX_DTYPES.items())
            raise ValueError(f"its element type is number {tensor.data_type}; supported: {known}")
        if min(tensor.dims, default=0) < 0:
            raise ValueError(f"its shape {list(tensor.dims)} has a negative dim")
        return tensor.name, plain(numpy_helper.to_array(tensor))


def open_arrays(texts: Iterable[str], kind: str) -> ArrayFiles:
    """
    Read names and types of arrays; `kind` is "input" or "output", for the files in a folder.

    Raises `FileError`, and `UsageError` for text that names no file of a known format.
    """
    named: dict[str, FileArray] = {}
    ordered: list[FileArray] = []
    for text in texts:
        name, equals, path = text.partition("=")
        is_single = path.endswith(SINGLE) or is_stream(path)
        if equals and name and is_single and not os.path.exists(text):
            named[name] = _loaded(path, read_array(path))
        elif text.endswith(".npy"):
            raise UsageError(f"'{text}' has one array without a name; give NAME={text}")
        elif text.endswith(".pb"):
            name, array = read_tensor(text)
            if not name:
                raise UsageError(f"'{text}' has one tensor without a name; give NAME={text}")
            named[name] = _loaded(text, array)
        elif os.path.isdir(text):
            by_name, in_order = _in_folder(Path(text), kind)
            named |= by_name
            ordered += in_order
        else:
            named |= _in_npz(text)
    return ArrayFiles(named, ordered)


def _loaded(path: str, array: Array) -> FileArray:
    return FileArray(path, "the array", spec_of(array), lambda: array)


def _in_npz(path: str) -> dict[str, FileArray]:
    data = stream_data(path)

    def read(name: str) -> Array:
        with open_npz(path, data) as file:
            return file.read(name)

    with open_npz(path, data) as file:
        return {
            name: FileArray(path, f"member {name!r}", header.spec, lambda name=name: read(name))
            for name, header in file.headers.items()
        }


def _in_folder(folder: Path, kind: str) -> tuple[dict[str, FileArray], list[FileArray]]:
    """Return the tensors of a folder by their names or, if these are not distinct, in order."""
    found: list[tuple[str, FileArray]] = []
    while (path := folder / f"{kind}_{len(found)}.pb").exists():
        name, array = read_tensor(str(path))
        found.append((name, _loaded(str(path), array)))
    if not found:
        raise FileError(str(folder), f"the folder has no {kind}_0.pb")
    named = {name: array for name, array in found if name}
    return (named, []) if len(named) == len(found) else ({}, [array for _, array in found])
