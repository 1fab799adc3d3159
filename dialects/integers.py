"""Integers as attributes. To make one takes long and values repeat, so each is made once."""

from collections.abc import Iterable
from functools import lru_cache

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, i64


@lru_cache(2**14, typed=True)  # True is not 1
def i64_attribute(value: int) -> IntegerAttr[I64]:
    """Return `value` as an attribute."""
    return IntegerAttr(value, i64)


def i64_array(values: Iterable[int]) -> DenseArrayBase[I64]:
    """Return `array<i64: …>` of `values`."""
    return _array(tuple(values))


@lru_cache(2**12)
def _array(values: tuple[int, ...]) -> DenseArrayBase[I64]:
    return DenseArrayBase.from_list(i64, values)
