"""
Calls around the use of devices that have a context.

    func.call @model_device_cuda_0_activate(%context)
    …
    func.call @model_device_cuda_0_open(%context)
    func.call @kernel(%x, %y)                           or a copy: memory of cuda:0 is an operand
    func.call @model_device_cuda_0_close(%context)
    …
    func.call @model_device_cuda_0_deactivate(%context)

The C interface defines the functions; after a failure, it closes and deactivates what is open.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, gpu, llvm, memref
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.xdsl_extras.walking import walk
from ...runtime.native.interface import Entry
from ..memref.memref_types import as_memref, is_memref
from .c_names import EVENTS, hook_symbol

USES = (func.CallOp, memref.CopyOp, gpu.MemcpyOp)
"""The ops that use the memory of devices."""


def is_on(value: SSAValue, device: str) -> bool:
    """Test whether `value` is in the memory of a device, also if a kernel reads it as plain."""
    if isinstance(value.owner, memref.MemorySpaceCastOp):
        value = value.owner.source
    space = as_memref(value.type).memory_space if is_memref(value.type) else None
    return isinstance(space, StringAttr) and space.data == device


def add_hooks(function: func.FuncOp, library: str, entry: Entry, devices: Sequence[str]) -> None:
    """Call the hooks of the devices that have a context in `function`, and declare them once."""
    if not entry.contexts:
        return
    block = function.body.block
    uses = [op for op in walk(function) if isinstance(op, USES)]
    contexts = list(block.args)[len(block.args) - len(entry.contexts) :]
    first, last = block.first_op, block.last_op
    assert first is not None
    assert last is not None
    for number, context in zip(entry.contexts, contexts, strict=True):
        device = devices[number]

        def call(event: str, place: InsertPoint, device: str = device, context: SSAValue = context):
            symbol = hook_symbol(library, device, event)
            Rewriter.insert_op(func.CallOp(symbol, [context], []), place)

        call("activate", InsertPoint.before(first))
        call("deactivate", InsertPoint.before(last))
        for op in uses:
            if any(is_on(operand, device) for operand in op.operands):
                call("open", InsertPoint.before(op))
                call("close", InsertPoint.after(op))
    module = function.parent
    assert module is not None
    declared = {op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)}
    symbols = [hook_symbol(library, devices[n], event) for n in entry.contexts for event in EVENTS]
    pointer = [llvm.LLVMPointerType()]
    module.add_ops(func.FuncOp.external(s, pointer, []) for s in symbols if s not in declared)
