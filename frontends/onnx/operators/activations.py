"""Activation functions, but for those that ONNX defines by others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..convert.computed import Computed
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Value, dims_of, dtype_of, rank_of
from .elementwise import unary
from .rule import Convert, Rules, since
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


def celu(node: Node, b: Builder) -> Value:
    """Convert to a choice; the body that ONNX defines makes a vector of a scalar."""
    x, alpha = Computed(node.input(0), b), node.number("alpha", 1.0)
    negative = x.like(alpha) * ((x / alpha).exp() - 1)
    return negative.where(x.less(0), x).value


def gelu(node: Node, b: Builder) -> Value:
    approximate = node.choice("approximate", "none", ("none", "tanh"))
    return b.op("nn.gelu", node.input(0), approximate=approximate)


def softplus(node: Node, b: Builder) -> Value:
    """Compute log(1 + exp(x)) such that exp cannot overflow."""
    x = Computed(node.input(0), b)
    return (x.call("nn.relu") + (x.abs().negative().exp() + 1).log()).value


def in_float32(name: str, x: Value, axis: int, b: Builder) -> Value:
    """Apply a softmax; that of float16 is float32 to a product that reads it, as in onnxruntime."""
    dtype = dtype_of(x)
    wide = b.cast(x, np.dtype(np.float32)) if dtype == np.float16 else x
    return b.rounded(b.op(name, wide, axis=axis), dtype)


def along_axis(build: Callable[[Value, int, Builder], Value]) -> Convert:
    """Return the conversion of what `build` builds; up to opset 12, of a matrix, along its rows."""

    def convert(node: Node, b: Builder) -> Value:
        x = node.input(0)
        rank = rank_of(x)
        axis = node.integer("axis", 1 if node.opset < 13 else -1)
        if node.opset >= 13 or axis != rank:
            axis = node.axis(axis, rank)
        if node.opset >= 13 or axis == rank - 1:
            return build(x, axis, b)
        return b.reshape(build(as_matrix(x, axis, b), 1, b), dims_of(x))

    return convert


def hardmax_of(x: Value, axis: int, b: Builder) -> Value:
    """Return 1 at the first of the greatest elements along an axis, and 0 elsewhere."""
    size, rank = dims_of(x)[axis], rank_of(x)
    first = b.op("argmax", x, axis=(axis,), keepdims=True)
    places = b.cast(b.counting(size), dtype_of(first))
    places = b.reshape(places, [size if i == axis else 1 for i in range(rank)])
    return b.cast(b.op("equal", first, places), dtype_of(x))


RULES: Rules = {
    "Celu": since(12, celu),
    "Gelu": since(20, gelu),
    "Hardmax": since(1, along_axis(hardmax_of)),
    "LeakyRelu": since(6, leaky_relu),
    "LogSoftmax": since(1, along_axis(partial(in_float32, "nn.log_softmax"))),
    "PRelu": since(6, prelu),
    "Relu": since(6, unary("nn.relu")),
    "Sigmoid": since(6, unary("sigmoid")),
    "Softmax": since(1, along_axis(partial(in_float32, "nn.softmax"))),
    "Softplus": since(1, softplus),
    "Tanh": since(6, unary("tanh")),
}
