"""Operators that work on each element by itself, or on pairs of elements with broadcasting."""

from abc import ABC

from xdsl.dialects.builtin import FloatAttr, f64
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Commutative, Pure

from ..interfaces import Fusible, FusionKind, InferTypes, SameDevice
from .operator import Operator
from .type_rules import broadcast
from .types import AnyTensor

ELEMWISE = (
    Pure(),
    SameDevice(),
    Fusible(FusionKind.ELEMWISE),
    InferTypes(broadcast.same_as_operand),
)
BROADCAST = (
    Pure(),
    SameDevice(),
    Fusible(FusionKind.BROADCAST),
    InferTypes(broadcast.broadcast),
)


class Unary(Operator, ABC):
    """An operator on one tensor, element by element; the result is like the operand."""

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)

    traits = traits_def(*ELEMWISE)


class Binary(Operator, ABC):
    """An operator on two tensors of one element type, broadcast together."""

    lhs = operand_def(AnyTensor)
    rhs = operand_def(AnyTensor)
    result = result_def(AnyTensor)

    traits = traits_def(*BROADCAST)


@irdl_op_definition
class ReluOp(Unary):
    """Clamp `data` below at 0."""

    name = "relay.nn.relu"


@irdl_op_definition
class LeakyReluOp(Unary):
    """Multiply the negative elements of `data` by `alpha`."""

    name = "relay.nn.leaky_relu"

    alpha = prop_def(FloatAttr, default_value=FloatAttr(0.05, f64))


@irdl_op_definition
class AddOp(Binary):
    """Add `lhs` and `rhs`."""

    name = "relay.add"

    traits = traits_def(Commutative())


OPERATORS = [ReluOp, LeakyReluOp, AddOp]
