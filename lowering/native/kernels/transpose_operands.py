"""
Copy the right operands of products, as (k, n), some columns at a time in the tiles of the product.

    %y = generic (%a * %b), %b (n, k)      ->   %t = generic (%b), (k, n)
                                                %y = generic (%a * %t)

A product reads vectors of the columns of its right operand. If these are not contiguous, copying is
faster from a few rows on; in a wide matrix (k, n), where each vector of a column is in a page of
its own, from more rows on. `register_tile` computes %t in the tiles. What cannot be in tiles, as
columns end in smaller ones, is transposed whole, into a buffer of its own:

                                           ->   %t = memref.alloc() : memref<kxn>
                                                generic {xrelay.transposing} (%t (k, n) = %b (n, k))
                                                %y = generic (%a * %t)

At level `memref`, after `fuse-elementwise`, which takes copies away.
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
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ...linalg.builder import Builder, maps, tensor_of
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    buffer_of,
    has_panels,
    is_panel,
    maps_of,
    ops_of,
    parallel_loops,
    product_of,
    set_operands,
)

FEWEST_ROWS = 4
"""The rows of a product for which its right operand is worth transposing."""

ROWS, COLUMNS = 32, 512
"""Those of a product for which a copy of a right operand that is (k, n) is worth it."""


def _copied(op: linalg.GenericOp) -> SSAValue | None:
    """Return a copy of the right operand of `op`, as (k, n), if that is worth it."""
    product = product_of(op)
    if product is None or is_panel((b := op.inputs[1]).owner):
        return None
    rows = prod(tensor_of(op.results[0]).get_shape()[product.batches : -1])
    type, is_turned = tensor_of(b), product.transposed[1]
    shape, order = type.get_shape(), [*range(type.get_num_dims())]
    if is_turned:
        order[-2:] = reversed(order[-2:])
    *batches, k, n = (shape[axis] for axis in order)
    is_open = DYNAMIC_INDEX in shape
    if 0 <= rows < FEWEST_ROWS and not is_open:
        return None
    both_maps, build = maps(len(order), order, range(len(order))), Builder(Block())
    build.location = op.location
    block = Block(arg_types=[type.element_type] * 2)
    block.add_op(linalg.YieldOp(block.args[0]))
    if has_panels([k, n]) and (is_turned or (rows >= ROWS and n >= COLUMNS)):
        dims = build.dims(b)
        out = build.empty([dims[i] for i in order], type.element_type)
        value = build.insert(parallel_loops(op, [b], out, both_maps, block))
    elif is_turned and not is_open:
        out = build.insert(memref.AllocOp([], [], MemRefType(type.element_type, [*batches, k, n])))
        loops = parallel_loops(op, [build.insert(buffer_of(b))], out, both_maps, block)
        build.insert_all(loops)
        value = build.insert(bufferization.ToTensorOp(out, restrict=True))
    else:
        return None
    Rewriter.inline_block(build.block, InsertPoint.before(op))
    return value


def _read(op: linalg.GenericOp, copy: SSAValue) -> None:
    """Let `op` read its right operand in `copy`, as (k, n)."""
    a_map, b_map, out_map = maps_of(op)
    *leading, _, _ = b_map.results
    column, depth = (AffineExpr.dimension(out_map.num_dims - i) for i in (2, 1))
    b_map = AffineMap(b_map.num_dims, 0, (*leading, depth, column))
    set_operands(op, [op.inputs[0], copy], op.outputs[0], [a_map, b_map, out_map])


@dataclass(frozen=True)
class TransposeOperandsPass(KernelPass):
    """Copy the right operands of products, as (k, n)."""

    name = "transpose-operands"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        for op in ops_of(kernel, linalg.GenericOp):
            copy = _copied(op)
            if copy is not None:
                _read(op, copy)
