"""
Copy the right operands of products that are (n, k) to buffers of their own that are (k, n).

    %y = generic (%a * %b), %b (n, k)      ->   %t = memref.alloc() : memref<kxn>
                                                generic {xrelay.transposing} (%t (k, n) = %b (n, k))
                                                %y = generic (%a * %t)

A product reads vectors of the columns of its right operand; if these are not contiguous, copying is
faster from a few rows on. At level `memref`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from typing_extensions import override
from xdsl.dialects import bufferization, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ...linalg.builder import maps, tensor_of
from ..kernel_pass import KernelPass
from ..linalg_generics import buffer_of, maps_of, ops_of, parallel_loops, product_of, set_operands

FEWEST_ROWS = 4
"""The rows of a product for which its right operand is worth a copy."""


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
    block = Block(arg_types=[type.element_type] * 2)
    block.add_op(linalg.YieldOp(block.args[0]))
    source = buffer_of(b)
    both_maps = maps(rank, order, range(rank))
    loops = parallel_loops(op, [source.results[0]], copy.results[0], both_maps, block)
    value = bufferization.ToTensorOp(copy, restrict=True)
    Rewriter.insert_op([source, copy, loops, value], InsertPoint.before(op))
    a_map, b_map, out_map = maps_of(op)
    *leading, last, before = b_map.results
    b_map = AffineMap(b_map.num_dims, 0, (*leading, before, last))
    set_operands(op, [op.inputs[0], value.results[0]], op.outputs[0], [a_map, b_map, out_map])


@dataclass(frozen=True)
class TransposeOperandsPass(KernelPass):
    """Copy the right operands of products that are (n, k) to buffers that are (k, n)."""

    name = "transpose-operands"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        for op in filter(_needs_copy, ops_of(kernel, linalg.GenericOp)):
            _copy_operand(op)
