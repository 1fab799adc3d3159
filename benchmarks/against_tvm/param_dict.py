"""
Read parameters that TVM's `save_param_dict` wrote: `read_param_dict(path)["fc1_weight"]`.

    u64 magic, u64 0, u64 n
    n names:    u64 length, bytes
    u64 n
    n arrays:   u64 magic, u64 0, i32 device type, i32 device id, i32 rank,
                u8 type code, u8 bits, u16 lanes, rank of i64 dims, i64 size in bytes, data

All numbers are little-endian. Anything else is a `ValueError`.
"""

from math import prod
from pathlib import Path
from struct import Struct
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

LIST_MAGIC = 0xF7E58D4F05049CB7
ARRAY_MAGIC = 0xDD5E40F096B4A13F
KINDS = {0: "int", 1: "uint", 2: "float", 6: "bool"}
"""Names of DLPack's type codes; TVM writes bools as `uint` of one bit."""
WIDTHS = (8, 16, 32, 64)


class _Bytes:
    """The bytes of a file, read from its start."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        left = len(self._data) - self._at
        if not 0 <= size <= left:
            raise ValueError(f"expected {size} bytes at byte {self._at}, but the file has {left}")
        self._at += size
        return self._data[self._at - size : self._at]

    def numbers(self, layout: str) -> tuple[int, ...]:
        """Return numbers of the layout that `struct` defines."""
        fields = Struct("<" + layout)
        return fields.unpack(self.take(fields.size))

    def expect(self, expected: int, what: str) -> None:
        """Read a 64-bit number and a reserved zero."""
        at = self._at
        value, reserved = self.numbers("QQ")
        if (value, reserved) != (expected, 0):
            raise ValueError(f"expected {what} {expected:#x} at byte {at}, but got {value:#x}")

    def expect_end(self) -> None:
        """Check that nothing follows."""
        if self._at < len(self._data):
            raise ValueError(f"{len(self._data) - self._at} bytes follow the last array")


def read_param_dict(path: Path) -> dict[str, Array]:
    """Return the arrays of a file by name."""
    data = _Bytes(path.read_bytes())
    data.expect(LIST_MAGIC, "the magic number of parameters")
    (count,) = data.numbers("Q")
    names: list[str] = []
    for _ in range(count):
        (length,) = data.numbers("Q")
        names.append(data.take(length).decode())
    (arrays,) = data.numbers("Q")
    if arrays != count or len(set(names)) != count:
        raise ValueError(f"{arrays} arrays have {len(set(names))} of {count} names")
    params = {name: _array(data) for name in names}
    data.expect_end()
    return params


def _array(data: _Bytes) -> Array:
    data.expect(ARRAY_MAGIC, "the magic number of an array")
    _, _, rank, code, bits, lanes = data.numbers("iiiBBH")
    kind = KINDS.get(code)
    is_bool = kind == "bool" or (kind, bits) == ("uint", 1)
    if lanes != 1 or not (is_bool or (kind and bits in WIDTHS)):
        raise ValueError(f"unknown type: code {code}, {bits} bits, {lanes} lanes")
    dtype = np.dtype("bool" if is_bool else f"{kind}{bits}")
    shape = data.numbers(f"{max(rank, 0)}q")
    (size,) = data.numbers("q")
    if rank < 0 or any(dim < 0 for dim in shape) or size != prod(shape) * dtype.itemsize:
        raise ValueError(f"an array of shape {shape} and type {dtype} has {size} bytes")
    return np.frombuffer(data.take(size), dtype).reshape(shape)
