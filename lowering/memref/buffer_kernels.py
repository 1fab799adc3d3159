"""
Kernels that write into the buffers of their results, and calls of them.

    %y = vm.invoke_tvm_op @k ins(%x : …) outs(%t : …)
    ->
    func.call @k(%x, %t) : (memref<4xf32>, memref<4xf32>) -> ()
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import bufferization, func, memref
from xdsl.dialects.builtin import MemRefType, UnitAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.rewriter import InsertPoint

from ...dialects import relay, vm
from .conversion_state import Writer, converts, kept
from .memref_types import as_memref

KERNEL = "xrelay.kernel"
"""Marks the function of a kernel; one that is only declared is called through the runtime."""


@converts(vm.DestinationCall)
def convert_kernel_call(op: vm.DestinationCall, w: Writer) -> None:
    """Call a kernel, or a shape function, with the buffers of its results."""
    call = w(func.CallOp(op.callee, [on_host(operand, w) for operand in op.operands], []))
    call.attributes = kept(op)
    w.replace(*op.outs)


def on_host(value: SSAValue, w: Writer) -> SSAValue:
    """Return `value` as a memref of no device: a kernel runs on all of them."""
    type = as_memref(value.type)
    plain = MemRefType(type.element_type, type.shape)
    return value if type == plain else w.value(memref.MemorySpaceCastOp(value, plain))


@converts(relay.PrimFuncOp)
def convert_kernel(op: relay.PrimFuncOp, w: Writer) -> None:
    """Let a kernel write its results into buffers; declare one that is not lowered."""
    types, name = w.state.types, op.sym_name.data
    inputs = [types.of(argument) for argument in op.body.block.args]
    outputs = [types(type, op) for type in op.function_type.outputs]
    if op.has_operators:
        new = func.FuncOp.external(name, [*inputs, *outputs], [])
        more = {"llvm.emit_c_interface": UnitAttr()}
    else:
        body = _with_buffers(op, inputs, outputs, w)
        new, more = func.FuncOp(name, ([*inputs, *outputs], []), body, "private"), {}
    new.attributes = {**kept(op), KERNEL: UnitAttr(), **more}
    w.rewriter.replace(op, new, [])


def _with_buffers(
    op: relay.PrimFuncOp, inputs: Sequence[Attribute], outputs: Sequence[Attribute], w: Writer
) -> Region:
    """Return the body of a kernel whose parameters are buffers."""
    block, rewriter = op.body.block, w.rewriter
    for number, (argument, type) in enumerate(zip(tuple(block.args), inputs, strict=True)):
        plain = rewriter.insert_block_argument(block, 2 * number, type)
        plain.name_hint = argument.name_hint
        to_tensor = bufferization.ToTensorOp(plain, restrict=True)
        rewriter.insert(to_tensor, InsertPoint.at_start(block))
        argument.replace_all_uses_with(to_tensor.tensor)
    for argument in tuple(block.args)[1::2]:
        rewriter.erase_block_argument(argument)
    end = block.last_op
    assert isinstance(end, relay.YieldOp), "verified: a kernel yields"
    for value, type in zip(end.values, outputs, strict=True):
        out = rewriter.insert_block_argument(block, len(block.args), type)
        w.before(end)(
            bufferization.MaterializeInDestinationOp.create(
                operands=[value, out],
                properties={"restrict": UnitAttr(), "writable": UnitAttr()},
            )
        )
    rewriter.replace(end, func.ReturnOp())
    return op.detach_region(op.body)
