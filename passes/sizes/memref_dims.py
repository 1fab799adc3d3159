"""Dims of memrefs, as the ops that make these declare them."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from ...dialects import memory
from ...dialects.memrefs import as_memref


class MeasuredDim(NamedTuple):
    """A dim that only `memref.dim` tells."""

    memref: SSAValue
    axis: int


def source_of_dim(value: SSAValue, axis: int) -> int | SSAValue | MeasuredDim:
    """Return dim `axis` of a memref: a number, the index that it was made of, or where it is."""
    while True:
        type, op = as_memref(value.type), value.owner
        assert type is not None, "a memref with dims"
        shape = type.get_shape()
        if shape[axis] != DYNAMIC_INDEX:
            return shape[axis]
        if not isinstance(op, Operation):
            return MeasuredDim(value, axis)
        if op.name == "memref.cast" and as_memref(op.operands[0].type) is not None:
            value = op.operands[0]
            continue
        number = sum(dim == DYNAMIC_INDEX for dim in shape[:axis])
        if op.name in ("memref.alloc", "memref.alloca"):
            return op.operands[number]
        if isinstance(op, memory.BufferOp):
            return op.sizes[number]
        return MeasuredDim(value, axis)
