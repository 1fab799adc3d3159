"""Convolutions over one or two dims, and their transposes."""

from __future__ import annotations

from collections.abc import Sequence

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Dim, Value, rank_of, shape_of
from .rule import Rules, since
from .windows import (
    AUTO_PADS,
    flat_windows,
    known_dims,
    per_dim,
    spatial_dims,
    split_padding,
    windows_of,
    with_height,
    without_height,
)


def _kernel_shape(node: Node, x: Value, weight: Value) -> tuple[int, ...]:
    """Return the weight's last dims, which the attribute, if present, must agree with."""
    node.require_rank(weight, [rank_of(x)], "the weight")
    kernel = shape_of(weight)[2:]
    given = node.ints("kernel_shape")
    if given is not None and tuple(given) != kernel:
        raise node.error(
            f"attribute kernel_shape is {given}, but the weight has shape {list(shape_of(weight))}"
        )
    return kernel


def _with_bias(node: Node, y: Value, b: Builder) -> Value:
    bias = node.optional(2)
    return y if bias is None else b.op("nn.bias_add", y, bias, axis=1)


def conv(node: Node, b: Builder) -> Value:
    return _with_bias(node, conv_of(node, node.input(0), node.input(1), b), b)


def conv_of(node: Node, x: Value, weight: Value, b: Builder) -> Value:
    """Convolve `x` with `weight` by the attributes of `node`."""
    dims = spatial_dims(node, x)
    windows = windows_of(node, dims, _kernel_shape(node, x, weight))
    y = b.op(
        "nn.conv2d",
        with_height(x, b),
        with_height(weight, b),
        strides=windows.strides,
        padding=windows.pads,
        dilation=windows.dilations,
        groups=node.integer("group", 1),
    )
    return without_height(y, len(dims) + 2, b)


def conv_transpose(node: Node, b: Builder) -> Value:
    """
    Convert a transposed convolution; padding crops the result, or `output_shape` states its size.
    """
    x, weight = node.input(0), node.input(1)
    dims = spatial_dims(node, x)
    rank = len(dims)
    kernel = _kernel_shape(node, x, weight)
    strides = per_dim(node, "strides", rank, 1)
    dilations = per_dim(node, "dilations", rank, 1)
    extra = per_dim(node, "output_padding", rank, 0)
    reach = [
        (k - 1) * d + 1 + e - s
        for s, k, d, e in zip(strides, kernel, dilations, extra, strict=True)
    ]
    pads, missing = _transposed_pads(node, dims, strides, reach)
    extra = tuple(e + m for e, m in zip(extra, missing, strict=True))
    windows = flat_windows(kernel, strides, dilations, pads)
    y = b.op(
        "nn.conv2d_transpose",
        with_height(x, b),
        with_height(weight, b),
        strides=windows.strides,
        padding=windows.pads,
        output_padding=extra if rank == 2 else (0, *extra),
        dilation=windows.dilations,
        groups=node.integer("group", 1),
    )
    return without_height(_with_bias(node, y, b), rank + 2, b)


def _transposed_pads(
    node: Node, dims: Sequence[Dim], strides: Sequence[int], reach: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """
    Split the difference between the full result, of `n * stride + reach`, and the requested one.

    Return what to crop before and after all dims, and what to add where the request is larger.
    """
    none = (0,) * len(dims)
    auto_pad = node.choice("auto_pad", "NOTSET", AUTO_PADS)
    given = per_dim(node, "pads", 2 * len(dims), 0)
    wanted = node.ints("output_shape")
    if wanted is not None:
        if len(wanted) < len(dims):
            raise node.error(f"attribute output_shape is {wanted}; supported: {len(dims)} integers")
        known = known_dims(node, dims, "attribute output_shape")
        sizes = [n * s + r for n, s, r in zip(known, strides, reach, strict=True)]
        totals = [f - w for f, w in zip(sizes, wanted[-len(dims) :], strict=True)]
    elif auto_pad.startswith("SAME"):
        totals = list(reach)  # the result has n * stride elements
    else:
        return (given if auto_pad == "NOTSET" else none * 2), none
    pads = split_padding([max(t, 0) for t in totals], upper=auto_pad == "SAME_UPPER")
    return pads, tuple(max(-t, 0) for t in totals)


RULES: Rules = {
    "Conv": since(1, conv),
    "ConvTranspose": since(1, conv_transpose),
}
