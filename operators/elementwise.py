"""Elementwise operators on one tensor: rules and meanings."""

from collections.abc import Callable
from math import ceil, floor, isfinite, isnan, pi, sqrt
from typing import Annotated, Literal, TypeAlias

from .meaning.forms import Elementwise, define, elementwise
from .meaning.number import INT64, Function, Number
from .operands import (
    StatedDims,
    require_bool,
    require_float,
    require_integer,
    require_number,
    require_rank,
    shape_from,
)
from .rules import AtLeast, Work, rule
from .signature import BOOL, ELEMENTS, Data, Element, SignatureError, Tensor, ranked

ElementCheck: TypeAlias = Callable[[Element, str], None]
"""A check of an element type, such as `require_float`."""

_OPERAND = "the operand of {op}"

# ---------------------------------------------------------------------- shape rules


def of_number(data: Tensor) -> Tensor:
    """Infer the type of the operand of numbers."""
    require_number(data.element, _OPERAND)
    return data


def of_float(data: Tensor) -> Tensor:
    """Infer the type of the operand of floats."""
    require_float(data.element, _OPERAND)
    return data


def of_integer(data: Tensor) -> Tensor:
    """Infer the type of the operand of integers."""
    require_integer(data.element, _OPERAND)
    return data


def of_bool(data: Tensor) -> Tensor:
    """Infer the type of the operand of i1."""
    require_bool(data.element, _OPERAND)
    return data


def classification(data: Tensor) -> Tensor:
    """Infer i1 elements in the shape of the float operand."""
    return Tensor(BOOL, of_float(data).dims)


# ------------------------------------------------------------------- the operand itself


def itself(x: Number) -> Number:
    """x"""
    return x


@rule("relay.copy", work=Work.LINEAR)
def same_as_operand(data: Tensor) -> Tensor:
    """Infer the type of the operand."""
    return data


@rule("relay.full", work=Work.LINEAR)
@rule("relay.dyn.full", types={"shape": Data})
def full(fill_value: Tensor, *, shape: StatedDims) -> Tensor:
    """Infer `shape` with the element type of the scalar `fill_value`."""
    require_rank(fill_value, 0, "fill_value")
    return ranked(fill_value.element, shape_from(shape))


define("relay.copy", "relay.full", means=Elementwise(itself))


@rule("relay.cast", work=Work.LINEAR)
def cast(data: Tensor, *, dtype: Element) -> Tensor:
    """Infer elements of `dtype` in the operand's shape."""
    return Tensor(dtype, data.dims)


@elementwise("relay.cast")
def converted(x: Number, *, dtype: Element) -> Number:
    """x as dtype"""
    return x.converted(dtype)


@rule("relay.reinterpret", work=Work.LINEAR)
def reinterpret(data: Tensor, *, dtype: Element) -> Tensor:
    """Infer elements of `dtype`, which has as many bits, in the operand's shape."""
    for element, what in ((data.element, _OPERAND), (dtype, "the result of {op}")):
        require_number(element, what)
    if data.element.bits != dtype.bits:
        text = f"{{op}} must keep the width, but {data.element} is not as wide as {dtype}"
        raise SignatureError(text)
    return Tensor(dtype, data.dims)


@elementwise("relay.reinterpret")
def reinterpreted(x: Number, *, dtype: Element) -> Number:
    """the dtype of the bits of x"""
    return x.reinterpreted(dtype)


Q_BITS = 31
"""The bits of a multiplier of fixed point that are behind the point."""


@rule("relay.fixed_point_multiply", work=Work.LINEAR)
def fixed_point_multiply(
    data: Tensor, *, multiplier: int, shift: Annotated[int, AtLeast(-31)]
) -> Tensor:
    """Infer the type of the i32 operand."""
    if data.element is not ELEMENTS["int32"]:
        raise SignatureError(f"{_OPERAND} must have i32 elements, but has {data.element}")
    if shift > Q_BITS:
        raise SignatureError(f"shift must be at most {Q_BITS}, but is {shift}")
    if not -(2**31) <= multiplier < 2**31:
        raise SignatureError(f"multiplier must be a number of 32 bits, but is {multiplier}")
    return data


@elementwise("relay.fixed_point_multiply")
def scaled(x: Number, *, multiplier: int, shift: int) -> Number:
    """x * multiplier * 2 ** (shift - 31), rounded, halves up (TVM: q_multiply_shift)"""
    wide, right = x.converted(INT64), Q_BITS + max(-shift, 0)
    product = wide.apply("shift_left", wide.constant(max(shift, 0))) * multiplier
    shifted = (product + (1 << (right - 1))).apply("shift_right", wide.constant(right))
    return shifted.converted(x.element)


# ---------------------------------------------------------------------- functions of floats


def _function(name: Function) -> Elementwise:
    def formula(x: Number) -> Number:
        return x.math(name) if x.is_float else x

    return Elementwise(formula)


_ROUNDINGS: tuple[Function, ...] = ("ceil", "floor", "trunc")
_FUNCTIONS: tuple[Function, ...] = (
    *("exp", "log", "log2", "log10", "sqrt", "erf", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
for _names, _shape in ((_ROUNDINGS, of_number), (_FUNCTIONS, of_float)):
    for _name in _names:
        define(f"relay.{_name}", means=_function(_name), shape=_shape)


@elementwise("relay.round", shape=of_number)
def rounded(x: Number, *, ties: Literal["even", "away"]) -> Number:
    """the nearest integer; with ties="away" trunc(x + h), where h < 0.5 has the sign of x"""
    if not x.is_float or ties == "even":
        return x.math("round") if x.is_float else x
    wide = x.widened()
    below_half = 0.5 - 2.0 ** (-25 if wide.element.bits == 32 else -54)  # x + 0.5 may round up
    return (
        (wide + wide.constant(below_half).apply("copysign", wide))
        .math("trunc")
        .converted(x.element)
    )


@elementwise("relay.rsqrt", shape=of_float)
def rsqrt(x: Number) -> Number:
    """1 / sqrt(x), both rounded."""
    return 1 / x.math("sqrt")


@elementwise("relay.sigmoid", shape=of_float)
def sigmoid(x: Number) -> Number:
    """1 / (1 + exp(-x))"""
    return (1 / ((-x.widened()).math("exp") + 1)).converted(x.element)


@elementwise("relay.nn.gelu", shape=of_float)
def normal_share(x: Number, *, approximate: Literal["none", "tanh"]) -> Number:
    """
    x Φ(x), where Φ is the normal distribution function.

    With approximate="tanh": x (1 + tanh(sqrt(2/π) (x + 0.044715 x³))) / 2.
    """
    wide = x.widened()
    if approximate == "tanh":
        share = ((wide * wide * 0.044715 + 1) * wide * sqrt(2 / pi)).math("tanh")
    else:
        share = (wide * sqrt(0.5)).math("erf")
    return ((share + 1) * 0.5 * wide).converted(x.element)


@elementwise("relay.isnan", shape=classification)
def isnan_(x: Number) -> Number:
    """x != x"""
    return x.is_nan()


@elementwise("relay.isfinite", shape=classification)
def isfinite_(x: Number) -> Number:
    """|x| < inf"""
    return x.magnitude() < float("inf")


@elementwise("relay.isinf", shape=classification)
def isinf_(x: Number) -> Number:
    """|x| = inf"""
    return x.magnitude().equals(float("inf"))


# ---------------------------------------------------------------------------- signs, bounds


@elementwise("relay.negative", shape=of_number)
def negative(x: Number) -> Number:
    """-x"""
    return -x


@elementwise("relay.abs", shape=of_number)
def absolute(x: Number) -> Number:
    """|x|; of the least integer, itself."""
    if x.is_float:
        return x.magnitude()
    return x if x.is_unsigned else (x < 0).select(-x, x)


@elementwise("relay.sign", shape=of_number)
def sign(x: Number) -> Number:
    """-1, 0 or 1; NaN of NaN, 0 of both zeros."""
    if x.is_float:
        below = (x < 0).select(-1, x.constant(0))
        return x.is_nan().select(x, (x > 0).select(1, below))
    nonzero = x.differs(0).select(1, x.constant(0))
    return nonzero if x.is_unsigned else (x < 0).select(-1, nonzero)


def at_least(x: Number, bound: float) -> Number:
    """Return the greater of `x` and `bound`; of floats `x` if it is NaN or equal."""
    if not x.is_float:
        return x.apply("maximum", x.constant(bound))
    return x.constant(bound) if isnan(bound) else (x < bound).select(bound, x)


def at_most(x: Number, bound: float) -> Number:
    """Return the lesser of `x` and `bound`; of floats `x` if it is NaN or equal."""
    if not x.is_float:
        return x.apply("minimum", x.constant(bound))
    return x.constant(bound) if isnan(bound) else (x > bound).select(bound, x)


@elementwise("relay.clip", shape=of_number)
def clamped(x: Number, *, a_min: float, a_max: float) -> Number:
    """
    min(max(x, a_min), a_max); NaN stays.

    For integers, the bounds are the extreme integers in [a_min, a_max] that the type represents.
    """
    if x.is_float:
        return at_most(at_least(x, a_min), a_max)
    lowest, highest = x.element.integers
    if isnan(a_min) or isnan(a_max):
        return x.constant(lowest)
    least = ceil(a_min) if isfinite(a_min) else a_min
    most = floor(a_max) if isfinite(a_max) else a_max
    bounds = [int(min(max(bound, lowest), highest)) for bound in (least, most)]
    return at_most(at_least(x, bounds[0]), bounds[1])


@elementwise("relay.nn.relu", shape=of_number)
def relu(x: Number) -> Number:
    """max(x, 0); NaN stays."""
    return at_least(x, 0)


@elementwise("relay.nn.leaky_relu", shape=of_float)
def leaky(x: Number, *, alpha: float = 0.05) -> Number:
    """x if x > 0, else alpha x"""
    if alpha == 0:
        return relu(x)
    scaled = x * alpha
    return scaled if isnan(alpha) else (x > 0).select(x, scaled)


# ----------------------------------------------------------------------------------- bits


@elementwise("relay.logical_not", shape=of_bool)
def logical_not(x: Number) -> Number:
    """not x"""
    return x ^ 1


@elementwise("relay.bitwise_not", shape=of_integer)
def bitwise_not(x: Number) -> Number:
    """~x: each bit the other one."""
    return x ^ -1
