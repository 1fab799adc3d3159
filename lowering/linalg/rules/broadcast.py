"""Elementwise operators on two or three tensors, with broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Block, Operation, Region, SSAValue

from ....dialects.tensors import is_unsigned
from ....dialects.xdsl_extras.upstream import RemFOp
from ..builder import Builder, Rule, element_type
from ..elementwise import ScalarRule, elementwise
from ..scalars import (
    compare,
    is_float,
    maximum,
    minimum,
    narrowed,
    safe_divisor,
    select,
    widened,
    width,
)

Make: TypeAlias = Callable[[SSAValue, SSAValue], Operation]
"""Builds an op on two numbers of one type."""


def arithmetic(b: Builder, floats: Make, integers: Make, x: SSAValue, y: SSAValue) -> SSAValue:
    """Apply the op for floats, or the one for integers, which wraps around."""
    width(x.type)
    return b.insert((floats if is_float(x.type) else integers)(x, y))


def arithmetic_rule(floats: Make, integers: Make) -> ScalarRule:
    """Return the rule that applies one of two ops."""

    def rule(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
        return arithmetic(b, floats, integers, *x)

    return rule


def multiply(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Multiply; i1 by and."""
    return arithmetic(b, arith.MulfOp, arith.AndIOp if x[0].type == i1 else arith.MuliOp, *x)


def unsigned(op: Operation) -> bool:
    """Test whether the elements of operand 0 are unsigned integers, or i1."""
    return is_unsigned(element_type(op.operands[0]))


# ------------------------------------------------------------------- division


def _is_zero(b: Builder, x: SSAValue) -> SSAValue:
    return compare(b, "oeq" if is_float(x.type) else "eq", x, b.constant(0, x.type))


def _differ_in_sign(b: Builder, x: SSAValue, y: SSAValue) -> SSAValue:
    less = "olt" if is_float(x.type) else "slt"
    zero = b.constant(0, x.type)
    return b.insert(arith.XOrIOp(compare(b, less, x, zero), compare(b, less, y, zero)))


def _quotient(b: Builder, op: Operation, x: SSAValue, y: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return the quotient and remainder of integers, as in C; both are 0 for a divisor of 0."""
    width(x.type)
    divide, remain = (
        (arith.DivUIOp, arith.RemUIOp) if unsigned(op) else (arith.DivSIOp, arith.RemSIOp)
    )
    divisor = safe_divisor(b, x, y, unsigned(op))
    quotient = b.insert(divide(x, divisor))
    defined = select(b, _is_zero(b, y), b.constant(0, x.type), quotient)
    return defined, b.insert(remain(x, divisor))


def divide(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Divide; quotients of integers are truncated."""
    if is_float(x[0].type):
        return b.insert(arith.DivfOp(x[0], x[1]))
    return _quotient(b, op, *x)[0]


def mod(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Take the remainder, with the sign of the dividend."""
    if is_float(x[0].type):
        return narrowed(b, b.insert(RemFOp(widened(b, x[0]), widened(b, x[1]))), x[0].type)
    return _quotient(b, op, *x)[1]


def _shifted_remainder(b: Builder, x: SSAValue, y: SSAValue) -> tuple[SSAValue, SSAValue]:
    """
    Return the remainder of numbers with the sign of `y`, and whether it is not that of `x`.

    A remainder of 0 has the sign of `y`, too.
    """
    remainder = b.insert(RemFOp(x, y))
    nonzero = compare(b, "une", remainder, b.constant(0, x.type))
    shifts = b.insert(arith.AndIOp(nonzero, _differ_in_sign(b, remainder, y)))
    shifted = select(b, shifts, b.insert(arith.AddfOp(remainder, y)), remainder)
    zero = b.insert(math.CopySignOp(b.constant(0, x.type), y))
    return select(b, nonzero, shifted, zero), shifts


def floor_mod(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Take the remainder, with the sign of the divisor."""
    if is_float(x[0].type):
        wide = [widened(b, e) for e in x]
        return narrowed(b, _shifted_remainder(b, *wide)[0], x[0].type)
    _, remainder = _quotient(b, op, *x)
    if unsigned(op):
        return remainder
    shifted = b.insert(arith.AddiOp(remainder, x[1]))
    return select(b, _shifts(b, remainder, x[1]), shifted, remainder)


def _shifts(b: Builder, remainder: SSAValue, y: SSAValue) -> SSAValue:
    """Test whether the integer quotient of this `remainder` by `y` is above its floor."""
    nonzero = compare(b, "ne", remainder, b.constant(0, y.type))
    differ = b.insert(arith.AndIOp(nonzero, _differ_in_sign(b, remainder, y)))
    divides = compare(b, "ne", y, b.constant(0, y.type))
    return b.insert(arith.AndIOp(differ, divides))


def floor_divide(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Divide and round down."""
    if is_float(x[0].type):
        wide = [widened(b, e) for e in x]
        return narrowed(b, _floor_quotient(b, *wide), x[0].type)
    quotient, remainder = _quotient(b, op, *x)
    if unsigned(op):
        return quotient
    below = b.insert(arith.SubiOp(quotient, b.constant(1, quotient.type)))
    return select(b, _shifts(b, remainder, x[1]), below, quotient)


def _floor_quotient(b: Builder, x: SSAValue, y: SSAValue) -> SSAValue:
    """
    Compute floor(x / y) of floats from their remainder, which is exact.

    The quotient of `x` without its remainder is near an integer, to which it is rounded.
    """
    one, zero, half = (b.constant(value, x.type) for value in (1, 0, 0.5))
    remainder = b.insert(RemFOp(x, y))
    nonzero = compare(b, "une", remainder, zero)
    shifts = b.insert(arith.AndIOp(nonzero, _differ_in_sign(b, remainder, y)))
    whole = b.insert(arith.DivfOp(b.insert(arith.SubfOp(x, remainder)), y))
    whole = select(b, shifts, b.insert(arith.SubfOp(whole, one)), whole)
    down = b.insert(math.FloorOp(whole))
    far = compare(b, "ogt", b.insert(arith.SubfOp(whole, down)), half)
    nearest = select(b, far, b.insert(arith.AddfOp(down, one)), down)
    ratio = b.insert(arith.DivfOp(x, y))
    signed_zero = b.insert(math.CopySignOp(zero, ratio))
    result = select(b, compare(b, "une", whole, zero), nearest, signed_zero)
    return select(b, _is_zero(b, y), ratio, result)


# ---------------------------------------------------------------------- power


def power(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Raise to a power; integers wrap around, and are truncated for negative exponents."""
    base, exponent = x
    if is_float(base.type):
        wide = b.insert(math.PowFOp(widened(b, base), widened(b, exponent)))
        return narrowed(b, wide, base.type)
    raised = _integer_power(b, base, exponent)
    if unsigned(op):
        return raised
    zero, one = b.constant(0, base.type), b.constant(1, base.type)
    minus = b.constant(-1, base.type)
    odd = compare(b, "ne", b.insert(arith.AndIOp(exponent, one)), zero)
    is_one, is_minus = compare(b, "eq", base, one), compare(b, "eq", base, minus)
    sign = select(b, odd, minus, one)
    inverse = select(b, is_one, one, select(b, is_minus, sign, zero))
    return select(b, compare(b, "slt", exponent, zero), inverse, raised)


def _integer_power(b: Builder, base: SSAValue, exponent: SSAValue) -> SSAValue:
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


# ----------------------------------------------------------- logic, comparisons


def largest(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Return the greater one."""
    return maximum(b, x[0], x[1], element_type(op.operands[0]))


def smallest(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Return the lesser one."""
    return minimum(b, x[0], x[1], element_type(op.operands[0]))


def comparison(name: str) -> ScalarRule:
    """Return the rule of a comparison: `eq`, `ne`, `lt` …; nothing but `ne` holds for NaN."""

    def rule(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
        width(x[0].type)
        if is_float(x[0].type):
            predicate = "une" if name == "ne" else f"o{name}"
        elif name in ("eq", "ne"):
            predicate = name
        else:
            predicate = f"{'u' if unsigned(op) else 's'}{name}"
        return compare(b, predicate, *x)

    return rule


def where(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Select x where the condition holds, y elsewhere."""
    return select(b, *x)


_SCALARS: Mapping[str, ScalarRule] = {
    "add": arithmetic_rule(arith.AddfOp, arith.AddiOp),
    "divide": divide,
    "equal": comparison("eq"),
    "floor_divide": floor_divide,
    "floor_mod": floor_mod,
    "greater": comparison("gt"),
    "greater_equal": comparison("ge"),
    "less": comparison("lt"),
    "less_equal": comparison("le"),
    "logical_and": arithmetic_rule(arith.MulfOp, arith.AndIOp),
    "logical_or": arithmetic_rule(arith.AddfOp, arith.OrIOp),
    "logical_xor": arithmetic_rule(arith.SubfOp, arith.XOrIOp),
    "maximum": largest,
    "minimum": smallest,
    "mod": mod,
    "multiply": multiply,
    "not_equal": comparison("ne"),
    "power": power,
    "subtract": arithmetic_rule(arith.SubfOp, arith.SubiOp),
    "where": where,
}

RULES: Mapping[str, Rule] = {f"relay.{name}": elementwise(rule) for name, rule in _SCALARS.items()}
