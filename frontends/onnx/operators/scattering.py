"""
Write updates into rows of the data at indices that are known at compile time.

    scatter(data, [2, 0], updates)    ->    take(data ++ updates, [n + 1, 1, n])

The places of the rows become the indices of one gather from the rows of data and updates.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Array, Value, dims_of, dtype_of, shape_of
from .rule import Results, Rule, Rules, since

REDUCTIONS = {"none": "", "add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}

MAX_REPEATS = 64
"""Limit on the number of updates of one element, when they are reduced."""


def _reduction(node: Node) -> str:
    """Return the operator that combines an element with its update; "" to replace it."""
    return REDUCTIONS[node.choice("reduction", "none", tuple(REDUCTIONS))]


def _in_range(node: Node, indices: Array, sizes: Sequence[int]) -> Array:
    """Return `indices`, along the last axis for dims of `sizes`, counted from the front."""
    bounds = np.asarray(sizes, np.int64)
    outside = (indices < -bounds) | (indices >= bounds)
    if outside.any():
        raise node.error(f"index {indices[outside].flat[0]} is out of range; the dims are {sizes}")
    return np.where(indices < 0, indices + bounds, indices)


def _written(
    node: Node, b: Builder, rows: Value, places: Array, updates: Value, reduction: str
) -> Value:
    """Return `rows` with the rows of `updates` at `places`, a vector."""
    for turn in _turns(places) if reduction else [np.arange(places.size)]:
        added = updates
        if turn.size < places.size:
            added = b.op("take", updates, b.constant(turn), axis=0, mode="clip")
        if reduction:
            old = b.op("take", rows, b.constant(places[turn]), axis=0, mode="clip")
            added = b.op(reduction, old, added)
        source = np.arange(shape_of(rows)[0], dtype=np.int64)
        source[places[turn]] = source.size + np.arange(turn.size)
        both = b.op("concatenate", rows, added, axis=0)
        rows = b.op("take", both, b.constant(source), axis=0, mode="clip")
    return rows


def _turns(places: Array) -> list[Array]:
    """Split the indices of `places` such that no place is twice in a part."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    counts = np.diff(np.r_[starts, places.size])
    turn = np.arange(places.size) - np.repeat(starts, counts)
    return [np.sort(order[turn == i]) for i in range(int(counts.max(initial=0)))]


def _require_few(node: Node, places: Array, reduction: str) -> None:
    most = int(np.unique(places, return_counts=True)[1].max(initial=0))
    if reduction and most > MAX_REPEATS:
        raise node.error(
            f"an element has {most} updates; supported: up to {MAX_REPEATS} if they are reduced"
        )


def scatter_elements(node: Node, b: Builder) -> Results:
    """Write each update where its index says; the indices must be known at compile time."""
    x, updates = node.input(0), node.input(2)
    indices = node.array(1, "indices")
    shape = shape_of(x)
    axis = node.axis(node.integer("axis", 0), len(shape))
    reduction = _reduction(node) if node.opset >= 16 else ""
    fits = indices.ndim == len(shape) and all(
        i == axis or w <= n for i, (w, n) in enumerate(zip(indices.shape, shape, strict=True))
    )
    if not fits or dims_of(updates) != indices.shape:
        raise node.error(
            f"the indices have shape {list(indices.shape)}, the updates {list(shape_of(updates))} "
            f"and the data {list(shape)}; supported: equal ones, and no larger dims than the "
            "data's, but for the axis"
        )
    if indices.size == 0:
        return x
    b.require_size(prod(shape) + indices.size, "the table of places")
    places: Array = np.zeros(indices.shape, np.int64)
    for i, count in enumerate(indices.shape):
        line = tuple(-1 if i == j else 1 for j in range(len(shape)))
        at: Array = np.arange(int(count)).reshape(line)
        if i == axis:
            at = _in_range(node, indices.astype(np.int64), shape[i : i + 1])
        np.add(places, at * prod(shape[i + 1 :]), out=places)
    flat = places.reshape(-1)
    _require_few(node, flat, reduction)
    rows = b.reshape(x, (prod(shape),))
    made = _written(node, b, rows, flat, b.reshape(updates, (indices.size,)), reduction)
    return b.reshape(made, shape)


def scatter_nd(node: Node, b: Builder) -> Results:
    """Write blocks at vectors of indices, which must be known at compile time."""
    x, updates = node.input(0), node.input(2)
    indices = node.array(1, "indices")
    shape = shape_of(x)
    count = indices.shape[-1] if indices.ndim else 0
    reduction = _reduction(node) if node.opset >= 16 else ""
    if not 1 <= count <= len(shape) or dims_of(updates) != (
        *indices.shape[:-1],
        *shape[count:],
    ):
        raise node.error(
            f"the indices have shape {list(indices.shape)}, the updates {list(shape_of(updates))} "
            f"and the data {list(shape)}; supported: vectors of 1 to {len(shape)} indices, and a "
            "block of the data for each"
        )
    sizes, block = shape[:count], shape[count:]
    vectors = _in_range(node, indices.astype(np.int64).reshape(-1, count), sizes)
    if vectors.size == 0:
        return x
    b.require_size(prod(sizes) + len(vectors), "the table of places")
    places = vectors @ np.asarray([prod(sizes[i + 1 :]) for i in range(count)], np.int64)
    _require_few(node, places, reduction)
    rows = b.reshape(x, (prod(sizes), *block))
    made = _written(node, b, rows, places, b.reshape(updates, (len(vectors), *block)), reduction)
    return b.reshape(made, shape)


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
