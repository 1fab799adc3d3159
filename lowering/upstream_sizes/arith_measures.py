"""
Measures of sizes, as `arith`: what `relay.measure` computes, in upstream dialects.

    %n = relay.measure "topk_length"(%k, %dim)      %ok = arith.cmpi sle, %k, %dim : i64
                                              ->    [fail unless %ok]
                                                    %0 = arith.cmpi sgt, %k, %c0 : i64
                                                    %n = arith.select %0, %k, %dim : i64

The definitions are those of `operators.measures`, which computes with integers of any size: nothing
here wraps, and a result that does not fit in 64 bits fails. Values after a failed check are never
undefined, so that checks made elsewhere may be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias, cast

from xdsl.dialects import arith, math, memref, scf, tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects import relay
from ...dialects.dense import integer
from ...operators.sizes.size_table import CHOOSE
from .checked_code import INDEX, CheckedCode, Values


class NotArithmetic(Exception):
    """A measure whose arguments must be constants has others; the message names it."""


@dataclass(frozen=True)
class Measured:
    """A measure to be computed: its arguments, and their types as `relay` has them."""

    name: str
    values: Values
    types: Sequence[Attribute]

    def constant(self, number: int) -> int:
        """Return an argument that must be a constant."""
        value = integer(self.values[number])
        if value is None:
            raise NotArithmetic(f'argument {number} of the size "{self.name}" must be a constant')
        return value

    def integers(self, w: CheckedCode, first: int = 0) -> list[SSAValue]:
        """Return the arguments from `first` on as i64."""
        pairs = zip(self.values[first:], self.types[first:], strict=True)
        return [w.integer(value, type) for value, type in pairs]


Rule: TypeAlias = Callable[[CheckedCode, Measured], SSAValue]
"""Writes the ops that compute a measure."""

RULES: dict[str, Rule] = {}
"""The rule of each measure."""


def rule(function: Rule) -> Rule:
    """Make `function` the rule of the measure of its name."""
    RULES[function.__name__] = function
    return function


def _listed(first: int, count: int) -> str:
    """Return the placeholder of each of `count` values, in brackets."""
    return f"[{', '.join(f'{{{first + i}}}' for i in range(count))}]"


def _clamped(
    w: CheckedCode, at: SSAValue, dim: SSAValue, low: SSAValue, high: SSAValue
) -> SSAValue:
    """Return the bound `at` of a slice, which counts from the end if it is negative."""
    from_end = w.apply("max", w.apply("add", at, dim), low)
    return w.apply(CHOOSE, w.is_("slt", at, 0), from_end, w.apply("min", at, high))


@rule
def slice_length(w: CheckedCode, m: Measured) -> SSAValue:
    dim, begin, end, stride = m.integers(w)
    zero, one, minus = w.value(0), w.value(1), w.value(-1)
    w.fail(w.is_("ne", stride, 0), "strides must not be 0", ())
    dim, is_back = w.apply("max", dim, zero), w.is_("slt", stride, 0)
    low = w.apply(CHOOSE, is_back, minus, zero)
    high = w.apply(CHOOSE, is_back, w.apply("sub", dim, one), dim)
    first, last = (_clamped(w, at, dim, low, high) for at in (begin, end))
    before = w.is_("slt", first, last)
    after = w.is_("sgt", first, last)
    is_some = w.apply(CHOOSE, is_back, after, before)
    steps = w.apply(
        CHOOSE,
        is_some,
        w.apply("add", w.apply("sub", last, first), w.apply(CHOOSE, is_back, one, minus)),
        zero,
    )
    rest = w.emit(arith.DivSIOp(steps, w.nonzero(stride)))
    return w.apply(CHOOSE, is_some, w.apply("add", rest, one), zero)


@rule
def sized_slice_length(w: CheckedCode, m: Measured) -> SSAValue:
    dim, begin, size = m.integers(w)
    zero = w.value(0)
    dim = w.apply("max", dim, zero)
    room = w.apply("sub", dim, _clamped(w, begin, dim, zero, dim))
    from_end = w.apply("max", w.apply("add", room, size), zero)
    length = w.apply(CHOOSE, w.is_("slt", size, 0), from_end, w.apply("min", size, room))
    return w.apply(CHOOSE, w.is_("eq", size, -1), room, length)


@rule
def rounded_product(w: CheckedCode, m: Measured) -> SSAValue:
    size, scale = (w.real(v, t) for v, t in zip(m.values, m.types, strict=True))
    made = w.emit(math.RoundEvenOp(w.emit(arith.MulfOp(size, scale))))
    return w.rounded(made, "a size times a scale must fit in 64 bits")


@rule
def arange_length(w: CheckedCode, m: Measured) -> SSAValue:
    if any(isinstance(type, AnyFloat) for type in m.types):
        start, stop, step = (w.real(v, t) for v, t in zip(m.values, m.types, strict=True))
        moves = w.emit(arith.CmpfOp(step, w.value(0.0), "une"))
        w.fail(moves, "the step of arange must not be 0", ())
        length = w.emit(arith.DivfOp(w.emit(arith.SubfOp(stop, start)), step))
        below = w.emit(arith.CmpfOp(length, w.value(0.0), "olt"))
        finite = w.emit(arith.CmpfOp(length, w.value(-inf), "ogt"))
        clamped = w.apply(CHOOSE, w.both(below, finite), w.value(0.0), w.emit(math.CeilOp(length)))
        return w.rounded(clamped, "the length of arange must fit in 64 bits")
    start, stop, step = m.integers(w)
    zero, one = w.value(0), w.value(1)
    w.fail(w.is_("ne", step, 0), "the step of arange must not be 0", ())
    is_back = w.is_("slt", step, 0)
    low, high = w.apply(CHOOSE, is_back, stop, start), w.apply(CHOOSE, is_back, start, stop)
    # From here on numbers are unsigned: two i64 are up to 2^64 - 1 apart.
    stride = w.nonzero(w.apply(CHOOSE, is_back, w.apply("sub", zero, step), step))
    is_some = w.is_("slt", low, high)
    apart = w.apply("sub", w.apply(CHOOSE, is_some, w.apply("sub", high, low), one), one)
    steps = w.apply("add", w.emit(arith.DivUIOp(apart, stride)), one)
    count = w.apply(CHOOSE, is_some, steps, zero)
    w.fail(w.is_("sge", count, 0), "the length of arange must fit in 64 bits", ())
    return w.apply("max", count, zero)


@rule
def as_size(w: CheckedCode, m: Measured) -> SSAValue:
    if isinstance(m.types[0], AnyFloat):
        value = w.real(m.values[0], m.types[0])
        is_natural = w.emit(arith.CmpfOp(value, w.value(0.0), "oge"))
        w.fail(is_natural, "a size must be in [0, 2^63)", ())
        natural = w.apply(CHOOSE, is_natural, value, w.value(0.0))
        whole = w.emit(math.FloorOp(natural))
        return w.rounded(whole, "a size must be in [0, 2^63)")
    (size,) = m.integers(w)
    return size


@rule
def reshaped_dim(w: CheckedCode, m: Measured) -> SSAValue:
    axis, allows_zero, rank = (m.constant(i) for i in range(3))
    sizes = m.integers(w, 3)
    dims, wanted = sizes[:rank], sizes[rank:]
    shown = [*dims, *wanted]
    have, want = _listed(0, len(dims)), _listed(len(dims), len(wanted))
    message = f"cannot reshape a tensor of {have} to {want}"
    zero, one = w.value(0), w.value(1)
    never = w.is_("ne", zero, 0)
    copied, inferred = list[SSAValue](), list[SSAValue]()
    for i, size in enumerate(wanted):
        is_zero = never if allows_zero else w.is_("eq", size, 0)
        least = -1 if allows_zero or i < rank else 1
        fits = w.is_("sge", size, least)
        if least > 0:
            fits = w.either(fits, w.is_("eq", size, -1))
        w.fail(fits, f"{message}: entry {i} of shape is {{{len(dims) + i}}}", shown)
        copied.append(is_zero)
        inferred.append(w.is_("eq", size, -1))
    count = zero
    for condition in inferred:
        count = w.apply("add", count, w.counted(condition))
    w.fail(w.is_("sle", count, 1), f"{message}: shape must have at most one -1", shown)
    made = [
        w.apply(CHOOSE, copied[i], dims[i], w.apply("max", size, zero))
        if i < rank
        else w.apply("max", size, zero)
        for i, size in enumerate(wanted)
    ]
    before = w.product(
        [
            w.apply(CHOOSE, copied[i], one, dim) if i < len(copied) else dim
            for i, dim in enumerate(dims)
        ]
    )
    after = w.product(
        [
            w.apply(CHOOSE, w.either(copied[i], inferred[i]), one, size)
            for i, size in enumerate(made)
        ]
    )
    divisor = w.nonzero(after)
    exact = w.is_("eq", w.emit(arith.RemUIOp(before, divisor)), 0)
    divides = w.both(w.is_("ne", after, 0), exact)
    w.fail(w.either(w.is_("eq", count, 0), divides), message, shown)
    rest = w.emit(arith.DivUIOp(before, divisor))
    made = [w.apply(CHOOSE, inferred[i], rest, size) for i, size in enumerate(made)]
    w.fail(w.is_("eq", w.product(made), w.product(dims)), message, shown)
    return _at(w, axis, made)


def _at(w: CheckedCode, axis: int, dims: Values) -> SSAValue:
    if 0 <= axis < len(dims):
        return dims[axis]
    zero = w.value(0)
    w.fail(w.is_("ne", zero, 0), f"axis must be in [0, {len(dims)}), but is {axis}", ())
    return zero


@rule
def squeezed_dim(w: CheckedCode, m: Measured) -> SSAValue:
    axis, rank = m.constant(0), m.constant(1)
    sizes = m.integers(w, 2)
    dims, axes = sizes[:rank], sizes[rank:]
    zero = w.value(0)
    counts = [zero] * len(dims)
    for at in axes:
        inside = w.both(w.is_("sge", at, -rank), w.is_("slt", at, len(dims)))
        w.fail(inside, f"an axis of squeeze must be in [{-rank}, {rank}), but is {{0}}", [at])
        place = w.apply(CHOOSE, w.is_("slt", at, 0), w.apply("add", at, w.value(rank)), at)
        for i, dim in enumerate(dims):
            here = w.is_("eq", place, i)
            fits = w.either(w.unless(here), w.is_("eq", dim, 1))
            w.fail(fits, f"dim {i} must be 1 to be squeezed, but is {{0}}", [dim])
            counts[i] = w.apply("add", counts[i], w.counted(here))
    for count in counts:
        w.fail(w.is_("sle", count, 1), "axes of squeeze must differ", ())
    left = len(dims) - len(axes)
    if not 0 <= axis < left:
        return _at(w, axis, [zero] * left)
    size, position = zero, zero
    for dim, count in zip(dims, counts, strict=True):
        stays = w.is_("eq", count, 0)
        size = w.apply(CHOOSE, w.both(stays, w.is_("eq", position, axis)), dim, size)
        position = w.apply("add", position, w.counted(stays))
    return size


@rule
def expanded_dim(w: CheckedCode, m: Measured) -> SSAValue:
    axis, count = m.constant(0), m.constant(2)
    at, dims = w.integer(m.values[1], m.types[1]), m.integers(w, 3)
    rank = len(dims)
    inside = w.both(w.is_("sge", at, -rank - 1), w.is_("sle", at, rank))
    message = f"axis of expand_dims must be in [{-rank - 1}, {rank}], but is {{0}}"
    w.fail(inside, message, [at])
    place = w.apply(CHOOSE, w.is_("slt", at, 0), w.apply("add", at, w.value(rank + 1)), at)
    if not 0 <= axis < rank + count:
        return _at(w, axis, [at] * (rank + count))
    one = w.value(1)
    size = (
        w.apply(CHOOSE, w.is_("sgt", place, axis - count), one, dims[axis - count])
        if (axis >= count)
        else one
    )
    return size if axis >= rank else w.apply(CHOOSE, w.is_("sgt", place, axis), dims[axis], size)


@rule
def topk_length(w: CheckedCode, m: Measured) -> SSAValue:
    k, dim = m.integers(w)
    w.fail(w.is_("sle", k, dim), "k of topk must be at most {1}, but is {0}", [k, dim])
    return w.apply(CHOOSE, w.is_("sgt", k, 0), k, dim)


@rule
def count_nonzero(w: CheckedCode, m: Measured) -> SSAValue:
    """Write a loop for each dim of the tensor or buffer, around the test of an element."""
    (data,) = m.values
    type = cast("MemRefType[Attribute] | TensorType[Attribute]", data.type)
    shape = type.get_shape()
    zero, one = (w.emit(arith.ConstantOp(IntegerAttr(i, INDEX))) for i in (0, 1))
    dim, load = (
        (memref.DimOp, memref.LoadOp)
        if isinstance(data.type, MemRefType)
        else (tensor.DimOp, tensor.ExtractOp)
    )
    places = [w.emit(arith.ConstantOp(IntegerAttr(i, INDEX))) for i in range(len(shape))]
    sizes = [w.emit(dim.create(operands=[data, i], result_types=[INDEX])) for i in places]
    element = type.element_type

    def counted(inner: CheckedCode, indices: list[SSAValue], count: SSAValue) -> SSAValue:
        if len(indices) == len(shape):
            value = inner.emit(load.create(operands=[data, *indices], result_types=[element]))
            return inner.apply("add", count, inner.counted(_is_nonzero(inner, value)))
        body = Block(arg_types=[INDEX, i64])
        index, so_far = body.args
        nested = CheckedCode(body.add_op, w.fail)
        body.add_op(scf.YieldOp(counted(nested, [*indices, index], so_far)))
        loop = scf.ForOp(zero, sizes[len(indices)], one, [count], Region(body))
        return inner.emit(loop)

    return counted(w, [], w.value(0))


def _is_nonzero(w: CheckedCode, value: SSAValue) -> SSAValue:
    type = value.type
    if type == i1:
        return value
    if isinstance(type, AnyFloat):
        zero = w.emit(arith.ConstantOp(FloatAttr(0.0, type)))
        return w.emit(arith.CmpfOp(value, zero, "une"))
    number = cast("IntegerType | IndexType", type)
    zero = w.emit(arith.ConstantOp(IntegerAttr(0, number)))
    return w.emit(arith.CmpiOp(value, zero, "ne"))


def write_measure(
    w: CheckedCode, op: relay.MeasureOp, values: Values, types: Sequence[Attribute]
) -> SSAValue:
    """
    Write what `op` computes of `values`, which were of `types`; return the size, an i64.

    Raises `NotArithmetic` if an axis or a rank among the arguments is not a constant.
    """
    name = op.measure.data
    return RULES[name](w, Measured(name, values, types))
