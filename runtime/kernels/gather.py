"""Operators that gather elements by index."""

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np

from ...operators.meaning.forms import ByIndex
from ...operators.upsampling import upsampled
from ..memory.scratch import scratch
from .bind import Array, Attrs, Bind, Thunk, apply, integer, sequence, word
from .recorded_formulas import by_index


def take(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """
    Gather slices along `axis` (by default: elements) by index.

    Out-of-range indices are clipped to the first or last or, in mode "wrap", taken modulo the
    extent. Mode "fast" promises that there are none; it clips too.
    """
    (x, indices), (y,) = ins, outs
    wraps = word(attrs, "mode") == "wrap"
    batch_dims = integer(attrs, "batch_dims")
    shared = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    axis = integer(attrs, "axis") % x.ndim - shared if "axis" in attrs else None
    steps: list[Thunk] = []
    wide = np.dtype(np.uint64 if indices.dtype == np.uint64 else np.intp)
    if wraps or indices.dtype != np.intp:
        numbers = scratch(indices.shape, wide)
        steps.append(partial(np.copyto, numbers, indices))
        extent = np.array(x.size if axis is None else x.shape[axis + shared], wide)
        if wraps:  # `numpy.take` would add the extent repeatedly
            steps.append(partial(np.remainder, numbers, extent, numbers))
        elif wide != np.intp:
            steps.append(apply(np.minimum, numbers, extent - 1, out=numbers))
        indices = numbers.view(np.intp)
    if not shared:
        return sequence(*steps, partial(np.take, x, indices, axis, y, "clip"))
    count = prod(x.shape[:shared])
    source, index, out = (array.reshape(count, *array.shape[shared:]) for array in (x, indices, y))
    for i in range(count):  # views, of scalars too
        at = (i, ...)
        steps.append(partial(np.take, source[at], index[at], axis, out[at], "clip"))
    return sequence(*steps)


_interpolated = by_index(ByIndex(upsampled))


def upsampling(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Copy to row r of the result row floor(r * height / result height); columns likewise."""
    if word(attrs, "method") != "nearest_neighbor":
        return _interpolated(attrs, ins, outs)
    (x,), (y,) = ins, outs
    h = word(attrs, "layout").index("H")

    def nearest(axis: int) -> Array:
        rows = y.shape[axis]
        return np.array([row * x.shape[axis] // rows for row in range(rows)], np.intp)

    wide = scratch((*x.shape[: h + 1], y.shape[h + 1], *x.shape[h + 2 :]), x.dtype)
    return sequence(
        partial(np.take, x, nearest(h + 1), h + 1, wide, "clip"),
        partial(np.take, wide, nearest(h), h, y, "clip"),
    )


KERNELS: dict[str, Bind] = {"relay.nn.upsampling": upsampling, "relay.take": take}
