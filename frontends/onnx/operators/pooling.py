"""Pooling over one to three dims, and over all of them."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import inf, prod
from operator import mul
from typing import Any

import numpy as np

from ..convert.computed import Computed
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Value, dims_of, dtype_of, is_float, rank_of
from .rule import Convert, Results, Rules, since
from .windows import Windows, known_dims, per_dim, spatial_dims, windows_of

INT64, BOOL = np.dtype(np.int64), np.dtype(np.bool_)


def _windows(node: Node, x: Value, fill: float, b: Builder) -> tuple[Value, Windows]:
    """Return `x` and its windows; padding that depends on open dims is part of `x`, as `fill`."""
    rank, kernel = len(spatial_dims(node, x)), node.ints("kernel_shape")
    if kernel is None or len(kernel) != rank or any(k < 1 for k in kernel):
        raise node.error(
            f"attribute kernel_shape is {kernel}; supported: {rank} integers of at least 1"
        )
    return windows_of(node, x, kernel, b, fill)


def _rounded_up(node: Node, windows: Windows, x: Value) -> Windows:
    """
    Return the windows with as much padding at the end as `ceil_mode`, if set, reads past it.

    A last window that would lie entirely in the padding at the end is dropped: here, if the dim is
    known, and otherwise by `_started`.
    """
    if not node.flag("ceil_mode", False):
        return windows
    dims, pads = dims_of(x)[2:], list(windows.pads)
    for i, (n, s, reach) in enumerate(zip(dims, windows.strides, windows.reach, strict=True)):
        before, after = windows.pads[i], windows.pads[i + len(dims)]
        if not isinstance(n, int):
            pads[i + len(dims)] = after + s - 1
            continue
        count = -(-(n + before + after - reach) // s) + 1
        if (count - 1) * s >= n + before:
            count -= 1
        pads[i + len(dims)] = max((count - 1) * s + reach - n - before, 0)
    return replace(windows, pads=tuple(pads))


def _started(node: Node, y: Value, windows: Windows, x: Value, b: Builder) -> Value:
    """Return the results of windows that, in `ceil_mode`, start before the padding at the end."""
    dims = dims_of(x)[2:]
    late = [
        i
        for i, dim in enumerate(dims)
        if not isinstance(dim, int)
        and windows.strides[i] + windows.pads[i + len(dims)] > windows.reach[i]
    ]
    if not node.flag("ceil_mode", False) or not late:
        return y
    strides = [windows.strides[i] for i in late]
    sizes = Computed(b.sizes([dims[i] for i in late]), b)
    starts = [windows.pads[i] + windows.strides[i] - 1 for i in late]
    ends = (sizes + Computed(b.ints(starts), b)).floor_divide(Computed(b.ints(strides), b)).value
    zeros, ones = (b.ints([n] * len(late)) for n in (0, 1))
    return b.op("dyn.strided_slice", y, zeros, ends, ones, axes=[i + 2 for i in late])


def _lowest(dtype: np.dtype[Any]) -> float:
    return -inf if is_float(dtype) else int(np.iinfo(dtype).min)


def max_pool(node: Node, b: Builder) -> Results:
    """Return the greatest elements, and where they are, by rows or by columns."""
    data = node.input(0)
    by_columns = node.flag("storage_order", False)
    x, windows = _windows(node, data, _lowest(dtype_of(data)), b)
    wider = _rounded_up(node, windows, x)
    y = wider.op("nn.max_pool{}", x, b=b, pool_size=wider.sizes)
    y = _started(node, y, windows, x, b)
    if not node.is_used(1):
        return y
    if x is not data:
        known_dims(node, dims_of(data)[2:], "output 1 with auto_pad")
    return y, _indices(x, y, windows, by_columns, b)


def _indices(x: Value, y: Value, windows: Windows, by_columns: bool, b: Builder) -> Value:
    """Return where the greatest element of each window is, among all elements of `x`."""
    sides, rank = [Computed(b.size(dim), b) for dim in dims_of(x)[2:]], len(windows.kernel)
    cells, inside, starts = x, Computed(b.scalar(1, BOOL), b), list[Computed]()
    for i, side in enumerate(sides):
        start = Computed(b.counting(dims_of(y)[2 + i]), b) * windows.strides[i] - windows.pads[i]
        start = start.expand_dims(axis=1)
        steps = np.arange(windows.sizes[i]) * windows.dilations[i]
        at = start + Computed(b.constant(steps), b)
        cells = b.op("take", cells, at.clamped(0, side - 1).value, axis=2 + 2 * i, mode="clip")
        after = 2 * (rank - 1 - i)
        inside = inside & at.is_within(0, side - 1).expand_dims(axis=2, num_newaxis=after)
        starts.append(start.expand_dims(axis=2, num_newaxis=after // 2).squeeze(axis=[1]))
    cells = b.op("where", inside.value, cells, b.scalar_like(_lowest(dtype_of(x)), x))
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    cells = b.transpose(cells, (0, 1, *(axis + 2 for axis in order)))
    cells = b.op("reshape", cells, newshape=(*[0] * (2 + rank), prod(windows.sizes)))
    cell = Computed(b.op("argmax", cells, axis=(2 + rank,), dtype="int64"), b)
    places = list[Computed]()
    for i in reversed(range(rank)):
        step = cell.floor_mod(windows.sizes[i]) * windows.dilations[i]
        places.insert(0, (starts[i] + step).clamped(0, sides[i] - 1))
        cell = cell.floor_divide(windows.sizes[i])
    number = Computed(b.scalar(0, INT64), b)
    for i in reversed(range(rank)) if by_columns else range(rank):
        number = number * sides[i] + places[i]
    planes = [Computed(b.counting(dim), b).expand_dims(axis=1) for dim in dims_of(x)[:2]]
    plane = planes[0] * Computed(b.size(dims_of(x)[1]), b) + planes[1].squeeze(axis=[1])
    return (plane.expand_dims(axis=2, num_newaxis=rank) * reduce(mul, sides) + number).value


def max_unpool(node: Node, b: Builder) -> Value:
    """Write elements where they were before pooling, among zeros, which may be added at ends."""
    x = node.input(0)
    rank = len(spatial_dims(node, x))
    kernel, strides = per_dim(node, "kernel_shape", rank, 1), per_dim(node, "strides", rank, 1)
    pads = per_dim(node, "pads", 2 * rank, 0)
    ends = zip(kernel, strides, pads[:rank], pads[rank:], strict=True)
    more = b.ints([0, 0, *(k - s - before - after for k, s, before, after in ends)])
    whole = b.op("multiply", b.sizes(dims_of(x)), b.ints([1, 1, *strides]))
    whole = b.op("add", whole, more)
    count = b.op("prod", whole, axis=(0,), keepdims=True)
    zeros = b.op("dyn.broadcast_to", b.scalar_like(0, x), count)
    lines = (b.op("reshape", value, newshape=(-1,)) for value in (node.input(1), x))
    y = b.op("scatter_elements", zeros, *lines, axis=0, reduction="update")
    y = b.op("dyn.reshape", y, whole, allowzero=True)
    if node.optional(2) is None:
        return y
    past = b.op("subtract", b.vector(2, "the shape", 2 + rank)[0], whole)
    pairs = b.op("stack", b.ints([0] * (2 + rank)), past, axis=1)
    return b.op("dyn.nn.pad", y, pairs, b.scalar_like(0, x), pad_mode="constant")


def average_pool(node: Node, b: Builder) -> Value:
    """Average; elements that `ceil_mode` reads past the end never count, padding if required."""
    data, counts = node.input(0), node.flag("count_include_pad", False)
    x, windows = _windows(node, data, 0, b)
    if x is not data:
        y = windows.op("nn.avg_pool{}", x, b=b, pool_size=windows.sizes, count_include_pad=True)
        if counts:
            return y
        ones = b.broadcast_to(b.scalar_like(1, x), (1, 1, *dims_of(data)[2:]))
        ones, _ = _windows(node, ones, 0, b)
        part = windows.op("nn.avg_pool{}", ones, b=b, pool_size=windows.sizes)
        return b.op("divide", y, part)
    wider, rank = _rounded_up(node, windows, x), len(windows.kernel)
    past = [w - p for w, p in zip(wider.pads[rank:], windows.pads[rank:], strict=True)]
    if counts and any(p > 0 for p in past):
        x = _padded(x, windows.pads, b)
        wider = replace(windows, pads=(*[0] * rank, *(max(p, 0) for p in past)))
        counts = False
    how = {"pool_size": wider.sizes, "count_include_pad": counts}
    return _started(node, wider.op("nn.avg_pool{}", x, b=b, **how), windows, data, b)


def lp_pool(node: Node, b: Builder) -> Value:
    """Compute the p-th root of the sum of the p-th powers: the mean times their number."""
    p = node.integer("p", 2)
    if p < 1:
        raise node.error(f"attribute p is {p}; supported: 1 and more")
    x, windows = _windows(node, node.input(0), 0, b)
    wider = _rounded_up(node, windows, x)
    how = {"pool_size": wider.sizes, "count_include_pad": True}
    mean = wider.op("nn.avg_pool{}", _powers(x, p, b), b=b, **how)
    total = b.op("multiply", mean, b.scalar_like(prod(windows.sizes), mean))
    return _started(node, _root(total, p, b), windows, x, b)


def global_lp_pool(node: Node, b: Builder) -> Value:
    x, p = node.input(0), node.integer("p", 2)
    if p < 1 or rank_of(x) < 3:
        raise node.error(f"p is {p}, the rank {rank_of(x)}; supported: from 1, and from 3 on")
    sums = b.op("sum", _powers(x, p, b), axis=tuple(range(2, rank_of(x))), keepdims=True)
    return _root(sums, p, b)


def _powers(x: Value, p: int, b: Builder) -> Value:
    x = b.op("abs", x)
    return x if p == 1 else b.op("power", x, b.scalar_like(p, x))


def _root(x: Value, p: int, b: Builder) -> Value:
    return x if p == 1 else b.op("power", x, b.scalar_like(1 / p, x))


def _padded(x: Value, pads: tuple[int, ...], b: Builder) -> Value:
    rank = len(pads) // 2
    pairs = zip(pads[:rank], pads[rank:], strict=True)
    width = (0, 0, 0, 0, *(n for pair in pairs for n in pair))
    return b.op("nn.pad", x, b.scalar_like(0, x), pad_width=width, pad_mode="constant")


def global_pool(name: str, reduction: str) -> Convert:
    """Return a reduction over all dims after batch and channel, which are kept as 1."""

    def convert(node: Node, b: Builder) -> Value:
        x = node.input(0)
        rank = rank_of(x)
        if rank == 4:
            return b.op(name, x)
        if rank < 3:
            raise node.error(f"the input has rank {rank}; supported: 3 and more")
        return b.op(reduction, x, axis=tuple(range(2, rank)), keepdims=True)

    return convert


RULES: Rules = {
    "AveragePool": since(1, average_pool),
    "GlobalAveragePool": since(1, global_pool("nn.global_avg_pool2d", "mean")),
    "GlobalLpPool": since(2, global_lp_pool),
    "GlobalMaxPool": since(1, global_pool("nn.global_max_pool2d", "max")),
    "LpPool": since(2, lp_pool),
    "MaxPool": since(1, max_pool),
    "MaxUnpool": since(9, max_unpool),
}
