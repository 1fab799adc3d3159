"""Rules of operators that broadcast tensors as NumPy does."""

from collections.abc import Sequence
from typing import Annotated

from .operands import (
    normalized_axis,
    require_bool,
    require_number,
    require_ordered,
    require_rank,
    require_same_element,
)
from .rules import AtLeast, Ints, Work, rule
from .signature import BOOL, Element, Tensor, ranked
from .sizes import Check, Shape, SignatureError, Size, broadcast, require

_OPERANDS = "operands of {op}"


def broadcast_shapes(shapes: Sequence[Sequence[Size]]) -> Shape:
    """Return the shape that `shapes` broadcast to, aligned at the last dim."""
    rank = max(map(len, shapes))
    result: list[Size] = []
    for axis in range(-rank, 0):
        dims = [shape[axis] for shape in shapes if len(shape) >= -axis]
        size = dims[0]
        for dim in dims[1:]:
            size = broadcast(
                size, dim, f"dims {{0}} and {{1}} at axis {axis} do not broadcast together"
            )
        result.append(size)
    return tuple(result)


def _broadcast(element: Element, *tensors: Tensor) -> Tensor:
    dims = tensors[0].dims
    if any(tensor.dims != dims for tensor in tensors):
        dims = broadcast_shapes([tensor.dims for tensor in tensors])
    return Tensor(element, dims)


_NUMBERS = ("add", "subtract", "divide", "power", "mod", "floor_mod", "floor_divide")
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


@rule(*(f"relay.{name}" for name in _NUMBERS), work=Work.LINEAR)
def of_numbers(lhs: Tensor, rhs: Tensor) -> Tensor:
    """Infer from operands of one number type, broadcast together."""
    element = require_same_element((lhs, rhs))
    require_number(element, _OPERANDS)
    return _broadcast(element, lhs, rhs)


@rule("relay.multiply", "relay.maximum", "relay.minimum", work=Work.LINEAR)
def of_ordered(lhs: Tensor, rhs: Tensor) -> Tensor:
    """Infer from operands of one element type that is not opaque, broadcast together."""
    element = require_same_element((lhs, rhs))
    require_ordered(element, _OPERANDS)
    return _broadcast(element, lhs, rhs)


@rule("relay.logical_and", "relay.logical_or", "relay.logical_xor", work=Work.LINEAR)
def of_bools(lhs: Tensor, rhs: Tensor) -> Tensor:
    """Infer from i1 operands, broadcast together."""
    element = require_same_element((lhs, rhs))
    require_bool(element, _OPERANDS)
    return _broadcast(element, lhs, rhs)


@rule(*(f"relay.{name}" for name in _COMPARISONS), work=Work.LINEAR)
def comparison(lhs: Tensor, rhs: Tensor) -> Tensor:
    """Infer i1 elements from operands of one element type, broadcast together."""
    require_ordered(require_same_element((lhs, rhs)), _OPERANDS)
    return _broadcast(BOOL, lhs, rhs)


@rule("relay.where", work=Work.LINEAR)
def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Infer from an i1 `condition`, and `x` and `y` of one element type; all broadcast."""
    require_bool(condition.element, "condition")
    if x.element is not y.element:
        raise SignatureError(
            f"x and y of {{op}} must have one element type, but they have "
            f"{x.element} and {y.element}"
        )
    return _broadcast(x.element, x, y, condition)


@rule("relay.nn.bias_add", "relay.nn.prelu", work=Work.LINEAR)
def along_axis(data: Tensor, vector: Tensor, *, axis: int) -> Tensor:
    """Infer the type of `data` from it and a vector with a number per index of `axis`, or one."""
    require_number(require_same_element((data, vector)), _OPERANDS)
    axis = normalized_axis(axis, data.rank)
    require_rank(vector, 1, "operand 1 of {op}")
    message = f"operand 1 of {{op}} has {{0}} elements, but axis {axis} of operand 0 has {{1}}"
    require(Check.ONE_OR_EQUAL, vector.dims[0], data.dims[axis], message)
    return data


@rule("relay.broadcast_to", work=Work.LINEAR)
def broadcast_to(data: Tensor, *, shape: Annotated[Ints, AtLeast(0)]) -> Tensor:
    """Infer `data` broadcast to exactly `shape`."""
    if data.rank > len(shape):
        raise SignatureError(f"shape must have at least {data.rank} entries, but has {len(shape)}")
    for axis, dim in enumerate(data.dims, start=-data.rank):
        message = f"dim {{0}} at axis {axis} does not broadcast to {{1}}"
        require(Check.ONE_OR_EQUAL, dim, shape[axis], message)
    return ranked(data.element, shape)
