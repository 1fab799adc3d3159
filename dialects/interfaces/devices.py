"""Where an op's operands and results may be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue
from xdsl.traits import OpTrait

from ..device import VirtualDeviceAttr


class Together(NamedTuple):
    """All of `values` are on one device."""

    values: tuple[SSAValue, ...]
    reason: str


class On(NamedTuple):
    """`value` is on `device`."""

    value: SSAValue
    device: VirtualDeviceAttr
    reason: str


class OnHost(NamedTuple):
    """`value` is on the host, whichever device that is."""

    value: SSAValue
    reason: str


DeviceConstraint = Together | On | OnHost


class DeviceRule(OpTrait, ABC):
    """Which devices an op's operands and results may be on."""

    @abstractmethod
    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]: ...


@dataclass(frozen=True)
class SameDevice(DeviceRule):
    """Every operand and every result is on one device: the rule of ordinary operators."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        values = (*op.operands, *op.results)
        if len(values) < 2:
            return ()
        return (Together(values, f"operands and results of {op.name} share a device"),)


@dataclass(frozen=True)
class AnyDevice(DeviceRule):
    """Operands and results are where they are, independently of each other."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        return ()


@dataclass(frozen=True)
class ResultOnHost(DeviceRule):
    """Results are on the host; operands are where they are."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        for result in op.results:
            yield OnHost(result, f"the result of {op.name} is on the host")


@dataclass(frozen=True)
class DeviceConstant(OpTrait):
    """A constant: it has a domain for each use, and the planner clones it once per device."""
