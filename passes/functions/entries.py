"""The function of a module whose inputs are bound."""

from collections.abc import Iterable, Mapping

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument

from ...dialects.relay.language.dims_attributes import parameter_names
from ...runtime.calls.input_bindings import BindingError, require_input
from ..support.diagnostics import PassError
from .symbols import CallGraph


def entry(module: ModuleOp, name: str) -> FuncOp:
    """Return the function `name`, or else the only public one. Raises `PassError` without one."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    public = [f for f in functions.values() if f.sym_visibility != StringAttr("private")]
    function = functions.get(name) or (public[0] if len(public) == 1 else None)
    if function is None:
        there = ", ".join(f"@{known}" for known in functions) or "none"
        raise PassError(
            f"cannot bind the inputs of unknown function @{name}; the functions are: {there}",
            module,
        )
    name = function.sym_name.data
    users = [user for user, named in CallGraph.of(module).named.items() if name in named]
    if users:
        raise PassError(
            f"the inputs of @{name} cannot be bound: @{users[0]} in the module uses it", function
        )
    return function


def inputs_named(names: Iterable[str], function: FuncOp) -> Mapping[str, BlockArgument]:
    """Return the parameters of these names, in their order; an error if there is none of a name."""
    inputs = dict(zip((n.data for n in parameter_names(function)), function.args, strict=True))
    wanted = dict.fromkeys(names)
    try:
        for name in wanted:
            require_input(name, inputs)
    except BindingError as error:
        raise PassError(f"@{function.sym_name.data}: {error}", function) from None
    return {name: argument for name, argument in inputs.items() if name in wanted}
