"""
Fast paths of elementwise operators: where NumPy has a function for what a formula takes several.

The formulas in `operators/` are the definition; `tests/runtime/kernels/test_meanings.py` holds
these kernels against it.
"""

from collections.abc import Sequence
from functools import partial
from math import ceil, floor, isfinite

import numpy as np

from ..memory.scratch import scratch
from .bind import Array, Attrs, Bind, Thunk, apply, clamp, number, sequence


def ufunc(function: np.ufunc) -> Bind:
    """Return the kernel that applies `function`, broadcasting its operands."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        return apply(function, *ins, out=outs[0])

    return bind


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


def relu(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute max(x, 0)."""
    (x,), (y,) = ins, outs
    zero = np.zeros((), x.dtype)
    highest = np.array(np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max, x.dtype)
    return clamp(x, zero, highest, y)


def leaky_relu(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute x where x > 0, alpha x elsewhere."""
    (x,), (y,) = ins, outs
    alpha = number(attrs, "alpha")
    if alpha == 0:
        return relu(attrs, ins, outs)
    scaled = scratch(y.shape, y.dtype)
    choose = np.maximum if alpha <= 1 else np.minimum
    return sequence(
        partial(np.multiply, x, np.array(alpha, x.dtype), scaled), apply(choose, x, scaled, out=y)
    )


KERNELS: dict[str, Bind] = {
    "relay.abs": ufunc(np.absolute),
    "relay.clip": clip,
    "relay.floor_divide": ufunc(np.floor_divide),
    "relay.floor_mod": ufunc(np.remainder),
    "relay.isfinite": ufunc(np.isfinite),
    "relay.isinf": ufunc(np.isinf),
    "relay.nn.leaky_relu": leaky_relu,
    "relay.nn.relu": relu,
    "relay.sign": ufunc(np.sign),
}
