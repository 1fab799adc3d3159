"""Constants, and operators that create tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation, SSAValue

from ....dialects import relay
from ....dialects.device import upstream_type
from ....dialects.tensors import signless
from ..builder import Builder, Rule, Size, element_type, tensor_of
from ..elementwise import compute
from ..scalars import width
from ..traced_sizes import result_sizes
from .reduce import number_of


def constant(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Produce the tensor as an `arith.constant`."""
    assert isinstance(op, relay.ConstantOp)
    type = upstream_type(op.result.type)
    value = op.value
    if value.type != type:
        value = DenseIntOrFPElementsAttr(cast(Any, type), value.data)
    return b.insert_all(arith.ConstantOp.create(result_types=[type], properties={"value": value}))


def natural_sizes(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> list[Size]:
    """Return the dims of the result, some of which may be elements: a negative one is 0."""
    return [b.maximum(size, 0) for size in result_sizes(b, op, operands)[0]]


def filled(number: int) -> Rule:
    """Return the rule that fills the result with `number`."""

    def rule(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        element = signless(element_type(op.results[0]))
        width(element)
        return [b.full(natural_sizes(b, op, operands), number, element)]

    return rule


def _element(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    return x[0]


def of_shape(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Broadcast operand 0 to the shape in operand 1."""
    return [compute(b, op, operands[:1], natural_sizes(b, op, operands), _element)]


def shape_of(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Make a vector of the dims."""
    type = tensor_of(op.results[0])
    numbers = [number_of(b, dim, type.element_type).value for dim in b.dims(operands[0])]
    return [b.insert(tensor.FromElementsOp.create(operands=numbers, result_types=[type]))]


RULES: Mapping[str, Rule] = {
    "relay.constant": constant,
    "relay.dyn.broadcast_to": of_shape,
    "relay.dyn.full": of_shape,
    "relay.dyn.ones": filled(1),
    "relay.dyn.zeros": filled(0),
    "relay.ones": filled(1),
    "relay.shape_of": shape_of,
    "relay.zeros": filled(0),
}
