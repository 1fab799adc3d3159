"""Operators whose result is known at compile time, and those that do nothing."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from ..builder import Builder
from ..folding import FOLD_LIMIT
from ..node import Node
from ..values import Array, Value, dtype_of, shape_of
from .rule import Results, Rules, since


def constant(node: Node, b: Builder) -> Value:
    """A tensor, or numbers, in an attribute."""
    found: Array | None = node.tensor("value")
    for name, read, dtype in (
        ("value_float", node.optional_float, np.float32),
        ("value_floats", node.floats, np.float32),
        ("value_int", node.optional_int, np.int64),
        ("value_ints", node.ints, np.int64),
    ):
        numbers: Any = read(name)
        if numbers is not None:
            found = np.asarray(numbers, dtype)
    node.require_all_read()
    if found is None:
        raise node.error("attribute value is missing")
    return b.constant(found)


def constant_of_shape(node: Node, b: Builder) -> Value:
    """One element, repeated: it takes no memory here."""
    shape = node.required_ints(0, "shape")
    element = node.tensor("value")
    if element is None:
        element = np.zeros(1, np.float32)
    if element.size != 1:
        raise node.error(f"attribute value has {element.size} elements; supported: 1")
    if any(n < 0 for n in shape):
        raise node.error(f"shape is {shape}; supported: dims of at least 0")
    try:
        return b.constant(np.broadcast_to(element.reshape(()), tuple(shape)))
    except ValueError as error:
        raise node.error(f"shape is {shape}: {error}") from None


def range_(node: Node, b: Builder) -> Value:
    """Numbers from start to before limit, which must be known at compile time."""
    node.ignore("stash_type")
    start, limit, delta = (
        node.array(i, what).reshape(-1) for i, what in enumerate(("start", "limit", "delta"))
    )
    if not start.size == limit.size == delta.size == 1:
        raise node.error("start, limit and delta must have one element each")
    if not delta[0]:
        raise node.error("delta is 0; supported: other numbers")
    count = max(ceil((limit[0] - start[0]) / delta[0]), 0)
    if count > FOLD_LIMIT**2:
        raise node.error(f"there would be {count} numbers; supported: up to {FOLD_LIMIT**2}")
    steps = np.arange(count, dtype=np.int64).astype(start.dtype)
    return b.constant(np.asarray(start + steps * delta, start.dtype))


def eye_like(node: Node, b: Builder) -> Value:
    """Ones on a diagonal of a matrix of the input's shape."""
    x = node.input(0)
    node.require_rank(x, [2], "the input")
    rows, columns = shape_of(x)
    given = node.optional_int("dtype")
    dtype = dtype_of(x) if given is None else node.dtype("dtype")
    if rows * columns > FOLD_LIMIT**2:
        raise node.error(f"there would be {rows} by {columns} numbers")
    return b.constant(np.eye(rows, columns, node.integer("k", 0), dtype))


def identity(node: Node, b: Builder) -> Value:
    return node.input(0)


def dropout(node: Node, b: Builder) -> Results:
    """Drops nothing outside of training; the mask of what stays is all true."""
    node.ignore("ratio", "seed")
    if node.opset < 7 and not node.flag("is_test", False):
        raise node.error("attribute is_test is 0; supported: 1")
    if node.scalar_at(2, "training_mode") and node.scalar_at(1, "ratio") != 0:
        raise node.error("input training_mode is true; supported: false")
    x = node.input(0)
    return x, b.constant(np.broadcast_to(np.True_, shape_of(x)))


RULES: Rules = {
    "Constant": since(1, constant),
    "ConstantOfShape": since(9, constant_of_shape),
    "Dropout": since(6, dropout),
    "EyeLike": since(9, eye_like),
    "Identity": since(1, identity),
    "Range": since(11, range_),
}
