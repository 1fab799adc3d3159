"""
Kernels that write into the buffers of their results, and calls of them.

    %y = vm.invoke_tvm_op @k ins(%x : …) outs(%t : …)
    ->
    func.call @k(%x, %t) : (memref<4xf32>, memref<4xf32>) -> ()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import bufferization, func, memref
from xdsl.dialects.builtin import MemRefType, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import relay, vm
from .conversion_state import Conversion, Inserter, kept
from .memref_types import as_memref

KERNEL = "xrelay.kernel"
"""Marks the function of a kernel; one that is only declared is called through the runtime."""


@dataclass(frozen=True)
class ConvertKernelCall(RewritePattern):
    """Call a kernel, or a shape function, with the buffers of its results."""

    state: Conversion

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not isinstance(op, vm.DestinationCall):
            return
        insert = Inserter(rewriter, InsertPoint.before(op))
        operands = [on_host(operand, insert) for operand in op.operands]
        call = insert(func.CallOp(op.callee, operands, []))
        call.attributes = kept(op)
        rewriter.replace(op, [], list(op.outs))


def on_host(value: SSAValue, insert: Inserter) -> SSAValue:
    """Return `value` as a memref of no device: a kernel runs on all of them."""
    type = as_memref(value.type)
    plain = MemRefType(type.element_type, type.shape)
    return value if type == plain else insert.value(memref.MemorySpaceCastOp(value, plain))


@dataclass(frozen=True)
class ConvertKernel(RewritePattern):
    """Let a kernel write its results into buffers; declare one that is not lowered."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.PrimFuncOp, rewriter: PatternRewriter, /) -> None:
        types = self.state.types
        outputs = [types(type, op) for type in op.function_type.outputs]
        block = op.body.block
        inputs = [types.of(argument) for argument in block.args]
        attributes = {**kept(op), KERNEL: UnitAttr()}
        if op.has_operators:
            new = func.FuncOp.external(op.sym_name.data, [*inputs, *outputs], [])
            attributes["llvm.emit_c_interface"] = UnitAttr()
        else:
            body = self._with_buffers(op, block, outputs, rewriter)
            new = func.FuncOp(op.sym_name.data, ([*inputs, *outputs], []), body, "private")
        new.attributes = attributes
        rewriter.replace(op, new, [])

    def _with_buffers(
        self,
        op: relay.PrimFuncOp,
        block: Block,
        outputs: Sequence[Attribute],
        rewriter: PatternRewriter,
    ) -> Region:
        for number, argument in enumerate(tuple(block.args)):
            plain = rewriter.insert_block_argument(block, 2 * number, self.state.types.of(argument))
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
            write = bufferization.MaterializeInDestinationOp.create(
                operands=[value, out],
                properties={"restrict": UnitAttr(), "writable": UnitAttr()},
            )
            rewriter.insert(write, InsertPoint.before(end))
        rewriter.replace(end, func.ReturnOp())
        return op.detach_region(op.body)
