"""Convolutions over one to three dims, and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import (
    Dim,
    Value,
    dims_of,
    dtype_of,
    has_static_shape,
    rank_of,
    shape_text,
)
from .rule import Rules, since
from .windows import (
    AUTO_PADS,
    Windows,
    known_dims,
    per_dim,
    spatial_dims,
    split_padding,
    windows_of,
)


def _sized(node: Node, x: Value, weight: Value, b: Builder) -> tuple[Value, tuple[Dim, ...]]:
    """
    Return the weight and its last dims, which the attribute, if present, must agree with.

    Dims that are not known are those of the attribute.
    """
    node.require_rank(weight, [rank_of(x)], "the weight")
    given = node.ints("kernel_shape")
    if given is not None and not has_static_shape(weight):
        first = [dim if isinstance(dim, int) else 0 for dim in dims_of(weight)[:2]]
        weight = b.op("reshape", weight, newshape=(*first, *given))
    kernel = dims_of(weight)[2:]
    if given is not None and tuple(given) != kernel:
        raise node.error(
            f"attribute kernel_shape is {given}, but the weight has shape "
            f"{shape_text(dims_of(weight))}"
        )
    return weight, kernel


def _with_bias(node: Node, y: Value, b: Builder) -> Value:
    bias = node.optional(2)
    return y if bias is None else b.op("nn.bias_add", y, bias, axis=1)


def conv(node: Node, b: Builder) -> Value:
    return _with_bias(node, conv_of(node, node.input(0), node.input(1), b), b)


def conv_of(node: Node, x: Value, weight: Value, b: Builder) -> Value:
    """Convolve `x` with `weight` by the attributes of `node`."""
    weight, kernel = _sized(node, x, weight, b)
    x, windows = windows_of(node, x, kernel, b)
    return windows.op("nn.conv{}", x, weight, b=b, groups=node.integer("group", 1))


def conv_transpose(node: Node, b: Builder) -> Value:
    """Convert a transposed convolution, cropped by its padding or to `output_shape`."""
    x, weight = node.input(0), node.input(1)
    dims = spatial_dims(node, x)
    rank = len(dims)
    weight, kernel = _sized(node, x, weight, b)
    extra = per_dim(node, "output_padding", rank, 0)
    pads, missing = _transposed_pads(node, dims, kernel)
    extra = tuple(e + m for e, m in zip(extra, missing, strict=True))
    strides, dilations = (per_dim(node, name, rank, 1) for name in ("strides", "dilations"))
    windows = Windows(tuple(kernel), strides, dilations, pads)
    how = {"output_padding": extra, "groups": node.integer("group", 1)}
    return _with_bias(node, windows.op("nn.conv{}_transpose", x, weight, b=b, **how), b)


def _transposed_pads(
    node: Node, dims: Sequence[Dim], kernel: Sequence[Dim]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """
    Split the difference between the full result, of `n * stride + reach`, and the requested one.

    Return what to crop before and after all dims, and what to add where the request is larger.
    """
    none = (0,) * len(dims)
    auto_pad = node.choice("auto_pad", "NOTSET", AUTO_PADS)
    given = per_dim(node, "pads", 2 * len(dims), 0)
    wanted = node.ints("output_shape")
    if wanted is None and not auto_pad.startswith("SAME"):
        return (given if auto_pad == "NOTSET" else none * 2), none
    names = ("strides", 1), ("dilations", 1), ("output_padding", 0)
    strides, *others = (per_dim(node, name, len(dims), least) for name, least in names)
    sizes = known_dims(node, kernel, "a result of a given size", "the weight")
    reach = [(k - 1) * d + 1 + e - s for s, k, d, e in zip(strides, sizes, *others, strict=True)]
    if wanted is not None:
        if len(wanted) < len(dims):
            raise node.error(f"attribute output_shape is {wanted}; supported: {len(dims)} integers")
        known = known_dims(node, dims, "attribute output_shape")
        sizes = [n * s + r for n, s, r in zip(known, strides, reach, strict=True)]
        totals = [f - w for f, w in zip(sizes, wanted[-len(dims) :], strict=True)]
    else:
        totals = reach  # the result has n * stride elements
    pads = split_padding([max(t, 0) for t in totals], upper=auto_pad == "SAME_UPPER")
    return pads, tuple(max(-t, 0) for t in totals)


def col2im(node: Node, b: Builder) -> Value:
    """Add up columns where their windows are: by a transposed convolution with a 1 for each."""
    image = node.required_ints(1, "the size of the image")
    block = node.required_ints(2, "the size of a block")
    x, rank, size = node.input(0), len(block), prod(block)
    batch, columns, _ = dims_of(x)
    strides, dilations = (per_dim(node, name, rank, 1) for name in ("strides", "dilations"))
    pads = per_dim(node, "pads", 2 * rank, 0)
    if rank not in (1, 2, 3) or len(image) != rank or not isinstance(columns, int):
        raise node.error(f"the image {image} and the block {block} must have 1 to 3 dims")
    full = [n + p + q for n, p, q in zip(image, pads[:rank], pads[rank:], strict=True)]
    reach = [(k - 1) * d + 1 for k, d in zip(block, dilations, strict=True)]
    counts = [(f - r) // s + 1 for f, r, s in zip(full, reach, strides, strict=True)]
    left = [f - r - (c - 1) * s for f, r, c, s in zip(full, reach, counts, strides, strict=True)]
    if min(counts, default=0) < 1 or columns % size:
        raise node.error(f"{columns} columns of blocks {block} do not fit the image {image}")
    groups = columns // size
    ones = np.tile(np.eye(size).reshape(size, 1, *block), (groups, *[1] * (rank + 1)))
    windows = Windows(tuple(block), strides, dilations, pads)
    blocks, weight = b.reshape(x, (batch, columns, *counts)), b.constant(ones.astype(dtype_of(x)))
    how = {"output_padding": tuple(left), "groups": groups}
    return windows.op("nn.conv{}_transpose", blocks, weight, b=b, **how)


RULES: Rules = {
    "Col2Im": since(18, col2im),
    "Conv": since(1, conv),
    "ConvTranspose": since(1, conv_transpose),
}
