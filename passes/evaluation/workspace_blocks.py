"""The sizes of workspaces, as blocks that compute them from shapes."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import memory, relay
from ..analysis.blocks import only_block
from ..support.diagnostics import PassError
from ..workspaces.caller_sizes import origin_of
from ..workspaces.workspace_sizes import clone_origin, shape_read


def size_block(op: memory.WorkspaceSizeOp, function: Operation | None) -> Block:
    """Return a block that yields what `op` computes for `function`, on the same operands."""
    name, index = op.function.string_value(), op.param.value.data
    if not isinstance(function, func.FuncOp):
        raise PassError(f"@{name} has no body in this module", op)
    body = only_block(function)
    param, shapes = body.args[index], dict(op.shapes_by_parameter(function))
    block = Block(arg_types=[shape.type for shape in op.shapes])
    inside: dict[SSAValue, SSAValue] = {}
    inner = dict(zip(op.shapes, block.args, strict=True))
    given = {i: [inner[value] for value in values] for i, values in shapes.items()}
    packs = [memory.Packing(pack) for pack in packs_within(param)]
    orders = {packing.orders for packing in packs}
    known = memory.parameter_attributes(function, index).get(memory.SIZE)
    copied = packs[0].op.clone() if packs else memory.PackOp(1)
    if copied.workspace is not None:
        copied.operands = []
    block.add_op(copied)
    for packing in packs:
        inside[packing.op.pack] = copied.pack
        for slice in packing.slices:
            if slice.dynamic_size is not None and slice.dynamic_size not in inside:
                origin = origin_of(slice.dynamic_size, body)
                if origin is None or not all(param.index in given for param in origin.params):
                    raise PassError("this size depends on more than the shapes that are given", op)
                copies, size = clone_origin(origin, lambda read: shape_read(read, given))
                block.add_ops(copies)
                inside[slice.dynamic_size] = size
            block.add_op(slice.clone(inside))
    if isinstance(known, IntegerAttr):
        block.add_op(memory.SliceOp(copied.pack, memory.Slice(0, 1, known.value.data)))
    if len(orders) != 1 or isinstance(known, IntegerAttr):
        copied.orders = None
    block.add_ops(
        [total := memory.TotalOp(copied.pack), relay.YieldOp.create(operands=[total.total])]
    )
    return block


def packs_within(workspace: SSAValue) -> list[memory.PackOp]:
    """Return the packs that lay out `workspace`."""
    return [use.operation for use in workspace.uses if isinstance(use.operation, memory.PackOp)]
