"""
Turn parameters of a function into weights.

    func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> … {
      "test.use"(%x, %w)
    ->                                                              with names = "w"
    func.func @main(%x: tensor<4xf32>) -> … {
      %w = relay.param "w" : tensor<4xf32>
      "test.use"(%x, %w)

The parameters must be tensors of static shape: run `bind-dims` first if they are not. No function
of the module may call this one.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation

from ..dialects import relay
from ..dialects.tensors import as_tensor, is_static
from .functions.entries import entry, inputs_named
from .functions.signatures import replace_parameters
from .support.changes import LevelPass
from .support.diagnostics import PassError


def param_of(argument: BlockArgument, name: str, function: FuncOp) -> Operation:
    """Return the weight for a parameter. Raises `PassError` if it cannot be one."""
    tensor = as_tensor(argument.type)
    if tensor is None or not is_static(tensor):
        raise PassError(
            f"@{function.sym_name.data}: a weight must be a tensor of static shape, but '{name}' "
            f"is {argument.type}",
            function,
        )
    param = relay.ParamOp(name, argument.type)
    param.location = argument.location
    return param


@dataclass(frozen=True)
class BindParamsPass(LevelPass):
    name = "bind-params"
    accepts = "relay"

    names: tuple[str, ...] = ()
    """The parameters."""
    function: str = "main"
    """The function; the only public one, if there is none of this name."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.names:
            return
        function = entry(op, self.function)
        params = {
            argument.index: param_of(argument, name, function)
            for name, argument in inputs_named(self.names, function).items()
        }
        replace_parameters(function, params)
