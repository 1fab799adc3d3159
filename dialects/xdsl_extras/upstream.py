"""
Interfaces of xDSL's own ops, attached to their classes from outside (MLIR: external models).

Passes ask these ops as they ask ours: through `op.get_trait`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import ClassVar

from xdsl.dialects import arith, func, tensor
from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from ..interfaces import (
    AllOnHost,
    CalleeDevices,
    CallsFunction,
    DeviceConstraint,
    DeviceRule,
    OnHost,
    ReturnDevices,
)
from ..tensors import as_tensor
from .xdsl_internals import add_op


class ExtractDevices(DeviceRule):
    """An element that is read from a tensor as a number, such as a size, is read on the host."""

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        yield OnHost(op.operands[0], "numbers are read on the host")


class OneOperandPerElement(OpTrait):
    """The result has a static shape, with an element for each operand. xDSL does not check that."""

    def verify(self, op: Operation) -> None:
        type = as_tensor(op.results[0].type)
        if (
            type is None
            or not type.has_static_shape()
            or prod(type.get_shape()) != len(op.operands)
        ):
            raise VerifyException(
                f"{len(op.operands)} elements do not make a value of type {op.results[0].type}"
            )


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
    tensor.FromElementsOp.traits.add_trait(OneOperandPerElement())
    arith.ConstantOp.traits.add_trait(AllOnHost())
