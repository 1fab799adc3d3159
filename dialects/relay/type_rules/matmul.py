"""Type rules of matrix products."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ...tensors import Tensor
from .operands import (
    ranked,
    require_dtype,
    require_number,
    require_rank,
    require_same_element,
    tensor_operands,
)
from .properties import flag_of


def product_element(op: Operation, operands: Sequence[Tensor]) -> Attribute:
    """
    The element type of a sum of products: `out_dtype`, or that of the operands.

    Operands of two number types (u8 times i8) are allowed where `out_dtype` is given.
    """
    for i, operand in enumerate(operands):
        require_number(operand.element_type, f"operand {i} of {op.name}")
    out_dtype = op.properties.get("out_dtype")
    if out_dtype is None:
        return require_same_element(operands, op)
    require_dtype(out_dtype, "out_dtype")
    require_number(out_dtype, f"the result of {op.name}")
    return out_dtype


def _require_equal(a: int, b: int) -> None:
    if a != b and DYNAMIC_INDEX not in (a, b):
        raise VerifyException(f"the dims that are summed over must be equal, but are {a} and {b}")


def dense(op: Operation) -> Sequence[Attribute]:
    """`data` (…, k), `weight` (units, k): (…, units)."""
    data, weight = operands = tensor_operands(op, 2)
    element = product_element(op, operands)
    require_rank(weight, 2, "weight")
    units, k = weight.get_shape()
    shape = data.get_shape()
    if not shape:
        raise VerifyException("data must have rank at least 1, but has rank 0")
    _require_equal(shape[-1], k)
    return (ranked(element, (*shape[:-1], units)),)


def _rows_and_columns(
    op: Operation, a: Sequence[int], b: Sequence[int], names: tuple[str, str]
) -> tuple[int, int]:
    n, k = a if not flag_of(op, names[0]) else (a[1], a[0])
    k_too, m = b if not flag_of(op, names[1]) else (b[1], b[0])
    _require_equal(k, k_too)
    return n, m


def matmul(op: Operation) -> Sequence[Attribute]:
    """`a` (n, k), `b` (k, m), either of them transposed: (n, m)."""
    a, b = operands = tensor_operands(op, 2)
    element = product_element(op, operands)
    require_rank(a, 2, "a")
    require_rank(b, 2, "b")
    dims = _rows_and_columns(op, a.get_shape(), b.get_shape(), ("transpose_a", "transpose_b"))
    return (ranked(element, dims),)


def batch_matmul(op: Operation) -> Sequence[Attribute]:
    """`x` (b, n, k), `y` (b, k, m), either of them transposed: (b, n, m); a batch of 1 repeats."""
    x, y = operands = tensor_operands(op, 2)
    element = product_element(op, operands)
    require_rank(x, 3, "x")
    require_rank(y, 3, "y")
    (batch, *of_x), (batch_too, *of_y) = x.get_shape(), y.get_shape()
    dims = _rows_and_columns(op, of_x, of_y, ("transpose_a", "transpose_b"))
    if batch == 1 or (batch == DYNAMIC_INDEX and batch_too != 1):
        batch = batch_too
    elif batch_too not in (1, DYNAMIC_INDEX, batch):
        raise VerifyException(f"batches must be equal or 1, but are {batch} and {batch_too}")
    return (ranked(element, (batch, *dims)),)
