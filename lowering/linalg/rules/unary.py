"""Elementwise operators on one tensor, except activation functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, isfinite, isnan

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from ....dialects.attributes import plain_attributes
from ....dialects.tensors import is_unsigned
from ....operators.ranges import ALL, Range, reads_range, result_range
from ..builder import Builder, Rule, element_type
from ..elementwise import ScalarRule, elementwise
from ..scalars import (
    compare,
    convert,
    float_op,
    integer_range,
    is_float,
    is_nan,
    maximum,
    minimum,
    select,
    width,
)


def number(op: Operation, name: str) -> float:
    """Return the float attribute `name` of `op`."""
    value = plain_attributes(op)[name]
    assert isinstance(value, int | float), f"{name} of {op.name} is a number"
    return float(value)


def same(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Return the element."""
    return x[0]


def of_floats(kind: type[math.FloatingPointLikeUnaryMathOperation]) -> ScalarRule:
    """Return the rule that applies `kind`; floats narrower than f32 are computed in f32."""

    def rule(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
        return float_op(b, kind, x[0])

    return rule


def rounding(kind: type[math.FloatingPointLikeUnaryMathOperation]) -> ScalarRule:
    """Return the rule that rounds floats by `kind`, and returns integers as they are."""

    def rule(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
        width(x[0].type)
        return float_op(b, kind, x[0]) if is_float(x[0].type) else x[0]

    return rule


def absolute(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Compute |x|; of the least integer, itself."""
    if is_float(x[0].type):
        return b.insert(math.AbsFOp(x[0]))
    if is_unsigned(element_type(op.operands[0])):
        return x[0]
    return select(b, _is_negative(b, x[0]), negative(b, op, x), x[0])


def negative(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Compute -x; integers wrap around."""
    if is_float(x[0].type):
        return b.insert(arith.NegfOp(x[0]))
    return b.insert(arith.SubiOp(b.constant(0, x[0].type), x[0]))


def _is_negative(b: Builder, x: SSAValue) -> SSAValue:
    return compare(b, "slt", x, b.constant(0, x.type))


def sign(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Compute the sign; NaN of NaN, 0 of both zeros."""
    type = x[0].type
    one, zero, minus = (b.constant(value, type) for value in (1, 0, -1))
    if is_float(type):
        positive = compare(b, "ogt", x[0], zero)
        below = select(b, compare(b, "olt", x[0], zero), minus, zero)
        return select(b, is_nan(b, x[0]), x[0], select(b, positive, one, below))
    nonzero = select(b, compare(b, "ne", x[0], zero), one, zero)
    if is_unsigned(element_type(op.operands[0])):
        return nonzero
    return select(b, _is_negative(b, x[0]), minus, nonzero)


def rsqrt(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Compute 1 / sqrt(x), both rounded."""
    root = float_op(b, math.SqrtOp, x[0])
    return b.insert(arith.DivfOp(b.constant(1, root.type), root))


def clip(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """
    Compute min(max(x, a_min), a_max); NaN stays.

    For integers, the bounds are the extreme integers in [a_min, a_max] that the type represents.
    """
    low, high = number(op, "a_min"), number(op, "a_max")
    type = element_type(op.operands[0])
    if is_float(type):
        return at_most(b, at_least(b, x[0], low), high)
    lowest, highest = integer_range(type)
    if isnan(low) or isnan(high):
        return b.constant(lowest, x[0].type)

    def represent(bound: float) -> int:
        return int(min(max(bound, lowest), highest))

    least = represent(ceil(low) if isfinite(low) else low)
    most = represent(floor(high) if isfinite(high) else high)
    above = maximum(b, x[0], b.constant(least, x[0].type), type)
    return minimum(b, above, b.constant(most, x[0].type), type)


def at_least(b: Builder, x: SSAValue, bound: float) -> SSAValue:
    """Return the greater of the float `x` and `bound`; `x` if it is NaN or equal."""
    low = b.constant(bound, x.type)  # a comparison: one instruction, unlike arith.maximumf
    return low if isnan(bound) else select(b, compare(b, "olt", x, low), low, x)


def at_most(b: Builder, x: SSAValue, bound: float) -> SSAValue:
    """Return the lesser of the float `x` and `bound`; `x` if it is NaN or equal."""
    high = b.constant(bound, x.type)
    return high if isnan(bound) else select(b, compare(b, "ogt", x, high), high, x)


def cast(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Convert to the element type of the result."""
    source, target = element_type(op.operands[0]), element_type(op.results[0])
    return convert(b, x[0], source, target, range_of(op.operands[0]))


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


def logical_not(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Negate an i1."""
    return b.insert(arith.XOrIOp(x[0], b.constant(1, i1)))


def isnan_(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Test for NaN."""
    return is_nan(b, x[0])


def is_below_infinity(predicate: str) -> ScalarRule:
    """Return the rule that compares |x| with infinity."""

    def rule(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
        size = b.insert(math.AbsFOp(x[0]))
        return compare(b, predicate, size, b.constant(float("inf"), size.type))

    return rule


_SCALARS: Mapping[str, ScalarRule] = {
    "abs": absolute,
    "acos": of_floats(math.AcosOp),
    "acosh": of_floats(math.AcoshOp),
    "asin": of_floats(math.AsinOp),
    "asinh": of_floats(math.AsinhOp),
    "atan": of_floats(math.AtanOp),
    "atanh": of_floats(math.AtanhOp),
    "broadcast_to": same,
    "cast": cast,
    "ceil": rounding(math.CeilOp),
    "clip": clip,
    "copy": same,
    "cos": of_floats(math.CosOp),
    "cosh": of_floats(math.CoshOp),
    "erf": of_floats(math.ErfOp),
    "exp": of_floats(math.ExpOp),
    "floor": rounding(math.FloorOp),
    "full": same,
    "isfinite": is_below_infinity("olt"),
    "isinf": is_below_infinity("oeq"),
    "isnan": isnan_,
    "log": of_floats(math.LogOp),
    "log10": of_floats(math.Log10Op),
    "log2": of_floats(math.Log2Op),
    "logical_not": logical_not,
    "negative": negative,
    "round": rounding(math.RoundEvenOp),
    "rsqrt": rsqrt,
    "sign": sign,
    "sin": of_floats(math.SinOp),
    "sinh": of_floats(math.SinhOp),
    "sqrt": of_floats(math.SqrtOp),
    "tan": of_floats(math.TanOp),
    "tanh": of_floats(math.TanhOp),
    "trunc": rounding(math.TruncOp),
}

RULES: Mapping[str, Rule] = {f"relay.{name}": elementwise(rule) for name, rule in _SCALARS.items()}
