"""The function of a module whose inputs are bound."""

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from ..support.diagnostics import PassError
from .call_graph import CallGraph


def entry(module: ModuleOp, name: str) -> FuncOp:
    """Return the function `name`, or else the only public one. Raises `PassError` without one."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    public = [f for f in functions.values() if f.sym_visibility != StringAttr("private")]
    found = functions.get(name) or (public[0] if len(public) == 1 else None)
    if found is None:
        there = ", ".join(f"@{known}" for known in functions) or "none"
        raise PassError(
            f"cannot bind the inputs of unknown function @{name}; the functions are: {there}",
            module,
        )
    name = found.sym_name.data
    users = [user for user, named in CallGraph.of(module).named.items() if name in named]
    if users:
        raise PassError(
            f"the inputs of @{name} cannot be bound: @{users[0]} in the module uses it", found
        )
    return found
