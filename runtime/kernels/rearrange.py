"""
Operators that move elements without computing on them.

Sizes that are operands, of `dyn`, are read when a kernel runs, not when it is bound: the program
computes them. They are checked against the results first (see `checked`), allocated before.
"""

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from ...operators.slicing import as_slice, cuts, picked
from .bind import Array, Attrs, Bind, Thunk, integer, integers, sequence


def transpose(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Make axis `axes[i]` of the operand axis i of the result; by default reverse the axes."""
    (x,), (y,) = ins, outs
    axes = integers(attrs, "axes") if "axes" in attrs else tuple(range(x.ndim))[::-1]
    return partial(np.copyto, y, x.transpose(axes))


def concatenate(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Join the operands along `axis`."""
    return partial(np.concatenate, tuple(ins), integer(attrs, "axis"), outs[0])


def stack(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Join the operands along a new axis."""
    axis = integer(attrs, "axis") % outs[0].ndim
    slices = tuple(np.expand_dims(x, axis) for x in ins)
    return partial(np.concatenate, slices, axis, outs[0])


def split(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Split into consecutive pieces along `axis`; the outputs' shapes are their lengths."""
    (x,) = ins
    axis = integer(attrs, "axis") % x.ndim
    if not isinstance(attrs["indices_or_sections"], int):
        points = integers(attrs, "indices_or_sections")
        pieces = np.split(x, points, axis)
    else:
        ends = list(accumulate(y.shape[axis] for y in outs))
        pieces = np.split(x, ends[:-1], axis)
    return sequence(*(partial(np.copyto, y, p) for y, p in zip(outs, pieces, strict=True)))


def slices(attrs: Attrs, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the slice that `strided_slice` takes of each axis; by default the whole axis."""
    taken, given = [slice(None)] * len(shape), dict[str, Any](attrs)
    for axis, begin, end, stride, by_size in cuts(len(shape), **given):
        taken[axis] = as_slice(picked(shape[axis], begin, end, stride, by_size))
    return tuple(taken)


def strided_slice(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Take every `strides`-th element in [`begin`, `end`) of each axis, as NumPy slices."""
    (x,), (y,) = ins, outs
    return partial(np.copyto, y, x[(*slices(attrs, x.shape), ...)])


def dyn_strided_slice(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Take every `strides`-th element in [`begin`, `end`) of each axis, as NumPy slices."""
    (x, begin, end, strides), (y,) = ins, outs

    def copy_slice() -> None:
        given = {"begin": begin.tolist(), "end": end.tolist(), "strides": strides.tolist()}
        part = x[(*slices({**attrs, **given}, x.shape), ...)]
        np.copyto(y.reshape(part.shape), part)  # of the same shape: a view

    return copy_slice


def tile(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Repeat the operand `reps[i]` times along axis i, as `numpy.tile`."""
    (x,), (y,) = ins, outs
    reps = integers(attrs, "reps")
    rank = y.ndim
    shape = (1,) * (rank - x.ndim) + x.shape
    reps = (1,) * (rank - len(reps)) + reps
    source = x.reshape([n for extent in shape for n in (1, extent)])
    target = y.reshape([n for pair in zip(reps, shape, strict=True) for n in pair])
    return partial(np.copyto, target, source)


def dyn_tile(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Repeat the operand along each axis, as often as it fits into the result."""
    (x, _), (y,) = ins, outs
    dims = (1,) * (y.ndim - x.ndim) + x.shape
    reps = tuple(to // dim if dim else 1 for to, dim in zip(y.shape, dims, strict=True))
    return tile({"reps": reps}, [x], outs)


def repeat(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Repeat each slice along `axis` `repeats` times."""
    (x,), (y,) = ins, outs
    axis = integer(attrs, "axis") % x.ndim
    target = y.reshape(*x.shape[: axis + 1], integer(attrs, "repeats"), *x.shape[axis + 1 :])
    return partial(np.copyto, target, np.expand_dims(x, axis + 1))


KERNELS: dict[str, Bind] = {
    "relay.concatenate": concatenate,
    "relay.dyn.strided_slice": dyn_strided_slice,
    "relay.dyn.tile": dyn_tile,
    "relay.repeat": repeat,
    "relay.split": split,
    "relay.stack": stack,
    "relay.strided_slice": strided_slice,
    "relay.tile": tile,
    "relay.transpose": transpose,
}
