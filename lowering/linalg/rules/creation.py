"""Operators that create tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, f64, i64
from xdsl.ir import Operation, SSAValue

from ....dialects.tensors import is_unsigned, signless
from ..builder import INDEX, Builder, Rule, Size, element_type, maps, tensor_of
from ..elementwise import compute
from ..scalars import compare, convert, is_float, resized, safe_divisor, select, width


def as_index(b: Builder, number: SSAValue, *, unsigned: bool) -> SSAValue:
    """Return an integer as an index; one of 2^63 or more is negative."""
    return b.insert(arith.IndexCastOp(resized(b, number, i64, unsigned=unsigned), INDEX))


def given_sizes(b: Builder, op: Operation, operand: int, shape: SSAValue) -> list[Size]:
    """
    Return the dims of the result of `op`, of which the dynamic ones are elements of `shape`.

    `operand` is the index of `shape`, a vector. A negative element is 0.
    """
    unsigned = is_unsigned(element_type(op.operands[operand]))
    sizes: list[Size] = []
    for axis, dim in enumerate(tensor_of(op.results[0]).get_shape()):
        size: Size = dim
        if dim == DYNAMIC_INDEX:
            size = b.maximum(as_index(b, b.extract(shape, [axis]), unsigned=unsigned), 0)
        sizes.append(size)
    return sizes


def filled(number: int) -> Rule:
    """Return the rule that fills a tensor of static shape with `number`."""

    def rule(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        element = signless(element_type(op.results[0]))
        width(element)
        return [b.full(tensor_of(op.results[0]).get_shape(), number, element)]

    return rule


def dyn_filled(number: int) -> Rule:
    """Return the rule that fills a tensor of the shape in operand 0 with `number`."""

    def rule(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        element = signless(element_type(op.results[0]))
        width(element)
        return [b.full(given_sizes(b, op, 0, operands[0]), number, element)]

    return rule


def _element(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    return x[0]


def of_shape(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Broadcast operand 0 to the shape in operand 1."""
    return [compute(b, op, operands[:1], given_sizes(b, op, 1, operands[1]), _element)]


# --------------------------------------------------------------------- arange


def arange(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Compute start + i * step for each index i, in 64 bits; integers wrap around."""
    type = element_type(op.results[0])
    width(type)
    start, stop, step = (b.extract(operand, []) for operand in operands)
    wide = f64 if is_float(type) else i64
    if is_float(type):
        start, stop, step = (convert(b, x, type, f64) for x in (start, stop, step))
    else:
        unsigned = is_unsigned(type)
        start, stop, step = (resized(b, x, i64, unsigned=unsigned) for x in (start, stop, step))
    (size,) = tensor_of(op.results[0]).get_shape()
    length: Size = size
    if size == DYNAMIC_INDEX:
        steps = _float_steps if is_float(type) else _integer_steps
        length = b.maximum(as_index(b, steps(b, start, stop, step), unsigned=False), 0)

    def body(inner: Builder, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
        i = inner.insert(arith.IndexCastOp(inner.loop_index(0), i64))
        if is_float(type):
            distance = inner.insert(arith.MulfOp(inner.insert(arith.SIToFPOp(i, f64)), step))
            number = inner.insert(arith.AddfOp(start, distance))
            return [convert(inner, number, wide, type)]
        distance = inner.insert(arith.MuliOp(i, step))
        number = inner.insert(arith.AddiOp(start, distance))
        return [resized(inner, number, signless(type), unsigned=False)]

    empty = b.empty([length], signless(type))
    return b.generic([], [], [empty], maps(1, [0]), ["parallel"], body)


def _integer_steps(b: Builder, start: SSAValue, stop: SSAValue, step: SSAValue) -> SSAValue:
    """Return the number of steps from `start` to `stop`, rounded up; 0 for a step of 0."""
    distance = b.insert(arith.SubiOp(start, stop))
    divisor = safe_divisor(b, distance, step, unsigned=False)
    down = b.insert(arith.FloorDivSIOp(distance, divisor))
    zero = b.constant(0, i64)
    steps = b.insert(arith.SubiOp(zero, down))
    return select(b, compare(b, "eq", step, zero), zero, steps)


def _float_steps(b: Builder, start: SSAValue, stop: SSAValue, step: SSAValue) -> SSAValue:
    """Return the number of steps from `start` to `stop`, rounded up; 0 if it does not fit i64."""
    distance = b.insert(arith.SubfOp(stop, start))
    up = b.insert(math.CeilOp(b.insert(arith.DivfOp(distance, step))))
    fits = compare(b, "olt", up, b.constant(2.0**63, f64))
    return select(b, fits, convert(b, up, f64, i64), b.constant(0, i64))


def shape_of(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Make a vector of the dims."""
    type = tensor_of(op.results[0])
    dims = [b.index(dim) for dim in b.dims(operands[0])]
    wide = [b.insert(arith.IndexCastOp(dim, i64)) for dim in dims]
    numbers = [resized(b, number, type.element_type, unsigned=False) for number in wide]
    return [b.insert(tensor.FromElementsOp.create(operands=numbers, result_types=[type]))]


RULES: Mapping[str, Rule] = {
    "relay.arange": arange,
    "relay.dyn.broadcast_to": of_shape,
    "relay.dyn.full": of_shape,
    "relay.dyn.ones": dyn_filled(1),
    "relay.dyn.zeros": dyn_filled(0),
    "relay.ones": filled(1),
    "relay.shape_of": shape_of,
    "relay.zeros": filled(0),
}
