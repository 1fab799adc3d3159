"""The sizes of workspaces, as blocks that compute them from shapes."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects import memory, relay
from ..analysis.blocks import only_block
from ..support.diagnostics import PassError
from ..workspaces.caller_sizes import origin_of


def size_block(op: memory.WorkspaceSizeOp, function: Operation | None) -> Block:
    """Return a block that yields what `op` computes for `function`, on the same operands."""
    name, index = op.function.string_value(), op.param.value.data
    if not isinstance(function, func.FuncOp):
        raise PassError(f"@{name} has no body in this module", op)
    body = only_block(function)
    param, shapes = body.args[index], memory.shapes_of_workspace(function, index) or ()
    block = Block(arg_types=[shape.type for shape in op.shapes])
    inside: dict[SSAValue, SSAValue] = {}
    given = {body.args[i]: shape for i, shape in zip(shapes, block.args, strict=True)}
    slices: list[memory.Slice] = []
    alignment = 1
    for pack in packs_within(param):
        alignment = pack.alignment.value.data
        for slice in pack.slices:
            size = slice.size
            if isinstance(size, SSAValue):
                size = _computed(size, body, block, given, inside, op)
            slices.append(memory.Slice(0, 1, size))
    known = memory.parameter_attributes(function, index).get(memory.SIZE)
    if isinstance(known, IntegerAttr):
        slices.append(memory.Slice(0, 1, known.value.data))
    total = memory.PackOp(alignment, slices)
    orders = {pack.on for pack in packs_within(param) if pack.orders is not None}
    if len(orders) == 1 and len(slices) == len(next(iter(orders))[0]):
        total.order(*orders)
    block.add_ops([total, relay.YieldOp.create(operands=[total.total])])
    return block


def packs_within(workspace: SSAValue) -> list[memory.PackOp]:
    """Return the packs that lay out `workspace`."""
    return [use.operation for use in workspace.uses if isinstance(use.operation, memory.PackOp)]


def _computed(
    size: SSAValue,
    body: Block,
    block: Block,
    given: dict[BlockArgument, BlockArgument],
    inside: dict[SSAValue, SSAValue],
    at: memory.WorkspaceSizeOp,
) -> SSAValue:
    """Compute `size` of `body` in `block` from the shapes that are `given`; return its value."""
    origin = origin_of(size, body)
    if origin is None or not all(param in given for param in origin.params):
        raise PassError("this size depends on more than the shapes that are given", at)
    for op in origin.ops:
        if op in origin.reads:
            param = op.operands[0]
            assert isinstance(param, BlockArgument)
            inside[op.results[0]] = given[param]
        elif op.results and op.results[0] not in inside:
            block.add_op(op.clone(inside))
    return inside[size]
