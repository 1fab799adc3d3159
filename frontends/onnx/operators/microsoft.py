"""
The operators of the domain com.microsoft that exported and optimized transformers have.

They are specified in onnxruntime's documentation (ContribOperators.md).
Attention is

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
from ..convert.onnx_values import Dim, Value, dims_of, dtype_of, rank_of, shape_text
from .activations import in_float32
from .linear import product, swapped
from .normalization import by_mean_square
from .rule import Convert, Results, Rules, since
from .windows import known_dims

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
    hidden = dims_of(x)[2]
    assert isinstance(hidden, int), "num_heads divides the operands"
    return b.transpose(b.op("reshape", x, newshape=(0, 0, count, hidden // count)), (0, 2, 1, 3))


def _number_of_heads(node: Node, *sizes: int) -> int:
    heads = node.optional_int("num_heads")
    if heads is None or heads < 1 or any(n % heads for n in sizes):
        raise node.error(
            f"attribute num_heads is {heads}; supported: a divisor of {shape_text(sizes)}"
        )
    if any(n < heads for n in sizes):
        raise node.error(
            f"the queries, keys and values have sizes {shape_text(sizes)}; supported: at least 1 "
            f"for each of {heads} heads"
        )
    return heads


def _attended(node: Node, heads: Heads, added: Sequence[Value], b: Builder) -> Value:
    """Return softmax(Q K^T * scale + what is added) V: (batch, length, heads * size)."""
    *_, length, size = dims_of(heads.query)
    assert isinstance(size, int), "num_heads divides the operands"
    scale = node.number("scale", 0.0) or 1 / sqrt(size)
    scores = product(node, heads.query, swapped(heads.key, b), b)
    scores = b.op("multiply", scores, b.scalar_like(scale, scores))
    for value in added:
        scores = b.op("add", scores, value)
    if node.flag("unidirectional", False):
        others = dims_of(heads.key)[2]
        first = b.op("subtract", b.size(others), b.size(length))
        last = b.op("expand_dims", b.op("add", b.counting(length), first), axis=1)
        future = b.op("greater", b.counting(others), last)
        lowest = float(np.finfo(dtype_of(scores)).min)
        scores = b.op("where", future, b.scalar_like(lowest, scores), scores)
    y = product(node, in_float32("nn.softmax", scores, -1, b), heads.value, b)
    return b.op("reshape", b.transpose(y, (0, 2, 1, 3)), newshape=(0, 0, -3))


def _mask(node: Node, index: int, like: Value, length: Dim, b: Builder) -> list[Value]:
    """Return what a mask at input `index` adds to the scores: one number for each key."""
    mask = node.optional(index)
    if mask is None:
        return []
    expected = (dims_of(like)[0], length)[: rank_of(mask)]
    pairs = zip(dims_of(mask), expected, strict=False)
    if rank_of(mask) not in (1, 2) or any(
        one != other and isinstance(one, int) and isinstance(other, int) for one, other in pairs
    ):
        batch = dims_of(like)[:1]
        raise node.error(
            f"the mask has shape {shape_text(dims_of(mask))}; supported: {shape_text(batch)} and "
            f"{shape_text((*batch, length))}"
        )
    if rank_of(mask) == 1:  # the length of each sequence
        places = b.cast(b.counting(length), dtype_of(mask))
        kept = b.op("less", places, b.op("expand_dims", mask, axis=1))
    else:
        kept = b.op("not_equal", mask, b.scalar_like(0, mask))
    lowest = b.scalar_like(node.number("mask_filter_value", MASKED), like)
    added = b.op("where", kept, b.scalar_like(0, like), lowest)
    return [b.op("expand_dims", added, axis=1, num_newaxis=2)]


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
    (total,) = known_dims(node, dims_of(projected)[2:], "attribute num_heads", "the projections")
    sizes = node.ints("qkv_hidden_sizes") or [total // 3] * 3
    if len(sizes) != 3 or sum(sizes) != total:
        raise node.error(
            f"attribute qkv_hidden_sizes is {sizes}; supported: 3 sizes whose sum is {total}"
        )
    count = _number_of_heads(node, *sizes)
    stops = [sum(sizes[:i]) for i in range(4)]
    parts = [b.slice(projected, 2, start, stop) for start, stop in pairwise(stops)]
    heads = Heads(*(_heads(part, count, b) for part in parts))
    added = _mask(node, 3, x, dims_of(x)[1], b)
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
    widths = [dims_of(value)[2] for value in values]
    sizes = known_dims(node, widths, "attribute num_heads", "the operands")
    count = _number_of_heads(node, *sizes)
    if node.optional(3) is not None:
        stops = [sum(sizes[:i]) for i in range(4)]
        biases = [b.slice(node.input(3), 0, stops[i], stops[i + 1]) for i in range(3)]
        values = [b.op("add", v, bias) for v, bias in zip(values, biases, strict=True)]
    heads = Heads(*(_heads(value, count, b) for value in values))
    added = _mask(node, 4, values[0], dims_of(values[1])[1], b)
    if node.optional(5) is not None:
        added.append(node.input(5))
    return _attended(node, heads, added, b)


def fused_matmul(node: Node, b: Builder) -> Value:
    """Compute alpha * A * B, where A or B may be transposed."""
    for name in ("transBatchA", "transBatchB"):
        if node.flag(name, False):
            raise node.error(f"attribute {name} is 1; supported: 0")
    x, y = (
        swapped(node.input(i), b) if node.flag(name, False) else node.input(i)
        for i, name in enumerate(("transA", "transB"))
    )
    z = product(node, x, y, b)
    alpha = node.number("alpha", 1.0)
    return z if alpha == 1.0 else b.op("multiply", z, b.scalar_like(alpha, z))


def gelu(approximate: str) -> Convert:
    """Return the conversion of the sum of the inputs."""

    def convert(node: Node, b: Builder) -> Value:
        return b.op(
            "nn.gelu", _sum_of([node.input(0), node.optional(1)], b), approximate=approximate
        )

    return convert


def quick_gelu(node: Node, b: Builder) -> Value:
    """Compute x * sigmoid(alpha * x)."""
    x = node.input(0)
    scaled = b.op("multiply", x, b.scalar_like(node.number("alpha", 1.702), x))
    return b.op("multiply", x, b.op("sigmoid", scaled))


def _layer_norm(x: Value, gamma: Value, beta: Value | None, epsilon: float, b: Builder) -> Value:
    if beta is None:
        beta = b.broadcast_to(b.scalar_like(0, x), dims_of(gamma))
    return b.op("nn.layer_norm", x, gamma, beta, axis=-1, epsilon=epsilon)


def _sum_of(values: Sequence[Value | None], b: Builder) -> Value:
    first, *others = [value for value in values if value is not None]
    for other in others:
        first = b.op("add", first, other)
    return first


def skip_layer_normalization(node: Node, b: Builder) -> Results:
    """Normalize input + skip + bias; output 3 is that sum."""
    total = _sum_of([node.input(0), node.input(1), node.optional(4)], b)
    epsilon = node.number("epsilon", 1e-12)
    return [_layer_norm(total, node.input(2), node.optional(3), epsilon, b), None, None, total]


def simplified_layer_normalization(node: Node, b: Builder) -> Value:
    x = node.input(0)
    node.ignore("stash_type")
    axes = range(node.axis(node.integer("axis", -1), rank_of(x)), rank_of(x))
    return by_mean_square(x, node.input(1), axes, node.number("epsilon", 1e-5), b)


def skip_simplified_layer_normalization(node: Node, b: Builder) -> Results:
    total = _sum_of([node.input(0), node.input(1), node.optional(3)], b)
    epsilon = node.number("epsilon", 1e-12)
    y = by_mean_square(total, node.input(2), [rank_of(total) - 1], epsilon, b)
    return [y, None, None, total]


def embed_layer_normalization(node: Node, b: Builder) -> Results:
    """Normalize the sum of the embeddings of words, positions and segments."""
    ids, segments = node.input(0), node.optional(1)
    node.ignore("mask_index_type")
    node.require_unused(1, "the mask index")
    node.require_rank(ids, [2], "input 0 (ids)")
    zero, one = b.ints([0]), b.ints([1])
    words = b.op("take", node.input(2), ids, axis=0, mode="clip")
    if node.optional(8) is None:
        length = b.sizes(dims_of(ids)[1:])
        positions = b.op("dyn.strided_slice", node.input(3), zero, length, one, axes=(0,))
        positions = b.op("expand_dims", positions, axis=0)
    else:
        positions = b.op("take", node.input(3), node.input(8), axis=0, mode="clip")
    parts = [words, positions]
    if segments is not None:
        parts.append(b.op("take", node.input(4), segments, axis=0, mode="clip"))
    total = _sum_of(parts, b)
    epsilon = node.number("epsilon", 1e-12)
    return [_layer_norm(total, node.input(5), node.input(6), epsilon, b), None, total]


RULES: Rules = {
    "Attention": since(1, attention),
    "MultiHeadAttention": since(1, multi_head_attention),
    "BiasGelu": since(1, gelu("none")),
    "EmbedLayerNormalization": since(1, embed_layer_normalization),
    "FastGelu": since(1, gelu("tanh")),
    "FusedMatMul": since(1, fused_matmul),
    "Gelu": since(1, gelu("none")),
    "QuickGelu": since(1, quick_gelu),
    "SimplifiedLayerNormalization": since(1, simplified_layer_normalization),
    "SkipLayerNormalization": since(1, skip_layer_normalization),
    "SkipSimplifiedLayerNormalization": since(1, skip_simplified_layer_normalization),
}

ONNX_RULES: Rules = {name: RULES[name] for name in ("SimplifiedLayerNormalization",)}
"""Those that onnxruntime has in ONNX's own domain."""
