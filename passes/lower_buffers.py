"""
Replace buffers in storages by views of memrefs of bytes.

    %arena = memory.alloc_storage 128 align 16        %arena = memref.alloc() {…} : memref<128xi8>
    %a = memory.buffer %arena[64] : memref<4xf32> ->  %a = memref.view %arena[%i64][] : … to …
    …                                                 …
    func.return                                       memref.dealloc %arena : memref<128xi8>
                                                      func.return

A storage is freed at the end of the block that allocates it; if that begins a function or region of
several blocks, wherever this is left. A memref with strides is a view of its elements, in one dim,
with another one of these. The last step of `plan-memref`. Level `memref`, which stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    ModuleOp,
    NoneAttr,
    i8,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import memory
from ..dialects.memrefs import MemRef, as_memref, buffer_size, element_bytes, strides_of
from .sizes.size_code import INDEX, constant_op, integer_attribute
from .support.levels import Level
from .support.rewriting import apply_patterns


def exits_of(op: Operation) -> Sequence[Operation]:
    """Return the ops before which the block of `op` is left for good."""
    block = op.parent
    assert block is not None, "an op of a function"
    region, last = block.parent, block.last_op
    assert region is not None, "a block of a function"
    assert last is not None, "a terminator"
    if block is not region.blocks[0] or not last.successors:
        return [last]
    ends = [other.last_op for other in region.blocks]
    return [end for end in ends if end is not None and not end.successors]


def index_of(value: int | SSAValue) -> list[Operation]:
    """Return the op that computes a number of bytes as an index."""
    if isinstance(value, int):
        return [constant_op(integer_attribute(value, INDEX))]
    return [arith.IndexCastOp(value, INDEX)]


class LowerStorage(RewritePattern):
    """Allocate a storage of buffers as bytes, which are freed where its block is left."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.AllocStorageOp, rewriter: PatternRewriter, /) -> None:
        users = [use.operation for use in op.storage.uses]
        buffers = [user for user in users if isinstance(user, memory.BufferOp)]
        if not buffers or len(buffers) < len(users):
            return
        type = as_memref(buffers[0].memref.type)
        assert type is not None, "verified: a memref"
        size = DYNAMIC_INDEX if op.size is None else op.size.value.data
        cast = [] if op.dynamic_size is None else index_of(op.dynamic_size)
        arena = MemRefType(i8, [size], NoneAttr(), type.memory_space)
        alloc = memref.AllocOp([*(c.results[0] for c in cast)], [], arena, op.alignment)
        alloc.memref.name_hint = op.storage.name_hint
        for end in exits_of(op):
            free = memref.DeallocOp.get(alloc.memref)
            free.location = op.location
            rewriter.insert(free, InsertPoint.before(end))
        for buffer in buffers:
            lower_buffer(buffer, alloc.memref, rewriter)
        rewriter.insert([*cast, alloc], InsertPoint.before(op))
        rewriter.erase(op)


def lower_buffer(op: memory.BufferOp, arena: SSAValue, rewriter: PatternRewriter) -> None:
    """Replace a buffer by a view of the bytes of `arena`."""
    _, start = op.start
    type = as_memref(op.memref.type)
    assert type is not None, "verified: a memref"
    offset = index_of(start)
    strided = strides_of(type)
    operands = [arena, offset[0].results[0], *op.sizes]
    view = memref.ViewOp.create(operands=operands, result_types=[elements_of(type)])
    added = [*offset, view]
    if strided is not None:
        strides, first = strided
        cast = memref.ReinterpretCastOp.from_dynamic(
            view.results[0], [first], type.get_shape(), strides, type
        )
        added.append(cast)
    result = added[-1].results[0]
    result.name_hint = op.memref.name_hint
    for new in added:
        new.location = op.location
    rewriter.insert(added, InsertPoint.before(op))
    rewriter.replace(op, [], [result])


def elements_of(type: MemRef) -> MemRefType[Attribute]:
    """Return `type`, or that of its elements in one dim if it has strides."""
    if strides_of(type) is None:
        return type
    bytes, element = buffer_size(type), element_bytes(type.element_type)
    assert bytes is not None, "verified: a known layout"
    assert element is not None, "verified: a known layout"
    return MemRefType(type.element_type, [bytes // element], NoneAttr(), type.memory_space)


@dataclass(frozen=True)
class LowerBuffersPass(ModulePass):
    """Replace buffers in storages by views of memrefs of bytes."""

    name = "lower-buffers"
    accepts: ClassVar[Level] = "every"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, LowerStorage())
