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
from .size_writer import INDEX, Values, Writer, constant_of


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
        found = constant_of(self.values[number])
        if found is None:
            raise NotArithmetic(f'argument {number} of the size "{self.name}" must be a constant')
        return found

    def integers(self, w: Writer, first: int = 0) -> list[SSAValue]:
        """Return the arguments from `first` on as i64."""
        pairs = zip(self.values[first:], self.types[first:], strict=True)
        return [w.integer(value, type) for value, type in pairs]


Rule: TypeAlias = Callable[[Writer, Measured], SSAValue]
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


def _clamped(w: Writer, at: SSAValue, dim: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    """Return the bound `at` of a slice, which counts from the end if it is negative."""
    from_end = w.most(w.add(at, dim), low)
    return w.pick(w.is_("slt", at, 0), from_end, w.least(at, high))


@rule
def slice_length(w: Writer, m: Measured) -> SSAValue:
    dim, begin, end, stride = m.integers(w)
    zero, one, minus = w.number(0), w.number(1), w.number(-1)
    w.fail(w.is_("ne", stride, 0), "strides must not be 0", ())
    dim, is_back = w.most(dim, zero), w.is_("slt", stride, 0)
    low = w.pick(is_back, minus, zero)
    high = w.pick(is_back, w.sub(dim, one), dim)
    first, last = (_clamped(w, at, dim, low, high) for at in (begin, end))
    before = w.is_("slt", first, last)
    after = w.is_("sgt", first, last)
    is_some = w.pick(is_back, after, before)
    steps = w.pick(is_some, w.add(w.sub(last, first), w.pick(is_back, one, minus)), zero)
    rest = w.insert(arith.DivSIOp(steps, w.nonzero(stride)))
    return w.pick(is_some, w.add(rest, one), zero)


@rule
def sized_slice_length(w: Writer, m: Measured) -> SSAValue:
    dim, begin, size = m.integers(w)
    zero = w.number(0)
    dim = w.most(dim, zero)
    room = w.sub(dim, _clamped(w, begin, dim, zero, dim))
    from_end = w.most(w.add(room, size), zero)
    found = w.pick(w.is_("slt", size, 0), from_end, w.least(size, room))
    return w.pick(w.is_("eq", size, -1), room, found)


@rule
def rounded_product(w: Writer, m: Measured) -> SSAValue:
    size, scale = (w.real(v, t) for v, t in zip(m.values, m.types, strict=True))
    made = w.insert(math.RoundEvenOp(w.insert(arith.MulfOp(size, scale))))
    return w.rounded(made, "a size times a scale must fit in 64 bits")


@rule
def arange_length(w: Writer, m: Measured) -> SSAValue:
    if any(isinstance(type, AnyFloat) for type in m.types):
        start, stop, step = (w.real(v, t) for v, t in zip(m.values, m.types, strict=True))
        moves = w.insert(arith.CmpfOp(step, w.float(0.0), "une"))
        w.fail(moves, "the step of arange must not be 0", ())
        length = w.insert(arith.DivfOp(w.insert(arith.SubfOp(stop, start)), step))
        below = w.insert(arith.CmpfOp(length, w.float(0.0), "olt"))
        finite = w.insert(arith.CmpfOp(length, w.float(-inf), "ogt"))
        clamped = w.pick(w.both(below, finite), w.float(0.0), w.insert(math.CeilOp(length)))
        return w.rounded(clamped, "the length of arange must fit in 64 bits")
    start, stop, step = m.integers(w)
    zero, one = w.number(0), w.number(1)
    w.fail(w.is_("ne", step, 0), "the step of arange must not be 0", ())
    is_back = w.is_("slt", step, 0)
    low, high = w.pick(is_back, stop, start), w.pick(is_back, start, stop)
    # From here on numbers are unsigned: two i64 are up to 2^64 - 1 apart.
    stride = w.nonzero(w.pick(is_back, w.sub(zero, step), step))
    is_some = w.is_("slt", low, high)
    apart = w.sub(w.pick(is_some, w.sub(high, low), one), one)
    steps = w.add(w.insert(arith.DivUIOp(apart, stride)), one)
    found = w.pick(is_some, steps, zero)
    w.fail(w.is_("sge", found, 0), "the length of arange must fit in 64 bits", ())
    return w.most(found, zero)


@rule
def as_size(w: Writer, m: Measured) -> SSAValue:
    (size,) = m.integers(w)
    return size


@rule
def reshaped_dim(w: Writer, m: Measured) -> SSAValue:
    axis, allows_zero, rank = (m.constant(i) for i in range(3))
    sizes = m.integers(w, 3)
    dims, wanted = sizes[:rank], sizes[rank:]
    shown = [*dims, *wanted]
    have, want = _listed(0, len(dims)), _listed(len(dims), len(wanted))
    message = f"cannot reshape a tensor of {have} to {want}"
    zero, one = w.number(0), w.number(1)
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
        count = w.add(count, w.counted(condition))
    w.fail(w.is_("sle", count, 1), f"{message}: shape must have at most one -1", shown)
    made = [
        w.pick(copied[i], dims[i], w.most(size, zero)) if i < rank else w.most(size, zero)
        for i, size in enumerate(wanted)
    ]
    before = w.product(
        [w.pick(copied[i], one, dim) if i < len(copied) else dim for i, dim in enumerate(dims)]
    )
    after = w.product(
        [w.pick(w.either(copied[i], inferred[i]), one, size) for i, size in enumerate(made)]
    )
    divisor = w.nonzero(after)
    exact = w.is_("eq", w.insert(arith.RemUIOp(before, divisor)), 0)
    divides = w.both(w.is_("ne", after, 0), exact)
    w.fail(w.either(w.is_("eq", count, 0), divides), message, shown)
    rest = w.insert(arith.DivUIOp(before, divisor))
    made = [w.pick(inferred[i], rest, size) for i, size in enumerate(made)]
    w.fail(w.is_("eq", w.product(made), w.product(dims)), message, shown)
    return _at(w, axis, made)


def _at(w: Writer, axis: int, dims: Values) -> SSAValue:
    if 0 <= axis < len(dims):
        return dims[axis]
    zero = w.number(0)
    w.fail(w.is_("ne", zero, 0), f"axis must be in [0, {len(dims)}), but is {axis}", ())
    return zero


@rule
def squeezed_dim(w: Writer, m: Measured) -> SSAValue:
    axis, rank = m.constant(0), m.constant(1)
    sizes = m.integers(w, 2)
    dims, axes = sizes[:rank], sizes[rank:]
    zero = w.number(0)
    counts = [zero] * len(dims)
    for at in axes:
        inside = w.both(w.is_("sge", at, -rank), w.is_("slt", at, len(dims)))
        w.fail(inside, f"an axis of squeeze must be in [{-rank}, {rank}), but is {{0}}", [at])
        place = w.pick(w.is_("slt", at, 0), w.add(at, w.number(rank)), at)
        for i, dim in enumerate(dims):
            here = w.is_("eq", place, i)
            fits = w.either(w.unless(here), w.is_("eq", dim, 1))
            w.fail(fits, f"dim {i} must be 1 to be squeezed, but is {{0}}", [dim])
            counts[i] = w.add(counts[i], w.counted(here))
    for count in counts:
        w.fail(w.is_("sle", count, 1), "axes of squeeze must differ", ())
    left = len(dims) - len(axes)
    if not 0 <= axis < left:
        return _at(w, axis, [zero] * left)
    found, position = zero, zero
    for dim, count in zip(dims, counts, strict=True):
        stays = w.is_("eq", count, 0)
        found = w.pick(w.both(stays, w.is_("eq", position, axis)), dim, found)
        position = w.add(position, w.counted(stays))
    return found


@rule
def expanded_dim(w: Writer, m: Measured) -> SSAValue:
    axis, count = m.constant(0), m.constant(2)
    at, dims = w.integer(m.values[1], m.types[1]), m.integers(w, 3)
    rank = len(dims)
    inside = w.both(w.is_("sge", at, -rank - 1), w.is_("sle", at, rank))
    message = f"axis of expand_dims must be in [{-rank - 1}, {rank}], but is {{0}}"
    w.fail(inside, message, [at])
    place = w.pick(w.is_("slt", at, 0), w.add(at, w.number(rank + 1)), at)
    if not 0 <= axis < rank + count:
        return _at(w, axis, [at] * (rank + count))
    one = w.number(1)
    found = (
        w.pick(w.is_("sgt", place, axis - count), one, dims[axis - count])
        if (axis >= count)
        else one
    )
    return found if axis >= rank else w.pick(w.is_("sgt", place, axis), dims[axis], found)


@rule
def topk_length(w: Writer, m: Measured) -> SSAValue:
    k, dim = m.integers(w)
    w.fail(w.is_("sle", k, dim), "k of topk must be at most {1}, but is {0}", [k, dim])
    return w.pick(w.is_("sgt", k, 0), k, dim)


@rule
def count_nonzero(w: Writer, m: Measured) -> SSAValue:
    """Write a loop for each dim of the tensor or buffer, around the test of an element."""
    (data,) = m.values
    type = cast("MemRefType[Attribute] | TensorType[Attribute]", data.type)
    shape = type.get_shape()
    zero, one = (w.insert(arith.ConstantOp(IntegerAttr(i, INDEX))) for i in (0, 1))
    dim, load = (
        (memref.DimOp, memref.LoadOp)
        if isinstance(data.type, MemRefType)
        else (tensor.DimOp, tensor.ExtractOp)
    )
    places = [w.insert(arith.ConstantOp(IntegerAttr(i, INDEX))) for i in range(len(shape))]
    sizes = [w.insert(dim.create(operands=[data, i], result_types=[INDEX])) for i in places]
    element = type.element_type

    def counted(inner: Writer, indices: list[SSAValue], count: SSAValue) -> SSAValue:
        if len(indices) == len(shape):
            value = inner.insert(load.create(operands=[data, *indices], result_types=[element]))
            return inner.add(count, inner.counted(_is_nonzero(inner, value)))
        body = Block(arg_types=[INDEX, i64])
        index, so_far = body.args
        nested = Writer(body.add_op, w.fail)
        body.add_op(scf.YieldOp(counted(nested, [*indices, index], so_far)))
        loop = scf.ForOp(zero, sizes[len(indices)], one, [count], Region(body))
        return inner.insert(loop)

    return counted(w, [], w.number(0))


def _is_nonzero(w: Writer, value: SSAValue) -> SSAValue:
    type = value.type
    if type == i1:
        return value
    if isinstance(type, AnyFloat):
        zero = w.insert(arith.ConstantOp(FloatAttr(0.0, type)))
        return w.insert(arith.CmpfOp(value, zero, "une"))
    number = cast("IntegerType | IndexType", type)
    zero = w.insert(arith.ConstantOp(IntegerAttr(0, number)))
    return w.insert(arith.CmpiOp(value, zero, "ne"))


def write_measure(
    w: Writer, op: relay.MeasureOp, values: Values, types: Sequence[Attribute]
) -> SSAValue:
    """
    Write what `op` computes of `values`, which were of `types`; return the size, an i64.

    Raises `NotArithmetic` if an axis or a rank among the arguments is not a constant.
    """
    name = op.measure.data
    return RULES[name](w, Measured(name, values, types))
