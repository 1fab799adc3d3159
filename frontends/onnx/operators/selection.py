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

INT64 = np.dtype(np.int64)


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
    """List the distinct elements of the flattened input, and where they are."""
    x = node.input(0)
    axis = node.optional_int("axis")
    if axis is not None and (node.axis(axis, rank_of(x)) != 0 or rank_of(x) > 1):
        raise node.error(f"attribute axis is {axis}; supported: none, or 0 of a vector")
    if rank_of(x) != 1:
        x = b.op("reshape", x, newshape=(-1,))
    ordered = node.flag("sorted", True)
    values, first, inverse, number, counts = b.results(
        "unique", [x], sorted=ordered, return_counts=True
    )
    number = b.cast(number, INT64)
    results = [up_to([number], v, b) for v in (values, first)]
    results += [inverse, up_to([number], counts, b)]
    return [results[0], *(b.cast(v, INT64) for v in results[1:])]


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
