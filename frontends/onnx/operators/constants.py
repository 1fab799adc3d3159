"""Operators whose result is known at compile time, and those without effect."""

from __future__ import annotations

from math import ceil, isfinite
from typing import Any

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_data import Datum
from ..convert.onnx_values import Array, Value, dims_of, dtype_of, has_static_shape, shape_of
from .rule import Results, Rules, since


def constant(node: Node, b: Builder) -> Value:
    """Convert a tensor, or numbers, in an attribute."""
    array: Array | None = node.tensor("value")
    for name, read, dtype in (
        ("value_float", node.optional_float, np.float32),
        ("value_floats", node.floats, np.float32),
        ("value_int", node.optional_int, np.int64),
        ("value_ints", node.ints, np.int64),
    ):
        numbers: Any = read(name)
        if numbers is not None:
            array = np.asarray(numbers, dtype)
    node.require_all_read()
    if array is None:
        raise node.error("attribute value is missing")
    return b.constant(array)


def constant_of_shape(node: Node, b: Builder) -> Value:
    """Build one repeated element, which takes no memory here."""
    element = node.tensor("value")
    if element is None:
        element = np.zeros(1, np.float32)
    if element.size != 1:
        raise node.error(f"attribute value has {element.size} elements; supported: 1")
    if not node.is_known(0):
        return b.op(
            "dyn.full", b.constant(element.reshape(())), b.vector(0, "shape", node.output_rank())[0]
        )
    shape = node.required_ints(0, "shape")
    if any(n < 0 for n in shape):
        raise node.error(f"shape is {shape}; supported: dims of at least 0")
    return b.splat(element, shape)


def range_(node: Node, b: Builder) -> Value:
    """Build the numbers from start up to limit (exclusive)."""
    node.ignore("stash_type")
    if not node.is_known(0, 1, 2):
        bounds = [b.reshape(node.input(i), ()) for i in range(3)]
        return b.op("arange", *bounds, dtype=dtype_of(bounds[0]))
    start, limit, delta = (
        node.array(i, what).reshape(-1) for i, what in enumerate(("start", "limit", "delta"))
    )
    if not start.size == limit.size == delta.size == 1:
        raise node.error("start, limit and delta must have one element each")
    if not delta[0]:
        raise node.error("delta is 0; supported: other numbers")
    with np.errstate(all="ignore"):
        steps = (float(limit[0]) - float(start[0])) / float(delta[0])
    if not isfinite(steps):
        raise node.error(f"the range from {start[0]} to {limit[0]} by {delta[0]} is not finite")
    count = max(ceil(steps), 0)
    b.require_size(count, "the range")
    numbers = np.arange(count, dtype=np.int64).astype(start.dtype)
    return b.constant(np.asarray(start + numbers * delta, start.dtype))


def eye_like(node: Node, b: Builder) -> Value:
    """Build a matrix of the input's shape with ones on a diagonal."""
    x = node.input(0)
    node.require_rank(x, [2], "the input")
    dtype = dtype_of(x) if node.optional_int("dtype") is None else node.dtype("dtype")
    rows, columns = map(b.counting, dims_of(x))
    rows = b.op("add", rows, b.scalar(node.integer("k", 0), np.dtype(np.int64)))
    is_diagonal = b.op("equal", b.op("expand_dims", rows, axis=1), columns)
    return b.cast(is_diagonal, dtype)


def identity(node: Node, b: Builder) -> Datum:
    return node.datum(0)


def dropout(node: Node, b: Builder) -> Results:
    """Drop nothing, as there is no training; the mask of kept elements is all true."""
    node.ignore("ratio", "seed")
    if node.opset < 7 and not node.flag("is_test", False):
        raise node.error("attribute is_test is 0; supported: 1")
    if node.scalar_at(2, "training_mode") and node.scalar_at(1, "ratio") != 0:
        raise node.error("input training_mode is true; supported: false")
    x = node.input(0)
    if not has_static_shape(x):
        return x, b.broadcast_to(b.constant(np.asarray(True)), dims_of(x))
    return x, b.splat(np.asarray(True), shape_of(x))


RULES: Rules = {
    "Constant": since(1, constant),
    "ConstantOfShape": since(9, constant_of_shape),
    "Dropout": since(6, dropout),
    "EyeLike": since(9, eye_like),
    "Identity": since(1, identity),
    "Range": since(11, range_),
}
