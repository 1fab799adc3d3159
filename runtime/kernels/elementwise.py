"""Elementwise operators on one tensor, except activation functions."""

from collections.abc import Sequence
from functools import partial
from math import ceil, floor, isfinite
from typing import Any

import numpy as np

from ..memory.scratch import scratch
from .bind import Array, Attrs, Bind, Thunk, apply, clamp, number, sequence

BLOCK = 1 << 16
"""Elements that a conversion in place, or to integers, converts at once."""


def ufunc(function: np.ufunc) -> Bind:
    """Return the kernel that applies `function`, broadcasting its operands."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        return apply(function, *ins, out=outs[0])

    return bind


def copy(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Convert the elements to the output's element type, broadcast to its shape."""
    return partial(np.copyto, outs[0], ins[0], "unsafe")


def cast(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """
    Convert the elements to the output's element type; in place, a block at a time.

    Floats become integers by truncation, those out of range the nearest integer of the type,
    and NaN 0.
    """
    (x,), (y,) = ins, outs
    to_integers = x.dtype.kind == "f" and y.dtype.kind in "iu"
    in_place = x.dtype != y.dtype and np.may_share_memory(x, y)
    if not (to_integers or in_place):
        return copy(attrs, ins, outs)
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
        wide = np.dtype(np.float32) if source == np.float16 else source
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


def rounding(function: np.ufunc) -> Bind:
    """Return the kernel that applies `function` to floats and copies integers."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        if ins[0].dtype.kind != "f":
            return copy(attrs, ins, outs)
        return partial(function, ins[0], outs[0])

    return bind


def rsqrt(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute 1 / sqrt(x)."""
    (x,), (y,) = ins, outs
    return sequence(partial(np.sqrt, x, y), partial(np.reciprocal, y, y))


def clip(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """
    Compute min(max(x, a_min), a_max); NaN stays.

    For integers, the bounds are the extreme integers in [a_min, a_max] that the type represents.
    """
    (x,), (y,) = ins, outs
    low, high = number(attrs, "a_min"), number(attrs, "a_max")
    if x.dtype.kind == "f":
        with np.errstate(over="ignore"):
            lowest, highest = np.array(low).astype(x.dtype), np.array(high).astype(x.dtype)
    else:
        info = np.iinfo(x.dtype)

        def represent(bound: float) -> Array:
            return np.array(min(max(bound, info.min), info.max), x.dtype)

        lowest = represent(ceil(low) if isfinite(low) else low)
        highest = represent(floor(high) if isfinite(high) else high)
    return clamp(x, lowest, highest, y)


KERNELS: dict[str, Bind] = {
    "relay.abs": ufunc(np.absolute),
    "relay.acos": ufunc(np.arccos),
    "relay.acosh": ufunc(np.arccosh),
    "relay.asin": ufunc(np.arcsin),
    "relay.asinh": ufunc(np.arcsinh),
    "relay.atan": ufunc(np.arctan),
    "relay.atanh": ufunc(np.arctanh),
    "relay.cast": cast,
    "relay.ceil": rounding(np.ceil),
    "relay.clip": clip,
    "relay.copy": copy,
    "relay.cos": ufunc(np.cos),
    "relay.cosh": ufunc(np.cosh),
    "relay.exp": ufunc(np.exp),
    "relay.floor": rounding(np.floor),
    "relay.isfinite": ufunc(np.isfinite),
    "relay.isinf": ufunc(np.isinf),
    "relay.isnan": ufunc(np.isnan),
    "relay.log": ufunc(np.log),
    "relay.log10": ufunc(np.log10),
    "relay.log2": ufunc(np.log2),
    "relay.logical_not": ufunc(np.logical_not),
    "relay.negative": ufunc(np.negative),
    "relay.round": rounding(np.rint),
    "relay.rsqrt": rsqrt,
    "relay.sign": ufunc(np.sign),
    "relay.sin": ufunc(np.sin),
    "relay.sinh": ufunc(np.sinh),
    "relay.sqrt": ufunc(np.sqrt),
    "relay.tan": ufunc(np.tan),
    "relay.tanh": ufunc(np.tanh),
    "relay.trunc": rounding(np.trunc),
}

CONVERTING = ("relay.cast",)
"""Kernels whose result may be in the memory of an operand of another type of the same size."""
