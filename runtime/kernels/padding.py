"""Padding."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from .bind import Array, Attrs, Bind, Thunk, integers, sequence, word

_MODES: dict[str, Literal["edge", "reflect"]] = {"edge": "edge", "reflect": "reflect"}


def pad(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """
    Add `pad_width` slices before and after each axis.

    They hold a given value, or repeat the edge, or mirror the tensor at its edge. For the
    latter two, axes are filled in order, each by copying slices that are complete in all
    earlier axes.
    """
    (x, value), (y,) = ins, outs
    widths = integers(attrs, "pad_width")
    before, after = widths[::2], widths[1::2]
    inside = [slice(b, b + extent) for b, extent in zip(before, x.shape, strict=True)]
    interior = partial(np.copyto, y[(*inside, ...)], x)
    mode = word(attrs, "pad_mode")
    if mode == "constant":
        return sequence(partial(np.copyto, y, value), interior)
    steps: list[Thunk] = [interior]
    for axis, extent in enumerate(x.shape):
        numbers = np.array(range(extent), np.intp)
        source: Array = np.pad(numbers, (before[axis], after[axis]), _MODES[mode])
        for to in (*range(before[axis]), *range(before[axis] + extent, y.shape[axis])):
            place: list[Any] = [slice(None)] * axis + [to] + inside[axis + 1 :]
            origin = list(place)
            origin[axis] = int(source[to]) + before[axis]
            steps.append(partial(np.copyto, y[(*place, ...)], y[(*origin, ...)]))
    return sequence(*steps)


def dyn_pad(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Add `pad_width` slices before and after each axis."""
    (x, width, value), _ = ins, outs
    mode = word(attrs, "pad_mode")

    def fill() -> None:
        given = tuple(width.reshape(-1).tolist())
        pad({"pad_width": given, "pad_mode": mode}, [x, value], outs)()

    return fill


KERNELS: dict[str, Bind] = {"relay.dyn.nn.pad": dyn_pad, "relay.nn.pad": pad}
