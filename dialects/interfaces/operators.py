"""What passes ask of tensor operators: types, fusion, views, data dependence, kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from xdsl.ir import Attribute, Operation
from xdsl.traits import (
    OpTrait,
)


@dataclass(frozen=True)
class InferTypes(OpTrait):
    """
    The op's result types follow from its operands and attributes.

    `rule(op)` gives one type per result, without devices, or raises `VerifyException` when the
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
class DataDependentShape(OpTrait):
    """
    The result shape depends on the data of these operands, not only on their shapes (TVM's
    `TShapeDataDependent`). An operator without this trait needs shapes only.
    """

    operands: tuple[int, ...]


@dataclass(frozen=True)
class CallsKernel(OpTrait):
    """
    The op says which kernel computes it (`name`) and with which `attributes`.

    Without this trait the kernel is called as the op is, and its attributes are the properties.
    """

    name: Callable[[Any], str]
    attributes: Callable[[Any], Mapping[str, Attribute]]


def kernel_name(op: Operation) -> str:
    """What the kernel is called that computes `op`."""
    calls = op.get_trait(CallsKernel)
    return op.name if calls is None else calls.name(op)


def kernel_attributes(op: Operation) -> Mapping[str, Attribute]:
    """The attributes that the kernel of `op` gets."""
    calls = op.get_trait(CallsKernel)
    return op.properties if calls is None else calls.attributes(op)
