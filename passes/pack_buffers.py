"""
Let memrefs that are never live together share bytes, also with those of callees.

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
parallel loop, and one that runs later, has arenas of its own. Callers lend a private function its
arena, a `memory.slice_storage` of theirs, if all of them are known and it does not recurse, as far
as sizes are static or made of dims of its arguments; with `arena=argument`, callers from outside
do, too, and ask `@f_arena_bytes` how much.

Left alone, with a remark, are memrefs that escape: those that are returned, stored, or operands of
what is not known; those that a loop carries to its next turn; and those of which the bytes are not
known. Stack memory (`memref.alloca`) is, too, unless `alloca=true`. `layout-slices` then chooses
the offsets. Level `memref`, which stays.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    NoneAttr,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter

from ..dialects import memory
from ..dialects.device import VirtualDeviceAttr, device_of
from ..dialects.foreign.buffer_interfaces import attach_buffer_interfaces
from ..dialects.memrefs import MemRef, as_memref, buffer_size, element_bytes
from ..dialects.xdsl_extras.walking import walk
from ..operators.intervals import Interval
from .bytes.buffer_aliases import Alias, Allocation, Buffers, Nested, buffers_in
from .bytes.packs import JoinPack, packs_of
from .bytes.storages import Storage
from .devices.options import pools_option
from .functions.call_graph import CallGraph
from .functions.symbol_names import SymbolNames, modules_in
from .sizes.memref_dims import MeasuredDim, source_of_dim
from .sizes.reader import Sizes
from .sizes.size_code import SizeCode
from .support.diagnostics import emit_remark, wants_remarks
from .support.levels import Level
from .support.rewriting import apply_patterns, erase_unused, rewrite_each
from .workspaces.lending import Lenders, Lent, functions_to_lend_to, is_entry
from .workspaces.lent_parameters import take_storages
from .workspaces.replaced_packs import ListedCode

HOST = VirtualDeviceAttr("cpu", 0)

Arena = Literal["own", "argument"]

STACK = "stack memory"
"""The reason for which `memref.alloca` stays."""

DEFAULT = "default"
"""The name of the default memory space as a pool."""

MIN_ALIGNMENT = 16
"""The alignment of memory that `malloc` returns, in bytes."""


def device_of_space(type: MemRef, pools: Container[str]) -> VirtualDeviceAttr | None:
    """Return a memory scope of the host for a memory space; None for the default if no pool."""
    space, name = type.memory_space, DEFAULT
    if isinstance(space, NoneAttr):
        return VirtualDeviceAttr("cpu", 0, None, name) if name in pools else None
    name = str(space.value.data) if isinstance(space, IntegerAttr) else str(space).strip('"')
    return VirtualDeviceAttr("cpu", 0, None, name)


@dataclass(eq=False)
class Candidate:
    """A storage for an allocation, or a workspace that a call lends; it may join a pack."""

    op: Operation
    first: Operation
    """The op before which it is first needed."""
    home: Nested
    """The region that holds its arena."""
    storage: Storage
    size: Sequence[Operation]
    """Ops that compute its bytes."""
    alias: Alias | None = None
    """Of an allocation."""

    @property
    def is_freed(self) -> bool:
        """True if ops free it, which may free others of its class."""
        return self.alias is not None and bool(self.alias.frees)

    def insert(self) -> None:
        """Insert the storage before its first use, and the computation of its size at its arena."""
        block = self.home.block
        holder = block.find_ancestor_op_in_block(self.first) or block.last_op
        assert holder is not None, "the arena is in a region around the use"
        Rewriter.insert_op(self.size, InsertPoint.before(holder))
        Rewriter.insert_op(self.storage.op, InsertPoint.before(self.first))
        if self.alias is None:
            self.op.operands = (*self.op.operands, self.storage.op.storage)

    def replace_allocation(self, rewriter: PatternRewriter) -> None:
        """Replace an allocation by bytes of the storage; it is not freed any more."""
        op, alias = self.op, self.alias
        assert isinstance(op, Allocation), "an allocation"
        for free in alias.frees if alias is not None else ():
            if free.parent is not None:
                rewriter.erase(free)
        buffer = memory.BufferOp(self.storage.op.storage, 0, op.memref.type, [*op.dynamic_sizes])
        buffer.memref.name_hint = op.memref.name_hint
        rewriter.insert(buffer, InsertPoint.before(self.first))
        rewriter.replace(op, [], [buffer.memref])


@dataclass(eq=False)
class Reading:
    """Finds the allocations of a function that may share bytes."""

    buffers: Buffers
    sizes: Sizes
    with_stack: bool
    pools: Container[str] = ()
    """The names of the pools."""
    left: list[tuple[Operation, str]] = field(default_factory=list[tuple[Operation, str]])
    """The allocations that are left alone, and why."""

    def candidates(self) -> Iterator[Candidate]:
        """Yield the allocations that may join packs."""
        reasons = {op: self.reason(op) for op in self.buffers.allocs}
        barred = dict[Alias, str]()
        """The classes that must stay: an op frees them, and with them what cannot be planned."""
        for op, why in reasons.items():
            if why is not None:
                together = why if why == STACK else "one that is left alone"
                barred.setdefault(self.buffers.of(op.memref), f"freed together with {together}")
        for op, why in reasons.items():
            alias, type = self.buffers.of(op.memref), as_memref(op.memref.type)
            why = barred.get(alias) if why is None and alias.frees else why
            if why is not None:
                self.left += [(op, why)] if why != STACK else []
                continue
            assert type is not None, "verified: a memref"
            storage = memory.StorageType(device_of_space(type, self.pools)), alignment_of(op, type)
            last = self.buffers.loops.extended(alias.first, alias.last)
            first, write = first_use(op, self.buffers.position), partial(write_size, op, type)
            home = self.home(op, op.dynamic_sizes)
            yield self.candidate(op, first, home, storage, last, write, alias)

    def reason(self, op: Allocation) -> str | None:
        """Return why an allocation may not join a pack; None if it may."""
        buffers, type = self.buffers, as_memref(op.memref.type)
        alias, region = buffers.of(op.memref), self.region(op)
        assert type is not None, "verified: a memref"
        if isinstance(op, memref.AllocaOp) and not self.with_stack:
            return STACK
        if buffer_size(type) is None or op.symbol_operands:
            return f"the bytes of {type} are not known"
        if alias.escape is not None:
            return alias.escape
        if region.opaque is not None:
            return f"in a region of {region.opaque.name}, which runs it in its own way"
        if alias.is_foreign and alias.frees:
            return "freed where it may be other memory"
        at = buffers.position[op]
        if buffers.loops.furthest(alias.first, at) > at:
            return "carried to the next turn of a loop"
        home = self.home(op, op.dynamic_sizes)
        if buffers.loops.extended(alias.first, alias.last) < buffers.stop_of(home):
            return None
        if op.dynamic_sizes or home.holder is None:
            return "its size is computed in a branch that it outlives"
        return f"it outlives the region of {home.holder.name} that allocates it"

    def candidate(
        self,
        op: Operation,
        first: Operation,
        home: Nested,
        storage: tuple[memory.StorageType, int],
        last: int,
        write: Callable[[SizeCode], int | SSAValue],
        alias: Alias | None = None,
    ) -> Candidate:
        """Return a storage, by its type and alignment, that is needed up to position `last`."""
        code, start = ListedCode(), self.buffers.position[first]
        alloc = memory.AllocStorageOp(write(code), storage[1], device_of(storage[0]))
        alloc.storage.name_hint = "workspace" if alias is None else op.results[0].name_hint
        for new in (*code.ops, alloc):
            new.location = op.location
        lifetime = Interval(start, max(last, start) + 1)
        return Candidate(
            op, first, home, Storage(alloc, (), self.region(op), lifetime), code.ops, alias
        )

    def region(self, op: Operation) -> Nested:
        assert op.parent is not None, "an op of a function"
        return self.buffers.regions[op.parent]

    def home(self, op: Operation, values: Sequence[SSAValue]) -> Nested:
        """Return the outermost region around `op` in which a size of `values` is computable."""
        home = self.region(op)
        if any(isinstance(v.type, IndexType) and not self.sizes.size(v).is_natural for v in values):
            return home  # it may mean nothing in an arm that is not taken
        needed = {o if isinstance(o := value.owner, Block) else o.parent for value in values}
        while home.block is not home.body and home.parent is not None:
            inside = {each for each in needed if each and each.parent is home.block.parent}
            if inside - {home.parent.block}:
                break
            home = home.parent
        return home

    def workspaces(self, call: Operation, lent: Lent) -> Iterator[Candidate]:
        """Yield the workspaces that a call lends."""
        for i, workspace in enumerate(lent.workspaces, len(call.operands)):
            dims = [
                source_of_dim(call.operands[param.index], axis)
                for param in workspace.shapes
                for axis in memory.shape_operands(param.type)
            ]
            values = (dim.memref if isinstance(dim, MeasuredDim) else dim for dim in dims)
            home = self.home(call, [value for value in values if isinstance(value, SSAValue)])
            write = partial(write_workspace_size, lent.function.sym_name.data, i, dims)
            yield self.candidate(call, call, home, (workspace.type, workspace.alignment), 0, write)


def first_use(op: Allocation, position: Mapping[Operation, int]) -> Operation:
    """Return the op of its block before which an allocation is needed, or itself."""
    assert op.parent is not None, "an op of a function"
    users = (use.operation for use in op.memref.uses)
    inside = [op.parent.find_ancestor_op_in_block(u) for u in users if u.name != "memref.dealloc"]
    known = [user for user in inside if user is not None]
    return min(known, key=position.__getitem__) if known and len(known) == len(inside) else op


def alignment_of(op: Allocation, type: MemRef) -> int:
    """Return the alignment of a buffer."""
    natural = element_bytes(type.element_type) or 1
    return max(MIN_ALIGNMENT, natural, 1 if op.alignment is None else op.alignment.value.data)


def write_size(op: Allocation, type: MemRef, code: SizeCode) -> int | SSAValue:
    """Compute the bytes of an allocation."""
    static = buffer_size(type)
    assert static is not None, "of known bytes"
    bytes: int | SSAValue = static
    for dim in op.dynamic_sizes:
        bytes = code.apply("mul", code.emit(arith.IndexCastOp(dim, i64)), bytes)
    if isinstance(bytes, SSAValue):
        bytes.name_hint = "bytes"
    return bytes


def write_workspace_size(
    name: str, param: int, dims: Sequence[int | SSAValue | MeasuredDim], code: SizeCode
) -> SSAValue:
    """Compute the bytes of workspace `param` of a function for a call with memrefs of `dims`."""
    values = [
        code.emit(memref.DimOp(dim.memref, code.index(dim.axis)))
        if isinstance(dim, MeasuredDim)
        else dim
        if isinstance(dim, SSAValue)
        else code.index(dim)
        for dim in dims
    ]
    return code.emit(memory.WorkspaceSizeOp(name, param, values), "bytes")


def size_function(lent: Lent, names: SymbolNames) -> func.FuncOp:
    """Return a function of the arguments of another one: the bytes of the arenas that it takes."""
    function, count = lent.function, len(lent.function.args) - len(lent.workspaces)
    block = Block(arg_types=[arg.type for arg in function.args[:count]])
    code, sizes = SizeCode(block.add_op), list[SSAValue]()
    for i, workspace in enumerate(lent.workspaces, count):
        args = [block.args[param.index] for param in workspace.shapes]
        dims = [MeasuredDim(a, k) for a in args for k in memory.shape_operands(a.type)]
        size = write_workspace_size(function.sym_name.data, i, dims, code)
        sizes.append(code.emit(arith.IndexCastOp(size, IndexType())))
    block.add_op(func.ReturnOp(*sizes))
    type = FunctionType.from_lists(block.arg_types, [size.type for size in sizes])
    name = names.unique(f"{function.sym_name.data}_arena_bytes")
    made = func.FuncOp(name, type, Region(block))
    made.attributes |= function.attributes
    made.location = function.location
    return made


@dataclass(eq=False)
class Packing:
    """Lets the memrefs of the functions of a module join packs, callees first."""

    module: ModuleOp
    lendable: Container[str] = ()
    """The functions that callers lend their arenas."""
    lenders: Lenders = field(default_factory=lambda: Lenders({}, {}))

    @property
    def sizes(self) -> Sizes:
        return self.lenders.sizes

    def pack(self, reading: Reading) -> None:
        """Let the memrefs of a function that can join packs do so."""
        buffers, candidates = reading.buffers, [*reading.candidates()]
        for op in buffers.position:
            if isinstance(op, func.CallOp):
                lent = self.lenders.lent.get(op.callee.string_value())
                candidates += () if lent is None else reading.workspaces(op, lent)
        candidates.sort(key=lambda candidate: candidate.storage.lifetime.start)
        for candidate in candidates:
            candidate.insert()
        self.lend(buffers, candidates)
        owners = {c.storage: c for c in candidates}
        places = [
            *packs_of(owners, lambda s: owners[s].home, self.sizes, with_lifetimes=True, least=1)
        ]
        packs = [pack for place in places for pack in place.packs]
        inside = {storage for pack in packs for storage in pack.storages}
        barred = {c.alias for s, c in owners.items() if s not in inside and c.is_freed}
        chosen = [c for s, c in owners.items() if s in inside and c.alias not in barred]
        kept = {candidate.storage for candidate in chosen}
        for pack in packs:
            pack.storages = [storage for storage in pack.storages if storage in kept]
        for storage, candidate in owners.items():
            if storage not in kept and candidate.alias is not None:
                reading.left.append((candidate.op, "its size is computed too late"))
                erase_unused((*candidate.size, storage.op), lambda _: True)
        allocs = {c.op: c for c in chosen if c.alias is not None}
        rewrite_each([*allocs], lambda op, rewriter: allocs[op].replace_allocation(rewriter))
        apply_patterns(self.module, JoinPack(places), only=[c.storage.op for c in chosen])

    def lend(self, buffers: Buffers, candidates: list[Candidate]) -> None:
        """Let callers lend arenas, if they may, to a function."""
        function, body = buffers.function, buffers.regions[buffers.entry]
        if function.sym_name.data not in self.lendable:
            return
        storages = [c.storage.op for c in candidates if c.home is body]
        lent = Lent(function, (), self.lenders.workspaces(body.block, storages))
        if lent.workspaces:
            rewrite_each([function], lambda _, rewriter: take_storages(lent, True, rewriter))
            self.lenders.lent[function.sym_name.data] = lent
            if is_entry(function, ()):
                self.module.body.block.add_op(size_function(lent, SymbolNames.of(self.module)))


def lendable_functions(module: ModuleOp, read: Sequence[Buffers], entries: bool) -> set[str]:
    """Return the functions of which all calls are known; with `entries`, those not private too."""
    graph = CallGraph.of(module)
    blocks = (block for b in read for block, nested in b.regions.items() if not nested.opaque)
    calls = {op for block in blocks for op in block.ops}
    return {
        name
        for name in functions_to_lend_to(graph, (), entries)
        if calls.issuperset(graph.users[name])
    }


@dataclass(frozen=True)
class PackBuffersPass(ModulePass):
    """Let memrefs that are never live together share bytes."""

    name = "pack-buffers"
    accepts: ClassVar[Level] = "every"

    alloca: bool = False
    """Let stack memory (`memref.alloca`) be in the arena, too."""

    pools: str = ""
    """The capacities of memory spaces: `1=64KiB,sram=512KiB,default=1MiB`."""

    arena: Arena = "own"
    """The arena of a function that may be called from outside: its own, or an argument."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        attach_buffer_interfaces()
        if pools := pools_option(self.pools, HOST, op):
            op.attributes.setdefault(memory.POOLS, ArrayAttr(pools))
        names = {pool.label for pool in memory.pools_of(op).values()}
        left, read = list[tuple[Operation, str]](), set[Operation]()
        for module in modules_in(op):
            packing, functions = Packing(module), buffers_in(module)
            if module is op:
                packing.lendable = lendable_functions(op, functions, self.arena == "argument")
            for buffers in functions:
                reading = Reading(buffers, packing.sizes, self.alloca, names)
                packing.pack(reading)
                left += reading.left
                read.update(buffers.allocs)
        if wants_remarks(ctx):
            allocs = (alloc for alloc in walk(op) if isinstance(alloc, memref.AllocOp))
            outside = (alloc for alloc in allocs if alloc not in read)
            left += ((alloc, "it is not in a func.func of a module") for alloc in outside)
            for alloc, why in left:
                emit_remark(ctx, alloc, f"{alloc.name} is left alone: {why}")
