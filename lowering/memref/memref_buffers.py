"""Small pieces of IR around `memref.alloc`: copies, frees, and the buffers that views lie in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.tensors import MIN_ALIGNMENT
from .memref_types import as_memref

VIEWS = (
    memref.ViewOp,
    memref.ReinterpretCastOp,
    memref.CastOp,
    memref.MemorySpaceCastOp,
    memref.SubviewOp,
)
"""The ops whose result lies in the memory of their first operand."""

BranchT = TypeVar("BranchT", bound=scf.IfOp | scf.IndexSwitchOp)


def base_of(value: SSAValue) -> SSAValue:
    """Return the buffer that `value` is a view of, or `value`."""
    while isinstance(value.owner, VIEWS):
        value = value.owner.operands[0]
    return value


def copied(value: SSAValue, at: Operation) -> SSAValue:
    """Copy `value` into memory of its own, before `at`."""
    type = as_memref(value.type)
    ops: list[Operation] = []
    dims: list[SSAValue] = []
    for i, dim in enumerate(type.get_shape()):
        if dim == DYNAMIC_INDEX:
            index = arith.ConstantOp(IntegerAttr(i, IndexType()))
            size = memref.DimOp(value, index)
            ops += [index, size]
            dims.append(size.result)
    copy = memref.AllocOp(dims, [], type, IntegerAttr(MIN_ALIGNMENT, i64))
    ops += [copy, memref.CopyOp(value, copy)]
    for op in ops:
        op.location = at.location
    Rewriter.insert_op(ops, InsertPoint.before(at))
    return copy.memref


def freed(value: SSAValue) -> list[Operation]:
    """Return the ops that free the memory that `value` lies in."""
    if isinstance(value.owner, memref.AllocOp):
        return [memref.DeallocOp.get(value)]
    # It may be a view: the base is what was allocated.
    metadata = memref.ExtractStridedMetaDataOp(value)
    return [metadata, memref.DeallocOp.get(metadata.base_buffer)]


def with_results(op: BranchT, types: Sequence[Attribute]) -> BranchT:
    """Replace `op` by one with further results of `types`, which its regions yield already."""
    new = type(op).create(
        operands=op.operands,
        result_types=[*op.result_types, *types],
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.detach_region(region) for region in (*op.regions,)],
    )
    new.location = op.location
    Rewriter.replace_op(op, new, new.results[: len(op.results)])
    return new
