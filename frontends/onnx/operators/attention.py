"""
Attention, as exported and optimized transformers have it (domain com.microsoft).

    softmax(Q K^T * scale + mask) V      for each head

with Q, K and V of shape (batch, heads, length, size of a head).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Dim, Value, dtype_of, shape_of, shape_text
from .activations import in_float32
from .linear import product, swapped
from .rule import Rules, since

MASKED = -10000.0
"""The default of the number that is added to the scores of masked elements."""


@dataclass(frozen=True)
class Heads:
    """Queries, keys and values, each (batch, heads, length, size of a head)."""

    query: Value
    key: Value
    value: Value


def _heads(x: Value, count: int, b: Builder) -> Value:
    """Turn (batch, length, heads * size) into (batch, heads, length, size)."""
    batch, length, hidden = shape_of(x)
    return b.transpose(b.reshape(x, (batch, length, count, hidden // count)), (0, 2, 1, 3))


def _number_of_heads(node: Node, *sizes: Dim) -> int:
    heads = node.optional_int("num_heads")
    if heads is None or heads < 1 or any(not isinstance(n, int) or n % heads for n in sizes):
        raise node.error(
            f"attribute num_heads is {heads}; supported: a divisor of {shape_text(sizes)}"
        )
    if any(isinstance(n, int) and n < heads for n in sizes):
        raise node.error(
            f"the queries, keys and values have sizes {shape_text(sizes)}; supported: at least 1 "
            f"for each of {heads} heads"
        )
    return heads


def _attended(node: Node, heads: Heads, added: Sequence[Value], b: Builder) -> Value:
    """Return softmax(Q K^T * scale + what is added) V: (batch, length, heads * size)."""
    batch, count, length, size = shape_of(heads.query)
    scale = node.number("scale", 0.0) or 1 / sqrt(size)
    scores = product(node, heads.query, swapped(heads.key, b), b)
    scores = b.op("multiply", scores, b.scalar_like(scale, scores))
    for value in added:
        scores = b.op("add", scores, value)
    if node.flag("unidirectional", False):
        others = shape_of(heads.key)[2]
        b.require_size(length * others, "the mask of later elements")
        future = np.triu(np.ones((length, others), np.bool_), others - length + 1)
        lowest = float(np.finfo(dtype_of(scores)).min)
        scores = b.op("where", b.constant(future), b.scalar_like(lowest, scores), scores)
    y = product(node, in_float32("nn.softmax", scores, -1, b), heads.value, b)
    width = shape_of(heads.value)[3]
    return b.reshape(b.transpose(y, (0, 2, 1, 3)), (batch, length, count * width))


def _mask(node: Node, index: int, like: Value, length: int, b: Builder) -> list[Value]:
    """Return what a mask at input `index` adds to the scores: one number for each key."""
    mask = node.optional(index)
    if mask is None:
        return []
    shape = shape_of(mask)
    batch = shape_of(like)[0]
    if shape == (batch,):  # the length of each sequence
        places = b.constant(np.arange(length).astype(dtype_of(mask)))
        kept = b.op("less", places, b.reshape(mask, (batch, 1)))
    elif shape == (batch, length):
        kept = b.op("not_equal", mask, b.scalar_like(0, mask))
    else:
        raise node.error(
            f"the mask has shape {list(shape)}; supported: [{batch}] and [{batch}, {length}]"
        )
    lowest = b.scalar_like(node.number("mask_filter_value", MASKED), like)
    added = b.op("where", kept, b.scalar_like(0, like), lowest)
    return [b.reshape(added, (batch, 1, 1, length))]


def attention(node: Node, b: Builder) -> Value:
    """Convert self-attention, whose projections are part of it, without a past."""
    for i, what in ((4, "the past"), (6, "the length of the past")):
        if node.optional(i) is not None:
            raise node.error(f"input {i} ({what}) is given; supported: none")
    node.require_unused(1, "the present")
    x, bias = node.input(0), node.optional(2)
    node.require_rank(x, [3], "the input")
    projected = product(node, x, node.input(1), b)
    if bias is not None:
        projected = b.op("add", projected, bias)
    total = shape_of(projected)[2]
    sizes = node.ints("qkv_hidden_sizes") or [total // 3] * 3
    if len(sizes) != 3 or sum(sizes) != total:
        raise node.error(
            f"attribute qkv_hidden_sizes is {sizes}; supported: 3 sizes whose sum is {total}"
        )
    count = _number_of_heads(node, *sizes)
    stops = [sum(sizes[:i]) for i in range(4)]
    parts = [b.slice(projected, 2, start, stop) for start, stop in pairwise(stops)]
    heads = Heads(*(_heads(part, count, b) for part in parts))
    added = _mask(node, 3, x, shape_of(x)[1], b)
    if node.optional(5) is not None:
        added.append(node.input(5))
    return _attended(node, heads, added, b)


def multi_head_attention(node: Node, b: Builder) -> Value:
    """Convert attention to projected queries, keys and values (batch, length, hidden)."""
    for i in (6, 7, 8, 9):
        if node.optional(i) is not None:
            raise node.error(f"input {i} (the past, or a cache) is given; supported: none")
    for i in (1, 2, 3):
        node.require_unused(i, "the present")
    values = [node.input(i) for i in range(3)]
    for value in values:
        node.require_rank(value, [3], "an operand")
    sizes = [shape_of(value)[2] for value in values]
    count = _number_of_heads(node, *sizes)
    if node.optional(3) is not None:
        stops = [sum(sizes[:i]) for i in range(4)]
        biases = [b.slice(node.input(3), 0, stops[i], stops[i + 1]) for i in range(3)]
        values = [b.op("add", v, bias) for v, bias in zip(values, biases, strict=True)]
    heads = Heads(*(_heads(value, count, b) for value in values))
    added = _mask(node, 4, values[0], shape_of(values[1])[1], b)
    if node.optional(5) is not None:
        added.append(node.input(5))
    return _attended(node, heads, added, b)


RULES: Rules = {
    "Attention": since(1, attention),
    "MultiHeadAttention": since(1, multi_head_attention),
}
