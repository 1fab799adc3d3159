"""
What passes ask of an op, so that they never ask which op it is.

Each interface is an xDSL trait. A plug-in's op that carries them takes part in type
inference, device planning, fusion, explicit allocation, liveness and the VM like ours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.traits import (
    EffectInstance,
    MemoryEffect,
    MemoryEffectKind,
    OpTrait,
)

from .device import VirtualDeviceAttr

# ------------------------------------------------------------------ operators


@dataclass(frozen=True)
class InferTypes(OpTrait):
    """
    The op's result types follow from its operands and attributes.

    `rule(op)` gives one type a result, without devices, or raises `VerifyException` when the
    operands or attributes do not fit. It may assume that all operand types are complete.
    (TVM: a type relation.)
    """

    rule: Callable[[Any], Sequence[Attribute]]


class FusionKind(IntEnum):
    """How an operator may be fused with its neighbours (TVM's `OpPatternKind`)."""

    ELEMWISE = 0
    BROADCAST = 1
    INJECTIVE = 2
    COMM_REDUCE = 3
    OUT_ELEMWISE_FUSABLE = 4
    OPAQUE = 8


@dataclass(frozen=True)
class Fusible(OpTrait):
    """A tensor operator: it ends up in a `relay.primitive`, alone or with others."""

    kind: FusionKind


@dataclass(frozen=True)
class ReshapesOnly(OpTrait):
    """
    The result is operand 0 with another shape, element order unchanged.

    A primitive of nothing else becomes a view of its operand, not a kernel (TVM's
    `TReshapeOp`).
    """


@dataclass(frozen=True)
class NeedsData(OpTrait):
    """
    The result shape depends on the data of these operands, not only on their shapes (TVM's
    `TShapeDataDependent`). An operator without this trait needs shapes only.
    """

    operands: tuple[int, ...]


# -------------------------------------------------------------------- devices


@dataclass(frozen=True)
class Together:
    """All of `values` are on one device."""

    values: tuple[SSAValue, ...]
    reason: str


@dataclass(frozen=True)
class On:
    """`value` is on `device`."""

    value: SSAValue
    device: VirtualDeviceAttr
    reason: str


@dataclass(frozen=True)
class OnHost:
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
        if len(values) > 1:
            yield Together(values, f"operands and results of {op.name} share a device")


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


# --------------------------------------------------------------------- memory


class Aliasing(OpTrait, ABC):
    """Some results of the op share bytes with (parts of) some of its operands."""

    @abstractmethod
    def aliases(self, op: Operation) -> Iterable[tuple[OpResult, SSAValue]]: ...


@dataclass(frozen=True)
class ResultAliases(Aliasing):
    """Every result shares bytes with each of `operands` (all of them when None)."""

    operands: tuple[int, ...] | None = None

    def aliases(self, op: Operation) -> Iterable[tuple[OpResult, SSAValue]]:
        chosen = op.operands if self.operands is None else [op.operands[i] for i in self.operands]
        return ((result, operand) for result in op.results for operand in chosen)


class WantsStorage(OpTrait, ABC):
    """Each result of the op needs a tensor that somebody allocates and the op writes into."""

    @abstractmethod
    def in_destination_passing_style(self, op: Operation, outs: Sequence[SSAValue]) -> Operation:
        """
        The op that does what `op` does but writes result i into `outs[i]`; not yet inserted.

        `outs` has one allocated tensor a result, of the result's type; so have the results
        of the op returned.
        """


def _effects(
    *groups: tuple[MemoryEffectKind, Iterable[SSAValue]],
) -> set[EffectInstance]:
    return {EffectInstance(kind, v) for kind, values in groups for v in values}


class AllocatesResults(MemoryEffect):
    """
    Allocates what it returns, and nothing else: dead ones go, equal ones stay apart.

    xDSL's own `MemoryAllocEffect` names no value, so its ops would never be removed.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return _effects((MemoryEffectKind.ALLOC, op.results))


class DestinationPassing(MemoryEffect):
    """
    Reads its `ins` and writes its `outs`; result i is the value written into outs i.

    The `outs` are the op's last operands, one a result.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        outs = len(op.operands) - len(op.results)
        return _effects(
            (MemoryEffectKind.READ, op.operands[:outs]),
            (MemoryEffectKind.WRITE, op.operands[outs:]),
        )


class FreesOperand(MemoryEffect):
    """Ends the life of operand 0's bytes."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return _effects((MemoryEffectKind.FREE, op.operands[:1]))


# -------------------------------------------------------------------- symbols

Lookup = Callable[[str], Operation | None]
"""
Finds a symbol of the module by its name, in constant time.

An op that names symbols has a method `verify_symbol_uses(lookup)`, which `passes.verifier`
calls; xDSL's own trait for this looks each symbol up by a linear scan.
"""
