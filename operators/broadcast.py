"""Operators that broadcast tensors as NumPy does: rules and meanings."""

from collections.abc import Mapping, Sequence

from .elementwise import ElementCheck, itself
from .meaning.forms import Elementwise, Shape, define, elementwise
from .meaning.number import Arithmetic, Comparison, Number
from .operands import (
    StatedDims,
    normalized_axis,
    require_bool,
    require_integer,
    require_number,
    require_ordered,
    require_rank,
    require_same_element,
    shape_from,
)
from .rules import Work, rule
from .signature import BOOL, Data, Element, Tensor, ranked
from .sizes import Check, SignatureError, Size, broadcast, require
from .sizes import Shape as Dims

_OPERANDS = "operands of {op}"


def broadcast_shapes(shapes: Sequence[Sequence[Size]]) -> Dims:
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


def _of(check: ElementCheck) -> Shape:
    """Return the rule of operands of one element type, which passes `check`."""

    def infer(lhs: Tensor, rhs: Tensor) -> Tensor:
        element = require_same_element((lhs, rhs))
        check(element, _OPERANDS)
        return _broadcast(element, lhs, rhs)

    return infer


of_numbers, of_ordered = _of(require_number), _of(require_ordered)
of_integers, of_bools = _of(require_integer), _of(require_bool)


def comparison(lhs: Tensor, rhs: Tensor) -> Tensor:
    """Infer i1 elements from operands of one element type, broadcast together."""
    require_ordered(require_same_element((lhs, rhs)), _OPERANDS)
    return _broadcast(BOOL, lhs, rhs)


# ----------------------------------------------------------------- one operation of numbers


def _applied(operation: Arithmetic) -> Elementwise:
    def formula(x: Number, y: Number) -> Number:
        return x.apply(operation, y)

    return Elementwise(formula)


_OPERATIONS: Mapping[str, tuple[Shape, Arithmetic]] = {
    "add": (of_numbers, "add"),
    "bitwise_and": (of_integers, "and"),
    "bitwise_or": (of_integers, "or"),
    "bitwise_xor": (of_integers, "xor"),
    "left_shift": (of_integers, "shift_left"),
    "logical_and": (of_bools, "and"),
    "logical_or": (of_bools, "or"),
    "logical_xor": (of_bools, "xor"),
    "maximum": (of_ordered, "maximum"),
    "minimum": (of_ordered, "minimum"),
    "multiply": (of_ordered, "multiply"),
    "power": (of_numbers, "power"),
    "right_shift": (of_integers, "shift_right"),
    "subtract": (of_numbers, "subtract"),
}
for _name, (_shape, _operation) in _OPERATIONS.items():
    define(f"relay.{_name}", means=_applied(_operation), shape=_shape)


def _compared(predicate: Comparison) -> Elementwise:
    def formula(x: Number, y: Number) -> Number:
        return x.compared(predicate, y)

    return Elementwise(formula)


_COMPARISONS: Mapping[str, Comparison] = {
    **{"equal": "eq", "not_equal": "ne"},
    **{"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"},
}
for _name, _predicate in _COMPARISONS.items():
    define(f"relay.{_name}", means=_compared(_predicate), shape=comparison)

# -------------------------------------------------------------------------------- division


@elementwise("relay.divide", shape=of_numbers)
def divide(x: Number, y: Number) -> Number:
    """x / y; quotients of integers are truncated."""
    return x / y if x.is_float else x.apply("quotient", y)


@elementwise("relay.mod", shape=of_numbers)
def mod(x: Number, y: Number) -> Number:
    """The remainder of x / y, with the sign of x."""
    return x.widened().apply("remainder", y.widened()).converted(x.element)


def _is_above(remainder: Number, y: Number) -> Number:
    """Test whether the truncated quotient by `y` that leaves `remainder` is above its floor."""
    return remainder.differs(0) & ((remainder < 0) ^ (y < 0))


@elementwise("relay.floor_mod", shape=of_numbers)
def floor_mod(x: Number, y: Number) -> Number:
    """x - floor(x / y) y, with the sign of y; a remainder of 0 has it, too."""
    a, b = x.widened(), y.widened()
    left = a.apply("remainder", b)
    if x.is_unsigned:
        return left
    if not x.is_float:
        return (_is_above(left, b) & b.differs(0)).select(left + b, left)
    shifted = _is_above(left, b).select(left + b, left)
    zero = a.constant(0).apply("copysign", b)
    return left.differs(0).select(shifted, zero).converted(x.element)


@elementwise("relay.floor_divide", shape=of_numbers)
def floor_divide(x: Number, y: Number) -> Number:
    """
    floor(x / y)

    That of floats follows from their remainder, which is exact: the quotient of x without it is
    near an integer, to which it is rounded.
    """
    a, b = x.widened(), y.widened()
    if not x.is_float:
        whole = x.apply("quotient", y)
        if x.is_unsigned:
            return whole
        return (_is_above(x.apply("remainder", y), y) & y.differs(0)).select(whole - 1, whole)
    left = a.apply("remainder", b)
    above, exact = _is_above(left, b), (a - left) / b
    whole = above.select(exact - 1, exact)
    down = whole.math("floor")
    nearest = ((whole - down) > 0.5).select(down + 1, down)
    ratio = a / b
    signed_zero = a.constant(0).apply("copysign", ratio)
    result = whole.differs(0).select(nearest, signed_zero)
    return b.equals(0).select(ratio, result).converted(x.element)


# ------------------------------------------------------------------------- with three operands


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


@elementwise("relay.where")
def selected(condition: Number, x: Number, y: Number) -> Number:
    """x if condition, else y"""
    return condition.select(x, y)


# ------------------------------------------------------------------------------ along an axis


@rule("relay.nn.bias_add", "relay.nn.prelu", work=Work.LINEAR)
def along_axis(data: Tensor, vector: Tensor, *, axis: int) -> Tensor:
    """Infer the type of `data` from it and a vector with a number per index of `axis`, or one."""
    require_number(require_same_element((data, vector)), _OPERANDS)
    axis = normalized_axis(axis, data.rank)
    require_rank(vector, 1, "operand 1 of {op}")
    message = f"operand 1 of {{op}} has {{0}} elements, but axis {axis} of operand 0 has {{1}}"
    require(Check.ONE_OR_EQUAL, vector.dims[0], data.dims[axis], message)
    return data


@elementwise("relay.nn.bias_add", along="axis")
def biased(x: Number, bias: Number) -> Number:
    """x + bias"""
    return x + bias


@elementwise("relay.nn.prelu", along="axis")
def prelu(x: Number, alpha: Number) -> Number:
    """x if x > 0, else alpha x"""
    scaled = x * alpha
    return (x > 0).select(x, scaled)


@rule("relay.broadcast_to", work=Work.LINEAR)
@rule("relay.dyn.broadcast_to", types={"shape": Data})
def broadcast_to(data: Tensor, *, shape: StatedDims) -> Tensor:
    """Infer `data` broadcast to exactly `shape`."""
    dims = shape_from(shape)
    if data.rank > len(dims):
        raise SignatureError(f"shape must have at least {data.rank} entries, but has {len(dims)}")
    for axis, dim in enumerate(data.dims, start=-data.rank):
        message = f"dim {{0}} at axis {axis} does not broadcast to {{1}}"
        require(Check.ONE_OR_EQUAL, dim, dims[axis], message)
    return ranked(data.element, dims)


define("relay.broadcast_to", means=Elementwise(itself))
