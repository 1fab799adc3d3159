"""
Convert explicit memory, functions and branches to upstream dialects, on buffers.

    func.func @main(%x: tensor<4xf32>, %w: !memory.storage {memory.size = 16 : i64},
                    %r: !memory.storage {memory.result = 0 : i64}) -> tensor<4xf32> {
      %t = memory.alloc_tensor %w[0] : tensor<4xf32>
      %y = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
      …
      func.return %z : tensor<4xf32>
    }
    relay.prim_func @exp(%a: tensor<4xf32>) -> tensor<4xf32> { … relay.yield %b : tensor<4xf32> }
    ->
    func.func @main(%x: memref<4xf32>, %w: memref<?xi8> {…}, %r: memref<?xi8> {…}) {
      %t = memref.view %w[%c0][] : memref<?xi8> to memref<4xf32>
      func.call @exp(%x, %t) : (memref<4xf32>, memref<4xf32>) -> ()
      …
      func.return
    }
    func.func private @exp(%a: memref<4xf32>, %out: memref<4xf32>) attributes {xrelay.kernel} {
      %0 = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
      …
      bufferization.materialize_in_destination %b in restrict writable %out : …
      func.return
    }

`convert-relay-to-linalg` runs before; a kernel with operators that it does not lower is declared
only, and called through the runtime. Constants become globals, those of the side file without
contents. What can fail at run time calls `@xrelay_require` (see `memref.checked`). Memory that is
not lent by the caller is freed after its last use (see `memref.deallocation`). Programs with tuples
between functions go through `flatten-tuples` first; those with closures, data types or references
run in the machine only.

From level `memory-planned` (or `manifest`) to `memref`.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..dialects import relay
from ..dialects.xdsl_extras.walking import walk
from ..passes.devices.options import device_option
from ..passes.functions.symbol_names import SymbolNames
from ..passes.support.levels import Level
from ..passes.support.rewriting import apply_patterns
from .memref import (
    buffer_kernels,
    dim_checks,
    functions_and_branches,
    shape_elements,
    storage_buffers,
)
from .memref.booleans import store_booleans_as_bytes
from .memref.conversion_state import Conversion
from .memref.deallocation import free_allocations
from .memref.memref_types import MemRefTypes
from .upstream_sizes import checked_arithmetic


def code_of(module: ModuleOp) -> list[Operation]:
    """Return the ops that are not in kernels, each after those in its regions."""
    return [
        op
        for top in module.ops
        if not isinstance(top, relay.PrimFuncOp)
        for op in walk(top, region_first=True)
    ]


@dataclass(frozen=True)
class ConvertMemoryToMemrefPass(ModulePass):
    """Convert explicit memory, functions and branches to upstream dialects, on buffers."""

    name = "convert-memory-to-memref"
    accepts: ClassVar[Level] = "expanded"

    host: str = "cpu:0"
    """The device whose memory is the default memory space."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        types = MemRefTypes(device_option(self.host, "host", op))
        state = Conversion(op, types, SymbolNames.of(op))
        defined = [f for f in op.ops if isinstance(f, func.FuncOp)]
        lent = {f.sym_name.data: functions_and_branches.lent_results(f) for f in defined}
        code = code_of(op)
        called = {o.callee.string_value() for o in code if isinstance(o, func.CallOp)}
        inner = [f for f in defined if f.sym_name.data in called and f.body.blocks]
        named = {f: found for f in inner if (found := dim_checks.named(f)).dims}
        measured = {o: [*o.args.types] for o in code if isinstance(o, relay.MeasureOp)}
        apply_patterns(
            op,
            functions_and_branches.RejectObjects(),
            functions_and_branches.ConvertSignature(state, lent),
            only=code,
        )
        apply_patterns(op, buffer_kernels.ConvertKernel(state), only=list(op.ops))
        apply_patterns(
            op,
            storage_buffers.ConvertAllocStorage(state),
            storage_buffers.ConvertSliceStorage(state),
            storage_buffers.ConvertAllocTensor(state),
            storage_buffers.ConvertReshape(state),
            storage_buffers.ConvertCopy(state),
            storage_buffers.EraseKill(),
            storage_buffers.ConvertConstant(state),
            storage_buffers.ConvertParam(state),
            shape_elements.ConvertShapeOf(state),
            shape_elements.ConvertFromElements(state),
            shape_elements.ConvertExtract(state),
            shape_elements.ConvertDim(state),
            checked_arithmetic.ConvertArithmetic(state),
            checked_arithmetic.ConvertTruncation(state),
            shape_elements.ConvertDenseConstant(state),
            checked_arithmetic.ConvertRequire(state),
            checked_arithmetic.ConvertMeasure(state, measured),
            shape_elements.ConvertShapeFunction(state),
            functions_and_branches.ConvertReturn(state, lent),
            functions_and_branches.ConvertCall(state, lent, {f.sym_name.data: f for f in defined}),
            buffer_kernels.ConvertKernelCall(state),
            functions_and_branches.ConvertIf(state),
            only=[o for o in code if o.parent is not None],
        )
        apply_patterns(op, dim_checks.CheckNamedDims(state, named), only=[*named])
        for function in defined:
            if function.body.blocks:
                free_allocations(function)
        apply_patterns(op, shape_elements.EraseUnusedShape(), only=code_of(op)[::-1])
        state.finish(ctx)
        store_booleans_as_bytes(op)
