"""Operators that reduce axes of a tensor."""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np

from ...operators.reduce import reduced_axes as reduction_axes
from ..memory.scratch import scratch
from .bind import Array, Attrs, Bind, Thunk, flag, fold, integers, sequence, widen_half


def reduced_axes(attrs: Attrs, rank: int) -> tuple[int, ...]:
    """Return the axes to reduce, ascending from 0."""
    axis = integers(attrs, "axis") if "axis" in attrs else None
    return reduction_axes(axis, flag(attrs, "exclude"), rank)


def reduction(function: np.ufunc) -> Bind:
    """Return the kernel that reduces axes with `function`, in the output's element type."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        (x,), (y,) = ins, outs
        keepdims = flag(attrs, "keepdims")
        return fold(function, x, reduced_axes(attrs, x.ndim), y, keepdims)

    return bind


def mean(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Divide the sum over the axes by the number of elements summed."""
    (x,), (y,) = ins, outs
    count = prod(x.shape[axis] for axis in reduced_axes(attrs, x.ndim))
    total = reduction(np.add)(attrs, ins, outs)
    return sequence(total, partial(np.divide, y, np.array(count, y.dtype), y))


def position(find: Callable[..., Array]) -> Bind:
    """Return the kernel for `find` (`argmax`, `argmin`): the first or last of the best indices."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        (x,), (y,) = ins, outs
        axes = reduced_axes(attrs, x.ndim)
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        source = x.transpose(*kept, *axes)
        rows_shape = (prod(x.shape[axis] for axis in kept), prod(x.shape[axis] for axis in axes))
        whole = bool(axes) and axes != tuple(range(x.ndim))[-len(axes) :]
        rows = scratch(source.shape, x.dtype) if whole and len(axes) > 1 else source
        found = scratch((rows_shape[0],), np.intp)
        last = flag(attrs, "select_last_index")
        if len(axes) == 1:
            searched, axis, result = rows, len(kept), found.reshape(source.shape[:-1])
        else:
            searched, axis, result = rows.reshape(rows_shape), 1, found
        if last:
            searched = np.flip(searched, axis)
        steps: list[Thunk] = []
        if rows is not source:
            steps.append(partial(np.copyto, rows, source))
        steps.append(partial(find, searched, axis, result))
        if last:
            steps.append(partial(np.subtract, rows_shape[1] - 1, found, found))
        steps.append(partial(np.copyto, y.reshape(-1), found, "unsafe"))
        return sequence(*steps)

    return bind


KERNELS: dict[str, Bind] = {
    "relay.all": reduction(np.logical_and),
    "relay.any": reduction(np.logical_or),
    "relay.argmax": position(np.argmax),
    "relay.argmin": position(np.argmin),
    "relay.max": reduction(np.maximum),
    "relay.mean": widen_half(mean),
    "relay.min": reduction(np.minimum),
    "relay.prod": widen_half(reduction(np.multiply)),
    "relay.sum": widen_half(reduction(np.add)),
}
