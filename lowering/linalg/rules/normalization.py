"""
Rules of softmax and normalizations.

Reductions of `reduction.fold` along the axis, and `linalg.generic` ops on all elements that read
the results at the loops of the other axes. Computed in f32 where elements are narrower floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects import relay
from ..builder import Builder, Rule, Size, element_of
from ..moving import mapped, rank_of
from ..scalars import narrowed, widened
from ..sums import REASSOC, RECIPROCAL, add, multiply, sum_type
from .reduce import divided, fold, maxima, number_of, sums


def _others(value: SSAValue, axis: int) -> tuple[int, list[int]]:
    """Return `axis`, counted from the front, and all others."""
    rank = rank_of(value)
    return axis % rank, [other for other in range(rank) if other != axis % rank]


def _exp_of_difference(b: Builder, x: SSAValue, greatest: SSAValue) -> SSAValue:
    difference = arith.SubfOp(widened(b, x), widened(b, greatest))
    return b.insert(math.ExpOp(b.insert(difference)))


def softmax(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Compute maxima, exp(x - maximum), their sums, and the quotients."""
    assert isinstance(op, relay.normalization.SoftmaxOp)
    (x,) = operands
    axis, others = _others(x, op.axis.value.data)
    element = element_of(x)
    greatest = maxima(b, x, [axis], element)
    powers = mapped(
        b,
        [x, greatest],
        sum_type(element),
        lambda inner, given: _exp_of_difference(inner, given[0], given[1]),
        [others],
    )
    return [
        mapped(
            b,
            [powers, sums(b, powers, [axis])],
            element,
            lambda inner, given: narrowed(
                inner, inner.insert(arith.DivfOp(given[0], given[1], RECIPROCAL)), element
            ),
            [others],
        )
    ]


def log_softmax(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Compute maxima, sums of exp(x - maximum), their logarithms, and x - maximum - logarithm."""
    assert isinstance(op, relay.normalization.LogSoftmaxOp)
    (x,) = operands
    axis, others = _others(x, op.axis.value.data)
    element = element_of(x)
    summed = sum_type(element)
    greatest = maxima(b, x, [axis], element)

    def combine(inner: Builder, given: Sequence[SSAValue], total: SSAValue) -> SSAValue:
        return add(inner, _exp_of_difference(inner, given[0], given[1]), total, REASSOC)

    def subtract(inner: Builder, given: Sequence[SSAValue]) -> SSAValue:
        difference = arith.SubfOp(widened(inner, given[0]), widened(inner, given[1]))
        result = arith.SubfOp(inner.insert(difference), given[2])
        return narrowed(inner, inner.insert(result), element)

    total = fold(b, x, [axis], 0, summed, combine, [greatest])
    logarithm = mapped(b, [total], summed, lambda inner, x: inner.insert(math.LogOp(x[0])))
    return [mapped(b, [x, greatest, logarithm], element, subtract, [others, others])]


def _rsqrt(b: Builder, x: SSAValue, epsilon: float) -> SSAValue:
    """Compute 1 / sqrt(`x` + `epsilon`)."""
    shifted = b.insert(arith.AddfOp(x, b.constant(epsilon, x.type)))
    root = b.insert(math.SqrtOp(shifted))
    return b.insert(arith.DivfOp(b.constant(1, x.type), root))


def layer_norm(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Compute means, the reciprocals of the deviations, then scale and shift."""
    assert isinstance(op, relay.normalization.LayerNormOp)
    x, gamma, beta = operands
    axis, others = _others(x, op.axis.value.data)
    element, count = element_of(x), b.dim(x, axis)
    summed = sum_type(element)
    means = divided(b, sums(b, x, [axis]), count, summed)

    def centered(inner: Builder, x: SSAValue, mean: SSAValue) -> SSAValue:
        return inner.insert(arith.SubfOp(widened(inner, x), mean))

    def add_square(inner: Builder, given: Sequence[SSAValue], total: SSAValue) -> SSAValue:
        difference = centered(inner, given[0], given[1])
        return add(inner, multiply(inner, difference, difference, REASSOC), total, REASSOC)

    squares = fold(b, x, [axis], 0, summed, add_square, [means])
    divisor, epsilon = number_of(b, count, summed), op.epsilon.value.data

    def reciprocal(inner: Builder, given: Sequence[SSAValue]) -> SSAValue:
        return _rsqrt(inner, inner.insert(arith.DivfOp(given[0], divisor)), epsilon)

    factors = mapped(b, [squares], summed, reciprocal)
    scale, center = op.scale.value.data != 0, op.center.value.data != 0

    def normalize(inner: Builder, given: Sequence[SSAValue]) -> SSAValue:
        x, mean, factor, *vectors = given
        y = inner.insert(arith.MulfOp(centered(inner, x, mean), factor))
        if scale:
            y = inner.insert(arith.MulfOp(y, widened(inner, vectors[0])))
        if center:
            y = inner.insert(arith.AddfOp(y, widened(inner, vectors[-1])))
        return narrowed(inner, y, element)

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

    def scale_of(inner: Builder, given: Sequence[SSAValue]) -> SSAValue:
        factor = _rsqrt(inner, widened(inner, given[0]), epsilon)
        return inner.insert(arith.MulfOp(factor, widened(inner, given[1]))) if scale else factor

    def shift_of(inner: Builder, given: Sequence[SSAValue]) -> SSAValue:
        product = inner.insert(arith.MulfOp(widened(inner, given[0]), given[1]))
        start = widened(inner, given[2]) if center else inner.constant(0, summed)
        return inner.insert(arith.SubfOp(start, product))

    def apply(inner: Builder, given: Sequence[SSAValue]) -> SSAValue:
        product = inner.insert(arith.MulfOp(widened(inner, given[0]), given[1]))
        return narrowed(inner, inner.insert(arith.AddfOp(product, given[2])), element)

    scales = mapped(b, [variance, *([gamma] if scale else [])], summed, scale_of, [[0]] * scale)
    of_shift = [mean, scales, *([beta] if center else [])]
    shifts = mapped(b, of_shift, summed, shift_of, [[0]] * (1 + center))
    y = mapped(b, [x, scales, shifts], element, apply, [[axis], [axis]])
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
    window = b.empty([b.add(b.add(low[axis], high[axis]), 1)], element)
    place: list[AffineExpr] = [AffineExpr.dimension(i) for i in range(rank)]
    place[axis] = place[axis] + AffineExpr.dimension(rank)

    def add_square(inner: Builder, given: Sequence[SSAValue]) -> Sequence[SSAValue]:
        value = widened(inner, given[0])
        return [add(inner, multiply(inner, value, value, REASSOC), given[2], REASSOC)]

    ins, reads = [b.pad(x, low, high, b.constant(0, element)), window], [place, (rank,)]
    out, every = b.full(b.dims(x), 0, summed), range(rank)
    (squares,) = b.nest(ins, reads, [out], every, add_square, rank + 1)
    alpha, bias, beta = (p.value.data for p in (op.alpha, op.bias, op.beta))

    def divide(inner: Builder, given: Sequence[SSAValue]) -> SSAValue:
        x, total = given
        scaled = inner.insert(arith.MulfOp(total, inner.constant(alpha / size, summed)))
        base = inner.insert(arith.AddfOp(scaled, inner.constant(bias, summed)))
        power = inner.insert(math.PowFOp(base, inner.constant(-beta, summed)))
        return narrowed(inner, inner.insert(arith.MulfOp(widened(inner, x), power)), element)

    return [mapped(b, [x, squares], element, divide, [every])]


RULES: Mapping[str, Rule] = {
    "relay.nn.batch_norm": batch_norm,
    "relay.nn.layer_norm": layer_norm,
    "relay.nn.log_softmax": log_softmax,
    "relay.nn.lrn": lrn,
    "relay.nn.softmax": softmax,
}
