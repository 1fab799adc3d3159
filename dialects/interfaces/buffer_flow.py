"""Control flow on buffers: which regions an op runs, and which values name the same bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import OpTrait

Named = Iterable[tuple[SSAValue, SSAValue]]
"""Values, each with one whose bytes it may name."""


class Runs(Enum):
    """The ways in which an op runs its regions."""

    ONE = "one of them, once, or none"
    LOOP = "any number of times, one after the other"
    PARALLEL = "any number of times, possibly at once"
    LATER = "once, possibly at once with what follows the op"

    @property
    def shares_time(self) -> bool:
        """True if a region may run while it, or what follows, runs."""
        return self in (Runs.PARALLEL, Runs.LATER)


class PassesValues(OpTrait, ABC):
    """The op passes values on: to arguments of blocks, or as its results."""

    @abstractmethod
    def passed(self, op: Operation) -> Named:
        """Yield arguments and results, each with a value that it may be."""


@dataclass(frozen=True)
class RunsRegions(PassesValues, ABC):
    """The op runs its regions, which see the values around it."""

    how: Runs

    def runs(self, op: Operation) -> Runs:
        """Return how `op` runs its regions."""
        return self.how


class CapturesOperands(OpTrait):
    """Bytes of the operands may be used after the op by what is not among its results."""


def ends_of_storage(block: Block) -> Iterator[Operation]:
    """Yield the ops before which a storage is freed that is allocated in `block`."""
    last, region = block.last_op, block.parent
    if last is not None and last.successors and region is not None and block is region.blocks[0]:
        yield from ends_of(region)
    elif last is not None:
        yield last


def ends_of(region: Region) -> Iterator[Operation]:
    """Yield the ops through which a region is left."""
    for block in region.blocks:
        if block.last_op is not None and not block.last_op.successors:
            yield block.last_op
