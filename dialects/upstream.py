"""
Interfaces of xDSL's own ops, attached to their classes from outside (MLIR: external models).

Passes ask these ops as they ask ours: through `op.get_trait`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects import arith, func, tensor
from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition

from .interfaces import (
    AllOnHost,
    CalleeDevices,
    CallsFunction,
    DeviceConstraint,
    DeviceRule,
    OnHost,
    ReturnDevices,
)
from .xdsl_internals import add_op


@dataclass(frozen=True)
class ExtractDevices(DeviceRule):
    """An element that is read from a tensor as a number, such as a size, is read on the host."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        yield OnHost(op.operands[0], "numbers are read on the host")


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """
    Take the remainder of floats `lhs` and `rhs`, with the sign of `lhs`, as `fmod` in C.

    An op of MLIR that xDSL lacks.
    """

    name = "arith.remf"


def attach_interfaces() -> None:
    """Give the ops of `func`, `tensor` and `arith` theirs, and `arith` those that xDSL lacks."""
    add_op(arith.Arith, RemFOp)
    func.CallOp.traits.add_trait(CalleeDevices())
    func.CallOp.traits.add_trait(CallsFunction())
    func.ReturnOp.traits.add_trait(ReturnDevices())
    tensor.ExtractOp.traits.add_trait(ExtractDevices())
    tensor.FromElementsOp.traits.add_trait(AllOnHost())
    arith.ConstantOp.traits.add_trait(AllOnHost())
