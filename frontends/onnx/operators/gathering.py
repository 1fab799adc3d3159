"""
Gather elements or blocks by their indices, write updates over them, and combine elements with those
before them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Constant, Value, dims_of, rank_of, shape_text
from .repetition import repeat
from .rule import Results, Rule, Rules, since
from .shapes import as_matrix, merged

INDEX = np.dtype(np.int64)


def from_front(indices: Value, sizes: Value, b: Builder) -> Value:
    """Return `indices`, along the last axis for dims of `sizes`, counted from the front."""
    if isinstance(indices, Constant) and isinstance(sizes, Constant):
        outside = (indices.array < -sizes.array) | (indices.array >= sizes.array)
        if outside.any():
            raise b.node.error(
                f"index {indices.array[outside].flat[0]} is out of range; the axis has "
                f"{sizes.array.tolist()} elements"
            )
    back = b.op("add", indices, sizes)
    return b.op("where", b.op("less", indices, b.scalar(0, INDEX)), back, indices)


def gather_elements(node: Node, b: Builder) -> Value:
    """Take, for each index, the element at its place, but for `axis`, where the index says."""
    x, indices = node.input(0), b.cast(node.input(1), INDEX)
    axis = node.axis(node.integer("axis", 0), rank_of(x))
    return b.op("gather", x, from_front(indices, b.size(dims_of(x)[axis]), b), axis=axis)


def index_count(node: Node, indices: Value, rest: int | None) -> int:
    """
    Return the length of the vectors of `indices`, of the first axes of blocks of the data.

    If it is not known, it follows from `rest`, the number of the data's other axes.
    """
    most = rank_of(node.input(0))
    count = dims_of(indices)[-1] if rank_of(indices) else 0
    if not isinstance(count, int) and rest is not None:
        count = most - rest
    if not isinstance(count, int):
        message = "the length of vectors of indices is computed at run time; supported: known"
        raise node.error(message, indices, needs_shape=True)
    if not 1 <= count <= most:
        raise node.error(
            f"the indices have shape {shape_text(dims_of(indices))}, the data "
            f"{shape_text(dims_of(node.input(0)))}; supported: vectors of 1 to {most} indices"
        )
    return count


def gather_nd(node: Node, b: Builder) -> Value:
    """Take, for each vector of indices, the block of the data at these indices."""
    x, indices = node.input(0), b.cast(node.input(1), INDEX)
    batch = node.integer("batch_dims", 0) if node.opset >= 12 else 0
    rank = rank_of(indices)
    if not 0 <= batch < min(rank_of(x), rank):
        raise node.error(
            f"attribute batch_dims is {batch}, the data have rank {rank_of(x)} and the indices "
            f"{rank}; supported: 0 up to the smaller rank, exclusive"
        )
    declared = node.output_rank()
    count = index_count(node, indices, None if declared is None else declared - rank + 1 + batch)
    sizes = b.sizes(dims_of(x)[batch : batch + count])
    columns = b.transpose(from_front(indices, sizes, b), (rank - 1, *range(rank - 1)))
    return b.op("gather_nd", x, columns, batch_dims=batch, index_rank=count)


def reverse_sequence(node: Node, b: Builder) -> Value:
    """Reverse the first elements, as many as each sequence has, along the axis of time."""
    x, lengths = node.input(0), b.cast(node.input(1), INDEX)
    time, batch = node.integer("time_axis", 0), node.integer("batch_axis", 1)
    if sorted((time, batch)) != [0, 1] or rank_of(x) < 2:
        raise node.error(f"the axes are {time} and {batch}; supported: 0 and 1")
    order = [1, 0, *range(2, rank_of(x))]
    turned = x if time == 0 else b.transpose(x, order)
    steps, count = dims_of(turned)[:2]
    lengths = b.reshape(lengths, (count,))
    at = b.op("expand_dims", b.counting(steps), axis=1)
    last = b.op("subtract", lengths, b.scalar(1, INDEX))
    inside = b.op("less", at, lengths)
    places = b.op("where", inside, b.op("subtract", last, at), at)
    places = b.op("multiply", places, b.size(count))
    places = b.op("add", places, b.counting(count))
    y = b.op("take", merged(turned, 2, b), places, axis=0, mode="clip")
    return y if time == 0 else b.transpose(y, order)


REDUCTIONS = "none", "add", "mul", "max", "min"


def _reduction(node: Node) -> str:
    """Return how an element is combined with its updates."""
    name = node.choice("reduction", "none", REDUCTIONS)
    return "update" if name == "none" else name


def scatter_elements(node: Node, b: Builder) -> Results:
    """Write each update where its index says."""
    reduction = _reduction(node) if node.opset >= 16 else "update"
    axis = node.axis(node.integer("axis", 0), rank_of(node.input(0)))
    x, indices = node.input(0), b.cast(node.input(1), INDEX)
    indices = from_front(indices, b.size(dims_of(x)[axis]), b)
    return b.op("scatter_elements", x, indices, node.input(2), axis=axis, reduction=reduction)


def tensor_scatter(node: Node, b: Builder) -> Value:
    """Write a sequence into the cache of each sample from its index on, which may wrap around."""
    cache, update, first = node.input(0), node.input(1), node.optional(2)
    mode = node.choice("mode", "linear", ("linear", "circular"))
    axis = node.axis(node.integer("axis", -2), rank_of(cache))
    at = b.counting(dims_of(update)[axis])
    at = b.op("expand_dims", at, axis=1, num_newaxis=rank_of(cache) - axis - 1)
    if first is not None:
        first = b.op("expand_dims", b.cast(first, INDEX), axis=1, num_newaxis=rank_of(cache) - 1)
        at = b.op("add", first, at)
    if mode == "circular":
        at = b.op("floor_mod", at, b.size(dims_of(cache)[axis]))
    at = b.broadcast_to(at, dims_of(update))
    return b.op("scatter_elements", cache, at, update, axis=axis, reduction="update")


def scatter_nd(node: Node, b: Builder) -> Results:
    """Write blocks at vectors of indices: rows of the data, whose axes that are indexed are one."""
    x, updates = node.input(0), node.input(2)
    reduction = _reduction(node) if node.opset >= 16 else "update"
    indices, outer = b.cast(node.input(1), INDEX), rank_of(node.input(1)) - 1
    count = index_count(node, indices, rank_of(updates) - outer)
    if rank_of(updates) != outer + rank_of(x) - count:
        raise node.error(
            f"the updates have rank {rank_of(updates)}; supported: {outer + rank_of(x) - count}"
        )
    sizes = dims_of(x)[:count]
    indices = from_front(indices, b.sizes(sizes), b)
    at: Value = b.scalar(0, INDEX)
    for i in range(count):
        column = b.op("take", indices, b.scalar(i, INDEX), axis=outer, mode="clip")
        at = column if i == 0 else b.op("add", b.op("multiply", at, b.size(sizes[i])), column)
    rows, changes = (as_matrix(v, n, b) for v, n in ((x, count), (updates, outer)))
    at = b.broadcast_to(b.op("reshape", at, newshape=(-1, 1)), dims_of(changes))
    changed = b.op("scatter_elements", rows, at, changes, axis=0, reduction=reduction)
    return b.reshape(changed, dims_of(x))


Scan: TypeAlias = Callable[[Value, int], Value]
"""Combines each element with all before it, along an axis."""


def _running(node: Node, b: Builder, scan: Scan) -> Value:
    """Scan along the node's axis; one known at run time is the middle one of three."""
    x, reverse = node.input(0), node.flag("reverse", False)
    if node.is_known(1):
        axis = node.axis(int(node.scalar_at(1, "axis") or 0), rank_of(x))
        node.input(1)
        x = b.op("reverse", x, axis=axis) if reverse else x
        y = scan(x, axis)
        return b.op("reverse", y, axis=axis) if reverse else y
    named, dims = b.vector(1, "axis", 1)[0], b.shape(x)
    axis, every = b.op("floor_mod", named, b.scalar(rank_of(x), INDEX)), b.counting(rank_of(x))
    sides = (
        b.op("where", b.op(relation, every, axis), dims, b.scalar(1, INDEX))
        for relation in ("less", "equal", "greater")
    )
    parts = [b.op("prod", side, axis=(0,), keepdims=True) for side in sides]
    block = b.op("dyn.reshape", x, b.joined(parts), allowzero=True)
    block = b.op("reverse", block, axis=1) if reverse else block
    y = scan(block, 1)
    y = b.op("reverse", y, axis=1) if reverse else y
    return b.op("dyn.reshape", y, dims, allowzero=True)


def cum_sum(node: Node, b: Builder) -> Results:
    """Add each element and all before it."""
    exclusive = node.flag("exclusive", False)
    return _running(node, b, lambda x, axis: b.op("cumsum", x, axis=axis, exclusive=exclusive))


def cum_prod(node: Node, b: Builder) -> Results:
    """Multiply each element and all before it."""
    exclusive = node.flag("exclusive", False)

    def scan(x: Value, axis: int) -> Value:
        if dims_of(x)[axis] == 0:
            return x
        first, others = dims_of(x)[:axis], dims_of(x)[axis + 1 :]

        def step(number: Value, states: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Value]]:
            factor = b.op("take", x, number, axis=axis, mode="clip")
            product = b.op("multiply", states[0], factor)
            return [product], [states[0] if exclusive else product]

        one = b.broadcast_to(b.scalar_like(1, x), (*first, *others))
        (y,) = repeat(node, b, dims_of(x)[axis], [one], step).outputs
        return b.transpose(y, (*range(1, axis + 1), 0, *range(axis + 1, rank_of(x))))

    return _running(node, b, scan)


RULES: Rules = {
    "CumProd": since(26, cum_prod),
    "CumSum": since(11, cum_sum),
    "GatherElements": since(11, gather_elements),
    "GatherND": since(11, gather_nd),
    "ReverseSequence": since(10, reverse_sequence),
    "Scatter": (Rule(scatter_elements, 9, 11),),
    "ScatterElements": since(11, scatter_elements),
    "ScatterND": since(11, scatter_nd),
    "TensorScatter": since(24, tensor_scatter),
}
