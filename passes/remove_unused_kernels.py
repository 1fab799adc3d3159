"""
Remove kernels that nothing calls.

    %y = vm.invoke_tvm_op @f ins(%x : …) …          %y = vm.invoke_tvm_op @f ins(%x : …) …
    relay.prim_func @f(%a: T) -> T {…}        ->    relay.prim_func @f(%a: T) -> T {…}
    relay.prim_func @g(%a: T) -> T {…}

`manifest-alloc` leaves such a kernel where every call became a view, `remove-dead-writes` where
only dead writes called it. (MLIR: symbol-dce.) Level `lowered` or `manifest`; the level stays.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import relay
from .support.rewriting import apply_patterns
from .support.walk import outside_primitives


def referenced_symbols(module: ModuleOp) -> set[str]:
    """Return the symbols that some op outside kernels names in a property or attribute."""
    return {
        attribute.root_reference.data
        for op in outside_primitives(module)
        for attribute in (*op.properties.values(), *op.attributes.values())
        if isinstance(attribute, SymbolRefAttr)
    }


@dataclass(frozen=True)
class RemoveUnusedKernel(RewritePattern):
    """Remove a kernel whose name is not in `used`."""

    used: frozenset[str]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.PrimFuncOp, rewriter: PatternRewriter, /) -> None:
        if op.sym_name.data not in self.used:
            rewriter.erase(op)


@dataclass(frozen=True)
class RemoveUnusedKernelsPass(ModulePass):
    """Remove kernels that nothing calls."""

    name = "remove-unused-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = [o for o in op.ops if isinstance(o, relay.PrimFuncOp)]
        if kernels:
            used = frozenset(referenced_symbols(op))
            apply_patterns(op, RemoveUnusedKernel(used), only=kernels)
