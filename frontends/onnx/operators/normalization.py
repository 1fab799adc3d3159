"""Normalizations: by stored statistics, over channels, over the last dims."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import (
    Dim,
    Value,
    dims_of,
    dtype_of,
    has_static_shape,
    rank_of,
    shape_of,
    shape_text,
)
from .rule import Results, Rules, since


def batch_normalization(node: Node, b: Builder) -> Results:
    """Normalize by statistics from training, or by those of the input, which update them."""
    momentum = node.number("momentum", 0.9)
    is_training = node.flag("training_mode", False)
    if node.opset < 7 and not node.flag("is_test", False):
        raise node.error("attribute is_test is 0; supported: 1")
    if not node.flag("spatial", True):
        raise node.error("attribute spatial is 0; supported: 1")
    for i, what in enumerate(("the mean", "the variance", "a saved mean", "a saved variance")):
        if not is_training or i > 1:
            node.require_unused(i + 1, what)
    x = node.input(0)
    if rank_of(x) < 2:
        raise node.error(f"the input has rank {rank_of(x)}; supported: 2 and more")
    operands = [node.input(i) for i in range(5)]
    epsilon = node.number("epsilon", 1e-5)
    running: list[Value] = []
    if is_training:
        axes = [i for i in range(rank_of(x)) if i != 1]
        mean, _, variance = _moments(x, axes, b)
        for i, value in ((3, mean), (4, variance)):
            value = b.cast(b.op("squeeze", value, axis=axes), dtype_of(operands[i]))
            new = b.op("multiply", value, b.scalar_like(1 - momentum, value))
            old = b.op("multiply", operands[i], b.scalar_like(momentum, value))
            running.append(b.op("add", old, new))
            operands[i] = value
    return [b.results("nn.batch_norm", operands, axis=1, epsilon=epsilon)[0], *running]


def local_response(node: Node, b: Builder) -> Value:
    size = node.optional_int("size")
    if size is None or size < 1:
        raise node.error(f"attribute size is {size}; supported: 1 and more")
    return b.op(
        "nn.lrn",
        node.input(0),
        size=size,
        axis=1,
        bias=node.number("bias", 1.0),
        alpha=node.number("alpha", 1e-4),
        beta=node.number("beta", 0.75),
    )


def _moments(x: Value, axes: Sequence[int], b: Builder) -> tuple[Value, Value, Value]:
    """Return the mean over `axes`, `x` minus the mean, and the variance; dims are kept as 1."""
    mean = b.op("mean", x, axis=tuple(axes), keepdims=True)
    centred = b.op("subtract", x, mean)
    square = b.op("multiply", centred, centred)
    return mean, centred, b.op("mean", square, axis=tuple(axes), keepdims=True)


def _inverse_deviation(variance: Value, epsilon: float, b: Builder) -> Value:
    return b.op("rsqrt", b.op("add", variance, b.scalar_like(epsilon, variance)))


def _require_stash_type(node: Node) -> None:
    if node.integer("stash_type", 1) != 1:
        raise node.error("attribute stash_type must be 1 (float32); supported: 1")


def layer_normalization(node: Node, b: Builder) -> Results:
    """Normalize over the dims from `axis` on; mean and inverse deviation are built if used."""
    _require_stash_type(node)
    x, scale, bias = node.input(0), node.input(1), node.optional(2)
    dims = dims_of(x)
    axis = node.axis(node.integer("axis", -1), len(dims))
    epsilon, y = node.number("epsilon", 1e-5), None
    inner = [dim for dim in dims[axis:] if isinstance(dim, int)]
    factors = [scale] if bias is None else [scale, bias]
    if len(inner) == len(dims) - axis and has_static_shape(*factors):
        if bias is None:
            bias = b.broadcast_to(b.scalar_like(0, x), (prod(inner),))
        rows = x if len(inner) == 1 else b.reshape(x, (*dims[:axis], prod(inner)))
        flat = (prod(inner),)
        gamma, beta = (
            b.reshape(v if prod(shape_of(v)) == prod(inner) else b.broadcast_to(v, inner), flat)
            for v in (scale, bias)
        )
        y = b.reshape(b.op("nn.layer_norm", rows, gamma, beta, axis=-1, epsilon=epsilon), dims)
        if not any(name in node.used for name in node.outputs[1:]):
            return y
    mean, centred, variance = _moments(x, range(axis, len(dims)), b)
    factor = _inverse_deviation(variance, epsilon, b)
    if y is None:
        y = b.op("multiply", b.op("multiply", centred, factor), scale)
        y = y if bias is None else b.op("add", y, bias)
    return [y, mean, factor]


def instance_normalization(node: Node, b: Builder) -> Value:
    """Normalize each channel of each sample."""
    x = node.input(0)
    rank = rank_of(x)
    if rank < 3:
        raise node.error(f"the input has rank {rank}; supported: 3 and more")
    return _by_channel(node, x, range(2, rank), dims_of(x), b)


def _by_channel(
    node: Node, x: Value, axes: Sequence[int], dims: Sequence[Dim], b: Builder
) -> Value:
    """Normalize over `axes`; scale and shift each channel of the result, reshaped to `dims`."""
    _, centred, variance = _moments(x, axes, b)
    y = b.op("multiply", centred, _inverse_deviation(variance, node.number("epsilon", 1e-5), b))
    scale, shift = (
        b.reshape(value, (*dims_of(value), *[1] * (len(dims) - 2)))
        for value in (node.input(1), node.input(2))
    )
    return b.op("add", b.op("multiply", b.reshape(y, dims), scale), shift)


def group_normalization(node: Node, b: Builder) -> Value:
    """Normalize each group of channels of each sample."""
    _require_stash_type(node)
    x = node.input(0)
    dims = dims_of(x)
    groups = node.integer("num_groups", 0)
    channels = dims[1] if len(dims) > 2 else 0
    if groups < 1 or len(dims) < 3 or (isinstance(channels, int) and channels % groups):
        raise node.error(
            f"attribute num_groups is {groups} for shape {shape_text(dims)}; supported: a divisor "
            "of the channels of at least three dims"
        )
    grouped = b.op("reshape", x, newshape=(0, groups, -1))
    return _by_channel(node, grouped, (2,), dims, b)


def rms_normalization(node: Node, b: Builder) -> Value:
    """Normalize by the root of the mean square over the dims from `axis` on."""
    _require_stash_type(node)
    x = node.input(0)
    rank = rank_of(x)
    axes = range(node.axis(node.integer("axis", -1), rank), rank)
    return by_mean_square(x, node.input(1), axes, node.number("epsilon", 1e-5), b)


def by_mean_square(
    x: Value, scale: Value, axes: Sequence[int], epsilon: float, b: Builder
) -> Value:
    """Divide by the root of the mean square over `axes`, and scale."""
    square = b.op("mean", b.op("multiply", x, x), axis=tuple(axes), keepdims=True)
    return b.op("multiply", b.op("multiply", x, _inverse_deviation(square, epsilon, b)), scale)


def lp_normalization(node: Node, b: Builder) -> Value:
    """Divide by the sum of absolute values (p = 1) or the root of the sum of squares (p = 2)."""
    x = node.input(0)
    axis = (node.axis(node.integer("axis", -1), rank_of(x)),)
    p = node.integer("p", 2)
    if p not in (1, 2):
        raise node.error(f"attribute p is {p}; supported: 1, 2")
    return by_norm(x, axis, p, b)


def by_norm(x: Value, axis: Sequence[int], p: int, b: Builder) -> Value:
    """Divide by the sum of absolute values, or by the root of the sum of squares."""
    powers = b.op("abs", x) if p == 1 else b.op("multiply", x, x)
    size = b.op("sum", powers, axis=axis, keepdims=True)
    return by_size(x, size if p == 1 else b.op("sqrt", size), b)


def by_size(x: Value, size: Value, b: Builder) -> Value:
    """Divide by `size` unless that is 0."""
    zero = b.op("equal", size, b.scalar_like(0, x))
    return b.op("divide", x, b.op("where", zero, b.scalar_like(1, x), size))


def mean_variance_normalization(node: Node, b: Builder) -> Value:
    x = node.input(0)
    rank = rank_of(x)
    axes = node.axes(node.ints("axes") or [0, 2, 3], rank)
    _, centred, variance = _moments(x, axes, b)
    deviation = b.op("add", b.op("sqrt", variance), b.scalar_like(1e-9, x))
    return b.op("divide", centred, deviation)


RULES: Rules = {
    "BatchNormalization": since(6, batch_normalization),
    "GroupNormalization": since(21, group_normalization),
    "InstanceNormalization": since(6, instance_normalization),
    "LRN": since(1, local_response),
    "LayerNormalization": since(17, layer_normalization),
    "LpNormalization": since(1, lp_normalization),
    "MeanVarianceNormalization": since(9, mean_variance_normalization),
    "RMSNormalization": since(23, rms_normalization),
}
