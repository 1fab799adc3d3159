"""Operators that create tensors."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from .bind import Array, Attrs, Bind, Thunk


def filled(number: int) -> Bind:
    """Return the kernel that fills its result with `number`."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        return partial(outs[0].fill, number)

    return bind


def full(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Repeat the scalar."""
    return partial(np.copyto, outs[0], ins[0])


def shape_of(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Write the dims of the operand."""
    return partial(np.copyto, outs[0], np.array(ins[0].shape, np.int64), "unsafe")


KERNELS: dict[str, Bind] = {
    "relay.dyn.broadcast_to": full,
    "relay.dyn.full": full,
    "relay.dyn.ones": filled(1),
    "relay.dyn.zeros": filled(0),
    "relay.ones": filled(1),
    "relay.shape_of": shape_of,
    "relay.zeros": filled(0),
}
