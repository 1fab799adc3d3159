"""
Write the result of a kernel that is one loop, and transposes, into its buffer.

    %y = generic (copy or elementwise)     ->   generic {xrelay.transposing} (%out = …)
    materialize_in_destination %y in %out

A loop that reads along one dim and writes along another is done in squares, in registers. At level
`memref`.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects.builtin import DYNAMIC_INDEX, f32
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir.affine import AffineDimExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...linalg.builder import tensor_of
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    SIDE,
    buffer_of,
    is_elementwise,
    is_simple,
    maps_of,
    ops_of,
    parallel_loops,
    store_of,
)


def _transposes(op: linalg.GenericOp) -> bool:
    """
    Test whether `op` reads f32 along another dim than it writes, both as long as squares.

    An open dim may be as long.
    """
    shape = tensor_of(op.results[0]).get_shape()
    if any(tensor_of(value).element_type != f32 for value in (*op.inputs, *op.results)):
        return False
    *maps, _ = maps_of(op)
    lasts = (map.results[-1] for map in maps if map.results)
    others = {e.position for e in lasts if isinstance(e, AffineDimExpr)} - {len(shape) - 1}
    return (
        len(others) == 1
        and all(is_simple(map) for map in maps)
        and all(shape[i] == DYNAMIC_INDEX or shape[i] >= SIDE for i in (-1, *others))
    )


@dataclass(frozen=True)
class WriteTransposedPass(KernelPass):
    """Write the results of kernels that are one loop, and transpose, into their buffers."""

    name = "write-transposed"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        op, *others = ops_of(kernel, linalg.GenericOp) or (None,)
        if op is None or others or not is_elementwise(op) or not _transposes(op):
            return
        store = store_of(op)
        if store is None:
            return
        sources = [buffer_of(value) for value in op.inputs]
        buffers = [source.results[0] for source in sources]
        block = op.body.detach_block(op.body.block)
        loops = parallel_loops(op, buffers, store.dest, maps_of(op), block)
        Rewriter.insert_op([*sources, loops], InsertPoint.before(store))
        Rewriter.erase_op(store)
        Rewriter.erase_op(op)
