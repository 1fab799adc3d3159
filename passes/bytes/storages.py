"""
The storages of a function that may share an arena: where they are, and when their bytes are live.

    %s = memory.alloc_storage 64 align 64         %s: live from its first tensor to the last use of
    %t = memory.alloc_tensor %s[0]                any alias of a tensor in it; in arm 0 of the `if`
                                                  when this is in the `then` region
    %j = memory.alloc_storage 64 align 64         %j: each slice from its own first tensor to the
    %p = memory.slice_storage %j[0] size 32 …     last use of a tensor in any of them
    %c = memory.alloc_storage 64 align 64         %c: not between the last use of a tensor in it and
                                                  the next one, as of what a loop carries
    %w = memory.alloc_storage 64 align 64         %w: live at the call, and as long as its result if
    %r = func.call @f(%x, %w)                     this may be in %w

A storage whose bytes may outlive the function is not among them: those that it returns, that belong
to a closure or a cell that it returns, or that a callee may have kept. Positions are those of
`live_ranges`, so two storages whose lifetimes do not meet are never live together on any path.
Linear in ops.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import memory, vm
from ...operators.intervals import Interval
from .aliases import AliasClasses, Contents, bodies_of, contents_of
from .liveness import live_ranges
from .numbered import Arm
from .op_facts import facts_of, part_of


class Scope(Protocol):
    """A block of a function: its body, or a block of an op that is in another."""

    @property
    def block(self) -> Block: ...
    @property
    def parent(self) -> Scope | None:
        """The block that holds the op; None of a body."""
        ...

    @property
    def holder(self) -> Operation | None:
        """The op that runs it; None of a body."""
        ...

    @property
    def number(self) -> int:
        """Among the arms of the op."""
        ...

    @property
    def end(self) -> int:
        """The position after the last op in it, and in the other arms of the op."""
        ...

    @property
    def is_arm(self) -> bool:
        """True if at most one of the blocks of the op runs."""
        ...


class Part(NamedTuple):
    """A slice of a storage that lives from its own first tensor."""

    op: Operation
    offset: int | SSAValue
    size: int | SSAValue
    start: int


@dataclass(eq=False)
class Storage:
    """A storage with a lifetime."""

    op: memory.AllocStorageOp
    tensors: Sequence[memory.PlacedOp]
    region: Scope
    lifetime: Interval
    calls: list[Operation] = field(default_factory=lambda: [])
    """The calls that it is lent to."""
    parts: Sequence[Part] = ()
    """The slices that it is cut into, if it is."""
    gaps: Sequence[Interval] = ()
    """The times within its lifetime at which nothing is in it."""


@dataclass(eq=False)
class Storages:
    """The storages of a body that may share an arena, in program order, and its blocks."""

    regions: dict[Block, Arm] = field(default_factory=lambda: {})
    storages: list[Storage] = field(default_factory=lambda: [])


def is_destination_of_shapes(op: Operation) -> bool:
    """Test whether `op` is a tensor that only shape functions write: the machine allocates none."""
    if type(op) is not memory.AllocTensorOp:
        return False
    is_written = False
    for use in op.results[0].uses:
        if type(use.operation) is vm.ShapeFuncOp:
            is_written = True
        elif type(use.operation) is not memory.KillOp:
            return False
    return is_written


def slices_of(storage: SSAValue) -> Sequence[Operation] | None:
    """Return the slices that a storage is for, each of which is for tensors; None of another."""
    readers = [use.operation for use in storage.uses]
    slices = [op for op in readers if facts_of(op).cuts]
    users = [use.operation for op in slices for use in op.results[0].uses]
    are_tensors = all(type(user) is memory.AllocTensorOp for user in users)
    return slices if slices and len(slices) == len(readers) and are_tensors else None


def users_of(storage: SSAValue, classes: AliasClasses) -> Contents | None:
    """Return what is in a storage; None if it is cut into slices, or nothing is written there."""
    contents = contents_of(storage, classes)
    if contents is None or not contents.users:
        return None
    slices = slices_of(storage)
    if slices is None and any(facts_of(use.operation).views is not None for use in storage.uses):
        return None
    if all(map(is_destination_of_shapes, contents.users)):
        return None
    return contents


def storages_of(classes: AliasClasses, *, outliving: bool = False) -> Storages:
    """
    Return the storages of a body that may share an arena; if `outliving`, also those that cannot.

    In `classes`, bytes must stay in one class when a branch hands them over.
    """
    rows = classes.body.rows
    arms = (classes.body.body, *(arm for row in rows for arm in row.arms))
    regions = {arm.block: arm for arm in arms}
    ranges = live_ranges(classes, to_kill=True)
    storages, has_loops = Storages(regions), any(row.facts.ends_loop for row in rows)
    position, class_of = classes.body.position, classes.of
    for row in rows:
        op = row.op
        if type(op) is not memory.AllocStorageOp:
            continue
        contents = users_of(op.results[0], classes)
        if contents is None:
            continue
        if not outliving and any(map(classes.is_kept, contents.values)):
            continue
        uses = [at for user in contents.users if (at := position(user)) is not None]
        if len(uses) < len(contents.users):
            continue
        stops = [ranges[class_of(value)].stop for value in contents.values]
        lifetime = Interval(min(uses), max([max(uses) + 1, *stops]))
        tensors = [user for user in contents.users if isinstance(user, memory.AllocTensorOp)]
        calls = [user for user in contents.users if not isinstance(user, memory.AllocTensorOp)]
        assert op.parent is not None, "an op of a body"
        parts: list[Part] = []
        for slice in slices_of(op.results[0]) or ():
            starts = [position(use.operation) for use in slice.results[0].uses]
            start = min(filter(None, starts), default=lifetime.start)
            if (part := part_of(slice)) is not None:
                parts.append(Part(slice, part.offset, part.size, start))
        region = regions[op.parent]
        gaps: Sequence[Interval] = ()
        if has_loops and not calls and not parts:
            gaps = gaps_between(ranges[class_of(value)] for value in contents.values)
        storages.storages.append(Storage(op, tensors, region, lifetime, calls, parts, gaps))
    return storages


def gaps_between(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the times between the first and the last that are in none of `intervals`."""
    first, *others = sorted(intervals)
    gaps, end = list[Interval](), first.stop
    for interval in others:
        if interval.start > end:
            gaps.append(Interval(end, interval.start))
        end = max(end, interval.stop)
    return gaps


def storages_in(module: ModuleOp) -> list[Storages]:
    """Return the storages of each function and closure that may share an arena."""
    return [storages_of(classes) for classes in bodies_of(module, separate=False)]
