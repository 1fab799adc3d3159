"""
Quantized operators, as computations on numbers.

A tensor of small integers q with a scale s and a zero point z stands for the numbers (q - z) * s.
Products of small integers are computed in float64, which is exact for sums of up to 2^37 of them,
and has fast kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....operators.element_types import ELEMENT_TABLE
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import (
    Dim,
    Value,
    dims_of,
    dtype_of,
    is_float,
    rank_of,
    shape_of,
    shape_text,
)
from .convolution import conv_of
from .elementwise import converted
from .linear import product
from .rule import Rules, since

EXACT = np.dtype(np.float64)
SUMS = np.dtype(np.int32)


def _along(node: Node, value: Value, x: Value, axis: int, what: str, b: Builder) -> Value:
    """
    Return a scale or zero point of `x` so that it broadcasts.

    It is one number, or one for each index of `axis`, or (with the attribute `block_size`) one for
    each block along `axis`.
    """
    rank = rank_of(value)
    if rank == 0:
        return value
    block = node.integer("block_size", 0) if node.opset >= 21 else 0
    if not block or (rank == 1 and rank_of(x) != 1):
        if rank != 1:
            raise node.error(
                f"{what} has shape {shape_text(dims_of(value))}; supported: a scalar or a vector"
            )
        if dims_of(value) == (1,):
            return b.reshape(value, ())
        shape: list[Dim] = [1] * rank_of(x)
        (shape[node.axis(axis, rank_of(x))],) = dims_of(value)
        return b.reshape(value, shape)
    axis = node.axis(axis, rank_of(x))
    size = shape_of(x)[axis]
    repeated = b.op("repeat", value, repeats=block, axis=axis)
    if size > shape_of(repeated)[axis]:
        raise node.error(f"{what} has too few blocks for the {size} elements of axis {axis}")
    return b.slice(repeated, axis, 0, size)


def _zero_point(node: Node, index: int, x: Value, axis: int, b: Builder) -> Value | None:
    value = node.optional(index)
    return None if value is None else _along(node, value, x, axis, f"input {index}", b)


def _rounded(node: Node, x: Value, zero: Value | None, dtype: np.dtype[Any], b: Builder) -> Value:
    """Round `x` to even, add the zero point, and limit the result to `dtype`; or to its floats."""
    row = ELEMENT_TABLE[dtype.name]
    if not 1 < row.bits <= 16 or (row.bits == 16 and row.precision):
        raise node.error(f"dtype {dtype.name} is not supported; supported: up to 16 bits")
    if row.precision:
        return converted(b, x, dtype, node.flag("saturate", True))
    y = b.op("round", x)
    if zero is not None:
        y = b.op("add", y, b.cast(zero, dtype_of(y)))
    low = 0 if row.dlpack else -(2 ** (row.bits - 1))
    y = b.op("clip", y, a_min=float(low), a_max=float(low + 2**row.bits - 1))
    return converted(b, y, dtype)


def quantize(node: Node, b: Builder) -> Value:
    """Compute x / scale, rounded, plus the zero point, limited to the type of the result."""
    x, scale = node.input(0), node.input(1)
    axis = node.integer("axis", 1) if node.opset >= 13 else 1
    given = node.optional(2)
    dtype = np.dtype(np.uint8) if given is None else dtype_of(given)
    if node.opset >= 19:
        node.flag("saturate", True)  # matters for floats of 8 bits only
    if node.opset >= 21 and (node.optional_int("output_dtype") or 0):
        dtype = node.dtype("output_dtype")
    computed = dtype_of(scale)
    if node.opset >= 23 and (node.optional_int("precision") or 0):
        computed = node.dtype("precision")
    zero = _zero_point(node, 2, x, axis, b)
    scale = b.cast(_along(node, scale, x, axis, "the scale", b), computed)
    quotient = b.op("divide", b.cast(x, computed), scale)
    if computed == np.float16:  # which cannot represent the limits of 16 bits
        quotient = b.cast(quotient, np.dtype(np.float32))
    return _rounded(node, quotient, zero, dtype, b)


def dequantize(node: Node, b: Builder) -> Value:
    """Compute (x - zero point) * scale."""
    x, scale = node.input(0), node.input(1)
    axis = node.integer("axis", 1) if node.opset >= 13 else 1
    dtype = dtype_of(scale)
    if node.opset >= 23 and (node.optional_int("output_dtype") or 0):
        dtype = node.dtype("output_dtype")
    computed = np.dtype(np.float32) if is_float(dtype_of(x)) else SUMS
    y = b.cast(x, computed)
    zero = _zero_point(node, 2, x, axis, b)
    if zero is not None:
        y = b.op("subtract", y, b.cast(zero, computed))
    scale = _along(node, scale, x, axis, "the scale", b)
    return b.cast(b.op("multiply", b.cast(y, dtype_of(scale)), scale), dtype)


def _shifted(node: Node, x: Value, index: int, axis: int, b: Builder) -> Value:
    """Return `x` in float64, less its zero point, or points along `axis`, at `index`."""
    y = b.cast(x, EXACT)
    zero = node.optional(index)
    if zero is None:
        return y
    if dtype_of(zero) != dtype_of(x):
        raise node.error(
            f"zero point {index} has dtype {dtype_of(zero)}; supported: that of its operand"
        )
    if dims_of(zero) == (1,):
        zero = b.reshape(zero, ())
    elif rank_of(zero) == 1:
        axis = max(axis, -rank_of(x))  # the rows of a vector are its elements
        after = rank_of(x) - 1 - node.axis(axis, rank_of(x))
        zero = b.reshape(zero, [*dims_of(zero), *[1] * after])
    return b.op("subtract", y, b.cast(zero, EXACT))


def _sums(y: Value, b: Builder) -> Value:
    """Return exact sums as int32; ones that are too large wrap around."""
    return b.cast(b.cast(y, np.dtype(np.int64)), SUMS)


def matmul_integer(node: Node, b: Builder) -> Value:
    x, y = node.input(0), node.input(1)
    left, right = _shifted(node, x, 2, -2, b), _shifted(node, y, 3, -1, b)
    return _sums(product(node, left, right, b), b)


def conv_integer(node: Node, b: Builder) -> Value:
    x, weight = node.input(0), node.input(1)
    y = conv_of(node, _shifted(node, x, 2, 1, b), _shifted(node, weight, 3, 0, b), b)
    return _sums(y, b)


def _requantized(
    node: Node, sums: Value, scales: Sequence[Value], zero: Value, axis: int, b: Builder
) -> Value:
    """Scale `sums` by the product of the operands' scales over that of the result, and quantize."""
    first, second, result = (
        b.cast(_along(node, s, sums, axis, "a scale", b), np.dtype(np.float32)) for s in scales
    )
    factor = b.op("divide", b.op("multiply", first, second), result)
    scaled = b.op("multiply", b.cast(sums, np.dtype(np.float32)), factor)
    zero = _along(node, zero, sums, axis, "the zero point of the result", b)
    return _rounded(node, scaled, zero, dtype_of(zero), b)


def qlinear_matmul(node: Node, b: Builder) -> Value:
    x, y = node.input(0), node.input(3)
    left, right = _shifted(node, x, 2, -2, b), _shifted(node, y, 5, -1, b)
    sums = _sums(product(node, left, right, b), b)
    scales = [node.input(1), node.input(4), node.input(6)]
    return _requantized(node, sums, scales, node.input(7), -1, b)


def qlinear_conv(node: Node, b: Builder) -> Value:
    x, weight = node.input(0), node.input(3)
    y = conv_of(node, _shifted(node, x, 2, 1, b), _shifted(node, weight, 5, 0, b), b)
    sums, bias = _sums(y, b), node.optional(8)
    if bias is not None:
        sums = b.op("nn.bias_add", sums, bias, axis=1)
    scales = [node.input(1), node.input(4), node.input(6)]
    return _requantized(node, sums, scales, node.input(7), 1, b)


RULES: Rules = {
    "ConvInteger": since(10, conv_integer),
    "DequantizeLinear": since(10, dequantize),
    "MatMulInteger": since(10, matmul_integer),
    "QLinearConv": since(10, qlinear_conv),
    "QLinearMatMul": since(10, qlinear_matmul),
    "QuantizeLinear": since(10, quantize),
}
