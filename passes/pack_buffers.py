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

For programs that are not in destination-passing style. A memref lives from its
first use to the last use of any alias of it (`bytes.buffer_aliases`), whether or not it is freed;
so a `memref.dealloc` goes. An arena has what a region allocates, loops and branches included, whose
sizes are known where it begins; a size that is computed later begins another one. The body of a
parallel loop, and one that runs later, has arenas of its own. Callers lend a private function its
arena, a `memory.slice_storage` of theirs, if all of them are known and it does not recurse, as far
as sizes are static or made of dims of its arguments; with `arena=argument`, callers from outside
do, too: `@f_arena_bytes` returns its size.

Left alone, with a remark, are memrefs that escape: those that are returned, stored, or operands of
what is not known; those that a loop carries to its next turn; and those of which the bytes are not
known. Stack memory (`memref.alloca`) is, too, unless `alloca=true`. `layout-slices` then chooses
the offsets. Level `memref`, which stays.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

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
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ..dialects import memory
from ..dialects.device import VirtualDeviceAttr, device_of
from ..dialects.memrefs import MemRef, as_memref, buffer_size, element_bytes
from ..dialects.xdsl_extras.walking import walk
from ..operators.intervals import Interval
from ..operators.measures import MAX_SIZE
from .bytes.buffer_aliases import Alias, Allocation, Buffers, Nested, buffers_in
from .bytes.packs import JoinPack, packs_of
from .bytes.storages import Storage
from .devices.options import pools_option
from .functions.symbols import CallGraph, SymbolNames, modules_in
from .sizes.memref_dims import MeasuredDim, source_of_dim
from .sizes.size_code import SizeCode, code_before
from .support.changes import LevelPass
from .support.diagnostics import PassError, emit_remark, wants_remarks
from .support.rewriting import apply_patterns, rewrite_each
from .workspaces.lending import Lenders, Lent, functions_to_lend_to, is_entry, take_storages

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
class Packing:
    """Lets the memrefs of a function join packs; its callees come first."""

    buffers: Buffers
    lenders: Lenders
    with_stack: bool
    pools: Container[str] = ()
    """The names of the pools."""
    left: list[tuple[Operation, str]] = field(default_factory=list[tuple[Operation, str]])
    """The allocations that are left alone, and why."""
    homes: dict[Storage, Nested] = field(default_factory=dict[Storage, Nested])
    """The storages of the function, each with the region that holds its arena."""

    def pack(self, module: ModuleOp, is_lendable: bool) -> None:
        """Let the memrefs of the function that can join packs do so."""
        rewrite_each(self.chosen(), self.replace_allocation)
        ops, lent = self.buffers.position, self.lenders.lent
        calls = (op for op in ops if isinstance(op, func.CallOp))
        rewrite_each([call for call in calls if call.callee.string_value() in lent], self.lend)
        if is_lendable:
            self.take_arenas(module)
        storages = sorted(self.homes, key=lambda storage: storage.lifetime.start)
        places = packs_of(
            storages, self.homes.__getitem__, self.lenders.sizes, with_lifetimes=True, least=1
        )
        apply_patterns(module, JoinPack(places), only=[storage.op for storage in storages])

    def chosen(self) -> list[Allocation]:
        """Return the allocations that may share bytes."""
        chosen, barred = list[Allocation](), dict[Alias, str]()
        reasons = {op: self.reason(op) for op in self.buffers.allocs}
        for op, why in reasons.items():  # a `memref.dealloc` that stays frees all of a class
            if why is not None:
                together = why if why == STACK else "one that is left alone"
                barred.setdefault(self.buffers.of(op.memref), f"freed together with {together}")
        for op, why in reasons.items():
            alias = self.buffers.of(op.memref)
            why = barred.get(alias) if why is None and alias.frees else why
            if why is None:
                chosen.append(op)
            elif why != STACK:
                self.left.append((op, why))
        return chosen

    def reason(self, op: Allocation) -> str | None:
        """Return why an allocation may not join a pack; None if it may."""
        buffers, type = self.buffers, type_of(op)
        alias, region = buffers.of(op.memref), buffers.region(op)
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

    def replace_allocation(self, op: Allocation, rewriter: PatternRewriter) -> None:
        """Replace an allocation by bytes of a storage; they are not freed any more."""
        alias, type, position = self.buffers.of(op.memref), type_of(op), self.buffers.position
        first, home = first_use(op, position), self.home(op, op.dynamic_sizes)
        last = self.buffers.loops.extended(alias.first, alias.last)
        lifetime = Interval(position[first], max(last, position[first]) + 1)
        code = code_before(holder_of(first, home), rewriter)
        size, device = write_size(op, type, code), device_of_space(type, self.pools)
        alloc = memory.AllocStorageOp(size, alignment_of(op, type), device)
        self.homes[Storage(alloc, (), self.buffers.region(op), lifetime)] = home
        buffer = memory.BufferOp(alloc.storage, 0, type, [*op.dynamic_sizes])
        buffer.memref.name_hint = alloc.storage.name_hint = op.memref.name_hint
        code.insert(alloc)
        rewriter.insert(buffer, InsertPoint.before(first))
        for free in alias.frees:
            if free.parent is not None:
                rewriter.erase(free)
        rewriter.replace(op, [], [buffer.memref])

    def lend(self, call: func.CallOp, rewriter: PatternRewriter) -> None:
        """Lend a call storages for the arenas of its callee."""
        at, lent = self.buffers.position[call], self.lenders.lent[call.callee.string_value()]
        for i, workspace in enumerate(lent.workspaces, len(call.operands)):
            dims = [
                source_of_dim(call.operands[param.index], axis)
                for param in workspace.shapes
                for axis in memory.shape_operands(param.type)
            ]
            values = (dim.memref if isinstance(dim, MeasuredDim) else dim for dim in dims)
            home = self.home(call, [value for value in values if isinstance(value, SSAValue)])
            code = code_before(holder_of(call, home), rewriter)
            size = write_workspace_size(lent.function.sym_name.data, i, dims, code)
            alloc = memory.AllocStorageOp(size, workspace.alignment, device_of(workspace.type))
            alloc.storage.name_hint = "workspace"
            self.homes[Storage(alloc, (), self.buffers.region(call), Interval(at, at + 1))] = home
            rewriter.insert(alloc, InsertPoint.before(call))
            call.operands = [*call.operands, alloc.storage]
        rewriter.notify_op_modified(call)

    def take_arenas(self, module: ModuleOp) -> None:
        """Let callers lend the arenas of the function."""
        function, body = self.buffers.function, self.buffers.regions[self.buffers.entry]
        storages = [storage.op for storage, home in self.homes.items() if home is body]
        is_outside = is_entry(function, ())
        lent = Lent(function, (), self.lenders.workspaces(body.block, storages, is_outside))
        if lent.workspaces:
            rewrite_each([function], lambda _, rewriter: take_storages(lent, True, rewriter))
            self.lenders.lent[function.sym_name.data] = lent
            if is_outside:
                module.body.block.add_op(size_function(lent, SymbolNames.of(module)))

    def home(self, op: Operation, values: Sequence[SSAValue]) -> Nested:
        """Return the outermost region around `op` in which a size of `values` is computable."""
        home = self.buffers.region(op)
        if any(
            isinstance(v.type, IndexType) and not self.lenders.sizes.size(v).is_natural
            for v in values
        ):
            return home  # it may mean nothing in an arm that is not taken
        needed = {o if isinstance(o := value.owner, Block) else o.parent for value in values}
        while home.block is not home.body and home.parent is not None:
            inside = {each for each in needed if each and each.parent is home.block.parent}
            if inside - {home.parent.block}:
                break
            home = home.parent
        return home


def type_of(op: Allocation) -> MemRef:
    type = as_memref(op.memref.type)
    assert type is not None, "verified: a memref"
    return type


def holder_of(op: Operation, home: Nested) -> Operation:
    """Return the op of the block of `home` that holds `op`, or what ends the block."""
    holder = home.block.find_ancestor_op_in_block(op) or home.block.last_op
    assert holder is not None, "the arena is in a region around the use"
    return holder


def first_use(op: Allocation, position: Mapping[Operation, int]) -> Operation:
    """Return the op of its block before which an allocation is needed, or itself."""
    assert op.parent is not None, "an op of a function"
    users = (use.operation for use in op.memref.uses)
    inside = [op.parent.find_ancestor_op_in_block(u) for u in users if u.name != "memref.dealloc"]
    uses = [user for user in inside if user is not None]
    return min(uses, key=position.__getitem__) if uses and len(uses) == len(inside) else op


def alignment_of(op: Allocation, type: MemRef) -> int:
    """Return the alignment of a buffer."""
    natural = element_bytes(type.element_type) or 1
    return max(MIN_ALIGNMENT, natural, 1 if op.alignment is None else op.alignment.value.data)


def write_size(op: Allocation, type: MemRef, code: SizeCode) -> int | SSAValue:
    """Compute the bytes of an allocation."""
    static = buffer_size(type)
    assert static is not None, "of known bytes"
    if static > MAX_SIZE:
        raise PassError(f"{type} needs {static} bytes, but at most {MAX_SIZE} fit", op)
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
    sizes_function = func.FuncOp(name, type, Region(block))
    sizes_function.attributes |= function.attributes
    sizes_function.location = function.location
    return sizes_function


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
class BufferOptions:
    """The options of the passes that plan programs on memrefs."""

    alloca: bool = False
    """Let stack memory (`memref.alloca`) be in the arena, too."""

    pools: str = ""
    """The capacities of memory spaces: `1=64KiB,sram=512KiB,default=1MiB`."""

    arena: Arena = "own"
    """The arena of a function that may be called from outside: its own, or an argument."""


@dataclass(frozen=True)
class PackBuffersPass(BufferOptions, LevelPass):
    """Let memrefs that are never live together share bytes."""

    name = "pack-buffers"
    accepts = "every"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if pools := pools_option(self.pools, HOST):
            op.attributes.setdefault(memory.POOLS, ArrayAttr(pools))
        names = {pool.label for pool in memory.pools_of(op).values()}
        left, read = list[tuple[Operation, str]](), set[Operation]()
        for module in modules_in(op):
            functions, lenders = buffers_in(module), Lenders({}, {})
            lendable = lendable_functions(module, functions, self.arena == "argument")
            for buffers in functions:
                packing = Packing(buffers, lenders, self.alloca, names)
                name = buffers.function.sym_name.data
                packing.pack(module, module is op and name in lendable)
                left += packing.left
                read.update(buffers.allocs)
        if wants_remarks(ctx):
            allocs = (alloc for alloc in walk(op) if isinstance(alloc, memref.AllocOp))
            outside = (alloc for alloc in allocs if alloc not in read)
            left += ((alloc, "it is not in a func.func of a module") for alloc in outside)
            for alloc, why in left:
                emit_remark(ctx, alloc, f"{alloc.name} is left alone: {why}")
