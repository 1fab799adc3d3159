"""Operators that find elements: the greatest, the nonzero, the distinct, the best boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.dialects.tensor import ExtractOp

from ....dialects import relay
from ....operators.sizes import Check
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Constant, Value, dims_of, dtype_of, rank_of
from .rule import Results, Rules, since
from .shapes import as_matrix
from .windows import known_dims

INT64 = np.dtype(np.int64)

MOST_COLUMNS = 1024
"""The most elements of a slice that `Unique` compares: each is sorted by operators of its own."""


def topk(node: Node, b: Builder) -> Results:
    """Sort the greatest or the smallest; their number is an attribute up to opset 9."""
    node.ignore("sorted")  # sorted results are as good
    x = node.input(0)
    axis = node.axis(node.integer("axis", -1), rank_of(x))
    how: Any = {"axis": axis, "is_ascend": not node.flag("largest", True), "dtype": "int64"}
    if node.opset >= 10 and not node.is_known(1):
        k = b.vector(1, "k", 1)[0]
        scalars = b.reshape(k, ()), b.scalar(1, INT64)
        number, least = (b.append(ExtractOp(b.tensor(v), [], i64))[0] for v in scalars)
        b.append(relay.RequireOp(Check.AT_LEAST, number, least, "k is {0}; supported: 1 and more"))
        return b.results("dyn.topk", [x, k], **how)
    k = node.optional_int("k") if node.opset < 10 else int(node.scalar_at(1, "k") or 0)
    if k is None or k < 0:
        raise node.error(f"k is {k}; supported: 0 and more")
    if k == 0:  # in Relay, all of them
        dims = [0 if i == axis else dim for i, dim in enumerate(dims_of(x))]
        return [b.slice(x, axis, 0, 0), b.broadcast_to(b.scalar(0, INT64), dims)]
    return b.results("topk", [x], k=k, **how)


def non_zero(node: Node, b: Builder) -> Value:
    """List the indices of nonzero elements, a column for each."""
    x = node.input(0)
    if isinstance(x, Constant) and rank_of(x):
        return b.constant(np.array(np.nonzero(x.array), np.int64))
    places = b.op("argwhere", x if rank_of(x) else b.reshape(x, (1,)))
    if rank_of(x) == 0:
        places = b.slice(places, 1, 0, 0)
    return b.cast(b.transpose(places, (1, 0)), INT64)


def unique(node: Node, b: Builder) -> Results:
    """List the distinct elements of the flattened input, or slices of it, and where they are."""
    x, named = node.input(0), node.optional_int("axis")
    axis = None if named is None or rank_of(x) == 1 else node.axis(named, rank_of(x))
    lines = b.op("reshape", x, newshape=(-1,)) if axis is None else _ranks(node, x, axis, b)
    ordered = node.flag("sorted", True)
    values, first, inverse, number, counts = b.results(
        "unique", [lines], sorted=ordered, return_counts=True
    )
    number = b.cast(number, INT64)
    values, first, counts = (up_to([number], v, b) for v in (values, first, counts))
    if axis is not None:
        values = b.op("take", x, first, axis=axis, mode="clip")
    return [values, *(b.cast(v, INT64) for v in (first, inverse, counts))]


def _ranks(node: Node, x: Value, axis: int, b: Builder) -> Value:
    """Return the rank of each slice along `axis` in their order; those of equal ones are equal."""
    rows = as_matrix(b.transpose(x, [axis, *(i for i in range(rank_of(x)) if i != axis)]), 1, b)
    count, (length,) = b.size(dims_of(rows)[0]), known_dims(node, dims_of(rows)[1:], "axis", "rows")
    if length > MOST_COLUMNS:
        raise node.error(f"a slice has {length} elements; supported: up to {MOST_COLUMNS}")
    ranks = b.broadcast_to(b.scalar(0, INT64), dims_of(rows)[:1])

    def ranked(numbers: Value) -> Value:
        return b.cast(b.results("unique", [numbers], sorted=True, return_counts=True)[2], INT64)

    for i in range(length):
        column = ranked(b.op("take", rows, b.scalar(i, INT64), axis=1, mode="clip"))
        ranks = ranked(b.op("add", b.op("multiply", ranks, count), column)) if i else column
    return ranks


def up_to(ends: Sequence[Value], x: Value, b: Builder) -> Value:
    """Return the elements of `x` up to `ends`, vectors of one number for each axis."""
    zeros, ones = (b.ints([n] * rank_of(x)) for n in (0, 1))
    return b.op("dyn.strided_slice", x, zeros, b.joined(ends), ones)


def non_max_suppression(node: Node, b: Builder) -> Value:
    """List the boxes that do not overlap a better one: rows of batch, class and box."""
    boxes, scores = node.input(0), node.input(1)
    if node.flag("center_point_box", False):
        boxes = _corners(boxes, b)

    def scalar(index: int, default: float, dtype: np.dtype[np.generic]) -> Value:
        value = node.optional(index)
        if value is None:
            return b.constant(np.asarray(default, dtype))
        return b.cast(b.reshape(value, ()), dtype)

    rows, count = b.results(
        "vision.all_class_non_max_suppression",
        [
            boxes,
            scores,
            scalar(2, 0, INT64),
            scalar(3, 0.0, dtype_of(boxes)),
            scalar(4, -np.inf, dtype_of(scores)),
        ],
    )
    return up_to([count, b.ints([3])], rows, b)


def _corners(boxes: Value, b: Builder) -> Value:
    """Convert boxes (x, y, width, height) around their centre to two corners (y, x, y, x)."""
    x, y, width, height = (b.slice(boxes, 2, i, i + 1) for i in range(4))
    half = b.scalar_like(0.5, boxes)
    dx, dy = b.op("multiply", width, half), b.op("multiply", height, half)
    sides = [b.op(sign, v, d) for sign in ("subtract", "add") for v, d in ((y, dy), (x, dx))]
    return b.op("concatenate", *sides, axis=2)


RULES: Rules = {
    "NonMaxSuppression": since(10, non_max_suppression),
    "NonZero": since(9, non_zero),
    "TopK": since(1, topk),
    "Unique": since(11, unique),
}
