"""
The storages of a function that may share an arena: where they are, and when their bytes are live.

    %s = memory.alloc_storage 64 align 64         %s: live from its first tensor to the last use of
    %t = memory.alloc_tensor %s[0]                any alias of a tensor in it; in arm 0 of the `if`
                                                  when this is in the `then` region
    %w = memory.alloc_storage 64 align 64         %w: live at the call, and as long as its result if
    %r = func.call @f(%x, %w)                     this may be in %w

A storage whose bytes may outlive the function is not among them: those that it returns, that belong
to a closure or a cell that it returns, or that a callee may have kept. Positions are those of
`live_ranges`, so two storages whose lifetimes do not meet are never live together on any path.
Linear in ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import memory, vm
from ...operators.intervals import Interval
from .aliases import AliasClasses, Contents, bodies_of, contents_of
from .liveness import live_ranges
from .op_facts import facts_of


@dataclass(eq=False)
class Region:
    """A block of a function: its body, or an arm of a branch."""

    block: Block
    parent: Region | None
    """The region that holds the branch; None for a body."""
    choice: Operation | None
    """The branch that executes this arm."""
    arm: int
    stop: int
    """The position after the last op in the region, and in the other arms of its branch."""
    is_arm: bool = True
    """True if at most one of the regions of `choice` runs."""


@dataclass(eq=False)
class Storage:
    """A storage with a lifetime."""

    op: memory.AllocStorageOp
    tensors: Sequence[memory.PlacedOp]
    region: Region
    lifetime: Interval
    calls: list[Operation] = field(default_factory=list[Operation])
    """The calls that it is lent to."""


@dataclass(eq=False)
class Storages:
    """The storages of a body that may share an arena, in program order, and its regions."""

    regions: dict[Block, Region] = field(default_factory=dict[Block, Region])
    found: list[Storage] = field(default_factory=list[Storage])


def regions_of(classes: AliasClasses) -> dict[Block, Region]:
    """Return the regions of a body, each before those in it."""
    body = classes.body
    found = {body.block: Region(body.block, None, None, 0, len(body.rows))}
    for row in body.rows:
        if row.arms:
            assert row.op.parent is not None, "a branch in a block"
            around = found[row.op.parent]
            for i, arm in enumerate(row.arms):
                found[arm.block] = Region(arm.block, around, row.op, i, row.stop)
    return found


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


def users_of(storage: SSAValue, classes: AliasClasses) -> Contents | None:
    """Return what is in a storage; None if it is cut into slices, or nothing is written there."""
    contents = contents_of(storage, classes)
    if contents is None or not contents.users:
        return None
    if any(facts_of(use.operation).views is not None for use in storage.uses):
        return None
    if all(map(is_destination_of_shapes, contents.users)):
        return None
    return contents


def storages_of(classes: AliasClasses, *, outliving: bool = False) -> Storages:
    """
    Return the storages of a body that may share an arena; if `outliving`, also those that cannot.

    In `classes`, bytes must stay in one class when a branch hands them over.
    """
    regions = regions_of(classes)
    ranges = live_ranges(classes, to_kill=True)
    found = Storages(regions)
    position, class_of = classes.body.position, classes.of
    for row in classes.body.rows:
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
        found.found.append(Storage(op, tensors, regions[op.parent], lifetime, calls))
    return found


def storages_in(module: ModuleOp) -> list[Storages]:
    """Return the storages of each function and closure that may share an arena."""
    return [storages_of(classes) for classes in bodies_of(module, separate=False)]
