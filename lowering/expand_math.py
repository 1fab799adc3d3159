"""
Compute exp, log, tanh and erf of f32 by polynomials, in arithmetic that vectorises.

    %y = math.exp %x : f32    ->    %n = round(%x * log2(e))             arith.mulf, addf, subf
                                    %r = %x - %n * ln(2)                 |%r| <= ln(2) / 2
                                    %p = 1 + %r + %r^2 * q(%r)           a polynomial
                                    %y = %p * 2^%n                       arith.shli, bitcast, mulf

A call of the mathematical library in a loop keeps the loop from being vectorised, and there is one
of exp for each element of a softmax. Nothing here branches, converts a float to an integer (whose
result may be undefined), or needs a fused multiply-add, though the target's are used.

Each is within 2.5 units in the last place of the exact value, subnormal results included; NaN stays
NaN, infinities and zeros (with their sign) are mapped as by the C library. The coefficients are
minimax fits (Remez, in 40 digits) of the relative error, on the interval that the range reduction
leaves. Other types stay: narrower floats are computed in f32 by who lowers them, f64 calls the
library. Before or after bufferization; every level.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf, nan
from typing import ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, f32, i32
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ..passes.support.changes import LevelPass
from ..passes.support.rewriting import apply_patterns

Real: TypeAlias = arith.FloatingPointLikeBinaryOperation
Integer: TypeAlias = arith.SignlessIntegerBinaryOperation

CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
"""A product and a sum may become one instruction where the target has it."""

EXPONENT_BITS = 23
"""The number of bits right of the exponent of an f32."""
BIAS = 127
ROUNDER = 1.5 * 2.0**EXPONENT_BITS
"""Added to a float below 2^22, it leaves the nearest integer in the lowest bits of the sum."""
ROUNDER_BITS = 0x4B400000
MAGNITUDE = 0x7FFFFFFF
"""All bits but the sign's."""
SIGN = -MAGNITUDE - 1
SQRT_HALF_BITS = 0x3F3504F3

LOG2_E = 1.4426950408889634
LN2 = (0.693145751953125, 1.4286068203094172e-06)
"""ln(2) in two parts; the first has so few bits that its products with exponents are exact."""

EXP = (0.49999994, 0.1666652, 0.04166839, 0.008368781, 0.0013814467)
"""(exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2; the relative error of exp is 3e-9."""
LOG = (
    *(0.33333331, -0.2500082, 0.20001227, -0.16623357),
    *(0.14201759, -0.13160183, 0.12761575, -0.07634493),
)
"""(log(1 + f) - f + f^2 / 2) / f^3 for 1 + f in sqrt(1/2) … sqrt(2); relative error 6e-9."""
ERF = (0.12837917, -0.37612635, 0.11283697, -0.0268595, 0.0052012862, -8.1455969e-04, 8.3823885e-05)
"""erf(x) / x - 1 of x^2, for |x| <= 0.92; relative error 4e-10."""
ERFC = (
    *(-1.7468321e-04, 1.1295149, 0.63334692, 0.10828008),
    *(-0.025119416, 0.0041710586, -4.3446169e-04, 2.1095e-05),
)
"""-log(1 - erf(x)) for 0.92 <= x <= 4; the relative error of erf is 5e-11."""
ERF_SPLIT = 0.92


@dataclass
class Code:
    """The operations of a computation, in order."""

    ops: list[Operation] = field(default_factory=list[Operation])
    constants: dict[tuple[type, float], "Value"] = field(
        default_factory=dict[tuple[type, float], "Value"]
    )

    def value(self, op: Operation) -> "Value":
        """Append `op` and return its result."""
        self.ops.append(op)
        return Value(self, op.results[0])

    def constant(self, number: float) -> "Value":
        """Return the constant `number`: an i32 if it is an integer, else an f32."""
        key = (type(number), number)
        if key not in self.constants:
            integer = isinstance(number, int)
            attribute = IntegerAttr(number, i32) if integer else FloatAttr(number, f32)
            self.constants[key] = self.value(arith.ConstantOp(attribute))
        return self.constants[key]


@dataclass(frozen=True)
class Value:
    """A value of a computation; what is computed with it is appended to `code`."""

    code: Code
    ssa: SSAValue

    def _apply(
        self, other: "Value | float", real: type[Real], integer: type[Integer] | None = None
    ) -> "Value":
        other = other if isinstance(other, Value) else self.code.constant(other)
        if self.ssa.type == f32:
            return self.code.value(real(self.ssa, other.ssa, CONTRACT))
        assert integer is not None, "not an operation of integers"
        return self.code.value(integer(self.ssa, other.ssa))

    def __add__(self, other: "Value | float") -> "Value":
        return self._apply(other, arith.AddfOp, arith.AddiOp)

    def __sub__(self, other: "Value | float") -> "Value":
        return self._apply(other, arith.SubfOp, arith.SubiOp)

    def __mul__(self, other: "Value | float") -> "Value":
        return self._apply(other, arith.MulfOp)

    def __truediv__(self, other: "Value | float") -> "Value":
        return self._apply(other, arith.DivfOp)

    def _bitwise(self, other: "Value | int", kind: type[Integer]) -> "Value":
        other = other if isinstance(other, Value) else self.code.constant(other)
        return self.code.value(kind(self.ssa, other.ssa))

    def __lshift__(self, other: int) -> "Value":
        return self._bitwise(other, arith.ShLIOp)

    def __rshift__(self, other: int) -> "Value":
        return self._bitwise(other, arith.ShRSIOp)

    def __and__(self, other: "Value | int") -> "Value":
        return self._bitwise(other, arith.AndIOp)

    def __or__(self, other: "Value | int") -> "Value":
        return self._bitwise(other, arith.OrIOp)

    def where(self, relation: str, bound: float, then: "Value | float") -> "Value":
        """Return `then` where this `relation` (of `arith.cmpf`) `bound` holds, else this."""
        return self.choose(relation, bound, then, self)

    def choose(self, relation: str, bound: float, then: "Value | float", other: "Value") -> "Value":
        """Return `then` where this `relation` `bound` holds, else `other`."""
        then = then if isinstance(then, Value) else self.code.constant(then)
        holds = self.code.value(arith.CmpfOp(self.ssa, self.code.constant(bound).ssa, relation))
        return self.code.value(arith.SelectOp(holds.ssa, then.ssa, other.ssa))

    @property
    def bits(self) -> "Value":
        return self.code.value(arith.BitcastOp(self.ssa, i32))

    @property
    def float_of_bits(self) -> "Value":
        return self.code.value(arith.BitcastOp(self.ssa, f32))

    @property
    def converted(self) -> "Value":
        """The float of an integer."""
        return self.code.value(arith.SIToFPOp(self.ssa, f32))

    @property
    def magnitude(self) -> "Value":
        return (self.bits & MAGNITUDE).float_of_bits

    def with_sign_of(self, other: "Value") -> "Value":
        """Return this, which is not negative, with the sign of `other`."""
        return (self.bits | (other.bits & SIGN)).float_of_bits


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """Return the polynomial of `coefficients`, lowest first, at `x` (Horner)."""
    *others, last = coefficients
    total = x * last + others.pop()
    while others:
        total = total * x + others.pop()
    return total


def power_of_two(exponent: Value) -> Value:
    """Return 2 to the integer `exponent`, which is in -126 … 127."""
    return ((exponent + BIAS) << EXPONENT_BITS).float_of_bits


def split_exponential(x: Value) -> tuple[Value, Value]:
    """
    Return an integer n and exp(r) - 1, where `x` is n * ln(2) + r and |r| <= ln(2) / 2.

    If `x` is NaN, n is any integer, and the second is NaN.
    """
    rounded = x * LOG2_E + ROUNDER
    n = rounded - ROUNDER
    r = x - n * LN2[0] - n * LN2[1]
    return rounded.bits - ROUNDER_BITS, r + r * r * polynomial(r, EXP)


def exp(x: Value) -> Value:
    """Return exp(`x`); below -104 it rounds to 0, above 89 to infinity."""
    n, less_one = split_exponential(x.where("ogt", 89.0, 89.0).where("olt", -104.0, -104.0))
    # Neither half leaves the exponents of normal numbers, so only the last product rounds.
    half = n >> 1
    return (less_one + 1.0) * power_of_two(half) * power_of_two(n - half)


def log(x: Value) -> Value:
    """Return log(`x`): `x` is m * 2^n, where m is in sqrt(1/2) … sqrt(2)."""
    tiny = x * 2.0**EXPONENT_BITS
    bits = x.choose("olt", 2.0**-126, tiny, x).bits
    n = (bits - SQRT_HALF_BITS) >> EXPONENT_BITS
    f = (bits - (n << EXPONENT_BITS)).float_of_bits - 1.0
    exponent = x.choose("olt", 2.0**-126, n.converted - float(EXPONENT_BITS), n.converted)
    square = f * f
    rest = f * square * polynomial(f, LOG) + exponent * LN2[1]
    result = exponent * LN2[0] + (f - (square * 0.5 - rest))
    result = x.choose("oge", inf, x, result)
    result = x.choose("oeq", 0.0, -inf, result)
    return x.choose("oge", 0.0, result, x.code.constant(nan))


def tanh(x: Value) -> Value:
    """Return e / (e + 2) with the sign of `x`, where e is exp(2 |`x`|) - 1."""
    a = x.magnitude.where("ogt", 10.0, 10.0)
    n, less_one = split_exponential(a + a)
    power = power_of_two(n)
    e = power * less_one + (power - 1.0)
    return (e / (e + 2.0)).with_sign_of(x)


def erf(x: Value) -> Value:
    """Return erf(`x`): a polynomial near 0, else 1 - exp of one."""
    a = x.magnitude.where("ogt", 4.0, 4.0)
    near = a + a * polynomial(a * a, ERF)
    n, less_one = split_exponential(a.code.constant(0.0) - polynomial(a, ERFC))
    power = power_of_two(n)
    far = (a.code.constant(1.0) - power) - power * less_one
    return a.choose("olt", ERF_SPLIT, near, far).with_sign_of(x)


@dataclass(frozen=True)
class ExpandFunction(RewritePattern):
    """Replace a function of an f32 by what computes it."""

    functions: ClassVar[dict[type[Operation], Callable[[Value], Value]]] = {
        math.ExpOp: exp,
        math.LogOp: log,
        math.TanhOp: tanh,
        math.ErfOp: erf,
    }

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        function = self.functions.get(type(op))
        if function is None or op.operands[0].type != f32:
            return
        code = Code()
        result = function(Value(code, op.operands[0]))
        rewriter.replace(op, code.ops, [result.ssa])


class ExpandMathPass(LevelPass):
    """Compute exp, log, tanh and erf of f32 by polynomials."""

    name = "expand-math"
    accepts = "every"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, ExpandFunction())
