"""
Remove functions that cannot be reached.

    func.func @main(…) {                          func.func @main(…) {
      func.call @f(…) …                             func.call @f(…) …
    }                                       ->    }
    func.func private @f(…) {…}                   func.func private @f(…) {…}
    func.func private @g(…) {…}

Without `entries`, every function that is not private is an entry. With `entries`, only these are,
and other functions stay only if they are used, even if they are public. A use is any reference
to the symbol: a call, a function value, an attribute. Kernels are never entries; ops outside of
functions keep what they name; data types stay. (MLIR: symbol-dce; TVM: RemoveUnusedFunctions.)
Any level above `bytecode`; the level stays.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface

from .functions.symbols import CallGraph
from .support.changes import ReportingPass
from .support.diagnostics import OptionError
from .support.rewriting import rewrite_each


def is_function(op: Operation) -> bool:
    """Test whether `op` is a function, or a kernel, that other ops name."""
    return op.has_trait(SymbolOpInterface, value_if_unregistered=False) and op.has_trait(
        IsolatedFromAbove
    )


def is_public(op: Operation) -> bool:
    """Test whether the function `op` can be called from outside; kernels cannot."""
    if not isinstance(op, func.FuncOp):
        return not op.name.startswith("relay.")
    visibility = op.sym_visibility
    return visibility is None or visibility == StringAttr("public")


def entries_of(graph: CallGraph, entries: Iterable[str]) -> list[str]:
    """Return the symbols that are used from outside; an error if `entries` names no function."""
    named = list(dict.fromkeys(entries))
    for name in named:
        op = graph.symbols.get(name)
        if op is None:
            message = f"@{name}, of the option entries, is not defined in the module"
            raise OptionError(message, "entries")
        if not is_function(op):
            message = f"@{name}, of the option entries, is a {op.name}, not a function"
            raise OptionError(message, "entries")
    kept = [
        name
        for name, op in graph.symbols.items()
        if not is_function(op) or (not named and is_public(op))
    ]
    return [*named, *kept, *graph.roots]


@dataclass(frozen=True)
class RemoveUnusedFunctionsPass(ReportingPass):
    name = "remove-unused-functions"
    accepts = "every"

    entries: tuple[str, ...] = ()
    """The functions that are called from outside; if none is given, all that are not private."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        if not self.entries and all(map(is_public, filter(is_function, op.ops))):
            return False
        graph = CallGraph.of(op)
        names = [name for name, symbol in graph.symbols.items() if is_function(symbol)]
        unused = graph.unused(names, entries_of(graph, self.entries))
        return rewrite_each(unused, lambda function, rewriter: rewriter.erase(function))
