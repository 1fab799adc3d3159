"""Constants: the same bytes, as signless integers."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation, SSAValue

from ...dialects import relay
from ...dialects.device import upstream_type
from .builder import Builder, Rule


def constant(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Produce the tensor as an `arith.constant`."""
    assert isinstance(op, relay.ConstantOp)
    type = upstream_type(op.result.type)
    value = op.value
    if value.type != type:
        value = DenseIntOrFPElementsAttr(cast(Any, type), value.data)
    made = arith.ConstantOp.create(result_types=[type], properties={"value": value})
    return b.insert_all(made)


RULES: Mapping[str, Rule] = {"relay.constant": constant}
