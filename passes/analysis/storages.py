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

from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import memory, vm
from ...dialects.walking import walk
from .aliases import AliasClasses, Contents, bodies_of, contents_of, is_choice
from .liveness import Interval, live_ranges


@dataclass(eq=False)
class Region:
    """A block of a function: its body, or an arm of a branch."""

    block: Block
    parent: Region | None
    """The region that holds the branch; None for a body."""
    choice: Operation | None
    """The branch that executes this arm."""
    arm: int
    stop: int = 0
    """The position after the last op in the region, and in the other arms of its branch."""


@dataclass(eq=False)
class Storage:
    """A storage with a lifetime."""

    op: memory.AllocStorageOp
    tensors: list[memory.AllocTensorOp]
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
    body = classes.block
    found = {body: Region(body, None, None, 0)}
    ops = classes.ops
    if not any(map(is_choice, ops)):
        found[body].stop = len(ops)
        return found
    inner_first = walk(body, region_first=True, enters=is_choice)
    for op in reversed([*filter(is_choice, inner_first)]):
        assert op.parent is not None, "a branch in a block"
        for arm, region in enumerate(op.regions):
            found[region.block] = Region(region.block, found[op.parent], op, arm)
    open_choices: list[Operation] = []
    position = 0
    for position, op in enumerate(ops):
        region = found[op.parent] if op.parent is not None else None
        while open_choices and not _is_within(region, open_choices[-1]):
            _close(open_choices.pop(), found, position)
        if is_choice(op) and op.regions:
            open_choices.append(op)
    while open_choices:
        _close(open_choices.pop(), found, position + 1)
    found[body].stop = position + 1
    return found


def _is_within(region: Region | None, choice: Operation) -> bool:
    """Test whether `region` is an arm of `choice`, the innermost branch that is open."""
    return region is not None and region.choice is choice


def _close(choice: Operation, regions: dict[Block, Region], position: int) -> None:
    for region in choice.regions:
        regions[region.block].stop = position


def is_destination_of_shapes(op: Operation) -> bool:
    """Test whether `op` is a tensor that only shape functions write: the machine allocates none."""
    if type(op) is not memory.AllocTensorOp:
        return False
    kinds = {type(use.operation) for use in op.results[0].uses} - {memory.KillOp}
    return kinds == {vm.ShapeFuncOp}


def users_of(storage: SSAValue, classes: AliasClasses) -> Contents | None:
    """Return what is in a storage; None if it is cut into slices, or nothing is written there."""
    contents = contents_of(storage, classes)
    if contents is None or not contents.users:
        return None
    if memory.SliceStorageOp in [type(use.operation) for use in storage.uses]:
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
    positions = {op: at for at, op in enumerate(classes.ops)}
    for op in positions:
        if type(op) is not memory.AllocStorageOp:
            continue
        contents = users_of(op.results[0], classes)
        if contents is None:
            continue
        if not outliving and any(map(classes.is_kept, contents.values)):
            continue
        uses = [positions[user] for user in contents.users if user in positions]
        if len(uses) < len(contents.users):
            continue
        stops = [ranges[classes.of(value)].stop for value in contents.values]
        lifetime = Interval(min(uses), max([max(uses) + 1, *stops]))
        tensors = [user for user in contents.users if isinstance(user, memory.AllocTensorOp)]
        calls = [user for user in contents.users if not isinstance(user, memory.AllocTensorOp)]
        assert op.parent is not None, "an op of a body"
        found.found.append(Storage(op, tensors, regions[op.parent], lifetime, calls))
    return found


def storages_in(module: ModuleOp) -> list[Storages]:
    """Return the storages of each function and closure that may share an arena."""
    return [storages_of(classes) for classes in bodies_of(module, separate=False)]
