"""
Replace buffers in storages by views of memrefs of bytes.

    %arena = memory.alloc_storage 128 align 16        %arena = memref.alloc() {…} : memref<128xi8>
    %a = memory.buffer %arena[64] : memref<4xf32> ->  %a = memref.view %arena[%i64][] : … to …
    …                                                 …
    func.return                                       memref.dealloc %arena : memref<128xi8>
                                                      func.return

A storage is freed at the end of the block that allocates it; if that begins a function or region of
several blocks, wherever this is left. The storages that are there together must fit in their pool,
also with those of callees: it is an error if they cannot, and a `cf.assert` if that depends on
dynamic sizes of a function. A memref with strides is a view of its elements, in one dim, with
another one of these. The last step of `plan-memref`. Level `memref`, which stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from math import inf
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    i8,
)
from xdsl.ir import Attribute, Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter

from ..dialects import memory
from ..dialects.device import device_of
from ..dialects.foreign import mended
from ..dialects.interfaces.buffer_flow import ends_of_storage
from ..dialects.memrefs import MemRef, as_memref, buffer_size, element_bytes, strides_of
from ..dialects.xdsl_extras.walking import walk
from ..operators.sizes.size_expressions import Expr
from .bytes.buffer_facts import callees_first
from .bytes.rooms import size_of
from .functions.signatures import entries_of
from .functions.symbol_names import modules_in
from .sizes.reader import Sizes
from .sizes.size_code import INDEX, constant_op, integer_attribute
from .support.diagnostics import PassError
from .support.levels import Level
from .support.rewriting import rewrite_each
from .workspaces.replaced_packs import ListedCode


def allocated_at(op: Operation) -> Iterator[memory.AllocStorageOp]:
    """Yield the storages of a function that are allocated before `op`, and not freed there."""
    at: Operation | None = op
    while at is not None and not isinstance(at, func.FuncOp):
        block, region = at.parent, at.parent_region()
        assert block is not None, "an op of a function"
        assert region is not None, "an op of a function"
        others = [] if block is region.blocks[0] else [*region.blocks[0].ops]
        others += takewhile(lambda other, at=at: other is not at, block.ops)
        yield from (other for other in others if isinstance(other, memory.AllocStorageOp))
        at = at.parent_op()


@dataclass(eq=False)
class Capacities:
    """Checks that the storages that are there together fit in their pools, callees first."""

    pools: Mapping[str, memory.PoolAttr]
    sizes: Sizes = field(default_factory=Sizes)
    needs: dict[str, Counter[Attribute]] = field(default_factory=dict[str, Counter[Attribute]])
    """The bytes that each function needs at least, by the type of the storages."""

    def check(self, function: func.FuncOp) -> None:
        need = self.needs[function.sym_name.data] = Counter[Attribute]()
        for op in [*walk(function.body)]:
            if isinstance(op, memory.AllocStorageOp):
                inner = Counter({op.storage.type: 0})
            elif isinstance(op, func.CallOp):
                inner = self.needs.get(op.callee.string_value(), Counter[Attribute]())
            else:
                continue
            storages = [*allocated_at(op)] if inner else []
            storages += [op] if isinstance(op, memory.AllocStorageOp) else []
            for type, bytes in inner.items():
                together = [each for each in storages if each.storage.type == type]
                need[type] = max(need[type], self.require_room(op, type, together, bytes))

    def require_room(
        self, op: Operation, type: Attribute, storages: Sequence[memory.AllocStorageOp], inner: int
    ) -> int:
        """Check that there is room for storages, and what `op` calls; return the least bytes."""
        total = sum((size_of(each, self.sizes) for each in storages), Expr.of(inner))
        device, least = device_of(type), int(max(total.range[0], 0))
        pool = None if device is None else self.pools.get(memory.place_of(device))
        capacity = inf if pool is None or pool.capacity is None else pool.capacity
        if least > capacity and pool is not None:
            missing = f"{least - capacity} bytes are missing here"
            message = f"{least} bytes of storages are needed, but pool {pool.label} has {capacity}"
            notes = [(each, "this is allocated then") for each in storages if each is not op]
            raise PassError(f"{message}: {missing}", op, notes)
        if op in storages and total.range[1] > capacity and pool is not None:
            code, bytes = ListedCode(), inner
            for each in storages:
                bytes = code.apply("add", bytes, each.bytes)
            fits = arith.CmpiOp(code.value(bytes), code.value(int(capacity)), "sle")
            why = f"storages need more than the {capacity} bytes of pool {pool.label}"
            ops = [*code.ops, fits, cf.AssertOp(fits, why)]
            for new in ops:
                new.location = op.location
            Rewriter.insert_op(ops, InsertPoint.before(op))
        return least


def index_of(value: int | SSAValue) -> list[Operation]:
    """Return the op that computes a number of bytes as an index."""
    if isinstance(value, int):
        return [constant_op(integer_attribute(value, INDEX))]
    return [arith.IndexCastOp(value, INDEX)]


@dataclass(eq=False)
class Lowering:
    """Replaces the storages of a module by memrefs of bytes."""

    spaces: Mapping[Attribute, Attribute]
    """The memory space of the memrefs in storages of each type."""
    lent: dict[str, dict[int, MemRef]] = field(default_factory=dict[str, dict[int, MemRef]])
    """The types of the parameters that are storages, of each function."""

    def bytes(self, storage: SSAValue, size: Attribute | None) -> MemRef:
        """Return the type of the bytes of a storage, of a static size or not."""
        length = size.value.data if isinstance(size, IntegerAttr) else DYNAMIC_INDEX
        return MemRefType(i8, [length], NoneAttr(), self.spaces[storage.type])

    def read_parameters(self, op: func.FuncOp) -> None:
        """Note the types of the parameters of a function that are storages."""
        attributes = entries_of(op.arg_attrs, len(op.function_type.inputs))
        self.lent[op.sym_name.data] = {
            arg.index: self.bytes(arg, attributes[arg.index].data.get(memory.SIZE))
            for arg in op.args
            if arg.type in self.spaces
        }

    def is_of_buffers(self, storage: SSAValue) -> bool:
        """Test whether a storage has buffers, of this function or its callees, and no tensors."""
        uses = [*storage.uses]
        return bool(uses) and all(
            isinstance(use.operation, memory.BufferOp)
            or (
                isinstance(user := use.operation, memory.SliceStorageOp)
                and self.is_of_buffers(user.slice)
            )
            or self.lent_type(use) is not None
            for use in uses
        )

    def lent_type(self, use: Use) -> MemRef | None:
        """Return the type of the bytes that a call lends; None of another use."""
        if not isinstance(use.operation, func.CallOp):
            return None
        return self.lent.get(use.operation.callee.string_value(), {}).get(use.index)

    def lower_parameters(self, op: func.FuncOp, rewriter: PatternRewriter) -> None:
        """Let callers pass aligned bytes instead of storages."""
        types, body = self.lent[op.sym_name.data], op.body.blocks[0]
        attributes = entries_of(op.arg_attrs, len(op.args))
        for i, type in types.items():
            alignment = memory.alignment_of_parameter(op, i)
            param = rewriter.replace_value_with_new_type(body.args[i], type)
            aligned = memref.AssumeAlignmentOp(param, alignment)
            aligned.result.name_hint, aligned.location = param.name_hint, op.location
            rewriter.insert(aligned, InsertPoint.at_start(body))
            self.lower_users(param, aligned.result, rewriter)
            attributes[i] = DictionaryAttr({})
        outputs = op.function_type.outputs.data
        op.function_type = FunctionType.from_lists(body.arg_types, outputs)
        op.arg_attrs = ArrayAttr(attributes)
        rewriter.notify_op_modified(op)

    def lower_storage(self, op: memory.AllocStorageOp, rewriter: PatternRewriter) -> None:
        """Allocate a storage of buffers as bytes, which are freed where its block is left."""
        size = [] if op.dynamic_size is None else index_of(op.dynamic_size)
        type = self.bytes(op.storage, op.size)
        alloc = memref.AllocOp([o.results[0] for o in size], [], type, op.alignment)
        alloc.memref.name_hint = op.storage.name_hint
        assert op.parent is not None, "an op of a function"
        for end in ends_of_storage(op.parent):
            free = memref.DeallocOp.get(alloc.memref)
            free.location = op.location
            rewriter.insert(free, InsertPoint.before(end))
        rewriter.insert([*size, alloc], InsertPoint.before(op))
        self.lower_users(op.storage, alloc.memref, rewriter)
        rewriter.erase(op)

    def lower_users(self, storage: SSAValue, bytes: SSAValue, rewriter: PatternRewriter) -> None:
        """Replace what uses a storage by what uses its bytes."""
        for use in [*storage.uses]:
            user = use.operation
            if isinstance(user, memory.BufferOp):
                lower_buffer(user, bytes, rewriter)
            elif isinstance(user, memory.SliceStorageOp):
                start = user.dynamic_offset if user.offset is None else user.offset.value.data
                assert start is not None, "verified: an offset"
                sizes = [] if user.dynamic_size is None else index_of(user.dynamic_size)
                rewriter.insert(sizes, InsertPoint.before(user))
                type = self.bytes(user.slice, user.size)
                dims = [op.results[0] for op in sizes]
                view = insert_view(user, bytes, start, dims, type, rewriter)
                view.name_hint = user.slice.name_hint
                self.lower_users(user.slice, view, rewriter)
                rewriter.erase(user)
            elif (type := self.lent_type(use)) is not None:
                user.operands[use.index] = passed(user, bytes, type, rewriter)
                rewriter.notify_op_modified(user)


def passed(call: Operation, bytes: SSAValue, type: MemRef, rewriter: PatternRewriter) -> SSAValue:
    """Return bytes as an argument of `type`."""
    if bytes.type == type:
        return bytes
    if DYNAMIC_INDEX not in type.get_shape():  # there are more
        return insert_view(call, bytes, 0, (), type, rewriter)
    cast = memref.CastOp.get(bytes, type)
    cast.location = call.location
    return rewriter.insert(cast, InsertPoint.before(call)).results[0]


def insert_view(
    before: Operation,
    bytes: SSAValue,
    start: int | SSAValue,
    dims: Sequence[SSAValue],
    type: MemRef,
    rewriter: PatternRewriter,
) -> SSAValue:
    """Return a view of `bytes` from byte `start` on."""
    offset = index_of(start)
    operands = [bytes, offset[0].results[0], *dims]
    view = memref.ViewOp.create(operands=operands, result_types=[type])
    for op in (*offset, view):
        op.location = before.location
    rewriter.insert([*offset, view], InsertPoint.before(before))
    return view.result


def lower_buffer(op: memory.BufferOp, arena: SSAValue, rewriter: PatternRewriter) -> None:
    """Replace a buffer by a view of the bytes of `arena`."""
    type = as_memref(op.memref.type)
    assert type is not None, "verified: a memref"
    strided = strides_of(type)
    result = insert_view(op, arena, op.start[1], op.sizes, elements_of(type), rewriter)
    if strided is not None:
        strides, first = strided
        cast = memref.ReinterpretCastOp.from_dynamic(
            result, [first], type.get_shape(), strides, type
        )
        cast.location = op.location
        result = rewriter.insert(cast, InsertPoint.before(op)).results[0]
    result.name_hint = op.memref.name_hint
    rewriter.replace(op, [], [result])


def elements_of(type: MemRef) -> MemRefType[Attribute]:
    """Return `type`, or that of its elements in one dim if it has strides."""
    if strides_of(type) is None:
        return type
    bytes, element = buffer_size(type), element_bytes(type.element_type)
    assert bytes is not None, "verified: a known layout"
    assert element is not None, "verified: a known layout"
    return MemRefType(type.element_type, [bytes // element], NoneAttr(), type.memory_space)


def lower_functions(functions: Sequence[func.FuncOp], pools: Mapping[str, memory.PoolAttr]) -> None:
    """Replace the storages of the functions of a module, callees first."""
    capacities = Capacities(pools)
    for function in functions if pools else ():
        capacities.sizes.read(function)
        capacities.check(function)
    ops = [op for function in functions for op in walk(function)]
    types = {
        buffer.storage.type: as_memref(buffer.memref.type)
        for buffer in ops
        if isinstance(buffer, memory.BufferOp)
    }
    lowering = Lowering({key: type.memory_space for key, type in types.items() if type})
    if not any(isinstance(inside, memory.AllocTensorOp) for inside in ops):
        for function in functions:
            lowering.read_parameters(function)
    rewrite_each(
        [f for f in functions if lowering.lent.get(f.sym_name.data)], lowering.lower_parameters
    )
    storages = [s for s in ops if isinstance(s, memory.AllocStorageOp)]
    rewrite_each([s for s in storages if lowering.is_of_buffers(s.storage)], lowering.lower_storage)


@dataclass(frozen=True)
class LowerBuffersPass(ModulePass):
    """Replace buffers in storages by views of memrefs of bytes."""

    name = "lower-buffers"
    accepts: ClassVar[Level] = "every"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mended(memref.MemRef)
        pools = memory.pools_of(op)
        for module in modules_in(op):
            functions = [function for _, function in callees_first(module) if function.body.blocks]
            lower_functions(functions, pools)
        op.attributes.pop(memory.POOLS, None)
