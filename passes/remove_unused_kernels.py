"""
Remove kernels that nothing calls, and shape functions that nothing names.

    %y = vm.invoke_tvm_op @f ins(%x : …) …          %y = vm.invoke_tvm_op @f ins(%x : …) …
    relay.prim_func @f(%a: T) -> T {…}        ->    relay.prim_func @f(%a: T) -> T {…}
    relay.prim_func @g(%a: T) -> T {…}

`manifest-alloc` leaves such a kernel where every call became a view, `remove-dead-writes` where
only dead writes called it. A shape function stays if a call or a kernel that stays names it. (MLIR:
symbol-dce.) Level `lowered` or `manifest`; the level stays.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Operation

from ..dialects import relay
from .support.changes import ReportingPass
from .support.levels import Level
from .support.rewriting import rewrite_each
from .support.walk import outside_primitives


def symbols_in(op: Operation) -> Iterator[str]:
    """Yield the symbols that a property or attribute of `op` is."""
    for attribute in (*op.properties.values(), *op.attributes.values()):
        if isinstance(attribute, SymbolRefAttr):
            yield attribute.root_reference.data


def referenced_symbols(module: ModuleOp) -> set[str]:
    """Return the symbols that ops outside kernels name, or kernels that these name."""
    kernels: dict[str, relay.PrimFuncOp] = {}
    found: set[str] = set()
    for op in outside_primitives(module):
        if isinstance(op, relay.PrimFuncOp):
            kernels[op.sym_name.data] = op
        else:
            found.update(symbols_in(op))
    for name, kernel in kernels.items():
        if name in found:
            found.update(symbols_in(kernel))
    return found


@dataclass(frozen=True)
class RemoveUnusedKernelsPass(ReportingPass):
    """Remove kernels that nothing calls, and shape functions that nothing names."""

    name = "remove-unused-kernels"
    accepts: ClassVar[Level] = "lowered"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        kernels = [o for o in op.ops if isinstance(o, relay.PrimFuncOp | relay.ShapeFuncOp)]
        if not kernels:
            return False
        used = referenced_symbols(op)
        unused = [kernel for kernel in kernels if kernel.sym_name.data not in used]
        return rewrite_each(unused, lambda kernel, rewriter: rewriter.erase(kernel))
