"""Pooling over one to three dims, and over all of them."""

from __future__ import annotations

from dataclasses import replace
from math import inf, prod

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Array, Value, dims_of, dtype_of, is_float, rank_of, shape_of
from .rule import Convert, Results, Rules, since
from .windows import (
    Windows,
    known_dims,
    per_dim,
    spatial_dims,
    windows_of,
)


def _windows(node: Node, x: Value) -> Windows:
    dims = spatial_dims(node, x)
    kernel = node.ints("kernel_shape")
    if kernel is None or len(kernel) != len(dims) or any(k < 1 for k in kernel):
        raise node.error(
            f"attribute kernel_shape is {kernel}; supported: {len(dims)} integers of at least 1"
        )
    return windows_of(node, dims, kernel)


def _rounded_up(node: Node, windows: Windows, x: Value) -> Windows:
    """
    Return the windows with as much padding at the end as `ceil_mode`, if set, reads past it.

    A last window that would lie entirely in the padding at the end is dropped.
    """
    if not node.flag("ceil_mode", False):
        return windows
    dims, pads = known_dims(node, dims_of(x)[2:], "attribute ceil_mode"), list(windows.pads)
    for i, (n, s, reach) in enumerate(zip(dims, windows.strides, windows.reach, strict=True)):
        before, after = windows.pads[i], windows.pads[i + len(dims)]
        count = -(-(n + before + after - reach) // s) + 1
        if (count - 1) * s >= n + before:
            count -= 1
        pads[i + len(dims)] = max((count - 1) * s + reach - n - before, 0)
    return replace(windows, pads=tuple(pads))


def max_pool(node: Node, b: Builder) -> Results:
    """Return the greatest elements, and where they are, by rows or by columns."""
    x = node.input(0)
    by_columns = node.flag("storage_order", False)
    windows = _rounded_up(node, _windows(node, x), x)
    y = windows.op("nn.max_pool{}", x, b=b, pool_size=windows.sizes)
    if not node.is_used(1):
        return y
    indices = _indices(node, x, windows, by_columns, b)
    return y, b.reshape(indices, dims_of(y))


def _indices(node: Node, x: Value, windows: Windows, by_columns: bool, b: Builder) -> Value:
    """Return where the greatest element of each window is, among all elements of `x`."""
    n, c, *sides = shape_of(x)
    rank, before, after = len(sides), windows.pads[: len(sides)], windows.pads[len(sides) :]
    places, numbers, inside = np.int64(0), np.int64(0), np.True_
    grids: list[Array] = []
    for i, side in enumerate(sides):
        count = (side + before[i] + after[i] - windows.reach[i]) // windows.strides[i] + 1
        starts = np.arange(count) * windows.strides[i] - before[i]
        at = starts[:, None] + np.arange(windows.sizes[i]) * windows.dilations[i]
        grids.append(np.expand_dims(at, [j for j in range(2 * rank) if j not in (i, rank + i)]))
    for at, side in zip(grids, sides, strict=True):
        inside = inside & (at >= 0) & (at < side)
        places = places * side + np.clip(at, 0, side - 1)
    order = reversed(range(rank)) if by_columns else range(rank)
    for i in order:
        numbers = numbers * sides[i] + np.clip(grids[i], 0, sides[i] - 1)
    size = prod(windows.sizes)
    b.require_size(places.size * n * c, "the windows")
    lines = b.reshape(x, (n * c, prod(sides)))
    elements = b.op("take", lines, b.constant(places.reshape(-1)), axis=1)
    elements = b.reshape(elements, (n * c, places.size // size, size))
    if not inside.all():
        mask = b.constant(inside.reshape(1, -1, size))
        dtype = dtype_of(x)
        lowest = -inf if is_float(dtype) else np.iinfo(dtype).min
        elements = b.op("where", mask, elements, b.scalar(lowest, dtype))
    first = b.op("argmax", elements, axis=(2,), dtype="int64")
    first = b.op("add", first, b.constant(np.arange(0, places.size, size)))
    greatest = b.op("take", b.constant(numbers.reshape(-1)), first, axis=0)
    return b.op("add", greatest, b.constant(np.arange(n * c)[:, None] * prod(sides)))


def max_unpool(node: Node, b: Builder) -> Value:
    """Write elements where they were before pooling, among zeros, which may be added at ends."""
    x, shape = node.input(0), shape_of(node.input(0))
    rank = len(spatial_dims(node, x))
    kernel, strides = per_dim(node, "kernel_shape", rank, 1), per_dim(node, "strides", rank, 1)
    pads = per_dim(node, "pads", 2 * rank, 0)
    padded = [before + after for before, after in zip(pads[:rank], pads[rank:], strict=True)]
    steps = [(n - 1) * s + k for n, s, k in zip(shape[2:], strides, kernel, strict=True)]
    whole = [*shape[:2], *(step - pad for step, pad in zip(steps, padded, strict=True))]
    zeros = b.splat(np.zeros((), dtype_of(x)), [prod(whole)])
    lines = (b.reshape(value, [prod(shape)]) for value in (node.input(1), x))
    y = b.reshape(b.op("scatter_elements", zeros, *lines, axis=0, reduction="update"), whole)
    if node.optional(2) is None:
        return y
    ends = b.op("subtract", b.vector(2, "the shape", len(shape))[0], b.ints(whole))
    pairs = b.op("stack", b.ints([0] * len(shape)), ends, axis=1)
    return b.op("dyn.nn.pad", y, pairs, b.scalar_like(0, x), pad_mode="constant")


def average_pool(node: Node, b: Builder) -> Value:
    """
    Average; elements past the end, as `ceil_mode` reads them, never count, padding if required.
    """
    x = node.input(0)
    windows = _windows(node, x)
    counts = node.flag("count_include_pad", False)
    wider, rank = _rounded_up(node, windows, x), len(windows.kernel)
    past = [w - p for w, p in zip(wider.pads[rank:], windows.pads[rank:], strict=True)]
    if counts and any(p > 0 for p in past):
        x = _padded(x, windows.pads, b)
        wider = replace(windows, pads=(*[0] * rank, *(max(p, 0) for p in past)))
        counts = False
    how = {"pool_size": wider.sizes, "count_include_pad": counts}
    return wider.op("nn.avg_pool{}", x, b=b, **how)


def lp_pool(node: Node, b: Builder) -> Value:
    """Compute the p-th root of the sum of the p-th powers: the mean times their number."""
    x = node.input(0)
    p = node.integer("p", 2)
    if p < 1:
        raise node.error(f"attribute p is {p}; supported: 1 and more")
    windows = _rounded_up(node, _windows(node, x), x)
    how = {"pool_size": windows.sizes, "count_include_pad": True}
    mean = windows.op("nn.avg_pool{}", _powers(x, p, b), b=b, **how)
    return _root(b.op("multiply", mean, b.scalar_like(prod(windows.sizes), mean)), p, b)


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
