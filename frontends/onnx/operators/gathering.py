"""Gather single elements or blocks by their indices."""

from __future__ import annotations

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Constant, Value, dims_of, rank_of, shape_text
from .rule import Rules, since
from .shapes import merged

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


RULES: Rules = {
    "GatherElements": since(11, gather_elements),
    "GatherND": since(11, gather_nd),
    "ReverseSequence": since(10, reverse_sequence),
}
