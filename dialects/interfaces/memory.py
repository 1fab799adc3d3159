"""Which bytes an op shares, wants, reads, writes and frees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import (
    EffectInstance,
    MemoryEffect,
    MemoryEffectKind,
    OpTrait,
)


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

        `outs` has one allocated tensor per result, of the result's type; so have the results
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

    The `outs` are the op's last operands, one per result.
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
