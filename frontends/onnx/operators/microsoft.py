"""
The operators of the domain com.microsoft that exported and optimized transformers have.

They are specified in onnxruntime's documentation (ContribOperators.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Value, dims_of, rank_of, shape_of
from .attention import RULES as ATTENTION
from .linear import product, swapped
from .normalization import by_mean_square
from .rule import Convert, Results, Rules, since


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
    _, length = shape_of(ids)
    words = b.op("take", node.input(2), ids, axis=0, mode="clip")
    if node.optional(8) is None:
        table = node.input(3)
        positions = b.reshape(b.slice(table, 0, 0, length), (1, length, shape_of(table)[1]))
    else:
        positions = b.op("take", node.input(3), node.input(8), axis=0, mode="clip")
    parts = [words, positions]
    if segments is not None:
        parts.append(b.op("take", node.input(4), segments, axis=0, mode="clip"))
    total = _sum_of(parts, b)
    epsilon = node.number("epsilon", 1e-12)
    return [_layer_norm(total, node.input(5), node.input(6), epsilon, b), None, total]


RULES: Rules = {
    **ATTENTION,
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
