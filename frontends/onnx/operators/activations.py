"""Activation functions, but for those that ONNX defines by others."""

from __future__ import annotations

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Value, dims_of, dtype_of, rank_of
from .elementwise import unary
from .rule import Convert, Rule, Rules, since
from .shapes import as_matrix


def leaky_relu(node: Node, b: Builder) -> Value:
    return b.op("nn.leaky_relu", node.input(0), alpha=node.number("alpha", 0.01))


def prelu(node: Node, b: Builder) -> Value:
    """Convert to `nn.prelu` if there is one slope per channel; broadcast other slopes."""
    x, slope = node.input(0), node.input(1)
    shape, slopes = dims_of(x), dims_of(slope)
    # the slope is aligned at the last dim: (C, 1, …) and (1, C, 1, …) are one per channel
    channels = (*shape[1:2], *([1] * (len(shape) - 2)))
    of_channels = [channels, (1, *channels)]
    if node.opset < 7:
        of_channels.append(shape[1:2])  # not aligned at the last dim yet
    if len(shape) > 1 and slopes in of_channels:
        return b.op("nn.prelu", x, b.reshape(slope, shape[1:2]), axis=1)
    negative = b.op("multiply", x, slope)
    return b.op("where", b.op("less", x, b.scalar_like(0, x)), negative, x)


def gelu(node: Node, b: Builder) -> Value:
    approximate = node.choice("approximate", "none", ("none", "tanh"))
    return b.op("nn.gelu", node.input(0), approximate=approximate)


def softplus(node: Node, b: Builder) -> Value:
    """Compute log(1 + exp(x)) such that exp cannot overflow."""
    x = node.input(0)
    small = b.op("exp", b.op("negative", b.op("abs", x)))
    tail = b.op("log", b.op("add", small, b.scalar_like(1, x)))
    return b.op("add", b.op("nn.relu", x), tail)


def in_float32(name: str, x: Value, axis: int, b: Builder) -> Value:
    """Apply a softmax; that of float16 is float32 to a product that reads it, as in onnxruntime."""
    dtype = dtype_of(x)
    wide = b.cast(x, np.dtype(np.float32)) if dtype == np.float16 else x
    return b.rounded(b.op(name, wide, axis=axis), dtype)


def softmax_of_matrix(name: str) -> Convert:
    """Return the conversion for opsets up to 12, which flatten to a matrix at `axis`."""

    def convert(node: Node, b: Builder) -> Value:
        x = node.input(0)
        rank = rank_of(x)
        given = node.integer("axis", 1)
        axis = given if given == rank else node.axis(given, rank)
        if axis == rank - 1:
            return in_float32(name, x, -1, b)
        return b.reshape(in_float32(name, as_matrix(x, axis, b), -1, b), dims_of(x))

    return convert


def softmax_of_axis(name: str) -> Convert:
    """Return the conversion from opset 13 on, along one axis."""

    def convert(node: Node, b: Builder) -> Value:
        return in_float32(name, node.input(0), node.integer("axis", -1), b)

    return convert


def hardmax(node: Node, b: Builder) -> Value:
    """Return 1 at the first of the greatest elements along an axis, and 0 elsewhere."""
    x = node.input(0)
    rank = rank_of(x)
    given = node.integer("axis", 1 if node.opset < 13 else -1)
    flat = (
        x
        if node.opset >= 13
        else as_matrix(x, given if given == rank else node.axis(given, rank), b)
    )
    axis = node.axis(given, rank) if node.opset >= 13 else 1
    size = dims_of(flat)[axis]
    first = b.op("argmax", flat, axis=(axis,), keepdims=True)
    places = b.cast(b.counting(size), dtype_of(first))
    places = b.reshape(places, [size if i == axis else 1 for i in range(rank_of(flat))])
    y = b.cast(b.op("equal", first, places), dtype_of(x))
    return b.reshape(y, dims_of(x))


def _softmax_rules(name: str) -> tuple[Rule, ...]:
    return (Rule(softmax_of_matrix(name), 1, 13), Rule(softmax_of_axis(name), 13))


RULES: Rules = {
    "Gelu": since(20, gelu),
    "Hardmax": since(1, hardmax),
    "LeakyRelu": since(6, leaky_relu),
    "LogSoftmax": _softmax_rules("nn.log_softmax"),
    "PRelu": since(6, prelu),
    "Relu": since(6, unary("nn.relu")),
    "Sigmoid": since(6, unary("sigmoid")),
    "Softmax": _softmax_rules("nn.softmax"),
    "Softplus": since(1, softplus),
    "Tanh": since(6, unary("tanh")),
}
