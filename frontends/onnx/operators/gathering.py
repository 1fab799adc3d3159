"""Gather single elements or blocks by their indices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Value, dims_of, rank_of, shape_of, shape_text
from .rule import Rules, since

INDEX = np.dtype(np.int64)


def _from_front(indices: Value, sizes: Sequence[int], b: Builder) -> Value:
    """Return `indices`, along the last axis for dims of `sizes`, counted from the front."""
    bounds = b.ints(sizes) if len(sizes) > 1 else b.scalar(sizes[0], INDEX)
    back = b.op("add", indices, bounds)
    return b.op("where", b.op("less", indices, b.scalar(0, INDEX)), back, indices)


def gather_elements(node: Node, b: Builder) -> Value:
    """Take, for each index, the element at its place, but for `axis`, where the index says."""
    x, indices = node.input(0), b.cast(node.input(1), INDEX)
    shape, wanted = shape_of(x), shape_of(indices)
    axis = node.axis(node.integer("axis", 0), len(shape))
    if len(wanted) != len(shape) or any(
        w > n for i, (w, n) in enumerate(zip(wanted, shape, strict=False)) if i != axis
    ):
        raise node.error(
            f"the indices have shape {list(wanted)}, but the data {list(shape)}; supported: no "
            "larger dims, but for the axis"
        )
    return b.op("gather", x, _from_front(indices, shape[axis : axis + 1], b), axis=axis)


def gather_nd(node: Node, b: Builder) -> Value:
    """Take, for each vector of indices, the block of the data at these indices."""
    x, indices = node.input(0), b.cast(node.input(1), INDEX)
    shape, wanted = shape_of(x), shape_of(indices)
    batch = node.integer("batch_dims", 0) if node.opset >= 12 else 0
    count = wanted[-1] if wanted else 0
    if not 0 <= batch < min(len(shape), len(wanted)):
        raise node.error(
            f"attribute batch_dims is {batch}, the data have shape {list(shape)} and the indices "
            f"{list(wanted)}; supported: 0 up to the smaller rank, exclusive"
        )
    if not 1 <= count <= len(shape) - batch:
        raise node.error(
            f"the indices have shape {list(wanted)}, the data {list(shape)}, of which {batch} dims "
            f"are those of batches; supported: vectors of 1 to {len(shape) - batch} indices"
        )
    if shape[:batch] != wanted[:batch]:
        raise node.error(f"the batch dims are {list(shape[:batch])} and {list(wanted[:batch])}")
    columns = b.transpose(
        _from_front(indices, shape[batch : batch + count], b),
        (len(wanted) - 1, *range(len(wanted) - 1)),
    )
    return b.op("gather_nd", x, columns, batch_dims=batch, index_rank=count)


def reverse_sequence(node: Node, b: Builder) -> Value:
    """Reverse the first elements, as many as each sequence has, along the axis of time."""
    x, lengths = node.input(0), b.cast(node.input(1), INDEX)
    time, batch = node.integer("time_axis", 0), node.integer("batch_axis", 1)
    if sorted((time, batch)) != [0, 1] or rank_of(x) < 2:
        raise node.error(f"the axes are {time} and {batch}; supported: 0 and 1")
    order = [1, 0, *range(2, rank_of(x))]
    turned = x if time == 0 else b.transpose(x, order)
    steps, count, *rest = shape_of(turned)
    if dims_of(lengths) != (count,):
        raise node.error(
            f"the lengths have shape {shape_text(dims_of(lengths))}; supported: [{count}]"
        )
    b.require_size(steps, "a sequence")
    b.require_size(count, "the vector of lengths")
    at = b.constant(np.arange(steps, dtype=np.int64).reshape(steps, 1))
    last = b.op("subtract", lengths, b.scalar(1, INDEX))
    inside = b.op("less", at, lengths)
    places = b.op("where", inside, b.op("subtract", last, at), at)
    places = b.op("multiply", places, b.scalar(count, INDEX))
    places = b.op("add", places, b.constant(np.arange(count, dtype=np.int64)))
    y = b.op("take", b.reshape(turned, (steps * count, *rest)), places, axis=0, mode="clip")
    return y if time == 0 else b.transpose(y, order)


RULES: Rules = {
    "GatherElements": since(11, gather_elements),
    "GatherND": since(11, gather_nd),
    "ReverseSequence": since(10, reverse_sequence),
}
