"""Matrix products."""

from __future__ import annotations

from math import prod

from ....operators.broadcast import broadcast_shapes
from ....operators.signature import SignatureError
from ..builder import Builder
from ..node import Node
from ..values import Value, dtype_of, is_float, shape_of
from .rule import Rules, since


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
    if shape_of(bias) == shape_of(y)[1:]:
        return b.op("nn.bias_add", y, bias, axis=1)
    return b.op("add", y, bias)


def matmul(node: Node, b: Builder) -> Value:
    """Compute NumPy's product: vectors, matrices, and stacks of matrices that broadcast."""
    x, y = node.input(0), node.input(1)
    left, right = shape_of(x), shape_of(y)
    if not left or not right:
        raise node.error("a factor has rank 0; supported: rank 1 and more")
    if len(left) == 1:
        x = b.reshape(x, (1, *left))
    if len(right) == 1:
        y = b.reshape(y, (*right, 1))
    result = _product(node, x, y, b)
    shape = shape_of(result)
    if len(left) == 1:
        shape = (*shape[:-2], shape[-1])
    if len(right) == 1:
        shape = shape[:-1]
    return b.reshape(result, shape)


def _product(node: Node, x: Value, y: Value, b: Builder) -> Value:
    """Multiply two matrices or stacks of matrices."""
    left, right = shape_of(x), shape_of(y)
    rows, inner, columns = left[-2], left[-1], right[-1]
    if right[-2] != inner:
        raise node.error(
            f"shapes {list(left)} and {list(right)} do not match: {inner} columns, {right[-2]} rows"
        )
    if prod(right[:-2]) == 1 and len(right) <= len(left):
        # one matrix for all: the stack on the left is one tall matrix
        flat = b.reshape(x, (prod(left[:-1]), inner))
        product = b.op("nn.matmul", flat, b.reshape(y, right[-2:]))
        return b.reshape(product, (*left[:-1], columns))
    try:
        stack = broadcast_shapes([left[:-2], right[:-2]])
    except SignatureError as error:
        raise node.error(str(error)) from None
    product = b.op(
        "nn.batch_matmul", _stacked(x, stack, b), _stacked(y, stack, b), transpose_b=False
    )
    return b.reshape(product, (*stack, rows, columns))


def _stacked(value: Value, stack: list[int], b: Builder) -> Value:
    """Return `value` with one stack dim: 1 for a single matrix, else that of the whole `stack`."""
    shape = shape_of(value)
    count = prod(shape[:-2])
    if count not in (1, prod(stack)):
        value, count = b.broadcast_to(value, (*stack, *shape[-2:])), prod(stack)
    return b.reshape(value, (count, *shape[-2:]))


RULES: Rules = {
    "Gemm": since(6, gemm),
    "MatMul": since(1, matmul),
}
