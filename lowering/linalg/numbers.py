"""
Numbers of formulas as scalars in the body of a `linalg.generic`: each operation appends ops.

    x + 1                  %1 = arith.addf %x, %one : f32
    (x > 0).select(x, y)   %2 = arith.cmpf ogt, %x, %zero      %3 = arith.select %2, %x, %y

They have the results of the NumPy kernels; nothing is undefined, whatever the numbers are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self, TypeAlias, cast

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, i1, i64
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.attributes import ELEMENT_TYPES, plain_attributes
from ...dialects.tensors import signless
from ...dialects.type_rules import element_of
from ...dialects.xdsl_extras.upstream import RemFOp
from ...operators.element_types import NUMBER_TYPES
from ...operators.meaning.number import Arithmetic, Comparison, Function, Number, least
from ...operators.ranges import ALL, PRECISIONS, Range, can_convert, reads_range, result_range
from ...operators.signature import BOOL, Element, ElementKind
from ...passes.sizes.reader import integer
from .builder import Builder, Size, Unsupported
from .scalars import compare, is_float, select, width

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


NO_SIGNED_ZEROS = arith.FastMathFlagsAttr([FastMathFlag.NO_SIGNED_ZEROS])
"""The flag of maximum and minimum: of 0 and -0 either may be the result, as in NumPy."""

Flags: TypeAlias = arith.FastMathFlagsAttr | None
Kind: TypeAlias = Callable[[SSAValue, SSAValue], Operation]
_FLOATS: Mapping[Arithmetic, Callable[[SSAValue, SSAValue, Flags], Operation]] = {
    "add": arith.AddfOp,
    "subtract": arith.SubfOp,
    "multiply": arith.MulfOp,
    "divide": arith.DivfOp,
    "maximum": lambda x, y, _: arith.MaximumfOp(x, y, NO_SIGNED_ZEROS),
    "minimum": lambda x, y, _: arith.MinimumfOp(x, y, NO_SIGNED_ZEROS),
    "copysign": math.CopySignOp,
    "remainder": RemFOp,
}
_BY_SIGN: Mapping[Arithmetic, tuple[Kind, Kind]] = {
    "maximum": (arith.MaxSIOp, arith.MaxUIOp),
    "minimum": (arith.MinSIOp, arith.MinUIOp),
}
"""The ops of signed and of unsigned integers."""
_INTEGERS: Mapping[Arithmetic, Kind] = {
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
        x, y = self.value, other.value
        if self.is_float:
            if operation in _FLOATS:
                return self._of(_FLOATS[operation](x, y, flags))
            assert operation == "power", operation
            wide = self.widened()
            return wide._of(math.PowFOp(wide.value, other.widened().value)).converted(self.element)
        if operation in _BY_SIGN:
            return self._of(_BY_SIGN[operation][self.is_unsigned](x, y))
        if operation == "multiply" and x.type == i1:
            operation = "and"
        if operation in _INTEGERS:
            return self._of(_INTEGERS[operation](x, y))
        return getattr(self, f"_{operation}")(other)

    def math(self, function: Function) -> Self:
        wide = self.widened()
        return wide._of(_FUNCTIONS[function](wide.value)).converted(self.element)

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
        return self._is(compare(self.b, name, self.value, other.value), BOOL)

    def chosen(self, yes: Self, no: Self) -> Self:
        return yes._is(select(self.b, self.value, yes.value, no.value))

    def converted(self, element: Element) -> Self:
        if element is self.element:
            return self
        target = type_of(element)
        for type in (self.type, target):
            width(type)  # raises for types that are not numbers
        if element is BOOL:
            return self.differs(0)
        x, bits = self.value, self.element.bits
        if self.is_float and element.kind is not ElementKind.FLOAT:
            return self._truncated(element)
        if self.is_float and element.bits == bits:  # f16 and bf16
            return self.widened().converted(element)
        if self.is_float:
            op = (arith.TruncFOp if element.bits < bits else arith.ExtFOp)(
                x, cast(AnyFloat, target)
            )
        elif element.kind is ElementKind.FLOAT:
            to_float = arith.UIToFPOp if self.is_unsigned else arith.SIToFPOp
            op = to_float(x, cast(AnyFloat, target))
        elif element.bits == bits:
            return self._is(x, element)
        elif element.bits < bits:
            op = arith.TruncIOp(x, cast(IntegerType, signless(target)))
        else:
            extended = arith.ExtUIOp if self.is_unsigned else arith.ExtSIOp
            op = extended(x, cast(IntegerType, signless(target)))
        return self._is(self.b.insert(op), element)

    def _truncated(self, element: Element) -> Self:
        """
        Truncate a float to an integer; saturate at the bounds, and return 0 for NaN.

            %1 = arith.cmpf ogt, %x, %low      %2 = arith.select %1, %x, %low     // NaN: low
            %3 = arith.cmpf olt, %2, %high     %4 = arith.select %3, %2, %high
            %5 = arith.fptosi %4
            %6 = arith.cmpf uno, %x, %x        %7 = arith.select %6, %zero, %5

        The comparisons are in the order of x86's maximum and minimum, one instruction each. Bounds
        that the range of the number is in are not compared with. If the float type lacks the upper
        bound, the numbers above are replaced after the conversion.
        """
        numbers = ALL if self.tensor is None else range_of(self.tensor)
        below, above = can_convert(numbers, self.element.name, *element.integers)
        x, (low, high) = self.widened(), element.integers
        bits, unsigned, inside = element.bits, element.is_unsigned, x
        if unsigned or not below:  # 0 is the least unsigned integer: NaN becomes 0, too
            inside = (inside > low).select(inside, low)
        limit, precision = 2.0 ** (bits if unsigned else bits - 1), PRECISIONS[x.element.name]
        is_exact = high < 2**precision
        if not above:
            most = float(high) if is_exact else limit - limit * 2.0**-precision
            inside = (inside < most).select(inside, most)
        op = arith.FPToUIOp if unsigned and bits >= 32 else arith.FPToSIOp
        whole = self.b.insert(op(inside.value, IntegerType(max(bits, 32))))
        integer = self._is(whole, element_of(whole.type)).converted(element)
        if not is_exact:
            integer = x.compared("ge", x.constant(limit)).select(high, integer)
        return integer if unsigned else x.is_nan().select(0, integer)

    def reinterpreted(self, element: Element) -> Self:
        type = type_of(element)
        if signless(type) == signless(self.type):
            return self._is(self.value, element)
        return self._is(self.b.insert(arith.BitcastOp(self.value, signless(type))), element)

    # ------------------------------------------------------------------ of integers

    def _divided(self, kinds: tuple[Kind, Kind], y: Self) -> Self:
        """Divide by `y`, or by 1 where that is undefined: by 0, or the least number by -1."""
        if integer(y.value) in (None, 0, -1):
            one, unsafe = y.constant(1), y.equals(0)
            if not self.is_unsigned:
                unsafe = unsafe | (self.equals(least(self.element)) & y.equals(-1))
            y = unsafe.select(one, y)
        return self._of(kinds[self.is_unsigned](self.value, y.value))

    def _quotient(self, y: Self) -> Self:
        quotient = self._divided((arith.DivSIOp, arith.DivUIOp), y)
        return y.equals(0).select(0, quotient)

    def _remainder(self, y: Self) -> Self:
        return self._divided((arith.RemSIOp, arith.RemUIOp), y)

    def _shift_left(self, y: Self) -> Self:
        return self._shifted(arith.ShLIOp, y)

    def _shift_right(self, y: Self) -> Self:
        if self.is_unsigned:
            return self._shifted(arith.ShRUIOp, y)
        most = y.constant(self.element.bits - 1)
        return self._of(arith.ShRSIOp(self.value, y._of(arith.MinUIOp(y.value, most.value)).value))

    def _shifted(self, kind: Kind, y: Self) -> Self:
        """Shift by `y` as an unsigned number; 0 where it is the width or more."""
        count = y.constant(self.element.bits).value
        inside = self._is(compare(self.b, "ult", y.value, count), BOOL)
        return inside.select(self._of(kind(self.value, inside.select(y, 0).value)), 0)

    def _power(self, y: Self) -> Self:
        raised = self._is(_raised(self.b, self.value, y.value))
        if self.is_unsigned:
            return raised
        sign = (y & y.constant(1)).differs(0).select(self.constant(-1), 1)
        inverse = self.equals(1).select(1, self.equals(-1).select(sign, 0))
        return (y < 0).select(inverse, raised)


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
