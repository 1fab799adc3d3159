"""Conversion of elements to another type, and their division."""

from functools import partial
from typing import Any

import numpy as np

from ..memory.scratch import scratch
from .bind import Array, Thunk, sequence

BLOCK = 1 << 16
"""Elements that a conversion in place, or to integers, converts at once."""


def bind_cast(x: Array, y: Array) -> Thunk:
    """
    Return a thunk that converts `x`, broadcast, to the element type of `y`, which may be `x`.

    Floats become integers by truncation, those out of range the nearest integer of the type,
    and NaN 0. In place, a block is converted at a time.
    """
    to_integers = x.dtype.kind in "fV" and y.dtype.kind in "iu"  # V: a type of another package
    in_place = x.dtype != y.dtype and np.may_share_memory(x, y)
    if not (to_integers or in_place):
        return partial(np.copyto, y, x, "unsafe")
    before, after = x.reshape(-1), y.reshape(-1)
    block = min(BLOCK, x.size)
    kept = scratch((block,), y.dtype) if in_place else None
    convert = _Truncation(x.dtype, y.dtype, block) if to_integers else _copy_unsafe

    def run() -> None:
        for start in range(0, before.size, BLOCK):
            floats, integers = before[start : start + BLOCK], after[start : start + BLOCK]
            if kept is None:
                convert(floats, integers)
            else:
                convert(floats, kept[: integers.size])
                np.copyto(integers, kept[: integers.size])

    return run


def _copy_unsafe(x: Array, y: Array) -> None:
    np.copyto(y, x, "unsafe")


class _Truncation:
    """
    Converts up to `block` floats to integers. NumPy alone does it for numbers in range, of which a
    minimum and a maximum give evidence; the results of others depend on their place in the array.
    """

    def __init__(self, source: np.dtype[Any], target: np.dtype[Any], block: int) -> None:
        wide = np.dtype(np.float32) if source.itemsize <= 2 else source
        info = np.iinfo(target)
        self.greatest = np.array(info.max, target)
        self.limit = np.array(info.max + 1, wide)
        self.low = np.array(info.min, wide)
        self.high = np.nextafter(self.limit, 0, dtype=wide)
        self.wide = None if wide == source else scratch((block,), wide)
        self.inside, self.mask = scratch((block,), wide), scratch((block,), np.bool_)

    def __call__(self, x: Array, y: Array) -> None:
        count = x.size
        if self.wide is not None:
            np.copyto(self.wide[:count], x)
            x = self.wide[:count]
        if np.minimum.reduce(x) >= self.low and np.maximum.reduce(x) < self.limit:
            np.copyto(y, x, "unsafe")
            return
        inside, mask = self.inside[:count], self.mask[:count]
        np.clip(x, self.low, self.high, inside)
        np.copyto(inside, 0, where=np.isnan(x, mask))
        np.copyto(y, inside, "unsafe")
        np.copyto(y, self.greatest, where=np.greater_equal(x, self.limit, mask))


def bind_quotient(a: Array, b: Array, y: Array) -> Thunk:
    """Return a thunk that writes `a` / `b` to `y`; quotients of integers are truncated."""
    if y.dtype.kind == "f":
        return partial(np.divide, a, b, y)
    if y.dtype.kind == "u":
        return partial(np.floor_divide, a, b, y)
    whole = scratch(y.shape, y.dtype)  # a minus its remainder: a multiple of b
    return sequence(
        partial(np.fmod, a, b, whole),
        partial(np.subtract, a, whole, whole),
        partial(np.floor_divide, whole, b, y),
    )
