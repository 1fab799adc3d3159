"""
Integers as attributes.

To make or to read one takes long and values repeat, so each is made and read once.
"""

import struct
from collections.abc import Iterable
from functools import lru_cache

from xdsl.dialects.builtin import I64, BytesAttr, DenseArrayBase, IntegerAttr, i64


@lru_cache(2**14, typed=True)  # True is not 1
def i64_attribute(value: int) -> IntegerAttr[I64]:
    """Return `value` as an attribute."""
    return IntegerAttr(value, i64)


def i64_array(values: Iterable[int]) -> DenseArrayBase[I64]:
    """Return `array<i64: …>` of `values`."""
    return _array(tuple(values))


def integers_of(array: DenseArrayBase[I64]) -> tuple[int, ...]:
    """Return the elements of `array`."""
    return _integers(array.data.data)


@lru_cache(2**12)
def _array(values: tuple[int, ...]) -> DenseArrayBase[I64]:
    return DenseArrayBase(i64, BytesAttr(struct.pack(f"<{len(values)}q", *values)))


@lru_cache(2**12)
def _integers(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 8}q", data)
