"""
Memory effects: which bytes an op shares, allocates, reads, writes and frees.

For ops on buffers, also control flow: how an op runs its regions, which values name the same bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, SymbolRefAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue, Use
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, OpTrait

from ...operators.signature import Tensor
from ...operators.sizes import Shape
from ..xdsl_extras.xdsl_internals import operands_of
from .symbol_users import Lookup


class Aliasing(OpTrait, ABC):
    """Some results of the op alias some of its operands, or parts of them."""

    @abstractmethod
    def aliases(self, op: Operation) -> Iterable[tuple[OpResult, SSAValue]]: ...


@dataclass(frozen=True)
class ResultAliases(Aliasing):
    """Every result aliases each of `operands` (all of them if None)."""

    operands: tuple[int, ...] | None = None

    def aliases(self, op: Operation) -> Iterable[tuple[OpResult, SSAValue]]:
        chosen = op.operands if self.operands is None else [op.operands[i] for i in self.operands]
        return ((result, operand) for result in op.results for operand in chosen)


class Part(NamedTuple):
    """A part of the bytes of a storage: an offset and a size, each static or an `i64`."""

    offset: int | SSAValue
    size: int | SSAValue
    alignment: int


@dataclass(frozen=True)
class ViewsOperand(ResultAliases):
    """
    The result, the op's only one, views operand `index`: nothing is allocated or computed.

    It has all bytes of a tensor, in their order, if it `is_whole`; of others, any part that is
    contiguous. Of a storage it has those that `part` returns.
    """

    operands: tuple[int] = (0,)
    is_whole: bool = True

    def part(self, op: Operation) -> Part | None:
        """Return what the result has of the bytes of its operand; None if that is all."""
        return None

    def viewed(self, op: Operation) -> SSAValue:
        """Return the operand that the result views."""
        return op.operands[self.operands[0]]


@dataclass(frozen=True)
class RewritesOperand(ViewsOperand):
    """The result views the operand after the op has written to it: no other alias is used then."""


@dataclass(frozen=True)
class JoinsOperands(Aliasing):
    """
    The result, the op's only one, is the bytes of the operands in group `name`, side by side.

    Nothing is allocated or computed: they are adjacent in one storage already.
    """

    name: str = "parts"

    def parts(self, op: Operation) -> Sequence[SSAValue]:
        """Return the operands whose bytes the result has, in order."""
        return getattr(op, self.name)

    def aliases(self, op: Operation) -> Iterable[tuple[OpResult, SSAValue]]:
        return ((op.results[0], part) for part in self.parts(op))


@dataclass(frozen=True)
class ShapedByOperand(OpTrait):
    """The result has the shape in operand `name`, a vector of i64, if the op has that operand."""

    name: str = "shape"

    def shape(self, op: Operation) -> SSAValue | None:
        """Return the operand that holds the shape of the result."""
        return getattr(op, self.name)


class StartsLoop(OpTrait):
    """
    The ops from here to the next one that `EndsLoop`, in its block, run `count` times.

    Without `count`, the trip count is unknown.
    """

    @staticmethod
    def turns(op: Operation) -> int | None:
        """Return the trip count of the loop that `op` starts; None if it is unknown."""
        count = op.properties.get("count")
        return count.value.data if isinstance(count, IntegerAttr) else None


class EndsLoop(OpTrait):
    """
    The op ends the loop that the last op with `StartsLoop` began.

    It uses all values from before the loop that ops in the loop use, as these run again.
    """


class ReadsOnlySizes(OpTrait):
    """The op reads the dims of its operands, not their bytes; the result is those of operand 0."""


class HoldsNoTensors:
    """A base class of types whose values hold no tensors, and so have no lifetime."""


class ChoosesRegion(Aliasing, ABC):
    """
    The op executes one of its regions, once; its results are the values that this region yields.

    In any other op a region may run many times, later, or never.
    """

    @abstractmethod
    def entering(self, op: Operation) -> Iterable[tuple[BlockArgument, SSAValue]]:
        """Yield the arguments of the regions, each with the operand that it aliases."""


class CallsFunction(OpTrait):
    """The op calls the function that its property `callee` names, on all its operands."""

    @staticmethod
    def callee(op: Operation) -> str:
        """Return the name of the function that `op`, which has this trait, calls."""
        symbol = op.properties["callee"]
        assert isinstance(symbol, SymbolRefAttr)
        return symbol.string_value()


class Bufferizable(OpTrait, ABC):
    """The op can write its results into allocated tensors (destination-passing style)."""

    @abstractmethod
    def to_destination_style(self, op: Operation, outs: Sequence[SSAValue]) -> Operation:
        """
        Return the op that does what `op` does but writes result i into `outs[i]`.

        The op is not inserted. `outs` has one allocated tensor per result, of the result's type;
        the results of the op returned have these types too.
        """


class ReifiesShapes(OpTrait, ABC):
    """
    Computes the dims of the op's results from those of its operands, in sizes (`operators.sizes`).

    A `Bufferizable` op without this trait has the shapes of its rule: `InferTypes(typed(rule))`.
    """

    @abstractmethod
    def result_dims(self, op: Operation, operands: Sequence[Tensor | str]) -> Sequence[Shape]:
        """Return the dims of each result; an operand that is not a tensor is its type in words."""


@dataclass(frozen=True)
class ShapesOfOperand(ReifiesShapes):
    """Each result has the shape of operand `index`."""

    index: int = 0

    def result_dims(self, op: Operation, operands: Sequence[Tensor | str]) -> Sequence[Shape]:
        operand = operands[self.index]
        assert isinstance(operand, Tensor), "an operand with a shape is a tensor"
        return [operand.dims] * len(op.results)


def _effects(
    *groups: tuple[MemoryEffectKind, Iterable[SSAValue]],
) -> set[EffectInstance]:
    return {EffectInstance(kind, v) for kind, values in groups for v in values}


class AllocatesResults(MemoryEffect):
    """
    Allocates its results, with no other effect: unused ops are removed, equal ops not merged.

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

    @staticmethod
    def outs(op: Operation) -> Sequence[SSAValue]:
        """The tensors that `op`, which has this trait, writes into: one per result."""
        return op.operands[len(op.operands) - len(op.results) :]

    @staticmethod
    def writes(use: Use) -> bool:
        """Test whether the op of `use` has this trait and the operand is one of its `outs`."""
        op = use.operation
        is_last = use.index >= len(operands_of(op)) - len(op.results)
        return is_last and op.has_trait(DestinationPassing, value_if_unregistered=False)

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        ins = op.operands[: len(op.operands) - len(op.results)]
        return _effects((MemoryEffectKind.READ, ins), (MemoryEffectKind.WRITE, cls.outs(op)))


class KernelEffects(MemoryEffect):
    """
    Calls a kernel. With the property `impure` the kernel has effects besides its results: see
    `has_effects`.
    """

    @staticmethod
    def has_any(op: Operation) -> bool:
        """Test whether the kernel that `op` calls has effects besides its results."""
        return "impure" in op.properties

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.WRITE)} if cls.has_any(op) else set()


class OverwritesOperands(OpTrait, ABC):
    """The op, in destination-passing style, may write results over operands of equal size."""

    @abstractmethod
    def overwritable(self, op: Operation, lookup: Lookup) -> Sequence[frozenset[int]]:
        """
        Return for each result the indices of the operands, one of which it may overwrite.

        No other operand may share bytes with that one, unless it is among them too and has the
        same bytes. `lookup` looks up the functions and kernels of the module.
        """

    def shares_answer(self, op: Operation, lookup: Lookup) -> Operation | None:
        """Return the op, such as a kernel, that alone decides `overwritable`, if there is one."""
        return None


class FreesOperand(MemoryEffect):
    """Ends the lifetime of operand 0's bytes."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return _effects((MemoryEffectKind.FREE, op.operands[:1]))


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
    """The op runs its regions, which may use values from outside."""

    how: Runs

    def runs(self, op: Operation) -> Runs:
        """Return how `op` runs its regions."""
        return self.how


@dataclass(frozen=True)
class CapturesOperands(OpTrait):
    """Bytes of the operands may be used after the op, other than through its results."""

    why: str = "which keeps it"
    """The words of a remark on the op."""


def ends_of_storage(block: Block) -> Iterator[Operation]:
    """Yield the ops before which a storage that `block` allocates is freed."""
    last, region = block.last_op, block.parent
    if last is not None and last.successors and region is not None and block is region.blocks[0]:
        yield from ends_of(region)
    elif last is not None:
        yield last


def ends_of(region: Region) -> Iterator[Operation]:
    """Yield the terminators that leave a region."""
    for block in region.blocks:
        if block.last_op is not None and not block.last_op.successors:
            yield block.last_op
