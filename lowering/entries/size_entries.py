"""
Let a function of sizes read and write memory of its caller.

    func.func @main.sizes(%n: i64) -> (i64, i64, i64) attributes {memory.sizes_of = @main}
    ->
    func.func @model_main_sizes(%dims: memref<?xi64>, %sizes: memref<?xi64>)

The sizes are the bytes of each workspace of the entry, in order, and the dynamic dims of each
output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    MemRefType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from .flat_entries import C_INTERFACE

SIZES = MemRefType(i64, [DYNAMIC_INDEX])


@dataclass(frozen=True)
class FlattenSizes(RewritePattern):
    """Give a function of sizes its place in the interface."""

    symbol: str
    workspaces: Sequence[int | None]
    """The result that is the bytes of each workspace; None for one of 0 bytes."""
    lent: int
    """The number of storages: the results after them are dims."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        block = op.body.block
        old = list(block.args)
        dims = rewriter.insert_block_argument(block, len(old), SIZES)
        sizes = rewriter.insert_block_argument(block, len(old) + 1, SIZES)
        dims.name_hint, sizes.name_hint = "dims", "sizes"
        loads: list[Operation] = []
        for i, param in enumerate(old):
            index = arith.ConstantOp.from_int_and_width(i, IndexType())
            load = memref.LoadOp.get(dims, [index.result])
            load.res.name_hint = param.name_hint
            param.replace_all_uses_with(load.res)
            loads += [index, load]
        rewriter.insert(loads, InsertPoint.at_start(block))
        end = block.last_op
        assert isinstance(end, func.ReturnOp), "a function returns"
        found: list[SSAValue] = []
        values, stores = list(end.arguments), list[Operation]()
        for workspace in self.workspaces:
            if workspace is None:
                zero = arith.ConstantOp.from_int_and_width(0, i64)
                stores.append(zero)
                found.append(zero.result)
            else:
                found.append(values[workspace])
        for i, value in enumerate([*found, *values[self.lent :]]):
            index = arith.ConstantOp.from_int_and_width(i, IndexType())
            stores += [index, memref.StoreOp.get(value, sizes, [index.result])]
        rewriter.insert(stores, InsertPoint.before(end))
        rewriter.replace(end, func.ReturnOp())
        for param in old:
            rewriter.erase_block_argument(param)
        op.function_type = FunctionType.from_lists(block.arg_types, [])
        op.arg_attrs = op.res_attrs = None
        op.sym_name = StringAttr(self.symbol)
        op.attributes = {C_INTERFACE: UnitAttr()}
        rewriter.notify_op_modified(op)
