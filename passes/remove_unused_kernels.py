"""
Remove kernels that nothing calls, and shape functions that nothing names.

    %y = vm.invoke_tvm_op @f ins(%x : …) …          %y = vm.invoke_tvm_op @f ins(%x : …) …
    relay.prim_func @f(%a: T) -> T {…}        ->    relay.prim_func @f(%a: T) -> T {…}
    relay.prim_func @g(%a: T) -> T {…}

`manifest-alloc` leaves such a kernel where every call became a view, `remove-dead-writes` where
only dead writes called it. A shape function stays if a call or a kernel that stays names it. (MLIR:
symbol-dce.) Level `lowered` or `manifest`; the level stays.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..dialects import relay
from .functions.symbols import CallGraph
from .support.changes import ReportingPass
from .support.rewriting import rewrite_each


class RemoveUnusedKernelsPass(ReportingPass):
    name = "remove-unused-kernels"
    accepts = "lowered"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        kernels = [
            kernel.sym_name.data
            for kernel in op.ops
            if isinstance(kernel, relay.PrimFuncOp | relay.ShapeFuncOp)
        ]
        if not kernels:
            return False
        graph = CallGraph.of(op)
        unused = graph.unused(kernels, {*graph.symbols, *graph.roots}.difference(kernels))
        return rewrite_each(unused, lambda kernel, rewriter: rewriter.erase(kernel))
