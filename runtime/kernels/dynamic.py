"""
The operators of `dyn`, whose sizes are operands.

Sizes are read when a kernel runs, not when it is bound: the program computes them. They are
checked against the results first (see `checked`), which were allocated before.
"""

from collections.abc import Sequence

import numpy as np

from .bind import Array, Attrs, Bind, Thunk, word
from .creation import full
from .padding import pad as static_pad
from .rearrange import slices
from .rearrange import tile as static_tile


def tile(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Repeat the operand along each axis, as often as it fits into the result."""
    (x, _), (y,) = ins, outs
    dims = (1,) * (y.ndim - x.ndim) + x.shape
    reps = tuple(to // dim if dim else 1 for to, dim in zip(y.shape, dims, strict=True))
    return static_tile({"reps": reps}, [x], outs)


def strided_slice(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Take every `strides`-th element in [`begin`, `end`) of each axis, as NumPy slices."""
    (x, begin, end, strides), (y,) = ins, outs

    def copy_slice() -> None:
        given = {"begin": begin.tolist(), "end": end.tolist(), "strides": strides.tolist()}
        part = x[(*slices({**attrs, **given}, x.shape), ...)]
        np.copyto(y.reshape(part.shape), part)  # of the same shape: a view

    return copy_slice


def pad(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Add `pad_width` slices before and after each axis."""
    (x, width, value), _ = ins, outs
    mode = word(attrs, "pad_mode")

    def fill() -> None:
        given = tuple(width.reshape(-1).tolist())
        static_pad({"pad_width": given, "pad_mode": mode}, [x, value], outs)()

    return fill


KERNELS: dict[str, Bind] = {
    "relay.dyn.broadcast_to": full,
    "relay.dyn.nn.pad": pad,
    "relay.dyn.strided_slice": strided_slice,
    "relay.dyn.tile": tile,
}
