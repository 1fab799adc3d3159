"""Signatures of matrix products."""

from collections.abc import Sequence

from .attributes import flag_of, optional_element_of
from .operands import (
    require_number,
    require_rank,
    require_same_element,
)
from .signature import UNKNOWN, Call, Element, Signature, SignatureError, Tensor, ranked


def product_element(call: Call, operands: Sequence[Tensor]) -> Element:
    """
    Return the element type of a sum of products: `out_dtype`, or that of the operands.

    With `out_dtype`, the operands' number types may differ (u8 times i8).
    """
    for i, operand in enumerate(operands):
        require_number(operand.element, f"operand {i} of {call.name}")
    out_dtype = optional_element_of(call, "out_dtype")
    if out_dtype is None:
        return require_same_element(operands, call)
    require_number(out_dtype, f"the result of {call.name}")
    return out_dtype


def _require_equal(a: int, b: int) -> None:
    if a != b and UNKNOWN not in (a, b):
        raise SignatureError(f"the reduced dims must be equal, but are {a} and {b}")


def dense(call: Call) -> Sequence[Tensor]:
    """Infer (…, units) from `data` (…, k) and `weight` (units, k)."""
    data, weight = operands = call.tensors(2)
    element = product_element(call, operands)
    require_rank(weight, 2, "weight")
    units, k = weight.dims
    shape = data.dims
    if not shape:
        raise SignatureError("data must have rank at least 1, but has rank 0")
    _require_equal(shape[-1], k)
    return (ranked(element, (*shape[:-1], units)),)


def _rows_and_columns(
    call: Call, a: Sequence[int], b: Sequence[int], names: tuple[str, str]
) -> tuple[int, int]:
    n, k = a if not flag_of(call, names[0]) else (a[1], a[0])
    k_too, m = b if not flag_of(call, names[1]) else (b[1], b[0])
    _require_equal(k, k_too)
    return n, m


def matmul(call: Call) -> Sequence[Tensor]:
    """Infer (n, m) from `a` (n, k) and `b` (k, m), either one optionally transposed."""
    a, b = operands = call.tensors(2)
    element = product_element(call, operands)
    require_rank(a, 2, "a")
    require_rank(b, 2, "b")
    dims = _rows_and_columns(call, a.dims, b.dims, ("transpose_a", "transpose_b"))
    return (ranked(element, dims),)


def batch_matmul(call: Call) -> Sequence[Tensor]:
    """Infer (b, n, m) from `x` (b, n, k) and `y` (b, k, m), transposed or not; a 1 broadcasts."""
    x, y = operands = call.tensors(2)
    element = product_element(call, operands)
    require_rank(x, 3, "x")
    require_rank(y, 3, "y")
    (batch, *of_x), (batch_too, *of_y) = x.dims, y.dims
    dims = _rows_and_columns(call, of_x, of_y, ("transpose_a", "transpose_b"))
    if batch == 1 or (batch == UNKNOWN and batch_too != 1):
        batch = batch_too
    elif batch_too not in (1, UNKNOWN, batch):
        raise SignatureError(f"batches must be equal or 1, but are {batch} and {batch_too}")
    return (ranked(element, (batch, *dims)),)


SIGNATURES: dict[str, Signature] = {
    "relay.nn.dense": dense,
    "relay.nn.matmul": matmul,
    "relay.nn.batch_matmul": batch_matmul,
}
