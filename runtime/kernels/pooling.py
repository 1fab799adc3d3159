"""
Pooling over windows of an image.

The maximum (or sum) over a window is that over its rows of that over each row's cells, so the
two axes are folded in turn. Windows that are close to each other are folded at every place of the
image, the next cell being at a fixed distance in memory, and then picked. Of others, an axis is
folded cell by cell for all windows at once; cells of the padding are then never visited.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import cycle
from math import prod
from typing import Any

import numpy as np

from ..memory.scratch import scratch
from .bind import (
    HALVES,
    INTEGERS,
    Array,
    Attrs,
    Bind,
    Thunk,
    apply,
    borders,
    flag,
    fold,
    pair,
    sequence,
    widen,
    word,
)
from .conversions import bind_quotient
from .windows import Axis, landing

DENSE = 6
"""Limit on the cells for each window of images that are folded at every place."""
PLANES_SIZE = 1 << 19
"""Limit in bytes on the channels that are folded at every place in one go, unless it is one."""


def _axes(attrs: Attrs, rank: int) -> tuple[int, int]:
    first = word(attrs, "layout").index("H")
    assert first + 2 <= rank
    return first, first + 1


def _touching(along: Axis, count: int, extent: int) -> Iterator[int]:
    """Yield the cells that are inside an axis of `extent` in at least one of `count` windows."""
    seen = along.cells  # a later window starts further on: its inside cells are lower, or seen
    for window in range(count):
        inside = along.cells_inside(window, 0, extent)
        yield from range(inside.start, min(inside.stop, seen))
        seen = min(seen, inside.start)


def _fold_axis(
    function: np.ufunc, identity: Any, x: Array, y: Array, axis: int, along: Axis
) -> list[Thunk]:
    """Fold the windows `along` axis `axis` of `x` into `y`, cell by cell."""
    everything = (slice(None),) * axis
    extent, count = x.shape[axis], y.shape[axis]
    whole: list[Array] = []  # cells that are inside in every window
    some: list[tuple[Array, Array]] = []
    for cell in sorted(_touching(along, count, extent)):
        found = landing(count, along.stride, along.place(0, cell), extent)
        if found is None:
            continue
        source, to = x[(*everything, found.places)], y[(*everything, found.cells)]
        if to.shape[axis] == count:
            whole.append(source)
        else:
            some.append((source, to))
    if not whole:
        steps: list[Thunk] = [partial(y.fill, identity)]
    elif len(whole) == 1:
        steps = [partial(np.copyto, y, whole[0])]
    else:
        steps = [apply(function, whole[0], whole[1], out=y)]
        steps += [apply(function, y, source, out=y) for source in whole[2:]]
    return steps + [apply(function, to, source, out=to) for source, to in some]


def _windows(attrs: Attrs) -> tuple[Axis, Axis]:
    kernel, strides = pair(attrs, "pool_size"), pair(attrs, "strides")
    dilation, (top, left, bottom, right) = pair(attrs, "dilation"), borders(attrs)
    return (
        Axis(kernel[0], strides[0], dilation[0], top, bottom),
        Axis(kernel[1], strides[1], dilation[1], left, right),
    )


def _fold_shifted(
    function: np.ufunc, source: Array, to: Array, axis: Axis, unit: int
) -> list[Thunk]:
    """
    Fold cells of `source` that are multiples of `unit` elements apart into the first one's place.

    Both arrays are contiguous. They are folded as one row of numbers: some results span two rows of
    an image.
    """
    source, to = source.reshape(-1), to.reshape(-1)
    shifts = [cell * axis.dilation * unit for cell in range(axis.cells)]
    count = max(0, source.size - shifts[-1])
    to, folded = to[:count], source[:count]
    steps: list[Thunk] = []
    for shift in shifts[1:]:
        steps.append(apply(function, folded, source[shift : shift + count], out=to))
        folded = to
    return steps


def _fold_places(
    function: np.ufunc, identity: Any, x: Array, y: Array, height: Axis, width: Axis
) -> list[Thunk]:
    """
    Fold the windows of `x` (planes, height, width) into `y` at every place, then pick from them.

    With stride 2 that is four times as many results, but of one loop over all planes, which takes
    a sixth of the time per result of loops over rows: 2 to 4 times as fast.
    """
    reach = height.reach(y.shape[1]), width.reach(y.shape[2])
    axes = tuple(zip(reach, (height, width), x.shape[1:], strict=True))
    is_inside = all(axis.before == 0 and cells <= extent for cells, axis, extent in axes)
    shape = x.shape[1:] if is_inside else reach
    at_once = max(1, min(len(x), PLANES_SIZE // max(1, prod(shape) * y.itemsize)))
    buffers = cycle([scratch((at_once, *shape), y.dtype) for _ in range(2)])
    steps: list[Thunk] = []
    for first in range(0, len(x), at_once):
        planes = x[first : first + at_once]
        if not is_inside:
            image, planes = planes, next(buffers)[: len(planes)]
            steps.append(partial(planes.fill, identity))
            row, column = (
                landing(cells, 1, axis.place(0, 0), extent) for cells, axis, extent in axes
            )
            if row is not None and column is not None:
                to = planes[:, row.cells, column.cells]
                steps.append(partial(np.copyto, to, image[:, row.places, column.places]))
        for axis, unit in ((width, 1), (height, shape[1])):
            if axis.cells > 1:
                folded = next(buffers)[: len(planes)]
                steps += _fold_shifted(function, planes, folded, axis, unit)
                planes = folded
        stops = [
            (count - 1) * axis.stride + 1
            for count, (_, axis, _) in zip(y.shape[1:], axes, strict=True)
        ]
        picked = planes[:, : stops[0] : height.stride, : stops[1] : width.stride]
        steps.append(partial(np.copyto, y[first : first + at_once], picked))
    return steps


def _fold_windows(
    function: np.ufunc, identity: Any, attrs: Attrs, x: Array, y: Array
) -> list[Thunk]:
    h, w = _axes(attrs, x.ndim)
    height, width = _windows(attrs)
    outputs = y.shape[h] * y.shape[w]
    reach = height.reach(y.shape[h]) * width.reach(y.shape[w])
    if outputs == 1 and all(
        axis.place(0, 0) == 0 and axis.dilation == 1 and axis.cells == extent
        for axis, extent in ((height, x.shape[h]), (width, x.shape[w]))
    ):
        return [fold(function, x, (h, w), y, True)]
    if w == x.ndim - 1 and reach <= DENSE * outputs:
        count = prod(x.shape[:h])
        planes = x.reshape(count, *x.shape[h:]), y.reshape(count, *y.shape[h:])
        return _fold_places(function, identity, *planes, height, width)
    rows = scratch((*x.shape[:h], y.shape[h], *x.shape[w:]), y.dtype)
    return [
        *_fold_axis(function, identity, x, rows, h, height),
        *_fold_axis(function, identity, rows, y, w, width),
    ]


def _lowest(dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "b":
        return False
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def max_pool2d(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Take the maximum of each window, ignoring the padding."""
    (x,), (y,) = ins, outs
    return sequence(*_fold_windows(np.maximum, _lowest(x.dtype), attrs, x, y))


def avg_pool2d(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """
    Take the mean of each window's cells that are inside the image.

    With `count_include_pad`, cells inside the padded image count; cells that only `ceil_mode`
    adds never do. The mean of integers is truncated toward zero.
    """
    (x,), (y,) = ins, outs
    padded = flag(attrs, "count_include_pad")
    counts: list[Array] = []
    for along, axis in zip(_windows(attrs), _axes(attrs, x.ndim), strict=True):
        low, high = -along.before if padded else 0, x.shape[axis] + (along.after if padded else 0)
        cells = [len(along.cells_inside(window, low, high)) for window in range(y.shape[axis])]
        counts.append(np.array(cells, np.float64))  # a product may exceed int64
    most = np.inf if y.dtype.kind == "f" else 2.0**62
    count = np.clip(np.multiply.outer(*counts), 1, most).astype(y.dtype)
    if word(attrs, "layout") == "NHWC":
        count = count[:, :, None]
    return sequence(*_fold_windows(np.add, 0, attrs, x, y), bind_quotient(y, count, y))


def global_max_pool2d(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Take the maximum of each image."""
    (x,), (y,) = ins, outs
    return fold(np.maximum, x, _axes(attrs, x.ndim), y, True)


def global_avg_pool2d(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Take the mean of each image."""
    (x,), (y,) = ins, outs
    h, w = _axes(attrs, x.ndim)
    count = np.array(x.shape[h] * x.shape[w], y.dtype)
    return sequence(fold(np.add, x, (h, w), y, True), bind_quotient(y, count, y))


def max_pool2d_grad(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Add the number of each window where its first maximum is."""
    axis = word(attrs, "layout").index("C")
    grad, x, y = (np.moveaxis(array, axis, 1) for array in (*ins, *outs))
    sides = [*zip(pair(attrs, "pool_size"), pair(attrs, "strides"), borders(attrs), strict=False)]
    images: Sequence[Array] = np.indices(x.shape[:2], sparse=True)

    def run() -> None:
        y.fill(0)
        for place in np.ndindex(*grad.shape[2:]):
            starts = [i * step - before for i, (_, step, before) in zip(place, sides, strict=True)]
            rows, columns = (
                slice(max(start, 0), max(start + cells, 0))
                for start, (cells, *_) in zip(starts, sides, strict=True)
            )
            cells = x[:, :, rows, columns]
            if cells.size:
                first = cells.reshape(*cells.shape[:2], -1).argmax(-1)
                row, column = np.divmod(first, cells.shape[3])
                y[(*images, rows.start + row, columns.start + column)] += grad[(..., *place)]

    return run


KERNELS: dict[str, Bind] = {
    "relay.nn.avg_pool2d": widen(avg_pool2d, {**HALVES, **INTEGERS}),
    "relay.nn.global_avg_pool2d": widen(global_avg_pool2d, {**HALVES, **INTEGERS}),
    "relay.nn.global_max_pool2d": global_max_pool2d,
    "relay.nn.max_pool2d": max_pool2d,
    "relay.nn.max_pool2d_grad": widen(max_pool2d_grad, HALVES),
}
