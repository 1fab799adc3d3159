"""
Let memrefs that are never live together share bytes: one arena a function, or parallel body.

    %a = memref.alloc() : memref<16xf32>         %pack = memory.pack align 16 : !memory.pack
    … last use of %a …                           %offset = memory.slice %pack [0, 1) 64
    memref.dealloc %a : memref<16xf32>           %offset_1 = memory.slice %pack [1, 2) 64
    %b = memref.alloc() : memref<16xf32>   ->    %total = memory.total %pack
    … last use of %b …                           %arena = memory.alloc_storage %total align 16
                                                 %a = memory.buffer %arena[%offset] : memref<16xf32>
                                                 …
                                                 %b = memory.buffer %arena[%offset_1] : …

For programs that are not in destination-passing style, whoever made them. A memref lives from its
first use to the last use of any alias of it (`bytes.buffer_aliases`), whether or not it is freed;
so a `memref.dealloc` goes. An arena has what a region allocates, loops and branches included, whose
sizes are known where it begins; a size that is computed later begins another one. The body of a
parallel loop has arenas of its own. Left alone, with a remark, are memrefs that escape: those that
are returned, stored, or operands of what is not known; those that a loop carries to its next turn;
and those of which the bytes are not known. Stack memory (`memref.alloca`) is, too, unless
`alloca=true`. `layout-slices` then chooses the offsets. Level `memref`, which stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    ModuleOp,
    NoneAttr,
    i64,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter

from ..dialects import memory
from ..dialects.device import VirtualDeviceAttr
from ..dialects.foreign.buffer_interfaces import attach_buffer_interfaces
from ..dialects.memrefs import MemRef, as_memref, buffer_size, element_bytes
from ..operators.intervals import Interval
from ..planning import parse_pools
from .bytes.buffer_aliases import Alias, Buffers, Nested, buffers_in
from .bytes.packs import JoinPack, Place, packs_of
from .bytes.storages import Storage
from .sizes.reader import Sizes
from .support.diagnostics import PassError, emit_remark, wants_remarks
from .support.levels import Level
from .support.rewriting import apply_patterns, rewrite_each

MIN_ALIGNMENT = 16
"""The alignment of memory that `malloc` returns, in bytes."""


def device_of_space(type: MemRef) -> VirtualDeviceAttr | None:
    """Return a memory scope of the host for the memory space of a memref; None for that of none."""
    if isinstance(type.memory_space, NoneAttr):
        return None
    return VirtualDeviceAttr("cpu", 0, None, name_of_space(type))


def name_of_space(type: MemRef) -> str:
    """Return the memory space of a memref, as options name it."""
    space = type.memory_space
    return str(space.value.data) if isinstance(space, IntegerAttr) else str(space).strip('"')


@dataclass(eq=False)
class Candidate:
    """An allocation, and where the storage of it is if it joins a pack."""

    op: memref.AllocOp | memref.AllocaOp
    alias: Alias
    type: MemRef
    first: Operation
    """The op before which it is first needed."""
    home: Nested
    """The region that holds its arena."""
    region: Nested
    lifetime: Interval
    storage: Storage | None = None
    added: list[Operation] = field(default_factory=list[Operation])
    """The storage and its size."""


@dataclass(eq=False)
class Reading:
    """Finds the allocations of a function that may share bytes."""

    buffers: Buffers
    sizes: Sizes
    with_stack: bool
    left: list[tuple[Operation, str]] = field(default_factory=list[tuple[Operation, str]])
    """The allocations that are left alone, and why."""

    def is_planned(self, op: Operation) -> bool:
        return self.with_stack or isinstance(op, memref.AllocOp)

    def candidates(self) -> list[Candidate]:
        """Return the allocations that may join packs."""
        found: list[Candidate] = []
        barred = dict[Alias, str]()
        """The classes that must stay: an op frees them, and with them what cannot be planned."""
        for op in filter(self.is_planned, self.buffers.allocs):
            one = self.candidate(cast("memref.AllocOp | memref.AllocaOp", op))
            alias = self.buffers.of(op.results[0])
            if isinstance(one, str):
                barred.setdefault(alias, "freed together with one that is left alone")
                self.left.append((op, one))
            else:
                found.append(one)
        for op in self.buffers.allocs:
            if not self.is_planned(op):
                alias = self.buffers.of(op.results[0])
                barred.setdefault(alias, "freed together with stack memory")
        kept: list[Candidate] = []
        for one in found:
            if one.alias in barred and one.alias.frees:
                self.left.append((one.op, barred[one.alias]))
            else:
                kept.append(one)
        return kept

    def candidate(self, op: memref.AllocOp | memref.AllocaOp) -> Candidate | str:
        """Return an allocation that may join a pack, or the reason why it may not."""
        buffers, block = self.buffers, op.parent
        assert block is not None, "an op of a function"
        alias, type = buffers.of(op.memref), as_memref(op.memref.type)
        assert type is not None, "verified: a memref"
        if buffer_size(type) is None or op.symbol_operands:
            return f"the bytes of {type} are not known"
        if alias.escape is not None:
            return alias.escape.why
        if block in buffers.opaque:
            return f"in a region of {buffers.opaque[block].name}, which runs it in its own way"
        if alias.is_foreign and alias.frees:
            return "freed where it may be other memory"
        at = buffers.position[op]
        if buffers.loops.furthest(alias.first, at) > at:
            return "carried to the next turn of a loop"
        last = buffers.loops.extended(alias.first, alias.last)
        home = self.home(op, block, last)
        if isinstance(home, str):
            return home
        first = first_use(op)
        start = buffers.position[first]
        lifetime = Interval(start, max(last, start) + 1)
        return Candidate(op, alias, type, first, home, buffers.regions[block], lifetime)

    def home(self, op: memref.AllocOp | memref.AllocaOp, block: Block, last: int) -> Nested | str:
        """Return the region in which the arena is, or the reason why there is none."""
        buffers = self.buffers
        needed = {self.block_of(size) for size in op.dynamic_sizes}
        may_move = all(self.sizes.size(size).is_natural for size in op.dynamic_sizes)
        at, path = buffers.regions[block], list[Nested]()
        while True:
            path.append(at)
            if at.block is buffers.bodies[block] or at.block in needed or at.parent is None:
                break
            at = at.parent
        home = path[-1] if may_move else path[0]  # a size may mean nothing in an arm not taken
        if last >= self.stop_of(home):
            return "its size is computed in a branch that it outlives"
        return home

    def stop_of(self, home: Nested) -> int:
        """Return the position up to which an arena in `home` is there."""
        is_first = home.parent is None or home.parent.block.parent is not home.block.parent
        return home.end if is_first else self.buffers.stops[home.block]

    def block_of(self, size: SSAValue) -> Block:
        owner = size.owner
        block = owner if isinstance(owner, Block) else owner.parent
        assert block is not None, "a value of a function"
        return block


def first_use(op: memref.AllocOp | memref.AllocaOp) -> Operation:
    """Return the op of its block before which an allocation is needed, or itself."""
    block = op.parent
    assert block is not None, "an op of a function"
    users = set[Operation]()
    for use in op.memref.uses:
        user = block.find_ancestor_op_in_block(use.operation)
        if user is None:
            return op
        if not isinstance(use.operation, memref.DeallocOp):
            users.add(user)
    at = op
    while users and at not in users:
        following = at.next_op
        if following is None:
            return op
        at = following
    return at


def alignment_of(candidate: Candidate) -> int:
    """Return the alignment of a buffer."""
    given = candidate.op.alignment
    natural = element_bytes(candidate.type.element_type) or 1
    return max(MIN_ALIGNMENT, natural, 1 if given is None else given.value.data)


def insert_storage(candidate: Candidate, rewriter: PatternRewriter) -> None:
    """Insert the storage of a buffer, and the computation of its size, before its first use."""
    op, size = candidate.op, buffer_size(candidate.type)
    assert size is not None, "of known bytes"
    bytes: int | SSAValue = size
    for dim in op.dynamic_sizes:
        cast_op = arith.IndexCastOp(dim, i64)
        candidate.added.append(cast_op)
        factor: SSAValue | None = None
        if isinstance(bytes, int) and bytes != 1:
            constant = arith.ConstantOp.from_int_and_width(bytes, i64)
            candidate.added.append(constant)
            factor = constant.result
        elif not isinstance(bytes, int):
            factor = bytes
        bytes = cast_op.result
        if factor is not None:
            product = arith.MuliOp(cast_op.result, factor)
            candidate.added.append(product)
            bytes = product.result
            bytes.name_hint = "bytes"
    device = device_of_space(candidate.type)
    made = memory.AllocStorageOp(bytes, alignment_of(candidate), device)
    made.storage.name_hint = op.memref.name_hint
    candidate.added.append(made)
    candidate.storage = Storage(made, (), candidate.region, candidate.lifetime)
    rewriter.insert(candidate.added, InsertPoint.before(candidate.first))


def insert_buffer(candidate: Candidate, rewriter: PatternRewriter) -> None:
    """Replace an allocation by bytes of its storage; it is not freed any more."""
    op, storage = candidate.op, candidate.storage
    assert storage is not None, "a candidate"
    for free in candidate.alias.frees:
        if free.parent is not None:
            rewriter.erase(free)
    buffer = memory.BufferOp(storage.op.storage, 0, candidate.type, [*op.dynamic_sizes])
    buffer.memref.name_hint = op.memref.name_hint
    rewriter.insert(buffer, InsertPoint.before(candidate.first))
    rewriter.replace(op, [], [buffer.memref])


def joined(places: Iterable[Place], candidates: list[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates that are in packs, unless an op frees them with one that is not."""
    inside = {storage.op for place in places for pack in place.packs for storage in pack.storages}
    outside = {c.alias for c in candidates if c.storage and c.storage.op not in inside}
    for candidate in candidates:
        is_in = candidate.storage is not None and candidate.storage.op in inside
        if is_in and not (candidate.alias in outside and candidate.alias.frees):
            yield candidate


@dataclass(frozen=True)
class PackBuffersPass(ModulePass):
    """Let memrefs that are never live together share bytes."""

    name = "pack-buffers"
    accepts: ClassVar[Level] = "every"

    alloca: bool = False
    """Let stack memory (`memref.alloca`) be in the arena, too."""

    pools: str = ""
    """The capacities of memory spaces: `1=64KiB,sram=512KiB`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        attach_buffer_interfaces()
        self.declare_pools(op)
        left, sizes = list[tuple[Operation, str]](), Sizes()
        for buffers in buffers_in(op):
            reading = Reading(buffers, sizes, self.alloca)
            candidates = {c.op: c for c in reading.candidates()}
            if candidates:
                self.pack(op, [*candidates.values()], sizes, reading)
            left += reading.left
        for alloc, why in left if wants_remarks(ctx) else ():
            emit_remark(ctx, alloc, f"{alloc.name} is left alone: {why}")

    def pack(
        self, op: ModuleOp, candidates: list[Candidate], sizes: Sizes, reading: Reading
    ) -> None:
        """Let the memrefs of a function that can join packs do so."""
        by_op = {c.op: c for c in candidates}
        rewrite_each([*by_op], lambda op, rewriter: insert_storage(by_op[op], rewriter))
        homes = {c.storage: c.home for c in candidates if c.storage is not None}
        places = [*packs_of(homes, homes.__getitem__, sizes, with_lifetimes=True, least=1)]
        inside = {c.op: c for c in joined(places, candidates)}
        chosen = {c.storage for c in inside.values()}
        for pack in (pack for place in places for pack in place.packs):
            pack.storages = [storage for storage in pack.storages if storage in chosen]
        for candidate in candidates:
            if candidate.op not in inside:
                reading.left.append((candidate.op, "its size is computed too late"))
                for added in reversed(candidate.added):
                    if added.parent is not None and not any(r.uses for r in added.results):
                        Rewriter.erase_op(added)
        rewrite_each([*inside], lambda op, rewriter: insert_buffer(inside[op], rewriter))
        storages = [c.storage.op for c in inside.values() if c.storage is not None]
        apply_patterns(op, JoinPack(places), only=storages)

    def declare_pools(self, op: ModuleOp) -> None:
        """Record the capacities of memory spaces at the module."""
        try:
            declared = parse_pools(self.pools)
        except ValueError as error:
            raise PassError(str(error), op) from None
        if not declared or memory.POOLS in op.attributes:
            return
        op.attributes[memory.POOLS] = ArrayAttr(
            memory.PoolAttr.of(
                VirtualDeviceAttr("cpu", 0, None, pool.name), pool.capacity, pool.cost, 1
            )
            for pool in declared
        )
