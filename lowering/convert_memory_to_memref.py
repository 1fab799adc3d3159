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
contents. What can fail at run time calls `@xrelay_require` (see `checked_functions`). Memory that
is not lent by the caller is freed after its last use (see `memref.deallocation`). Programs with
tuples between functions go through `flatten-tuples` first; those with closures, data types or
references run in the machine only.

From level `memory-planned` (or `manifest`) to `memref`.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ..dialects import memory, relay
from ..dialects.xdsl_extras.walking import walk
from ..passes.devices.options import device_option
from ..passes.functions.symbol_names import SymbolNames
from ..passes.support.levels import Level
from ..passes.support.rewriting import apply_patterns
from .memref.booleans import store_booleans_as_bytes
from .memref.conversion_state import Conversion, ConvertOp
from .memref.deallocation import free_allocations
from .memref.dim_checks import require_named_dims
from .memref.functions_and_kernels import (
    convert_arguments,
    convert_signature,
    lent_results,
    reject_objects,
)
from .memref.loops_and_rows import enclose_loops
from .memref.memref_types import MemRefTypes
from .memref.storages_and_shapes import erase_unused_sizes
from .upstream_sizes import checked_arithmetic

RULES_OF = (checked_arithmetic,)
"""The file whose rules `ConvertOp` applies, besides those imported above."""


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
        types = MemRefTypes(device_option(self.host, "host"), memory.pools_of(op))
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, func.FuncOp)}
        lent = {name: lent_results(f) for name, f in functions.items()}
        called = {o.callee.string_value() for o in code_of(op) if isinstance(o, func.CallOp)}
        for name, function in functions.items():
            if name in called and function.body.blocks:
                require_named_dims(function)
        enclose_loops(op)
        code = code_of(op)
        measured = {o: [*o.args.types] for o in code if isinstance(o, relay.MeasureOp)}
        state = Conversion(op, types, SymbolNames.of(op), functions, lent, measured)
        for o in code:
            reject_objects(o)
            if isinstance(o, func.FuncOp):
                convert_signature(o, state)
            elif isinstance(o, relay.ShapeFuncOp):
                convert_arguments(o.body.block, state)
            elif isinstance(o, relay.TypeDataOp):
                Rewriter.erase_op(o)
        kernels = [kernel for kernel in op.ops if isinstance(kernel, relay.PrimFuncOp)]
        apply_patterns(op, ConvertOp(state), only=[*kernels, *code])
        for function in functions.values():
            if function.body.blocks:
                free_allocations(function)
        erase_unused_sizes(code_of(op)[::-1])
        state.finish()
        store_booleans_as_bytes(op)
