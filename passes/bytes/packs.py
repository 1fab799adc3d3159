"""
Packs that storages join: which share one, where it stands, and the pattern that lets one join.

    %a = memory.alloc_storage 64 align 64        %pack = memory.pack align 64 : !memory.pack
    %t = memory.alloc_tensor %a[0]               %offset = memory.slice %pack [0, 2) 64
    %b = memory.alloc_storage %n align 64        %total = memory.total %pack
    %u = memory.alloc_tensor %b[0]         ->    %arena = memory.alloc_storage %total align 64
                                                 %t = memory.alloc_tensor %arena[%offset]
                                                 %b = memory.alloc_storage %n align 64
                                                 %u = memory.alloc_tensor %b[0]

`packs_of` finds which storages join which pack; `JoinPack` lets one storage at a time be a slice of
its pack, as above. A storage that calls use becomes a `memory.slice_storage` of the arena. The
arena of a function with a workspace is that, as far as its callers can compute the size.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import memory, relay
from ...dialects.device import device_of
from ...dialects.relay.loops import repeated_in
from ...operators.intervals import Interval
from ...operators.sizes.size_expressions import Expr
from ..sizes.available import Available
from ..sizes.reader import Sizes
from ..workspaces.caller_sizes import Workspace, workspaces_of
from .storages import Part, Scope, Storage

MAX_PLACES = 16
"""The maximum number of places in a block at which packs stand, as sizes become known."""

MAX_ARMS = 16
"""The maximum number of arms that are named for a slice; to name fewer is safe."""


@dataclass(eq=False)
class Pack:
    """The storages that share an arena."""

    storages: list[Storage]
    with_lifetimes: bool
    """True unless each slice lives as long as the arena."""
    workspace: SSAValue | None = None
    """The parameter that the arena is, if it is not allocated here."""

    @property
    def alignment(self) -> int:
        return max(storage.op.alignment.value.data for storage in self.storages)

    @cached_property
    def slices(self) -> dict[Operation, memory.Slice]:
        """
        The slice of each storage, or of each part of one, in order.

        Times are numbered from 0 without gaps.
        """
        ops = [storage.op for storage in self.storages]
        if not self.with_lifetimes:
            return {op: memory.Slice(0, 1, op.bytes) for op in ops}
        lifetimes = {
            op: (start, storage.lifetime.stop, size, arms)
            for storage, arms in zip(self.storages, arms_of(self.storages), strict=True)
            for op, start, size in [(part.op, part.start, part.size) for part in storage.parts]
            or [(storage.op, storage.lifetime.start, storage.op.bytes)]
        }
        gaps: dict[Operation, Sequence[Interval]] = {s.op: s.gaps for s in self.storages if s.gaps}
        spans = [(start, stop) for start, stop, *_ in lifetimes.values()]
        spans += (gap for each in gaps.values() for gap in each)
        number = {time: i for i, time in enumerate(sorted({t for span in spans for t in span}))}

        def empty(op: Operation) -> tuple[Interval, ...]:
            return tuple(Interval(number[a], number[b]) for a, b in gaps.get(op, ()))

        def own_alignment(op: Operation) -> int | None:
            bytes = op.alignment.value.data if isinstance(op, memory.AllocStorageOp) else None
            return None if bytes == self.alignment else bytes

        return {
            op: memory.Slice(number[start], number[stop], size, arms, empty(op), own_alignment(op))
            for op, (start, stop, size, arms) in lifetimes.items()
        }


@dataclass(eq=False)
class Place:
    """Packs that stand before one op."""

    before: Operation
    packs: list[Pack]
    moved: list[Operation]
    """The computation of their sizes, to be moved there, in order."""


@dataclass(eq=False)
class _Home:
    """The storages whose arenas are allocated in a block, by the op before which they are."""

    region: Scope
    available: Available
    holders: dict[Scope, Operation] = field(default_factory=lambda: {})
    """The op of the block that holds each region, computed once."""
    workspaces: Sequence[Workspace] = ()
    sizes: Sizes = field(default_factory=Sizes)
    places: dict[int, list[Storage]] = field(default_factory=lambda: {})
    lent: dict[SSAValue, tuple[int, list[Storage]]] = field(default_factory=lambda: {})
    """The place of each workspace that is used, and the storages in it."""

    @cached_property
    def repeated(self) -> Mapping[Operation, relay.EndLoopOp]:
        return repeated_in(self.region.block)

    def add(self, storage: Storage) -> None:
        """Add a storage to the first place where its size is known; make one if there is none."""
        holder = self._holder(storage)
        end = self.repeated.get(holder)
        at = self.available.index[holder if end is None else end.start]
        size = storage.op.dynamic_size
        after = -1 if size is None else self.available.after_value(size)
        for workspace in self.workspaces:
            start, inside = self.lent.get(workspace.param, (at, list[Storage]()))
            if after < start and workspace.accepts(storage.op, self.sizes):
                inside.append(storage)
                self.lent[workspace.param] = start, inside
                return
        starts = list(self.places)
        first = bisect_right(starts, after)
        if first < len(starts):
            self.places[starts[first]].append(storage)
        elif len(starts) < MAX_PLACES:
            self.places[at] = [storage]

    def _holder(self, storage: Storage) -> Operation:
        """Return the op of the block that is `storage`'s, or that holds it."""
        at, path = storage.region, list[Scope]()
        if at is self.region:
            return storage.op
        while at not in self.holders:
            path.append(at)
            assert at.parent is not None, "the arena is in a region around the storage"
            if at.parent is self.region:
                break
            at = at.parent
        assert at.holder is not None, "an op runs the block"
        holder = self.holders.get(at, at.holder)
        self.holders.update(dict.fromkeys(path, holder))
        return holder

    def packs(self, with_lifetimes: bool, least: int) -> Iterator[Place]:
        """Yield the places at which packs of `least` storages, or in workspaces, stand."""
        moved: set[Operation] = set()
        for at in sorted({*self.places, *(start for start, _ in self.lent.values())}):
            by_type: dict[Attribute, list[Storage]] = {}
            for storage in self.places.get(at, ()):
                by_type.setdefault(storage.op.storage.type, []).append(storage)
            packs = [Pack(each, with_lifetimes) for each in by_type.values() if len(each) >= least]
            packs += [
                Pack(inside, with_lifetimes, workspace)
                for workspace, (start, inside) in self.lent.items()
                if start == at
            ]
            sizes = (s.op.dynamic_size for pack in packs for s in pack.storages)
            needed = self.available.needed_before(at, (v for v in sizes if v is not None))
            needed = [op for op in needed if op not in moved]
            moved.update(needed)
            if packs:
                yield Place(self.available.ops[at], packs, needed)


def packs_of(
    storages: Iterable[Storage],
    home_of: Callable[[Storage], Scope],
    sizes: Sizes,
    *,
    with_lifetimes: bool,
    least: int = 2,
) -> Iterator[Place]:
    """
    Yield the packs that storages join, one for each device and place.

    `home_of` returns the region in which the pack of a storage stands: that of the storage, or one
    around it in which the size of the storage is defined. `sizes` has those of the module. Fewer
    storages than `least` join none.
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
    for home in homes.values():
        yield from home.packs(with_lifetimes, least)


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
            if region.holder is None or storage.lifetime.stop <= region.end:
                break
            if region.is_arm:
                numbers.setdefault(region.holder, len(numbers))
            assert region.parent is not None, "an arm is in a region"
            region = region.parent
    if not numbers:
        return [()] * len(storages)
    known: dict[Scope, tuple[memory.Arm, ...]] = {}
    return [_named_arms(storage.region, numbers, known) for storage in storages]


def _named_arms(
    region: Scope, numbers: dict[Operation, int], known: dict[Scope, tuple[memory.Arm, ...]]
) -> tuple[memory.Arm, ...]:
    """Return the arms that hold `region` among those of the branches in `numbers`."""
    path: list[Scope] = []
    at: Scope | None = region
    while at is not None and at not in known:
        path.append(at)
        at = at.parent
    arms = () if at is None else known[at]
    for step in reversed(path):
        number = None if step.holder is None else numbers.get(step.holder)
        if number is not None and len(arms) < MAX_ARMS:
            arms = (*arms, memory.Arm(number, step.number))
        known[step] = arms
    return arms


def side_by_side(parts: Sequence[Part], sizes: Sizes) -> Sequence[Part]:
    """Return the parts of a storage in order; nothing if each does not start where one ends."""
    by_start = {sizes.size_or(part.offset): part for part in parts}
    ordered: list[Part] = []
    end = Expr.of(0)
    while (part := by_start.pop(end, None)) is not None:
        ordered.append(part)
        size = sizes.size_or(part.size)
        if size == Expr.of(0):
            return ()
        end += size
    return ordered if len(ordered) == len(parts) else ()


class _Opened(NamedTuple):
    """A pack in the IR."""

    op: memory.PackOp
    total: memory.TotalOp
    arena: SSAValue


class JoinPack(RewritePattern):
    """Let a storage be a slice of the pack that it joins; the first at a place opens its packs."""

    def __init__(self, places: Iterable[Place]):
        self.joins = {
            storage.op: (place, pack, storage)
            for place in places
            for pack in place.packs
            for storage in pack.storages
        }
        self.opened: dict[Pack, _Opened] = {}
        self.pools: Mapping[str, memory.PoolAttr] | None = None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.AllocStorageOp, rewriter: PatternRewriter, /) -> None:
        if op not in self.joins:
            return
        place, pack, storage = self.joins[op]
        if pack not in self.opened:
            self.open(place, rewriter)
        packed, total, arena = self.opened[pack]
        parts = [part.op for part in storage.parts] if pack.with_lifetimes else []
        offset: SSAValue | None = None
        for part in parts or [op]:
            slice = memory.SliceOp(packed.pack, pack.slices[part], offset)
            offset = slice.offset
            offset.name_hint = "offset"
            rewriter.insert(slice, InsertPoint.before(total))
            for use in tuple(part.results[0].uses):
                if isinstance(use.operation, memory.PlacedOp):
                    place_tensor(use.operation, arena, offset, rewriter)
        for part in parts:
            rewriter.erase(part)
        if op.storage.first_use is None:
            rewriter.erase(op)
            return
        assert offset is not None, "a slice of the whole storage"
        alignment = op.alignment.value.data
        rewriter.replace(op, memory.SliceStorageOp(arena, offset, op.bytes, alignment))

    def open(self, place: Place, rewriter: PatternRewriter) -> None:
        """Insert the packs at a place, without slices, and their arenas."""
        if self.pools is None:
            self.pools = memory.pools_of(place.before)
        for op in place.moved:
            op.detach()
        ops = place.moved
        for pack in place.packs:
            device = device_of(pack.storages[0].op.storage.type)
            pool = None if device is None else self.pools.get(memory.place_of(device))
            packed = memory.PackOp(pack.alignment, pack.workspace, pool)
            total = memory.TotalOp(packed.pack)
            packed.pack.name_hint, total.total.name_hint = "pack", "total"
            ops += [packed, total]
            arena = pack.workspace
            if arena is None:
                storage = memory.AllocStorageOp(total.total, pack.alignment, device)
                arena = storage.storage
                arena.name_hint = "arena"
                ops.append(storage)
            self.opened[pack] = _Opened(packed, total, arena)
        rewriter.insert(ops, InsertPoint.before(place.before))


def place_tensor(
    op: memory.PlacedOp, arena: SSAValue, start: SSAValue, rewriter: PatternRewriter
) -> None:
    """Move a tensor from its storage, which is at `start` in `arena`, to there."""
    _, inner = op.start
    if inner != 0:
        if isinstance(inner, int):
            within = arith.ConstantOp.from_int_and_width(inner, i64)
            within.location = op.location
            inner = rewriter.insert(within, InsertPoint.before(op)).result
            inner.name_hint = "within"
        total = arith.AddiOp(start, inner)
        total.location = op.location
        start = rewriter.insert(total, InsertPoint.before(op)).result
        start.name_hint = "offset"
    op.place(arena, start)
    rewriter.notify_op_modified(op)
