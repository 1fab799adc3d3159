"""Elementwise operators on two or three tensors, with broadcasting."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..memory.scratch import scratch
from .bind import Array, Attrs, Bind, Thunk, sequence
from .elementwise import ufunc


def divide(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute lhs / rhs; integer division truncates toward zero, as in C."""
    (a, b), (y,) = ins, outs
    if y.dtype.kind == "f":
        return partial(np.divide, a, b, y)
    if y.dtype.kind == "u":
        return partial(np.floor_divide, a, b, y)
    whole = scratch(y.shape, y.dtype)  # lhs minus its remainder: a multiple of rhs
    return sequence(
        partial(np.fmod, a, b, whole),
        partial(np.subtract, a, whole, whole),
        partial(np.floor_divide, whole, b, y),
    )


def power(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute lhs to the power of rhs; integers with negative exponents truncate toward zero."""
    (a, b), (y,) = ins, outs
    if y.dtype.kind != "i":
        return partial(np.power, a, b, y)
    exponent, result = scratch(b.shape, b.dtype), scratch(y.shape, y.dtype)
    inverse, vanishing = scratch(b.shape, np.bool_), scratch(a.shape, np.bool_)
    zero, one = np.zeros((), y.dtype), np.ones((), y.dtype)

    def run() -> None:
        np.less(b, zero, inverse)
        np.not_equal(np.absolute(a), one, vanishing)
        np.copyto(exponent, b)
        np.bitwise_and(b, one, exponent, where=inverse)  # enough for 1 and -1; the others vanish
        np.power(a, exponent, result)
        np.copyto(result, zero, where=np.logical_and(inverse, vanishing))
        np.copyto(y, result)

    return run


def where(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Select x where the condition holds, y elsewhere."""
    (condition, x, y), (out,) = ins, outs
    if np.may_share_memory(out, condition):
        kept = scratch(out.shape, out.dtype)
        return sequence(where(attrs, ins, [kept]), partial(np.copyto, out, kept))
    if not np.may_share_memory(out, x):
        return sequence(partial(np.copyto, out, y), partial(np.copyto, out, x, where=condition))
    others = scratch(condition.shape, np.bool_)
    return sequence(
        partial(np.logical_not, condition, others), partial(np.copyto, out, y, where=others)
    )


KERNELS: dict[str, Bind] = {
    "relay.add": ufunc(np.add),
    "relay.divide": divide,
    "relay.equal": ufunc(np.equal),
    "relay.floor_divide": ufunc(np.floor_divide),
    "relay.floor_mod": ufunc(np.remainder),
    "relay.greater": ufunc(np.greater),
    "relay.greater_equal": ufunc(np.greater_equal),
    "relay.less": ufunc(np.less),
    "relay.less_equal": ufunc(np.less_equal),
    "relay.logical_and": ufunc(np.logical_and),
    "relay.logical_or": ufunc(np.logical_or),
    "relay.logical_xor": ufunc(np.logical_xor),
    "relay.maximum": ufunc(np.maximum),
    "relay.minimum": ufunc(np.minimum),
    "relay.mod": ufunc(np.fmod),
    "relay.multiply": ufunc(np.multiply),
    "relay.not_equal": ufunc(np.not_equal),
    "relay.power": power,
    "relay.subtract": ufunc(np.subtract),
    "relay.where": where,
}

COMPARISONS = tuple(
    f"relay.{name}"
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
)
"""Kernels whose results are i1, and may be in the memory of operands of one byte an element."""
