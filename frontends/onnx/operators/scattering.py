"""Write updates over elements of the data, and combine elements with those before them."""

from __future__ import annotations

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Value, dims_of, dtype_of, rank_of, shape_of
from .gathering import INDEX, from_front, index_count
from .rule import Results, Rule, Rules, since
from .shapes import as_matrix

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
    made = b.op("scatter_elements", rows, at, changes, axis=0, reduction=reduction)
    return b.reshape(made, dims_of(x))


def _running(name: str, neutral: int, node: Node, b: Builder) -> Value:
    """
    Combine each element with all before it, along an axis: in steps of 1, 2, 4, ….

        x[i]  ->  x[i-1] + x[i]  ->  (x[i-3] + x[i-2]) + (x[i-1] + x[i])  ->  …
    """
    x = node.input(0)
    axis = node.axis(int(node.scalar_at(1, "axis") or 0), len(dims_of(x)))
    node.input(1)
    exclusive, reverse = node.flag("exclusive", False), node.flag("reverse", False)
    count = shape_of(x)[axis]
    if reverse:
        x = b.op("reverse", x, axis=axis)
    if exclusive and count:
        dims = [1 if i == axis else n for i, n in enumerate(shape_of(x))]
        first = b.splat(np.asarray(neutral, dtype_of(x)), dims)
        x = b.op("concatenate", first, b.slice(x, axis, 0, count - 1), axis=axis)
    step = 1
    while step < count:
        both = b.op(name, b.slice(x, axis, 0, count - step), b.slice(x, axis, step, count))
        x = b.op("concatenate", b.slice(x, axis, 0, step), both, axis=axis)
        step *= 2
    return b.op("reverse", x, axis=axis) if reverse else x


def cum_sum(node: Node, b: Builder) -> Results:
    """Add each element and all before it; the axis must be known at compile time."""
    x, reverse = node.input(0), node.flag("reverse", False)
    axis = node.axis(int(node.scalar_at(1, "axis") or 0), len(dims_of(x)))
    node.input(1)
    x = b.op("reverse", x, axis=axis) if reverse else x
    y = b.op("cumsum", x, axis=axis, exclusive=node.flag("exclusive", False))
    return b.op("reverse", y, axis=axis) if reverse else y


def cum_prod(node: Node, b: Builder) -> Results:
    """Multiply each element and all before it; the axis must be known at compile time."""
    return _running("multiply", 1, node, b)


RULES: Rules = {
    "CumProd": since(26, cum_prod),
    "CumSum": since(11, cum_sum),
    "Scatter": (Rule(scatter_elements, 9, 11),),
    "ScatterElements": since(11, scatter_elements),
    "ScatterND": since(11, scatter_nd),
}
