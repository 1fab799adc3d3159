"""
Pooling over windows of an image.

A window's maximum (or sum) is that over its rows of that over each row's cells, so the two axes
are folded one after the other: kh + kw passes instead of kh * kw. Cells of the padding are never
visited.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .bind import (
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
    widen_half,
    word,
)
from .scratch import scratch


def _axes(attrs: Attrs, rank: int) -> tuple[int, int]:
    first = word(attrs, "layout", "NCHW").index("H")
    assert first + 2 <= rank
    return first, first + 1


def _valid(extent: int, count: int, stride: int, shift: int) -> tuple[int, int]:
    """The windows first … last - 1 of `count` whose cell at `window * stride + shift` exists."""
    first = max(0, -(-max(0, -shift) // stride))
    last = min(count, (extent - 1 - shift) // stride + 1)
    return first, max(first, last)


def _fold_axis(
    function: np.ufunc,
    identity: Any,
    x: Array,
    y: Array,
    axis: int,
    window: tuple[int, int, int, int],
) -> list[Thunk]:
    """
    Fold windows along `axis` of `x` into `y`; a window has (cells, stride, dilation, padding
    before the first cell).
    """
    cells, stride, dilation, before = window
    everything = (slice(None),) * axis
    whole: list[Array] = []  # cells that every window has
    some: list[tuple[Array, Array]] = []
    for cell in range(cells):
        shift = cell * dilation - before
        first, last = _valid(x.shape[axis], y.shape[axis], stride, shift)
        if first == last:
            continue
        start = first * stride + shift
        stop = (last - 1) * stride + shift + 1
        source = x[(*everything, slice(start, stop, stride))]
        if last - first == y.shape[axis]:
            whole.append(source)
        else:
            some.append((source, y[(*everything, slice(first, last))]))
    if not whole:
        steps: list[Thunk] = [partial(y.fill, identity)]
    elif len(whole) == 1:
        steps = [partial(np.copyto, y, whole[0])]
    else:
        steps = [apply(function, whole[0], whole[1], out=y)]
        steps += [apply(function, y, source, out=y) for source in whole[2:]]
    return steps + [apply(function, to, source, out=to) for source, to in some]


def _fold_windows(
    function: np.ufunc, identity: Any, attrs: Attrs, x: Array, y: Array
) -> list[Thunk]:
    h, w = _axes(attrs, x.ndim)
    kernel, strides = pair(attrs, "pool_size", 1), pair(attrs, "strides", 1)
    dilation, (top, left, _, _) = pair(attrs, "dilation", 1), borders(attrs)
    rows = scratch((*x.shape[:h], y.shape[h], *x.shape[w:]), y.dtype)
    return [
        *_fold_axis(function, identity, x, rows, h, (kernel[0], strides[0], dilation[0], top)),
        *_fold_axis(function, identity, rows, y, w, (kernel[1], strides[1], dilation[1], left)),
    ]


def _lowest(dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "b":
        return False
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def max_pool2d(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """The greatest cell of each window; the padding never wins."""
    (x,), (y,) = ins, outs
    return sequence(*_fold_windows(np.maximum, _lowest(x.dtype), attrs, x, y))


def avg_pool2d(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """
    The mean of each window's cells inside the image, or inside the padded image with
    `count_include_pad`; cells that only `ceil_mode` adds never count.
    """
    (x,), (y,) = ins, outs
    kernel, strides = pair(attrs, "pool_size", 1), pair(attrs, "strides", 1)
    dilation, (top, left, bottom, right) = pair(attrs, "dilation", 1), borders(attrs)
    padded = flag(attrs, "count_include_pad", False)
    counts: list[Array] = []
    sides = ((top, bottom), (left, right))
    for i, axis in enumerate(_axes(attrs, x.ndim)):
        before, after = sides[i]
        low, high = (-before, x.shape[axis] + after) if padded else (0, x.shape[axis])
        starts = (window * strides[i] - before for window in range(y.shape[axis]))
        cells = (range(start, start + kernel[i] * dilation[i], dilation[i]) for start in starts)
        counts.append(np.array([sum(low <= cell < high for cell in row) for row in cells], int))
    count = np.maximum(np.multiply.outer(*counts), 1).astype(y.dtype)
    if word(attrs, "layout", "NCHW") == "NHWC":
        count = count[:, :, None]
    return sequence(*_fold_windows(np.add, 0, attrs, x, y), partial(np.divide, y, count, y))


def global_max_pool2d(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """The greatest cell of each image."""
    (x,), (y,) = ins, outs
    return fold(np.maximum, x, _axes(attrs, x.ndim), y, True)


def global_avg_pool2d(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """The mean of each image."""
    (x,), (y,) = ins, outs
    h, w = _axes(attrs, x.ndim)
    count = np.array(x.shape[h] * x.shape[w], y.dtype)
    return sequence(fold(np.add, x, (h, w), y, True), partial(np.divide, y, count, y))


KERNELS: dict[str, Bind] = {
    "relay.nn.avg_pool2d": widen_half(avg_pool2d),
    "relay.nn.global_avg_pool2d": widen_half(global_avg_pool2d),
    "relay.nn.global_max_pool2d": global_max_pool2d,
    "relay.nn.max_pool2d": max_pool2d,
}
