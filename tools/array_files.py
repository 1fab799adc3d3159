"""
Files of arrays, as after `--inputs` and `--expect`.

    in.npz                  arrays by name
    x=x.npy, x=x.pb         one array, with the name before "="
    x.pb                    one array, with its own name, as in ONNX's test data
    test_data_set_0         the tensors input_0.pb, input_1.pb, … (or output_0.pb, …), in order

What comes later on the command line replaces what has the same name.

`.npy` is a header and the bytes of one array, `.npz` a zip of `name.npy`. Files are untrusted: a
header is checked against the size of the file or of the zip member before an array is allocated,
and nothing is unpickled.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from io import SEEK_END, BytesIO
from math import prod
from pathlib import Path
from typing import IO, Any, cast
from warnings import catch_warnings, simplefilter
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib.format import read_array_header_1_0, read_array_header_2_0, write_array

from ..operators.element_types import ONNX_DTYPES
from ..runtime.calls.input_bindings import SINGLE
from ..runtime.errors import MachineError
from ..runtime.files import contents, is_stream
from ..runtime.program.dtypes import type_name
from ..runtime.program.program import Array, TensorSpec, spec_of
from .errors import FileError, UsageError

MAGIC = b"\x93NUMPY"
"""The first bytes of a file of one array."""
_LONGEST_HEADER = 10_000
_DEFLATES_TO = 1032
"""The maximum number of bytes that one byte of a deflated member expands to."""

_DAMAGE = (
    *(BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError),
    *(struct.error, zlib.error),
)
"""Exceptions that `zipfile` raises for damaged files."""


@dataclass(frozen=True)
class Header:
    """The header of a member: the type of its array, and the offset of its data."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    is_fortran: bool
    start: int

    @property
    def spec(self) -> TensorSpec:
        """The tensor type of the array, in native byte order."""
        return TensorSpec(type_name(self.dtype.newbyteorder("=")), self.shape)

    def array(self, data: bytearray) -> Array:
        """Return the array of these bytes, in C order and native byte order."""
        values = np.frombuffer(data, self.dtype)
        return plain(values.reshape(self.shape, order="F" if self.is_fortran else "C"))


class NpzFile:
    """An open file: its `headers` by array name. Everything raises `FileError`."""

    def __init__(self, path: str, archive: ZipFile):
        self.path = path
        self.archive = archive
        self._infos: dict[str, ZipInfo] = {}
        self.headers: dict[str, Header] = {}
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            with self._errors_at(info):
                if name in self._infos:
                    raise ValueError("the file has another of this name")
                self._infos[name] = info
                self.headers[name] = _header(archive, info)

    def read(self, name: str) -> Array:
        """Return the array of that name, in C order and native byte order."""
        info, header = self._infos[name], self.headers[name]
        with self._errors_at(info), self.archive.open(info) as stream:
            stream.read(header.start)
            data = bytearray(info.file_size - header.start)
            at = 0
            while chunk := stream.read(1 << 20):  # the last read verifies the checksum
                data[at : at + len(chunk)] = chunk
                at += len(chunk)
            if at != len(data):
                raise ValueError(f"{len(data)} bytes of data are needed, but it has {at}")
            return header.array(data)

    @contextmanager
    def _errors_at(self, info: ZipInfo) -> Generator[None]:
        """Turn an exception while reading `info` into an error that names it."""
        try:
            yield
        except MemoryError:
            reason = f"not enough memory for its {info.file_size} bytes"
        except _DAMAGE as error:
            reason = str(error) or "it ends too early"
        else:
            return
        raise FileError(self.path, f"member {info.filename!r}: {reason}")


@contextmanager
def opened(path: str, data: memoryview | None = None, what: str = "") -> Generator[IO[bytes]]:
    """
    Open the file at `path`, whose bytes are `data` if it was read already.

    What is raised in the `with` block for a file that is damaged, or not `what`, becomes a
    `FileError`. Pipes and devices, which can be read once, are read up to the limit.
    """
    try:
        data = stream_data(path) if data is None else data
        with open(path, "rb") if data is None else BytesIO(data) as file:
            try:
                yield file
            except (*_DAMAGE, TypeError, OverflowError) as error:
                raise FileError(path, f"{what}{str(error) or type(error).__name__}") from None
    except MemoryError:
        raise FileError(path, "not enough memory for its array") from None
    except (OSError, ValueError) as error:  # a name that none can have
        reason = error.strerror if isinstance(error, OSError) else None
        raise FileError(path, f"cannot be read: {reason or error}") from error


def stream_data(path: str) -> memoryview | None:
    """Return the bytes of a pipe or device, None for a file; `FileError` if it has too many."""
    try:
        return contents(path) if is_stream(path) else None
    except MachineError as error:
        raise FileError(path, error.message) from None


@contextmanager
def open_npz(path: str, data: memoryview | None = None) -> Generator[NpzFile]:
    """Open the `.npz` file at `path`, as `opened` does."""
    with opened(path, data, "not an .npz file, or damaged: ") as file:
        if file.read(len(MAGIC)) == MAGIC:
            raise FileError(path, "not an .npz file: it holds one array without a name")
        yield NpzFile(path, ZipFile(file))


def plain(values: Array) -> Array:
    """Return `values` in C order and native byte order, booleans as 0 or 1."""
    if values.dtype == np.bool_:
        values = values.view(np.uint8) != 0
    return np.asarray(values, values.dtype.newbyteorder("="), order="C")


def _header(archive: ZipFile, info: ZipInfo) -> Header:
    """Read a member's header; `ValueError` when it is not valid for the member."""
    if info.flag_bits & 1:
        raise ValueError("it is encrypted")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ValueError(
            f"its compression must be stored (0) or deflate (8), but is {info.compress_type}"
        )
    limit = info.compress_size * (_DEFLATES_TO if info.compress_type == ZIP_DEFLATED else 1)
    if info.file_size > limit:
        raise ValueError(
            f"it says that it has {info.file_size} bytes, but its {info.compress_size} "
            f"compressed bytes hold {limit} at most"
        )
    with archive.open(info) as stream:
        return read_header(stream, info.file_size)


def read_header(stream: IO[bytes], file_size: int) -> Header:
    """Read the header of an array in `file_size` bytes; `ValueError` when it is not valid."""
    if stream.read(len(MAGIC)) != MAGIC:
        raise ValueError("it is not an array in NumPy's format")
    version = stream.read(2)
    major, minor = version if len(version) == 2 else (0, 0)
    if major not in (1, 2, 3) or minor:
        raise ValueError(f"its format must be 1.0, 2.0 or 3.0, but is {major}.{minor}")
    start = stream.read(2 if major == 1 else 4)
    length = int.from_bytes(start, "little")
    if length > _LONGEST_HEADER:
        raise ValueError(f"its header has {length} bytes, above the {_LONGEST_HEADER} allowed")
    text = BytesIO(start + stream.read(length))
    read = read_array_header_1_0 if major == 1 else read_array_header_2_0  # as of 3.0
    try:
        with catch_warnings():
            simplefilter("error")  # a header of Python 2
            shape, is_fortran, dtype = read(text)
    except Exception:  # of many classes, for text that is not a header
        raise ValueError("its header is broken") from None
    if dtype.hasobject:
        raise ValueError("its elements are Python objects, which are never unpickled")
    if dtype.names is not None:
        raise ValueError("its elements are records; give each field as an array of its own")
    if not all(type(dim) is int and dim >= 0 for dim in shape):
        raise ValueError("its header is broken")
    header = Header(dtype, shape, is_fortran, len(MAGIC) + 2 + len(start) + length)
    size = header.start + prod(shape) * dtype.itemsize
    if size != file_size:
        raise ValueError(f"{header.spec} and its header take {size} bytes, but it has {file_size}")
    return header


def read_npy(path: str, data: memoryview | None = None) -> Array:
    """Return the array in the `.npy` file at `path`, as `opened` opens it."""
    with opened(path, data) as file:
        size = file.seek(0, SEEK_END)
        file.seek(0)
        header = read_header(file, size)
        return header.array(bytearray(file.read()))


def npz_pieces(arrays: Mapping[str, Array]) -> Iterator[bytes]:
    """Yield the bytes of a file of `arrays`, without compression."""
    out = _Pieces()
    with ZipFile(cast("IO[bytes]", out), "w", ZIP_STORED) as archive:
        for name, values in arrays.items():
            with archive.open(ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                write_array(member, values, allow_pickle=False)
            yield from out.taken()
    yield from out.taken()


class _Pieces:
    """Collects what is written; `ZipFile` does not go back in a stream without seek."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing."""

    def taken(self) -> list[bytes]:
        """Return the pieces since the last time."""
        pieces, self.pieces = self.pieces, []
        return pieces


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
        in_order = dict(zip(names, self.ordered, strict=False))
        return {**in_order, **self.named}

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
    tensors: list[tuple[str, FileArray]] = []
    while (path := folder / f"{kind}_{len(tensors)}.pb").exists():
        name, array = read_tensor(str(path))
        tensors.append((name, _loaded(str(path), array)))
    if not tensors:
        raise FileError(str(folder), f"the folder has no {kind}_0.pb")
    named = {name: array for name, array in tensors if name}
    return (named, []) if len(named) == len(tensors) else ({}, [array for _, array in tensors])
