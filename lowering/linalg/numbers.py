"""
Numbers of formulas as scalars in the body of a `linalg.generic`: each operation appends ops.

    x + 1                  %1 = arith.addf %x, %one : f32
    (x > 0).select(x, y)   %2 = arith.cmpf ogt, %x, %zero      %3 = arith.select %2, %x, %y
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self, TypeAlias

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import IndexType, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.attributes import ELEMENT_TYPES, plain_attributes
from ...dialects.tensors import signless
from ...dialects.type_rules import element_of
from ...dialects.xdsl_extras.upstream import RemFOp
from ...operators.element_types import NUMBER_TYPES
from ...operators.meaning.number import Arithmetic, Comparison, Function, Number
from ...operators.ranges import ALL, Range, reads_range, result_range
from ...operators.signature import BOOL, Element
from .builder import Builder, Size, Unsupported
from .scalars import (
    compare,
    convert,
    float_op,
    is_float,
    maximum,
    minimum,
    narrowed,
    safe_divisor,
    select,
    widened,
    width,
)

TYPES: Mapping[str, Attribute] = {
    row.mlir: ELEMENT_TYPES[name] for name, row in NUMBER_TYPES.items()
}
"""The element types by MLIR's names of them."""


def type_of(element: Element) -> Attribute:
    """Return the type of elements that can be computed with."""
    type = TYPES.get(element.name)
    if type is None:
        raise Unsupported(f"elements of type {element}")
    return type


def range_of(value: SSAValue) -> Range:
    """Return the range of a tensor of floats, as the chain of operators that computes it shows."""
    chain: list[Operation] = []
    while isinstance(op := value.owner, Operation) and reads_range(op.name):
        chain.append(op)
        value = op.operands[0]
    numbers = ALL
    for op in reversed(chain):
        numbers = result_range(op.name, plain_attributes(op), numbers)
    return numbers


Flags: TypeAlias = arith.FastMathFlagsAttr | None
_FLOATS: Mapping[Arithmetic, Callable[[SSAValue, SSAValue, Flags], Operation]] = {
    "add": arith.AddfOp,
    "subtract": arith.SubfOp,
    "multiply": arith.MulfOp,
    "divide": arith.DivfOp,
    "copysign": math.CopySignOp,
    "remainder": RemFOp,
}
_WIDE: Mapping[Arithmetic, Callable[[SSAValue, SSAValue], Operation]] = {"power": math.PowFOp}
_INTEGERS: Mapping[Arithmetic, Callable[[SSAValue, SSAValue], Operation]] = {
    "add": arith.AddiOp,
    "subtract": arith.SubiOp,
    "multiply": arith.MuliOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
}
_FUNCTIONS: Mapping[str, type[math.FloatingPointLikeUnaryMathOperation]] = {
    op.name.removeprefix("math."): op
    for op in math.Math.operations
    if issubclass(op, math.FloatingPointLikeUnaryMathOperation)
} | {"round": math.RoundEvenOp}


@dataclass(frozen=True)
class Scalar(Number):
    """A number that the ops of a body compute; of an operand whose elements are not read, None."""

    b: Builder
    value: SSAValue
    element: Element
    tensor: SSAValue | None = None
    """The tensor that it is an element of, from which its range may follow."""

    def _of(self, op: Operation) -> Self:
        return self._is(self.b.insert(op))

    def _is(self, value: SSAValue, element: Element | None = None) -> Self:
        return type(self)(self.b, value, element or self.element)

    @property
    def type(self) -> Attribute:
        """The element type, signed or unsigned."""
        return type_of(self.element)

    def constant(self, value: float) -> Self:
        return self._is(self.b.constant(value, self.value.type))

    def apply(self, operation: Arithmetic, other: Self, flags: Flags = None) -> Self:
        b, x, y, type = self.b, self.value, other.value, self.type
        if operation in ("maximum", "minimum"):
            return self._is((maximum if operation == "maximum" else minimum)(b, x, y, type))
        if self.is_float:
            if operation in _FLOATS:
                return self._of(_FLOATS[operation](x, y, flags))
            wide = b.insert(_WIDE[operation](widened(b, x), widened(b, y)))
            return self._is(narrowed(b, wide, x.type))
        if operation == "multiply" and x.type == i1:
            operation = "and"
        if operation in _INTEGERS:
            return self._of(_INTEGERS[operation](x, y))
        return self._is(getattr(self, f"_{operation}")(y))

    def math(self, function: Function) -> Self:
        return self._is(float_op(self.b, _FUNCTIONS[function], self.value))

    def negated(self) -> Self:
        if self.is_float:
            return self._of(arith.NegfOp(self.value))
        return self.constant(0).apply("subtract", self)

    def magnitude(self) -> Self:
        return self._of(math.AbsFOp(self.value))

    def compared(self, predicate: Comparison, other: Self) -> Self:
        if self.is_float:
            name = f"o{predicate}" if predicate != "ne" else "uno" if self is other else "une"
        elif predicate in ("eq", "ne"):
            name = predicate
        else:
            name = f"{'u' if self.is_unsigned else 's'}{predicate}"
        width(self.type)
        return self._is(compare(self.b, name, self.value, other.value), BOOL)

    def chosen(self, yes: Self, no: Self) -> Self:
        return yes._is(select(self.b, self.value, yes.value, no.value))

    def converted(self, element: Element) -> Self:
        if element is self.element:
            return self
        numbers = ALL if self.tensor is None else range_of(self.tensor)
        value = convert(self.b, self.value, self.type, type_of(element), numbers)
        return self._is(value, element)

    def reinterpreted(self, element: Element) -> Self:
        type = type_of(element)
        if signless(type) == signless(self.type):
            return self._is(self.value, element)
        return self._is(self.b.insert(arith.BitcastOp(self.value, signless(type))), element)

    # ------------------------------------------------------------------ of integers

    def _quotient(self, y: SSAValue) -> SSAValue:
        b, x = self.b, self.value
        kind = arith.DivUIOp if self.is_unsigned else arith.DivSIOp
        quotient = b.insert(kind(x, safe_divisor(b, x, y, self.is_unsigned)))
        zero = b.constant(0, x.type)
        return select(b, compare(b, "eq", y, zero), zero, quotient)

    def _remainder(self, y: SSAValue) -> SSAValue:
        kind = arith.RemUIOp if self.is_unsigned else arith.RemSIOp
        return self.b.insert(
            kind(self.value, safe_divisor(self.b, self.value, y, self.is_unsigned))
        )

    def _shift_left(self, y: SSAValue) -> SSAValue:
        return self._shifted(arith.ShLIOp, y)

    def _shift_right(self, y: SSAValue) -> SSAValue:
        if self.is_unsigned:
            return self._shifted(arith.ShRUIOp, y)
        b, most = self.b, self.b.constant(width(y.type) - 1, y.type)
        return b.insert(arith.ShRSIOp(self.value, b.insert(arith.MinUIOp(y, most))))

    def _shifted(self, kind: Callable[[SSAValue, SSAValue], Operation], y: SSAValue) -> SSAValue:
        """Shift by `y` as an unsigned number; 0 where it is the width or more."""
        b, zero = self.b, self.b.constant(0, y.type)
        inside = compare(b, "ult", y, b.constant(width(y.type), y.type))
        return select(b, inside, b.insert(kind(self.value, select(b, inside, y, zero))), zero)

    def _power(self, y: SSAValue) -> SSAValue:
        b, base, type = self.b, self.value, self.value.type
        raised = _raised(b, base, y)
        if self.is_unsigned:
            return raised
        zero, one, minus = (b.constant(value, type) for value in (0, 1, -1))
        odd = compare(b, "ne", b.insert(arith.AndIOp(y, one)), zero)
        is_one, is_minus = compare(b, "eq", base, one), compare(b, "eq", base, minus)
        sign = select(b, odd, minus, one)
        inverse = select(b, is_one, one, select(b, is_minus, sign, zero))
        return select(b, compare(b, "slt", y, zero), inverse, raised)


Formula: TypeAlias = (
    Callable[[Scalar], Scalar]
    | Callable[[Scalar, Scalar], Scalar]
    | Callable[[Scalar, Scalar, Scalar], Scalar]
)
"""Computes a number from others."""


def number(b: Builder, value: SSAValue, type: Attribute | None = None) -> Scalar:
    """Return an element of `type`, which may be signed or unsigned; by default, of its own type."""
    return Scalar(b, value, element_of(type or value.type))


def number_of(b: Builder, size: Size, type: Attribute) -> Scalar:
    """Return a size, or a float, as a number of `type`."""
    if isinstance(size, int):
        return number(b, b.constant(size, signless(type)), type)
    value = size if is_float(size.type) else b.insert(arith.IndexCastOp(size, i64))
    return number(b, value).converted(element_of(type))


def _raised(b: Builder, base: SSAValue, exponent: SSAValue) -> SSAValue:
    """Raise by squaring, one step for each bit of the exponent as an unsigned integer."""
    type, index = base.type, IndexType()
    inside = Block(arg_types=[index, type, type, type])
    step = Builder(inside, b)
    _, result, square, bits = inside.args
    one = step.constant(1, type)
    odd = compare(step, "ne", step.insert(arith.AndIOp(bits, one)), step.constant(0, type))
    multiplied = step.insert(arith.MuliOp(result, square))
    step.insert_all(
        scf.YieldOp(
            select(step, odd, multiplied, result),
            step.insert(arith.MuliOp(square, square)),
            step.insert(arith.ShRUIOp(bits, one)),
        )
    )
    start, stop, by = (b.constant(value, index) for value in (0, width(type), 1))
    initial = [b.constant(1, type), base, exponent]
    return b.insert(scf.ForOp(start, stop, by, initial, Region(inside)))
