"""Traits and bases of families of operators: pure, on one device, and fused in the same way."""

from abc import ABC
from collections.abc import Iterable
from typing import ClassVar

from xdsl.ir import Operation
from xdsl.irdl import result_def, traits_def
from xdsl.traits import Pure

from ...operators.all_rules import RULES
from ..interfaces import DeviceConstraint, DeviceRule, Fusible, FusionKind, OnHost, SameDomain
from .incomplete import AnyTensor
from .operator import RelayOperator


class SizesOnHost(DeviceRule):
    """
    Operands that are sizes are on the host; the other operands and the results are on one device.

    An operand is a size if the operator's rule reads its elements as sizes.
    """

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        rule = RULES.get(op.name)
        sizes = rule.size_operands if rule is not None else ()
        others = [operand for i, operand in enumerate(op.operands) if i not in sizes]
        values = (*others, *op.results)
        if len(values) > 1:
            yield SameDomain(values, f"operands and results of {op.name} share a device")
        for i in sizes:
            yield OnHost(op.operands[i], f"operand {i} of {op.name}, a size, is on the host")


_PLACED = (Pure(), SizesOnHost())

ELEMWISE = (*_PLACED, Fusible(FusionKind.ELEMWISE))
BROADCAST = (*_PLACED, Fusible(FusionKind.BROADCAST))
INJECTIVE = (*_PLACED, Fusible(FusionKind.INJECTIVE))
COMM_REDUCE = (*_PLACED, Fusible(FusionKind.COMM_REDUCE))
OUT_FUSABLE = (*_PLACED, Fusible(FusionKind.OUT_ELEMWISE_FUSABLE))
OPAQUE = (*_PLACED, Fusible(FusionKind.OPAQUE))


class Broadcasting(RelayOperator, ABC):
    """An operator with one result that is fused as a broadcast."""

    result = result_def(AnyTensor)

    traits = traits_def(*BROADCAST)


class Injective(RelayOperator, ABC):
    """An operator with one result that is fused as injective."""

    result = result_def(AnyTensor)

    traits = traits_def(*INJECTIVE)


class OutFusable(RelayOperator, ABC):
    """An operator with whose one result elementwise operators are fused."""

    result = result_def(AnyTensor)

    traits = traits_def(*OUT_FUSABLE)


class Opaque(RelayOperator, ABC):
    """An operator with one result that is not fused."""

    result = result_def(AnyTensor)

    traits = traits_def(*OPAQUE)
