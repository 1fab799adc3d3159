"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...einsum import einsum as sum_of_products
from ..convert.computed import Computed, require_equal
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Dim, Value, dims_of, dtype_of, is_float, rank_of, shape_text
from .rule import Rules, since
from .shapes import merged


def _scaled(node: Node, value: Value, factor: float, what: str, b: Builder) -> Value:
    if factor == 1.0:
        return value
    if not is_float(dtype_of(value)) and not factor.is_integer():
        raise node.error(f"attribute {what} is {factor} for integers; supported: whole numbers")
    return b.op("multiply", value, b.scalar_like(factor, value))


def gemm(node: Node, b: Builder) -> Value:
    """Compute alpha * A * B + beta * C, with A and B optionally transposed."""
    x, weight = node.input(0), node.input(1)
    node.require_rank(x, [2], "A")
    node.require_rank(weight, [2], "B")
    trans_a, trans_b = node.flag("transA", False), node.flag("transB", False)
    if trans_b and not trans_a:
        y = b.op("nn.dense", x, weight)
    else:
        y = b.op("nn.matmul", x, weight, transpose_a=trans_a, transpose_b=trans_b)
    if node.opset < 7:
        node.ignore("broadcast")  # C is broadcast wherever possible
    y = _scaled(node, y, node.number("alpha", 1.0), "alpha", b)
    beta, bias = node.number("beta", 1.0), node.optional(2)
    if bias is None or beta == 0.0:
        return y
    bias = _scaled(node, bias, beta, "beta", b)
    if dims_of(bias) == dims_of(y)[1:]:
        return b.op("nn.bias_add", y, bias, axis=1)
    return b.op("add", y, bias)


def swapped(x: Value, b: Builder) -> Value:
    """Transpose matrices: swap the last two dims."""
    order = list(range(rank_of(x)))
    order[-2:] = reversed(order[-2:])
    return b.transpose(x, order)


def matmul(node: Node, b: Builder) -> Value:
    return product(node, node.input(0), node.input(1), b)


def product(node: Node, x: Value, y: Value, b: Builder) -> Value:
    """
    Compute NumPy's product: vectors, matrices, and stacks of matrices that broadcast.

    A factor that is known in a wider type is not rounded before.
    """
    dtype = dtype_of(x)
    x, y = b.unrounded(x), b.unrounded(y)
    out_dtype = None if dtype_of(x) == dtype_of(y) == dtype else dtype
    left, right = dims_of(x), dims_of(y)
    if not left or not right:
        raise node.error("a factor has rank 0; supported: rank 1 and more")
    if len(left) == 1:
        x = b.reshape(x, (1, *left))
    if len(right) == 1:
        y = b.reshape(y, (*right, 1))
    result = _of_matrices(node, x, y, out_dtype, b)
    dims = dims_of(result)
    if len(left) == 1:
        dims = (*dims[:-2], dims[-1])
    if len(right) == 1:
        dims = dims[:-1]
    return b.reshape(result, dims)


def _of_matrices(
    node: Node, x: Value, y: Value, out_dtype: np.dtype[Any] | None, b: Builder
) -> Value:
    """Multiply two matrices or stacks of matrices."""
    left, right = dims_of(x), dims_of(y)
    rows, inner, columns = left[-2], left[-1], right[-1]
    if isinstance(inner, int) and isinstance(right[-2], int) and right[-2] != inner:
        raise node.error(
            f"shapes {shape_text(left)} and {shape_text(right)} do not match: "
            f"{inner} columns, {right[-2]} rows"
        )
    if all(dim == 1 for dim in right[:-2]) and len(right) <= len(left):
        # one matrix for all rows of the stack on the left
        return b.op("nn.matmul", x, b.reshape(y, right[-2:]), out_dtype=out_dtype)
    stack = _broadcast(node, left[:-2], right[:-2])
    if len(stack) > 1:  # merged into one dim, whose size alone would be checked
        for one, other in zip(reversed(left[:-2]), reversed(right[:-2]), strict=False):
            if 1 not in (one, other):
                require_equal(b, one, other)
    factors = _stacked(x, stack, b), _stacked(y, stack, b)
    stacked = b.op("nn.batch_matmul", *factors, transpose_b=False, out_dtype=out_dtype)
    return b.reshape(stacked, (*stack, rows, columns))


def _broadcast(node: Node, left: Sequence[Dim], right: Sequence[Dim]) -> tuple[Dim, ...]:
    """
    Return the dims that stacks of matrices broadcast to.

    Dims that are both dynamic are taken to be equal, which is checked when the program runs.
    """
    if len(left) < len(right):
        left, right = right, left
    dims = list(left)
    for at in range(-len(right), 0):
        one, other = left[at], right[at]
        if one == 1 or (isinstance(other, int) and other != 1 and not isinstance(one, int)):
            dims[at] = other
        elif isinstance(one, int) and isinstance(other, int) and other not in (1, one):
            raise node.error(f"dims {one} and {other} at axis {at} do not broadcast together")
    return tuple(dims)


def _stacked(value: Value, stack: Sequence[Dim], b: Builder) -> Value:
    """Return `value` with one stack dim: 1 for a single matrix, else that of the whole `stack`."""
    dims = dims_of(value)
    if not all(dim == 1 for dim in dims[:-2]):
        kept = (1,) * (len(stack) - len(dims) + 2) + dims[:-2]
        if any(one == 1 != other for one, other in zip(kept, stack, strict=True)):
            value = b.broadcast_to(value, (*stack, *dims[-2:]))
    return merged(value, rank_of(value) - 2, b)


def einsum(node: Node, b: Builder) -> Value:
    operands = [Computed(x, b) for x in node.variadic()]
    return sum_of_products(node.error, node.text("equation"), operands).value


RULES: Rules = {"Einsum": since(12, einsum), "Gemm": since(6, gemm), "MatMul": since(1, matmul)}
