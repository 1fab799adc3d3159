"""Constants, and operators that create tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, i64
from xdsl.ir import Operation, SSAValue

from ....dialects import relay
from ....dialects.device import upstream_type
from ....dialects.tensors import is_unsigned, signless
from ..builder import INDEX, Builder, Rule, Size, element_type, tensor_of
from ..elementwise import compute
from ..scalars import resized, width


def constant(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Produce the tensor as an `arith.constant`."""
    assert isinstance(op, relay.ConstantOp)
    type = upstream_type(op.result.type)
    value = op.value
    if value.type != type:
        value = DenseIntOrFPElementsAttr(cast(Any, type), value.data)
    return b.insert_all(arith.ConstantOp.create(result_types=[type], properties={"value": value}))


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


def shape_of(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Make a vector of the dims."""
    type = tensor_of(op.results[0])
    dims = [b.index(dim) for dim in b.dims(operands[0])]
    wide = [b.insert(arith.IndexCastOp(dim, i64)) for dim in dims]
    numbers = [resized(b, number, type.element_type, unsigned=False) for number in wide]
    return [b.insert(tensor.FromElementsOp.create(operands=numbers, result_types=[type]))]


RULES: Mapping[str, Rule] = {
    "relay.constant": constant,
    "relay.dyn.broadcast_to": of_shape,
    "relay.dyn.full": of_shape,
    "relay.dyn.ones": dyn_filled(1),
    "relay.dyn.zeros": dyn_filled(0),
    "relay.ones": filled(1),
    "relay.shape_of": shape_of,
    "relay.zeros": filled(0),
}
