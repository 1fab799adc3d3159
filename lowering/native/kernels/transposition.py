"""
Write transposed copies to buffers of their own, so that a schedule can make tiles of them.

    %y = generic (%a * %b), %b (n, k)      ->   %t = memref.alloc() : memref<kxn>
                                                generic {xrelay.transposing} (%t (k, n) = %b (n, k))
                                                %y = generic (%a * %t)

    %y = generic (copy or elementwise)     ->   generic {xrelay.transposing} (%out = …)
    materialize_in_destination %y in %out

A product reads vectors of the columns of its right operand; if these are not contiguous, copying is
faster from a few rows on. A loop that reads along one dim and writes along another is done in
squares, in registers.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import bufferization, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    MemRefType,
    UnitAttr,
    f32,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.rewriter import Rewriter

from ...linalg.builder import tensor_of
from .blas_products import product_of
from .linalg_generics import is_elementwise, is_simple, maps_of, move_body

TRANSPOSING = "xrelay.transposing"
"""The attribute of loops on buffers that read along one dim and write along another."""

SIDE = 16
"""The sides of a square, in elements of 32 bits."""

FEWEST_ROWS = 4
"""The rows of a product for which its right operand is worth a copy."""


def transpose_operands(kernel: FuncOp) -> None:
    """Copy the right operands of products in `kernel` that are (n, k), in place."""
    for op in [*kernel.body.block.ops]:
        if isinstance(op, linalg.GenericOp) and _needs_copy(op):
            _copy_operand(op)


def _needs_copy(op: linalg.GenericOp) -> bool:
    product = product_of(op)
    if product is None or not product.transposed[1]:
        return False
    rows = prod(tensor_of(op.results[0]).get_shape()[product.batches : -1])
    is_static = DYNAMIC_INDEX not in tensor_of(op.inputs[1]).get_shape()
    return is_static and not 0 <= rows < FEWEST_ROWS


def _copy_operand(op: linalg.GenericOp) -> None:
    b = op.inputs[1]
    type = tensor_of(b)
    *batches, n, k = type.get_shape()
    copy = memref.AllocOp([], [], MemRefType(type.element_type, [*batches, k, n]))
    rank = len(batches) + 2
    order = [*range(rank - 2), rank - 1, rank - 2]
    maps = [AffineMap(rank, 0, tuple(map(AffineDimExpr, row))) for row in (order, range(rank))]
    block = Block(arg_types=[type.element_type] * 2)
    block.add_op(linalg.YieldOp(block.args[0]))
    source = _buffer(b)
    loops = _on_buffers([source.results[0]], copy.results[0], maps, block, op)
    value = bufferization.ToTensorOp(copy, restrict=True)
    assert op.parent is not None
    op.parent.insert_ops_before([source, copy, loops, value], op)
    op.operands[1] = value.results[0]
    a_map, b_map, out_map = maps_of(op)
    *leading, last, before = b_map.results
    b_map = AffineMap(b_map.num_dims, 0, (*leading, before, last))
    op.properties["indexing_maps"] = ArrayAttr(map(AffineMapAttr, (a_map, b_map, out_map)))


def write_transposed(kernel: FuncOp) -> None:
    """Write the result of `kernel` into its buffer if it is one loop that transposes, in place."""
    generics = [op for op in kernel.body.block.ops if isinstance(op, linalg.GenericOp)]
    if len(generics) != 1 or not is_elementwise(generics[0]) or not _transposes(generics[0]):
        return
    (op,) = generics
    uses = [*op.results[0].uses]
    store = uses[0].operation
    if (
        len(uses) != 1
        or not isinstance(store, bufferization.MaterializeInDestinationOp)
        or not isinstance(store.dest.type, MemRefType)
    ):
        return
    sources = [_buffer(value) for value in op.inputs]
    maps = maps_of(op)
    block = Block(arg_types=[argument.type for argument in op.body.block.args])
    move_body(op.body.block, block, block.args)
    loops = _on_buffers([source.results[0] for source in sources], store.dest, maps, block, op)
    assert store.parent is not None
    store.parent.insert_ops_before([*sources, loops], store)
    Rewriter.erase_op(store)
    Rewriter.erase_op(op)


def _transposes(op: linalg.GenericOp) -> bool:
    """Test whether `op` reads f32 along another dim than it writes, both as long as squares."""
    shape = tensor_of(op.results[0]).get_shape()
    values = (*op.inputs, *op.results)
    if any(
        tensor_of(v).element_type != f32 or DYNAMIC_INDEX in tensor_of(v).get_shape()
        for v in values
    ):
        return False
    *maps, _ = maps_of(op)
    lasts = {loop for map in maps if (loop := _last_loop(map)) is not None}
    others = lasts - {len(shape) - 1}
    return (
        len(others) == 1
        and all(is_simple(map) for map in maps)
        and shape[-1] >= SIDE
        and shape[others.pop()] >= SIDE
    )


def _last_loop(map: AffineMap) -> int | None:
    last = map.results[-1] if map.results else None
    return last.position if isinstance(last, AffineDimExpr) else None


def _buffer(value: SSAValue) -> Operation:
    type = tensor_of(value)
    return bufferization.ToBufferOp.create(
        operands=[value],
        result_types=[MemRefType(type.element_type, type.get_shape())],
        properties={"read_only": UnitAttr()},
    )


def _on_buffers(
    inputs: list[SSAValue], out: SSAValue, maps: list[AffineMap], block: Block, like: Operation
) -> linalg.GenericOp:
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
