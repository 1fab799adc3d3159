"""
Rules of softmax and normalizations.

`reduce.fold` reduces along the axis; `linalg.generic` ops on all elements then read its results at
the loops of the other axes. Narrower floats are computed in f32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects import relay
from ..builder import Builder, Rule, Size, element_of
from ..moving import mapped, rank_of
from ..numbers import Scalar, number_of
from ..sums import RECIPROCAL, add, combining, square, sum_type
from .reduce import divided, fold, maxima, sums


def _others(value: SSAValue, axis: int) -> tuple[int, list[int]]:
    """Return `axis`, counted from the front, and all others."""
    rank = rank_of(value)
    return axis % rank, [other for other in range(rank) if other != axis % rank]


def _exp_of_difference(x: Scalar, greatest: Scalar) -> Scalar:
    return (x - greatest).math("exp")


def softmax(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Compute maxima, exp(x - maximum), their sums, and the quotients."""
    assert isinstance(op, relay.normalization.SoftmaxOp)
    (x,) = operands
    axis, others = _others(x, op.axis.value.data)
    element = element_of(x)
    greatest = maxima(b, x, [axis], element)
    powers = mapped(b, [x, greatest], sum_type(element), _exp_of_difference, [others])

    def divide(power: Scalar, total: Scalar) -> Scalar:
        return power.apply("divide", total, RECIPROCAL)

    return [mapped(b, [powers, sums(b, powers, [axis])], element, divide, [others])]


def log_softmax(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Compute maxima, sums of exp(x - maximum), their logarithms, and x - maximum - logarithm."""
    assert isinstance(op, relay.normalization.LogSoftmaxOp)
    (x,) = operands
    axis, others = _others(x, op.axis.value.data)
    element = element_of(x)
    summed = sum_type(element)
    greatest = maxima(b, x, [axis], element)

    def add_power(x: Scalar, greatest: Scalar, total: Scalar) -> Scalar:
        return add(_exp_of_difference(x, greatest), total)

    total = fold(b, x, [axis], 0, summed, add_power, greatest)
    logarithm = mapped(b, [total], summed, lambda total: total.math("log"))
    parts = [x, greatest, logarithm]
    return [mapped(b, parts, element, lambda x, greatest, log: x - greatest - log, [others] * 2)]


def _rsqrt(x: Scalar) -> Scalar:
    return 1 / x.math("sqrt")


def layer_norm(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Compute means, the reciprocals of the deviations, then scale and shift."""
    assert isinstance(op, relay.normalization.LayerNormOp)
    x, gamma, beta = operands
    axis, others = _others(x, op.axis.value.data)
    element, count = element_of(x), b.dim(x, axis)
    summed = sum_type(element)
    means = divided(b, sums(b, x, [axis]), count, summed)

    def add_square(x: Scalar, mean: Scalar, total: Scalar) -> Scalar:
        return add(square(x - mean), total)

    squares = fold(b, x, [axis], 0, summed, add_square, means)
    divisor, epsilon = number_of(b, count, summed), op.epsilon.value.data
    factors = mapped(b, [squares], summed, lambda total: _rsqrt(total / divisor + epsilon))
    scale, center = op.scale.value.data != 0, op.center.value.data != 0

    def normalize(x: Scalar, mean: Scalar, factor: Scalar, *vectors: Scalar) -> Scalar:
        y = (x - mean) * factor
        if scale:
            y = y * vectors[0]
        return y + vectors[-1] if center else y

    vectors = [*([gamma] if scale else []), *([beta] if center else [])]
    loops = [others, others, *[[axis]] * len(vectors)]
    return [mapped(b, [x, means, factors, *vectors], element, normalize, loops)]


def batch_norm(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Compute a scale and a shift for each channel, then apply them."""
    assert isinstance(op, relay.normalization.BatchNormOp)
    x, gamma, beta, mean, variance = operands
    axis, _ = _others(x, op.axis.value.data)
    element, epsilon = element_of(x), op.epsilon.value.data
    summed = sum_type(element)
    scale, center = op.scale.value.data != 0, op.center.value.data != 0

    def scale_of(variance: Scalar, *gamma: Scalar) -> Scalar:
        factor = _rsqrt(variance + epsilon)
        return factor * gamma[0] if gamma else factor

    def shift_of(mean: Scalar, scale: Scalar, *beta: Scalar) -> Scalar:
        product = mean * scale
        return beta[0] - product if beta else 0 - product

    scales = mapped(b, [variance, *([gamma] if scale else [])], summed, scale_of, [[0]] * scale)
    shift_operands = [mean, scales, *([beta] if center else [])]
    shifts = mapped(b, shift_operands, summed, shift_of, [[0]] * (1 + center))
    parts, channels = [x, scales, shifts], [[axis], [axis]]
    y = mapped(b, parts, element, lambda x, scale, shift: x * scale + shift, channels)
    return [y, mean, variance]


def lrn(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Sum the squares of windows of the padded operand, then divide by a power of the sums."""
    assert isinstance(op, relay.normalization.LrnOp)
    (x,) = operands
    axis, _ = _others(x, op.axis.value.data)
    rank, element, size = rank_of(x), element_of(x), op.size.value.data
    summed = sum_type(element)
    last = b.maximum(b.sub(b.dim(x, axis), 1), 0)
    low: list[Size] = [0] * rank
    high: list[Size] = [0] * rank
    low[axis] = b.minimum((size - 1) // 2, last)
    high[axis] = b.minimum(size // 2, last)
    window = b.empty([b.add(b.add(low[axis], high[axis]), 1)], summed)
    place: list[AffineExpr] = [AffineExpr.dimension(i) for i in range(rank)]
    place[axis] = place[axis] + AffineExpr.dimension(rank)
    ins, reads = [b.pad(x, low, high, b.constant(0, element)), window], [place, (rank,)]
    out, every = b.full(b.dims(x), 0, summed), range(rank)
    body = combining(lambda x, _, total: add(square(x), total), summed)
    (squares,) = b.nest(ins, reads, [out], every, body, rank + 1)
    alpha, bias, beta = (p.value.data for p in (op.alpha, op.bias, op.beta))

    def divide(x: Scalar, total: Scalar) -> Scalar:
        base = total * (alpha / size) + bias
        return x * base.apply("power", base.constant(-beta))

    return [mapped(b, [x, squares], element, divide, [every])]


RULES: Mapping[str, Rule] = {
    "relay.nn.batch_norm": batch_norm,
    "relay.nn.layer_norm": layer_norm,
    "relay.nn.log_softmax": log_softmax,
    "relay.nn.lrn": lrn,
    "relay.nn.softmax": softmax,
}
