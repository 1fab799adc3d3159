"""Activation functions, and the bias that precedes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, pi, sqrt

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from ....dialects.attributes import plain_attributes
from ..builder import Builder, Rule, element_type, tensor_of
from ..elementwise import ScalarRule, compute, elementwise
from ..scalars import compare, is_float, maximum, narrowed, select, widened, width
from .broadcast import arithmetic
from .unary import at_least, number


def relu(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Compute max(x, 0); NaN stays."""
    type = element_type(op.operands[0])
    if is_float(type):
        return at_least(b, x[0], 0)
    return maximum(b, x[0], b.constant(0, x[0].type), type)


def leaky_relu(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Compute x where x > 0, alpha x elsewhere."""
    width(x[0].type)
    alpha = number(op, "alpha")
    if alpha == 0:
        return relu(b, op, x)
    scaled = b.insert(arith.MulfOp(x[0], b.constant(alpha, x[0].type)))
    if isnan(alpha):
        return scaled
    return select(b, compare(b, "ogt", x[0], b.constant(0, x[0].type)), x[0], scaled)


def prelu(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Compute x where x > 0, alpha x elsewhere, with one alpha per index along the axis."""
    data, alpha = x
    type = element_type(op.operands[0])
    scaled = arithmetic(b, arith.MulfOp, arith.MuliOp, data, alpha)
    zero = b.constant(0, data.type)
    above = maximum(b, data, zero, type)
    if is_float(type):
        return select(b, compare(b, "ogt", data, zero), data, scaled)
    return select(b, compare(b, "ne", above, zero), above, scaled)


def sigmoid(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Compute 1 / (1 + exp(-x)), from f16 in f32."""
    wide = widened(b, x[0])
    one = b.constant(1, wide.type)
    power = b.insert(math.ExpOp(b.insert(arith.NegfOp(wide))))
    result = b.insert(arith.DivfOp(one, b.insert(arith.AddfOp(power, one))))
    return narrowed(b, result, x[0].type)


def gelu(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """
    Compute x Φ(x), where Φ is the normal distribution function, from f16 in f32.

    With approximate="tanh": x (1 + tanh(sqrt(2/π) (x + 0.044715 x³))) / 2.
    """
    wide = widened(b, x[0])

    def constant(value: float) -> SSAValue:
        return b.constant(value, wide.type)

    def times(left: SSAValue, right: SSAValue) -> SSAValue:
        return b.insert(arith.MulfOp(left, right))

    def plus_one(value: SSAValue) -> SSAValue:
        return b.insert(arith.AddfOp(value, constant(1)))

    if plain_attributes(op)["approximate"] == "tanh":
        cubic = plus_one(times(times(wide, wide), constant(0.044715)))
        share = b.insert(math.TanhOp(times(times(cubic, wide), constant(sqrt(2 / pi)))))
    else:
        share = b.insert(math.ErfOp(times(wide, constant(sqrt(0.5)))))
    return narrowed(b, times(times(plus_one(share), constant(0.5)), wide), x[0].type)


def bias(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Add the bias."""
    return arithmetic(b, arith.AddfOp, arith.AddiOp, *x)


def along_axis(rule: ScalarRule) -> Rule:
    """Return the rule of an operator on a tensor and a vector with one number per index of axis."""

    def convert(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        rank = len(tensor_of(operands[0]).shape)
        axis = plain_attributes(op)["axis"]
        assert isinstance(axis, int), "an axis is an integer"
        axes = [range(rank), [axis % rank]]
        return [compute(b, op, operands, b.dims(operands[0]), rule, axes)]

    return convert


RULES: Mapping[str, Rule] = {
    "relay.nn.bias_add": along_axis(bias),
    "relay.nn.gelu": elementwise(gelu),
    "relay.nn.leaky_relu": elementwise(leaky_relu),
    "relay.nn.prelu": along_axis(prelu),
    "relay.nn.relu": elementwise(relu),
    "relay.sigmoid": elementwise(sigmoid),
}
