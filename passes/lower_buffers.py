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

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from xdsl.context import Context
from xdsl.dialects import arith, cf, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    i8,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ..dialects import memory
from ..dialects.dense import dense
from ..dialects.device import device_of, tensor_type
from ..dialects.foreign import mended
from ..dialects.foreign.directives import REDUCTIONS
from ..dialects.interfaces.memory_effects import ends_of_storage
from ..dialects.memrefs import MemRef, as_memref, buffer_size, element_bytes, strides_of
from ..dialects.xdsl_extras.walking import walk
from .bytes.buffer_aliases import Buffers, buffers_in
from .bytes.buffer_facts import callees_first
from .bytes.rooms import size_of
from .functions.signatures import entries_of
from .functions.symbols import CallGraph, SymbolNames, modules_in
from .sizes.reader import Sizes
from .sizes.size_code import INDEX, SizeCode, code_before
from .support.changes import LevelPass
from .support.diagnostics import PassError
from .support.rewriting import rewrite_each

Need = dict[Attribute, tuple[float, float]]
"""The least and most bytes of storages that are there together, by their type."""


@dataclass(eq=False)
class Capacities:
    """Checks that the storages that are there together fit in their pools, callees first."""

    pools: Mapping[Attribute, memory.PoolAttr]
    """The pool of the storages of each type."""
    recursive: Container[str]
    sizes: Sizes = field(default_factory=Sizes)
    needs: dict[str, Need] = field(default_factory=dict[str, Need])
    """The needs of each function."""
    counted: set[Attribute] = field(default_factory=set[Attribute])
    """The types of storages of which only the run time knows whether they fit."""

    def check(self, buffers: Buffers) -> None:
        """Raise an error where the storages of a function, and of its callees, cannot fit."""
        self.sizes.read(buffers.function)
        need = self.needs[buffers.function.sym_name.data] = Need()
        stops = dict[memory.AllocStorageOp, int]()
        for op, at in buffers.position.items():
            inner = Need()
            if isinstance(op, memory.AllocStorageOp):
                stops[op] = buffers.stop_of(buffers.region(op))
                inner[op.storage.type] = (0, 0)
            elif isinstance(op, func.CallOp):
                callee = op.callee.string_value()
                inner = self.needs.get(callee, inner)
                inner = dict.fromkeys(self.pools, (0, inf)) if callee in self.recursive else inner
            for type in self.pools.keys() & inner.keys():
                stops = {storage: stop for storage, stop in stops.items() if at < stop}
                there = [storage for storage in stops if storage.storage.type == type]
                bounds = [inner[type], *(size_of(each, self.sizes).range for each in there)]
                least = int(sum(max(low, 0) for low, _ in bounds))
                most = sum(high for _, high in bounds)
                pool, known = self.pools[type], need.get(type, (0, 0))
                capacity = pool.capacity or inf
                if least > capacity:
                    message = f"{least} bytes of storages are needed, but pool {pool.label} has "
                    message += f"{capacity}: {least - capacity} bytes are missing here"
                    notes = [(each, "this is allocated then") for each in there if each is not op]
                    raise PassError(message, op, notes)
                need[type] = max(least, known[0]), max(most, known[1])
                self.counted |= {type} if most > capacity else set()


COUNTER = MemRefType(i64, [])


@dataclass(eq=False)
class Lowering:
    """Replaces the storages of a module by memrefs of bytes."""

    spaces: Mapping[Attribute, Attribute]
    """The memory space of the memrefs in storages of each type."""
    pools: Mapping[Attribute, memory.PoolAttr] = field(
        default_factory=dict[Attribute, memory.PoolAttr]
    )
    """The pools of which bytes are counted, by the type of storages."""
    counters: dict[Attribute, str] = field(default_factory=dict[Attribute, str])
    """The globals that count the bytes that are there in them."""
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

    def is_of_buffers(self, use: Use) -> bool:
        """Test whether the bytes of a storage are used for buffers, of callees too."""
        op = use.operation
        if isinstance(op, func.CallOp):
            return use.index in self.lent.get(op.callee.string_value(), ())
        return isinstance(op, memory.BufferOp | memory.SliceStorageOp)

    def lower_parameters(self, op: func.FuncOp, rewriter: PatternRewriter) -> None:
        """Let callers pass aligned bytes instead of storages."""
        types, body = self.lent[op.sym_name.data], op.body.blocks[0]
        attributes = entries_of(op.arg_attrs, len(op.args))
        for i, type in types.items():
            alignment = memory.alignment_of_parameter(op, i)
            param = rewriter.replace_value_with_new_type(body.args[i], type)
            aligned = memref.AssumeAlignmentOp(param, alignment)
            aligned.result.name_hint = param.name_hint
            param.replace_all_uses_with(aligned.result)
            aligned.operands[0] = param
            rewriter.insert(aligned, InsertPoint.at_start(body))
            attributes[i] = DictionaryAttr({})
        op.update_function_type()
        op.arg_attrs = ArrayAttr(attributes)
        rewriter.notify_op_modified(op)

    def lower(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Replace an op on storages, which its operands are no more."""
        code = code_before(op, rewriter)
        match op:
            case memory.AllocStorageOp():
                self.lower_storage(op, code, rewriter)
            case memory.SliceStorageOp():
                type, sizes = self.bytes(op.slice, op.size), sizes_of(op, code)
                view = view_of(op.storage, op.part.offset, sizes, type, code)
                rewriter.replace(op, [], [view])
            case memory.BufferOp():
                storage, offset = op.start
                view = view_of(storage, offset, op.sizes, op.memref.type, code)
                rewriter.replace(op, [], [view])
            case func.CallOp():
                for i, type in self.lent.get(op.callee.string_value(), {}).items():
                    op.operands[i] = passed(op.operands[i], type, code)
                rewriter.notify_op_modified(op)
            case _:
                raise AssertionError("an op on storages")

    def lower_storage(
        self, op: memory.AllocStorageOp, code: SizeCode, rewriter: PatternRewriter
    ) -> None:
        """Allocate a storage of buffers as bytes, which are freed where its block is left."""
        type = op.storage.type
        if (pool := self.pools.get(type)) is not None:
            bytes = code.value(op.bytes)
            total = code.apply("add", self.count(type, bytes, code), bytes)
            fits = arith.CmpiOp(code.value(total), code.value(pool.capacity or 0), "sle")
            why = f"storages need more than the {pool.capacity} bytes of pool {pool.label}"
            code.insert(cf.AssertOp(code.emit(fits), why))
        sizes = sizes_of(op, code)
        alloc = memref.AllocOp(sizes, [], self.bytes(op.storage, op.size), op.alignment)
        alloc.memref.name_hint = op.storage.name_hint
        assert op.parent is not None, "an op of a function"
        for end in ends_of_storage(op.parent):
            after = code_before(end, rewriter)
            after.insert(memref.DeallocOp.get(alloc.memref))
            if type in self.pools:
                self.count(type, after.value(after.apply("sub", 0, op.bytes)), after)
        rewriter.replace(op, alloc)

    def count(self, type: Attribute, bytes: SSAValue, code: SizeCode) -> SSAValue:
        """Add to the bytes that are there in a pool; return those before."""
        counter = code.emit(memref.GetGlobalOp(self.counters[type], COUNTER))
        kind = IntegerAttr(REDUCTIONS.index("addi"), i64)
        return code.emit(
            memref.AtomicRMWOp.create(
                operands=[bytes, counter], properties={"kind": kind}, result_types=[i64]
            )
        )


def index_of(value: int | SSAValue, code: SizeCode) -> SSAValue:
    """Return a number of bytes as an index."""
    if isinstance(value, int):
        return code.index(value)
    return code.emit(arith.IndexCastOp(value, INDEX))


def sizes_of(op: memory.AllocStorageOp | memory.SliceStorageOp, code: SizeCode) -> list[SSAValue]:
    """Return the size of a storage, unless it is static, as a dim of its bytes."""
    return [] if op.dynamic_size is None else [index_of(op.dynamic_size, code)]


def passed(bytes: SSAValue, type: MemRef, code: SizeCode) -> SSAValue:
    """Return bytes as an argument of `type`."""
    if bytes.type == type:
        return bytes
    if DYNAMIC_INDEX not in type.get_shape():  # there are more
        return view_of(bytes, 0, (), type, code)
    return code.emit(memref.CastOp.get(bytes, type))


def view_of(
    bytes: SSAValue,
    start: int | SSAValue,
    dims: Sequence[SSAValue],
    type: Attribute,
    code: SizeCode,
) -> SSAValue:
    """Return a view of `bytes` from byte `start` on; one with strides is a cast of its elements."""
    buffer = as_memref(type)
    assert buffer is not None, "verified: a memref"
    operands, strided = [bytes, index_of(start, code), *dims], strides_of(buffer)
    view = code.emit(memref.ViewOp.create(operands=operands, result_types=[elements_of(buffer)]))
    if strided is None:
        return view
    strides, first = strided
    shape = buffer.get_shape()
    return code.emit(memref.ReinterpretCastOp.from_dynamic(view, [first], shape, strides, buffer))


def elements_of(type: MemRef) -> MemRefType[Attribute]:
    """Return `type`, or that of its elements in one dim if it has strides."""
    if strides_of(type) is None:
        return type
    bytes, element = buffer_size(type), element_bytes(type.element_type)
    assert bytes is not None, "verified: a known layout"
    assert element is not None, "verified: a known layout"
    return MemRefType(type.element_type, [bytes // element], NoneAttr(), type.memory_space)


def lower_functions(module: ModuleOp, pools: Mapping[str, memory.PoolAttr]) -> None:
    """Replace the storages of the functions of a module, if all are of buffers."""
    functions = [function for _, function in callees_first(module) if function.body.blocks]
    ops = [op for function in functions for op in walk(function)]
    types = {
        buffer.storage.type: as_memref(buffer.memref.type)
        for buffer in ops
        if isinstance(buffer, memory.BufferOp)
    }
    lowering = Lowering({key: type.memory_space for key, type in types.items() if type})
    for function in functions:
        lowering.read_parameters(function)
    parameters = (arg for function in functions for arg in function.args)
    values = (*parameters, *(result for op in ops for result in op.results))
    storages = [value for value in values if value.type in types]
    uses = [use for storage in storages for use in storage.uses]
    if not all(map(lowering.is_of_buffers, uses)):
        return
    lowering.pools = counted_pools(module, types, pools)
    for type, pool in lowering.pools.items():
        lowering.counters[type] = add_counter(pool, module)
    lent_to = [function for function in functions if lowering.lent.get(function.sym_name.data)]
    rewrite_each(lent_to, lowering.lower_parameters)
    lowered = {use.operation for use in uses} | {storage.owner for storage in storages}
    rewrite_each([op for op in ops if op in lowered], lowering.lower)


def counted_pools(
    module: ModuleOp, types: Iterable[Attribute], pools: Mapping[str, memory.PoolAttr]
) -> Mapping[Attribute, memory.PoolAttr]:
    """Check that storages fit in their pools; return those that must be counted at run time."""
    bounded = {
        type: pool
        for type in types
        if (device := device_of(type)) is not None
        if (pool := pools.get(memory.place_of(device))) is not None and pool.capacity is not None
    }
    capacities = Capacities(bounded, CallGraph.of(module).recursive())
    for buffers in buffers_in(module) if bounded else ():
        capacities.check(buffers)
    return {type: pool for type, pool in bounded.items() if type in capacities.counted}


def add_counter(pool: memory.PoolAttr, module: ModuleOp) -> str:
    """Add a global for the bytes that are there in a pool; return its name."""
    name = SymbolNames.of(module).unique(f"bytes_in_pool_{pool.label}")
    zero = dense(tensor_type(i64, []), bytes(8))
    module.body.block.add_op(memref.GlobalOp.get(StringAttr(name), COUNTER, zero))
    return name


class LowerBuffersPass(LevelPass):
    name = "lower-buffers"
    accepts = "every"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mended(memref.MemRef)
        pools = memory.pools_of(op)
        for module in modules_in(op):
            lower_functions(module, pools)
        op.attributes.pop(memory.POOLS, None)
