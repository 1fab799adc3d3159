"""
Replace parameters of a function by constants.

    func.func @main(%x: tensor<4xf32>, %n: tensor<i64>) -> … {
      "test.use"(%x, %n)
    ->                                                              with values = "n=3"
    func.func @main(%x: tensor<4xf32>) -> … {
      %n = relay.constant dense<3> : tensor<i64>
      "test.use"(%x, %n)

A number is the value of all elements; a list, `n=[[1, 2], [3, 4]]`, has the shape of the parameter,
which must be static: run `bind-dims` first if it is not. No function of the module may call this
one. Level: `relay`.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation

from ..dialects import relay
from ..dialects.dense import dense
from ..dialects.device import device_of, tensor_type
from ..dialects.tensors import as_tensor, dtype_name
from ..runtime.calls.input_bindings import Value, parse_value
from ..runtime.calls.input_values import fitted
from .functions.entries import entry, inputs_named
from .functions.signatures import replace_parameters
from .support.changes import LevelPass
from .support.diagnostics import PassError, parse_keyed

MAX_ELEMENTS = 1 << 16
"""The maximum number of elements of a value: it becomes text in the program."""


def constant_of(argument: BlockArgument, name: str, value: Value, function: FuncOp) -> Operation:
    """Return the constant for a parameter. Raises `PassError` if `value` does not fit."""
    what = f"@{function.sym_name.data}: the value of input '{name}'"
    tensor = as_tensor(argument.type)
    dtype = None if tensor is None else dtype_name(tensor.element_type)
    if tensor is None or dtype is None:
        raise PassError(
            f"{what}: the input must be a tensor of numbers, but is {argument.type}", function
        )
    shape = [None if dim == DYNAMIC_INDEX else dim for dim in tensor.get_shape()]
    known = [dim for dim in shape if dim is not None]
    try:
        if len(known) == len(shape) and prod(known) > MAX_ELEMENTS:
            raise ValueError(f"it has {prod(known)} elements; supported: up to {MAX_ELEMENTS}")
        array = fitted(value, np.dtype(dtype), shape)
    except ValueError as error:
        raise PassError(f"{what}: {error}", function) from None
    type = tensor_type(tensor.element_type, array.shape)
    made = relay.ConstantOp(dense(type, array.tobytes()), device_of(tensor))
    made.location = argument.location
    return made


@dataclass(frozen=True)
class BindInputsPass(LevelPass):
    name = "bind-inputs"
    accepts = "relay"

    values: tuple[str, ...] = ()
    """The values of parameters, like `n=3` or `n=[1, 2]`."""
    function: str = "main"
    """The function; the only public one, if there is none of this name."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        values = parse_keyed(self.values, _parse, "values")
        if not values:
            return
        function = entry(op, self.function)
        constants = {
            argument.index: constant_of(argument, name, values[name], function)
            for name, argument in inputs_named(values, function).items()
        }
        replace_parameters(function, constants)


def _parse(text: str) -> tuple[str, Value]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"must be an input and its value, like n=3, but is '{text[:80]}'")
    return name, parse_value(value)
