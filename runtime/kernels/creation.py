"""Operators that create tensors."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..memory.scratch import scratch
from .bind import Array, Attrs, Bind, Thunk


def filled(number: int) -> Bind:
    """Return the kernel that fills its result with `number`."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        return partial(outs[0].fill, number)

    return bind


def full(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Repeat the scalar."""
    return partial(np.copyto, outs[0], ins[0])


def arange(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute start + i * step for each index i, in 64 bits; integers wrap around."""
    (start, _, step), (y,) = ins, outs
    numbers = scratch(y.shape, np.float64 if y.dtype.kind == "f" else np.int64)

    def count() -> None:
        numbers.fill(1)
        numbers[:1] = 0
        np.add.accumulate(numbers, out=numbers)
        np.multiply(numbers, step.astype(numbers.dtype), numbers)
        np.add(numbers, start.astype(numbers.dtype), numbers)
        np.copyto(y, numbers, "unsafe")

    return count


def shape_of(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Write the dims of the operand."""
    return partial(np.copyto, outs[0], np.array(ins[0].shape, np.int64), "unsafe")


KERNELS: dict[str, Bind] = {
    "relay.arange": arange,
    "relay.dyn.full": full,
    "relay.dyn.ones": filled(1),
    "relay.dyn.zeros": filled(0),
    "relay.ones": filled(1),
    "relay.shape_of": shape_of,
    "relay.zeros": filled(0),
}
