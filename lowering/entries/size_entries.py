"""
Let a function of sizes read and write memory of its caller.

    func.func @main.sizes(%n: i64) -> (i64, i64, i64) attributes {memory.sizes_of = @main}
    ->
    func.func @model_main_sizes(%dims: memref<?xi64>, %sizes: memref<?xi64>)

The sizes are the bytes of each workspace of the entry, in order, and the dynamic dims of each
output.
"""

from __future__ import annotations

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

from .flat_entries import C_INTERFACE, EntryPlan

SIZES = MemRefType(i64, [DYNAMIC_INDEX])


def flatten_sizes(function: func.FuncOp, plan: EntryPlan) -> None:
    """Give the function of sizes for the entry of `plan` its place in the interface."""
    block = function.body.block
    old = list(block.args)
    dims, sizes = (block.insert_arg(SIZES, len(block.args)) for _ in range(2))
    dims.name_hint, sizes.name_hint = "dims", "sizes"
    loads: list[Operation] = []
    for i, param in enumerate(old):
        index = arith.ConstantOp.from_int_and_width(i, IndexType())
        load = memref.LoadOp.get(dims, [index.result])
        load.res.name_hint = param.name_hint
        param.replace_all_uses_with(load.res)
        block.erase_arg(param)
        loads += [index, load]
    end = block.last_op
    assert isinstance(end, func.ReturnOp), "a function returns"
    values, stores = list(end.arguments), list[Operation]()
    bytes: list[SSAValue] = []
    for workspace in plan.workspaces:
        if workspace is None:
            stores.append(arith.ConstantOp.from_int_and_width(0, i64))
        bytes.append(stores[-1].results[0] if workspace is None else values[workspace])
    for i, value in enumerate([*bytes, *values[plan.storages :]]):
        index = arith.ConstantOp.from_int_and_width(i, IndexType())
        stores += [index, memref.StoreOp.get(value, sizes, [index.result])]
    end.operands = []
    block.insert_ops_before(stores, end)
    first = block.first_op
    assert first is not None
    block.insert_ops_before(loads, first)
    for op in (*loads, *stores):
        op.location = function.location
    function.function_type = FunctionType.from_lists(block.arg_types, [])
    function.arg_attrs = function.res_attrs = None
    function.sym_name = StringAttr(f"{plan.entry.symbol}_sizes")
    function.attributes = {C_INTERFACE: UnitAttr()}
