"""Elementwise operators on one tensor, except activation functions."""

from collections.abc import Sequence
from functools import partial
from math import ceil, floor, isfinite

import numpy as np

from .bind import Array, Attrs, Bind, Thunk, apply, clamp, number, sequence
from .scratch import scratch

BLOCK = 1 << 14
"""Elements that a conversion in place converts at once."""


def ufunc(function: np.ufunc) -> Bind:
    """Return the kernel that applies `function`, broadcasting its operands."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        return apply(function, *ins, out=outs[0])

    return bind


def copy(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Convert the elements to the output's element type, broadcast to its shape."""
    return partial(np.copyto, outs[0], ins[0], "unsafe")


def cast(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Convert the elements to the output's element type; in place, a block at a time."""
    (x,), (y,) = ins, outs
    if x.dtype == y.dtype or not np.may_share_memory(x, y):
        return copy(attrs, ins, outs)
    before, after = x.reshape(-1), y.reshape(-1)
    kept = scratch((min(BLOCK, x.size),), y.dtype)

    def run() -> None:
        for start in range(0, before.size, BLOCK):
            stop = min(start + BLOCK, before.size)
            np.copyto(kept[: stop - start], before[start:stop], "unsafe")
            np.copyto(after[start:stop], kept[: stop - start])

    return run


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
