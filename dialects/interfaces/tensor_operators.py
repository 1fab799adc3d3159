"""Interfaces of tensor operators: types, fusion, views, kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any, TypeAlias, TypeVar

from xdsl.dialects.builtin import NoneType, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.traits import OpTrait, Pure, is_side_effect_free

from ...operators.records import record
from .symbol_users import Lookup


@dataclass(frozen=True)
class InferTypes(OpTrait):
    """
    The op's result types follow from its operands and properties.

    `rule(op)` returns one type per result, without devices, or raises `VerifyException` if the
    operands or properties are invalid. It may assume that all operand types are complete. (TVM: a
    type relation.)
    """

    rule: Callable[[Any], Sequence[Attribute]]


@record
class Equation:
    """Two types that are one; dims that only one of them knows may differ."""

    given: Attribute
    wanted: Attribute
    what: str
    """The value whose type is `given`, for errors."""


Fresh: TypeAlias = Callable[[], Attribute]
"""Returns a new unknown type."""


@dataclass(frozen=True)
class TypeEquations(OpTrait):
    """
    The types of the op's operands, results and regions' values determine each other.

    `rule(op, lookup, fresh)` returns what must be equal; `lookup` returns the op of a symbol, and
    `fresh` a new unknown type. It need not repeat what `InferTypes` says of complete types.
    """

    rule: Callable[[Any, Lookup, Fresh], Iterable[Equation]]


class FusionKind(IntEnum):
    """The ways in which an operator may be fused with its neighbours (TVM's `OpPatternKind`)."""

    ELEMWISE = 0
    BROADCAST = 1
    INJECTIVE = 2
    COMM_REDUCE = 3
    OUT_ELEMWISE_FUSABLE = 4
    OPAQUE = 8


@dataclass(frozen=True)
class Fusible(OpTrait):
    """A tensor operator, which becomes part of a `relay.primitive`, alone or with others."""

    kind: FusionKind


_Check = TypeVar("_Check", bound=Callable[..., object])


def reads_contents(*, when: object = None) -> Callable[[_Check], _Check]:
    """Return the identity: no check is skipped any more. Kept for plug-ins that declare some."""
    return lambda check: check


@cache
def _is_pure(kind: type[Operation]) -> bool:
    return kind.get_trait(Fusible) is None or kind.get_trait(Pure) is not None


def has_effects(op: Operation) -> bool:
    """
    Test whether `op` is a tensor operator that may do more than compute its results.

    Every run of the program executes such an operator as often as the program says, in its order:
    passes do not remove, merge, move or fuse it, and do not compute it.
    """
    return not _is_pure(type(op)) and not is_side_effect_free(op)


@dataclass(frozen=True)
class NeedsScratch(OpTrait):
    """
    Compiled code of the op keeps intermediate values in memory of the caller, as large as tensors
    of the types `types(op, parts)`; none if it needs no memory.

    `parts` are the threads that may compute at the same time; each has memory of its own.
    """

    types: Callable[[Any, int], Sequence[TensorType]]


def scratch_types(op: Operation, parts: int) -> Sequence[TensorType]:
    """Return the types of the memory that compiled code of `op` needs for so many threads."""
    needs = op.get_trait(NeedsScratch)
    return () if needs is None else needs.types(op, parts)


class ReshapesOnly(OpTrait):
    """
    The result is operand 0 with another shape; the order of the elements does not change.

    A primitive of such ops alone becomes a view of its operand, not a kernel (TVM's `TReshapeOp`).
    """


def only_reshapes(op: Operation) -> bool:
    """Test whether all that `op` does is to give operand 0 another shape."""
    return op.has_trait(ReshapesOnly, value_if_unregistered=False) and not has_effects(op)


@dataclass(frozen=True)
class ReadsBeforeWriting(OpTrait):
    """
    A kernel of the op alone writes no element of its result before the last time that it reads this
    element of each of `operands`, of the result's shape; of all operands if None.

    So it may write the result over one of them, as softmax does: see `dialects.overwriting`.
    """

    operands: tuple[int, ...] | None = None

    def reads(self, operand: int) -> bool:
        """Test whether operand number `operand` is among `operands`."""
        return self.operands is None or operand in self.operands


class ReadsElementwise(ReadsBeforeWriting):
    """
    An element of the result depends on one element, at the same index, of each of `operands`.

    It holds for operands of the result's shape; one that is broadcast is read elsewhere. Fused with
    others of this trait the op is one loop, which reads an element before it writes it.
    """


@dataclass(frozen=True)
class CallsKernel(OpTrait):
    """
    The op names the kernel that computes it (`name`) and that kernel's `attributes`.

    Without this trait the kernel has the op's name, and its attributes are the op's properties.
    """

    name: Callable[[Any], str]
    attributes: Callable[[Any], Mapping[str, Attribute]]


def kernel_name(op: Operation) -> str:
    """The name of the kernel that computes `op`."""
    calls = op.get_trait(CallsKernel)
    return op.name if calls is None else calls.name(op)


def kernel_attributes(op: Operation) -> Mapping[str, Attribute]:
    """Return the attributes that the kernel of `op` gets; one that is `none` is absent."""
    calls = op.get_trait(CallsKernel)
    attributes = op.properties if calls is None else calls.attributes(op)
    return {name: value for name, value in attributes.items() if not isinstance(value, NoneType)}
