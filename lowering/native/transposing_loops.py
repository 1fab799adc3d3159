"""Loops on buffers that read along one dim and write along another, which are tiled in squares."""

from __future__ import annotations

from xdsl.dialects import bufferization
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, MemRefType, UnitAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ..linalg.builder import tensor_of

TRANSPOSING = "xrelay.transposing"
"""The attribute of loops on buffers that read along one dim and write along another."""

SIDE = 16
"""The sides of a square, in elements of 32 bits."""


def buffer_of(value: SSAValue) -> Operation:
    """Return an op that makes the buffer of a tensor, which is only read."""
    type = tensor_of(value)
    return bufferization.ToBufferOp.create(
        operands=[value],
        result_types=[MemRefType(type.element_type, type.get_shape())],
        properties={"read_only": UnitAttr()},
    )


def transposing_loops(
    inputs: list[SSAValue], out: SSAValue, maps: list[AffineMap], block: Block, like: Operation
) -> linalg.GenericOp:
    """Return a loop like `like`, of which all loops are parallel, from buffers into `out`."""
    op = linalg.GenericOp(
        inputs,
        [out],
        Region(block),
        ArrayAttr(map(AffineMapAttr, maps)),
        ArrayAttr([IteratorTypeAttr(IteratorType.PARALLEL)] * maps[-1].num_dims),
        [],
    )
    op.attributes[TRANSPOSING] = UnitAttr()
    op.location = like.location
    return op
