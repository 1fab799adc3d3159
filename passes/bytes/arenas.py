"""
Arenas: several storages replaced by one, whose offsets a `memory.pack` chooses.

    %a = memory.alloc_storage 64 align 64        %total, %at:2 = memory.pack align 64 {
    %t = memory.alloc_tensor %a[0]                 [0, 2) 64
    %b = memory.alloc_storage %n align 64          [1, 3) %n
    %u = memory.alloc_tensor %b[0]         ->    }
                                                 %arena = memory.alloc_storage %total align 64
                                                 %t = memory.alloc_tensor %arena[%at#0]
                                                 %u = memory.alloc_tensor %arena[%at#1]

A storage that calls use becomes a `memory.slice_storage` of the arena. The arena of a function with
a workspace is that, as far as its callers can compute the size.

`gather` decides which storages share an arena, and where it is allocated; `write` rewrites the IR.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import memory
from ...dialects.device import VirtualDeviceAttr, device_of
from ..sizes.available import Available
from ..sizes.reader import Sizes
from ..support.rewriting import apply_patterns
from ..workspaces.caller_sizes import Workspace, workspaces_of
from .storages import Region, Storage

MAX_PLACES = 16
"""The maximum number of places in a block at which arenas are allocated, as sizes become known."""

MAX_ARMS = 16
"""The maximum number of arms that are named for a slice; to name fewer is safe."""


@dataclass(eq=False)
class Arena:
    """The storages that share an arena."""

    storages: list[Storage] = field(default_factory=list[Storage])
    workspace: SSAValue | None = None
    """The parameter that it is, if it is not allocated here."""

    @property
    def device(self) -> VirtualDeviceAttr | None:
        return device_of(self.storages[0].op.storage.type)

    @property
    def alignment(self) -> int:
        return max(storage.op.alignment.value.data for storage in self.storages)


@dataclass(eq=False)
class Place:
    """Arenas that are allocated before one op."""

    before: Operation
    arenas: list[Arena]
    moved: list[Operation]
    """The computation of their sizes, to be moved there, in order."""


@dataclass(eq=False)
class _Home:
    """The storages whose arenas are allocated in a block, by the op before which they are."""

    region: Region
    available: Available
    holders: dict[Region, Operation] = field(default_factory=dict[Region, Operation])
    """The op of the block that holds each region, computed once."""
    workspaces: Sequence[Workspace] = ()
    sizes: Sizes = field(default_factory=Sizes)
    places: dict[int, list[Storage]] = field(default_factory=dict[int, list[Storage]])
    lent: dict[SSAValue, tuple[int, list[Storage]]] = field(
        default_factory=dict[SSAValue, tuple[int, list[Storage]]]
    )
    """The place of each workspace that is used, and the storages in it."""

    def add(self, storage: Storage) -> None:
        """Add a storage to the first place where its size is known; make one if there is none."""
        at = self.available.index[self._holder(storage)]
        size = storage.op.dynamic_size
        after = -1 if size is None else self.available.after_value(size)
        for workspace in self.workspaces:
            start, inside = self.lent.get(workspace.param, (at, list[Storage]()))
            if after < start and workspace.accepts(storage.op, self.sizes):
                inside.append(storage)
                self.lent[workspace.param] = start, inside
                return
        starts = list(self.places)
        found = bisect_right(starts, after)
        if found < len(starts):
            self.places[starts[found]].append(storage)
        elif len(starts) < MAX_PLACES:
            self.places[at] = [storage]

    def _holder(self, storage: Storage) -> Operation:
        """Return the op of the block that is `storage`'s, or that holds it."""
        at, path = storage.region, list[Region]()
        if at is self.region:
            return storage.op
        while at not in self.holders:
            path.append(at)
            assert at.parent is not None, "the arena is in a region around the storage"
            if at.parent is self.region:
                break
            at = at.parent
        holder = self.holders.get(at, at.choice)
        assert holder is not None, "an arm belongs to a branch"
        self.holders.update(dict.fromkeys(path, holder))
        return holder

    def written(self) -> Iterable[Place]:
        moved: set[Operation] = set()
        for at in sorted({*self.places, *(start for start, _ in self.lent.values())}):
            by_type: dict[Attribute, Arena] = {}
            for storage in self.places.get(at, ()):
                by_type.setdefault(storage.op.storage.type, Arena()).storages.append(storage)
            arenas = [arena for arena in by_type.values() if len(arena.storages) > 1]
            arenas += [
                Arena(inside, workspace)
                for workspace, (start, inside) in self.lent.items()
                if start == at
            ]
            sizes = (s.op.dynamic_size for arena in arenas for s in arena.storages)
            needed = self.available.needed_before(at, (v for v in sizes if v is not None))
            needed = [op for op in needed if op not in moved]
            moved.update(needed)
            if arenas:
                yield Place(self.available.ops[at], arenas, needed)


def gather(
    storages: Iterable[Storage], home_of: Callable[[Storage], Region], sizes: Sizes
) -> list[Place]:
    """
    Gather storages into arenas, one for each device and place.

    `home_of` returns the region in which the arena of a storage is allocated: that of the storage,
    or one around it in which the size of the storage is defined. `sizes` has those of the module.
    """
    homes: dict[Block, _Home] = {}
    for storage in storages:
        region = home_of(storage)
        home = homes.get(region.block)
        if home is None:
            workspaces = workspaces_of(region.block) if region.parent is None else ()
            home = _Home(region, Available.of(region.block), workspaces=workspaces, sizes=sizes)
            homes[region.block] = home
        home.add(storage)
    return [place for home in homes.values() for place in home.written()]


def arms_of(storages: Sequence[Storage]) -> list[tuple[memory.Arm, ...]]:
    """
    Return the arms of each storage, outermost first.

    Branches are left out whose arms no storage outlives: in program order, an arm ends before the
    next one starts.
    """
    numbers: dict[Operation, int] = {}
    for storage in storages:
        region = storage.region
        for _ in range(MAX_ARMS):
            if region.choice is None or storage.lifetime.stop <= region.stop:
                break
            numbers.setdefault(region.choice, len(numbers))
            assert region.parent is not None, "an arm is in a region"
            region = region.parent
    if not numbers:
        return [()] * len(storages)
    known: dict[Region, tuple[memory.Arm, ...]] = {}
    return [_named_arms(storage.region, numbers, known) for storage in storages]


def _named_arms(
    region: Region, numbers: dict[Operation, int], known: dict[Region, tuple[memory.Arm, ...]]
) -> tuple[memory.Arm, ...]:
    """Return the arms that hold `region` among those of the branches in `numbers`."""
    path: list[Region] = []
    at: Region | None = region
    while at is not None and at not in known:
        path.append(at)
        at = at.parent
    arms = () if at is None else known[at]
    for step in reversed(path):
        number = None if step.choice is None else numbers.get(step.choice)
        if number is not None and len(arms) < MAX_ARMS:
            arms = (*arms, memory.Arm(number, step.arm))
        known[step] = arms
    return arms


def slices_of(storages: Sequence[Storage], with_lifetimes: bool) -> list[memory.Slice]:
    """Return the slice of each storage; lifetimes are numbered from 0 without gaps."""
    if not with_lifetimes:
        return [memory.Slice(0, 1, _size(storage.op)) for storage in storages]
    times = sorted({time for storage in storages for time in storage.lifetime})
    number = {time: i for i, time in enumerate(times)}
    return [
        memory.Slice(
            number[storage.lifetime.start], number[storage.lifetime.stop], _size(storage.op), arms
        )
        for storage, arms in zip(storages, arms_of(storages), strict=True)
    ]


def _size(op: memory.AllocStorageOp) -> int | SSAValue:
    if op.size is not None:
        return op.size.value.data
    assert op.dynamic_size is not None, "verified: a storage has a size"
    return op.dynamic_size


Slots = dict[Operation, tuple[SSAValue, SSAValue]]
"""The arena of each storage, and its offset there."""


@dataclass(frozen=True)
class AllocateArenas(RewritePattern):
    """Pack storages, and allocate their arenas, before the first of them."""

    places: dict[Operation, list[Place]]
    with_lifetimes: bool
    slots: Slots

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        for place in self.places[op]:
            for moved in place.moved:
                moved.detach()
                rewriter.insert(moved, InsertPoint.before(op))
            for arena in place.arenas:
                self.allocate(arena, op, rewriter)

    def allocate(self, arena: Arena, op: Operation, rewriter: PatternRewriter) -> None:
        slices = slices_of(arena.storages, self.with_lifetimes)
        pack = memory.PackOp(arena.alignment, slices, arena.workspace)
        pack.total.name_hint = "total"
        for offset in pack.offsets:
            offset.name_hint = "offset"
        rewriter.insert(pack, InsertPoint.before(op))
        whole = arena.workspace
        if whole is None:
            storage = memory.AllocStorageOp(pack.total, arena.alignment, arena.device)
            whole = storage.storage
            whole.name_hint = "arena"
            rewriter.insert(storage, InsertPoint.before(op))
        for replaced, offset in zip(arena.storages, pack.offsets, strict=True):
            self.slots[replaced.op] = whole, offset


@dataclass(frozen=True)
class UseArena(RewritePattern):
    """Place a tensor in an arena instead of in the storage that it replaces."""

    slots: Slots

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.AllocTensorOp, rewriter: PatternRewriter, /) -> None:
        storage, inner = op.start
        assert isinstance(storage.owner, Operation), "a storage that a body allocates"
        arena, start = self.slots[storage.owner]
        offset = start if inner == 0 else self.add(start, inner, op, rewriter)
        op.place(arena, offset)
        rewriter.notify_op_modified(op)

    def add(
        self, start: SSAValue, inner: int | SSAValue, op: Operation, rewriter: PatternRewriter
    ) -> SSAValue:
        """Add the offset of a tensor in its storage to that of the storage."""
        before: list[Operation] = []
        if isinstance(inner, int):
            before.append(constant := arith.ConstantOp.from_int_and_width(inner, i64))
            inner = constant.result
            inner.name_hint = "within"
        before.append(total := arith.AddiOp(start, inner))
        total.result.name_hint = "offset"
        rewriter.insert(before, InsertPoint.before(op))
        return total.result


@dataclass(frozen=True)
class ReplaceStorage(RewritePattern):
    """Replace a storage by its slice of the arena; remove it if no call uses it."""

    slots: Slots

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.AllocStorageOp, rewriter: PatternRewriter, /) -> None:
        if op.results[0].first_use is None:
            rewriter.erase(op)
            return
        arena, offset = self.slots[op]
        slice = memory.SliceStorageOp(arena, offset, _size(op), op.alignment.value.data)
        slice.slice.name_hint = op.storage.name_hint
        rewriter.replace(op, slice)


def write(module: ModuleOp, places: Sequence[Place], with_lifetimes: bool) -> None:
    """Replace the storages of `places` by arenas; without lifetimes, each lives as its arena."""
    by_op: dict[Operation, list[Place]] = {}
    for place in places:
        by_op.setdefault(place.before, []).append(place)
    slots: Slots = {}
    storages = [s for place in places for arena in place.arenas for s in arena.storages]
    tensors = [tensor for storage in storages for tensor in storage.tensors]
    if not storages:
        return
    apply_patterns(module, AllocateArenas(by_op, with_lifetimes, slots), only=list(by_op))
    apply_patterns(module, UseArena(slots), only=tensors)
    apply_patterns(module, ReplaceStorage(slots), only=[storage.op for storage in storages])
