"""
Copy the right operands of products that are (n, k) to buffers of their own that are (k, n).

    %y = generic (%a * %b), %b (n, k)      ->   %t = memref.alloc() : memref<kxn>
                                                generic {xrelay.transposing} (%t (k, n) = %b (n, k))
                                                %y = generic (%a * %t)

A product reads vectors of the columns of its right operand; if these are not contiguous, copying is
faster from a few rows on. If the columns are open, a loop on tensors transposes them, some at a
time in the tiles of the product (`register_tile`):

                                           ->   %t = generic (%b), (k, n)
                                                %y = generic (%a * %t)

At level `memref`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from typing_extensions import override
from xdsl.dialects import bufferization, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ...linalg.builder import Builder, maps, tensor_of
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    buffer_of,
    has_panels,
    maps_of,
    ops_of,
    parallel_loops,
    product_of,
    set_operands,
)

FEWEST_ROWS = 4
"""The rows of a product for which its right operand is worth a copy."""


def _transposed(op: linalg.GenericOp) -> SSAValue | None:
    """Return the right operand of `op`, as (k, n), if that is worth it."""
    product = product_of(op)
    if product is None or not product.transposed[1]:
        return None
    rows = prod(tensor_of(op.results[0]).get_shape()[product.batches : -1])
    b = op.inputs[1]
    type = tensor_of(b)
    *batches, n, k = type.get_shape()
    rank = len(batches) + 2
    order = [*range(rank - 2), rank - 1, rank - 2]
    block = Block(arg_types=[type.element_type] * 2)
    block.add_op(linalg.YieldOp(block.args[0]))
    both_maps, build = maps(rank, order, range(rank)), Builder(Block())
    build.location = op.location
    if DYNAMIC_INDEX not in type.get_shape():
        if 0 <= rows < FEWEST_ROWS:
            return None
        out = build.insert(memref.AllocOp([], [], MemRefType(type.element_type, [*batches, k, n])))
        loops = parallel_loops(op, [build.insert(buffer_of(b))], out, both_maps, block)
        build.insert_all(loops)
        value = build.insert(bufferization.ToTensorOp(out, restrict=True))
    elif has_panels([k, n]):
        dims = build.dims(b)
        out = build.empty([dims[i] for i in order], type.element_type)
        value = build.insert(parallel_loops(op, [b], out, both_maps, block))
    else:
        return None
    Rewriter.inline_block(build.block, InsertPoint.before(op))
    return value


def _read(op: linalg.GenericOp, transposed: SSAValue) -> None:
    """Let `op` read its right operand `transposed`."""
    a_map, b_map, out_map = maps_of(op)
    *leading, last, before = b_map.results
    b_map = AffineMap(b_map.num_dims, 0, (*leading, before, last))
    set_operands(op, [op.inputs[0], transposed], op.outputs[0], [a_map, b_map, out_map])


@dataclass(frozen=True)
class TransposeOperandsPass(KernelPass):
    """Copy the right operands of products that are (n, k) to buffers that are (k, n)."""

    name = "transpose-operands"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        for op in ops_of(kernel, linalg.GenericOp):
            transposed = _transposed(op)
            if transposed is not None:
                _read(op, transposed)
