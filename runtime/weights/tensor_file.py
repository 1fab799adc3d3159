"""
Tensors in `.safetensors` files, written, or viewed where the file is mapped into memory.

    8 bytes     the length of the header
    header      JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
    data        the bytes of the tensors, at these offsets

A file is not trusted: what its header says is checked against its length.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, cast

import numpy as np

from ...operators.element_types import NUMBER_TYPES
from ...operators.records import record
from ..errors import MachineError
from ..files import contents, path_text, replace
from ..memory.limits import ALIGNMENT, MAX_EXTENT, MAX_RANK
from ..program.dtypes import element_type
from ..program.program import Array, TensorSpec

_TYPES = {row.safetensors: name for name, row in NUMBER_TYPES.items() if row.safetensors}
METADATA = "__metadata__"
"""The entry of a header that is not a tensor: text by name."""
PROGRAM = "xrelay.program"
"""The text in a header that names the program that the file was written for."""
_LENGTH = 8
TVM_PARAMS = bytes.fromhex("b79c04054f8de5f7")
"""The first bytes of a file of TVM's `save_param_dict`."""
MAX_HEADER = 100_000_000
"""Limit on the bytes of a header, that of the library `safetensors`."""


@record
class _Entry:
    """A tensor of the file: its type there, its shape, and the place of its bytes."""

    type: str
    shape: tuple[int, ...]
    start: int
    stop: int


class TensorFile:
    """
    The tensors of a file, by name. Their bytes are read when they are used.

    The file must not be changed while they are. Raises `MachineError`, which names the file, for
    one that cannot be read or is damaged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path_text(path)
        self._data = contents(path)
        self.metadata: Mapping[str, str] = {}
        """The text in the header, by name."""
        try:
            header, start = _header(self._data)
            self._entries = {
                name: _entry(name, entry, start, len(self._data))
                for name, entry in header.items()
                if name != METADATA
            }
            metadata = header.get(METADATA)
            if isinstance(metadata, dict):
                pairs = cast("Mapping[object, object]", metadata).items()
                self.metadata = {
                    key: text
                    for key, text in pairs
                    if isinstance(key, str) and isinstance(text, str)
                }
        except ValueError as error:
            raise MachineError(f"'{self.path}' is not a safetensors file: {error}") from None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tensors, in the order of the header."""
        return tuple(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def spec(self, name: str) -> TensorSpec:
        """Return the element type and shape of a tensor; its type may be one we do not have."""
        entry = self._entries[name]
        return TensorSpec(_TYPES.get(entry.type, entry.type), entry.shape)

    def array(self, name: str) -> Array:
        """
        Return a tensor: a view of the file, which cannot be written to.

        It is a copy if it is not aligned for its element type, or has bools other than 0 and 1.
        Raises `MachineError` for an element type that the machine does not have.
        """
        entry = self._entries[name]
        if entry.type not in _TYPES:
            known = ", ".join(_TYPES)
            raise MachineError(
                f"'{self.path}': tensor '{name}' has unsupported element type {entry.type} "
                f"(supported: {known})"
            )
        dtype = element_type(_TYPES[entry.type])
        data = self._data[entry.start : entry.stop]
        array: Array = np.frombuffer(data, dtype.newbyteorder("<")).reshape(entry.shape)
        if dtype == np.bool_ and np.any(np.frombuffer(data, np.uint8) > 1):
            array = np.frombuffer(data, np.uint8).reshape(entry.shape) != 0
        return np.require(array, dtype, "A")


def _header(data: memoryview) -> tuple[Mapping[str, object], int]:
    """Read the header, which ends where the data start; `ValueError` when it is broken."""
    if len(data) < _LENGTH:
        raise ValueError(f"it has {len(data)} bytes, but needs at least {_LENGTH}")
    if bytes(data[:_LENGTH]) == TVM_PARAMS:
        raise ValueError(
            "it has parameters as TVM saves them, which cannot be read yet; save the arrays as "
            ".safetensors"
        )
    length = int.from_bytes(data[:_LENGTH], "little")
    if length > min(MAX_HEADER, len(data) - _LENGTH):
        most = min(MAX_HEADER, len(data) - _LENGTH)
        raise ValueError(f"its header has {length} bytes, above the {most} possible")
    start = _LENGTH + length
    try:
        text = str(data[_LENGTH:start], "utf-8")
        header: object = json.loads(text, object_pairs_hook=_without_duplicates)
    except RecursionError:
        raise ValueError("its header is nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError("its header is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"its header is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise ValueError("its header must be a JSON object")
    return cast("Mapping[str, object]", header), start


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("its header has two entries of one name")
    return made


def _entry(name: str, found: object, start: int, size: int) -> _Entry:
    entry = cast("Mapping[str, object]", found if isinstance(found, dict) else {})
    type, shape, offsets = (entry.get(key) for key in ("dtype", "shape", "data_offsets"))
    dims, bounds = _naturals(shape), _naturals(offsets)
    if not isinstance(type, str) or dims is None or bounds is None or len(bounds) != 2:
        raise ValueError(f"the entry of '{name}' must have dtype, shape and data_offsets")
    if len(dims) > MAX_RANK:
        raise ValueError(f"'{name}' has rank {len(dims)}, above {MAX_RANK}")
    begin, end = bounds
    if not begin <= end <= size - start:
        raise ValueError(f"the bytes of '{name}', {begin} to {end}, are outside the file")
    if type in _TYPES:
        itemsize = element_type(_TYPES[type]).itemsize
        if prod(dim for dim in dims if dim) * itemsize > MAX_EXTENT:
            raise ValueError(f"'{name}' exceeds NumPy's array size limit")
        if prod(dims) * itemsize != end - begin:
            raise ValueError(f"'{name}' needs {prod(dims) * itemsize} bytes, but has {end - begin}")
    return _Entry(type, dims, start + begin, start + end)


def _naturals(found: object) -> tuple[int, ...] | None:
    if not isinstance(found, list):
        return None
    items = cast("list[object]", found)
    if not all(type(item) is int and 0 <= item < 1 << 63 for item in items):
        return None
    return tuple(cast("list[int]", items))


def write_tensors(path: str | os.PathLike[str], arrays: Mapping[str, Array]) -> None:
    """Write `arrays` to the file at `path`: as a whole, or not at all. Raises `MachineError`."""
    replace(path, tensor_pieces(arrays))


def write_side_file(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Array],
    program: str,
    *,
    overwrite: bool = False,
) -> None:
    """
    Write the weights of the file `program`, which is beside it and names it, to the file at `path`.

    The user did not name this file: an earlier one is replaced only if it was written for the same
    program, unless `overwrite`. Raises `MachineError`.
    """
    if os.path.lexists(path) and not overwrite and _program_of(path) != program:
        raise MachineError(
            f"cannot write the weights of '{program}' to '{os.fspath(path)}': it exists, and is "
            "not what an earlier run wrote for it: choose another name for it (--save-weights), or "
            "for the output"
        )
    replace(path, tensor_pieces(arrays, {PROGRAM: program}), overwrite=overwrite)


def _program_of(path: str | os.PathLike[str]) -> str | None:
    """Return the program that a file of weights was written for, if it says so."""
    try:
        return TensorFile(path).metadata.get(PROGRAM) if os.path.isfile(path) else None
    except MachineError:
        return None


def tensor_pieces(
    arrays: Mapping[str, Array], metadata: Mapping[str, str] | None = None
) -> Iterator[bytes | memoryview]:
    """
    Yield the bytes of a file of `arrays`, with text about it.

    The data are aligned for all element types. An array that must be copied is when it is its turn.
    Raises `MachineError` for an element type that files do not have.
    """
    header: dict[str, Any] = {} if metadata is None else {METADATA: dict(metadata)}
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    end = 0
    for name, array in ordered:
        row = NUMBER_TYPES.get(array.dtype.name)
        if row is None or name == METADATA:
            raise MachineError(f"a file of weights cannot have '{name}', which is {array.dtype}")
        start, end = end, end + array.nbytes
        header[name] = {
            "dtype": row.safetensors,
            "shape": [*array.shape],
            "data_offsets": [start, end],
        }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-(_LENGTH + len(text)) % ALIGNMENT)
    yield len(text).to_bytes(_LENGTH, "little")
    yield text
    for _, array in ordered:
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1)
        yield memoryview(cast(Any, plain.view(np.uint8)))
