"""
Bind dynamic dims of a function's parameters.

    func.func @main(%x: tensor<?x3xf32> {relay.dims = ["n", 3]},
                    %y: tensor<?x4xf32> {relay.dims = ["n", 4]}) -> …
    ->                                                              with dims = "n=2"
    func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> …

`shapes` are those of whole parameters (`x=2x3`, where `?` stays open), `dims` those of all dims of
a name (`n=2`), or of one (`x:0=2`). Result types in the body stay as they are: run `infer-types`
after. Ops whose types do not follow their operands, such as calls, get a parameter with its open
type, by a reshape. Level `relay`; callers in the module would have to change too, so there must be
none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.device import device_of, tensor_type
from ..dialects.interfaces import InferTypes
from ..dialects.relay.language.dims_attributes import (
    DIMS,
    dim_bounds,
    dim_names,
    dims_attr,
    parameter_names,
)
from ..dialects.tensors import as_tensor, tensor_of
from ..runtime.calls.input_bindings import BindingError, Dim, InputBindings, parse_dim, parse_shape
from .functions.calls import RECEIVERS, is_passed, recast
from .functions.entries import entry
from .functions.signatures import keep_bounds
from .support.changes import LevelPass
from .support.diagnostics import PassError, parse_keyed
from .support.rewriting import rewrite_each


def parameters_of(function: FuncOp) -> list[tuple[str, list[Dim] | None]]:
    """Return name and dims of each parameter, without dims if it is not a tensor."""
    parameters: list[tuple[str, list[Dim] | None]] = []
    named = zip(parameter_names(function), function.args, dim_names(function), strict=True)
    for name, argument, names in named:
        tensor = as_tensor(argument.type)
        if tensor is None:
            parameters.append((name.data, None))
            continue
        shape = tensor.get_shape()
        known = names or (None,) * len(shape)
        dims = zip(shape, known, strict=True)
        parameters.append(
            (name.data, [d if d != DYNAMIC_INDEX else label or "" for d, label in dims])
        )
    return parameters


def bound_dims(function: FuncOp, bindings: InputBindings) -> list[list[Dim]]:
    """Return the dims of each parameter once they are bound; a `PassError` if that is wrong."""
    parameters = parameters_of(function)
    try:
        dims = bindings.bind(parameters)
    except BindingError as error:
        raise PassError(f"@{function.sym_name.data}: {error}", function) from None
    limits, sizes = dim_bounds(function), dict[str, int]()
    for (name, before), after in zip(parameters, dims, strict=True):
        for axis, (dim, size) in enumerate(zip(before or (), after, strict=False)):
            if not isinstance(dim, str) or not dim or not isinstance(size, int):
                continue
            here = f"@{function.sym_name.data}: dim {axis} of input '{name}' is {dim}, and cannot "
            here += f"be {size}"
            if dim in limits and not limits[dim].allow(size):
                raise PassError(f"{here}: it must be {limits[dim]}", function)
            if sizes.setdefault(dim, size) != size:
                raise PassError(f"{here}: {dim} is {sizes[dim]}", function)
    return dims


def follows(op: Operation) -> bool:
    """Test whether the result types of `op`, or of its function, follow those of its operands."""
    if isinstance(op, ReturnOp):
        return True
    if not op.has_trait(InferTypes) or isinstance(op, (*RECEIVERS, relay.CallOp)):
        return False
    return not any(map(is_passed, op.results))


def bind(argument: BlockArgument, dims: Sequence[Dim], rewriter: PatternRewriter) -> None:
    """Give `argument` the sizes in `dims`; what is passed on keeps its type."""
    before = tensor_of(argument)
    shape = [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in dims]
    type = tensor_type(before.element_type, shape, device_of(before))
    if type == before:
        return
    block = argument.block
    keeping = {use.operation for use in argument.uses if not follows(use.operation)}
    value = rewriter.replace_value_with_new_type(argument, type)
    if keeping:
        ops = recast(value, before)
        rewriter.insert(ops, InsertPoint.at_start(block))
        rewriter.replace_uses_with_if(
            value, ops[-1].results[0], lambda use: use.operation in keeping
        )


def described(attrs: DictionaryAttr, dims: Sequence[Dim]) -> DictionaryAttr:
    """Return the attributes of a parameter without names of dims that have a size now."""
    names = attrs.data.get(DIMS)
    if not isinstance(names, ArrayAttr):
        return attrs
    others = {name: value for name, value in attrs.data.items() if name != DIMS}
    if any(isinstance(dim, str) for dim in dims):
        others[DIMS] = dims_attr(dims)
    return DictionaryAttr(others)


def bind_parameters(op: FuncOp, bindings: InputBindings, rewriter: PatternRewriter) -> None:
    """Bind the dims of the parameters of a function."""
    dims = bound_dims(op, bindings)
    for argument, known in zip(op.args, dims, strict=True):
        if known:
            bind(argument, known, rewriter)
    op.update_function_type()
    if op.arg_attrs is not None:
        attrs = zip(op.arg_attrs.data, dims, strict=True)
        op.arg_attrs = ArrayAttr(described(entry, known) for entry, known in attrs)
    keep_bounds(op, {dim for known in dims for dim in known})


@dataclass(frozen=True)
class BindDimsPass(LevelPass):
    name = "bind-dims"
    accepts = "relay"

    shapes: tuple[str, ...] = ()
    """The shapes of parameters, like `x=1x3x?`."""
    dims: tuple[str, ...] = ()
    """The sizes of dims, like `n=3` or `x:0=3`."""
    function: str = "main"
    """The function; the only public one, if there is none of this name."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        shapes = parse_keyed(self.shapes, parse_shape, "shapes")
        bindings = InputBindings(shapes, parse_keyed(self.dims, parse_dim, "dims"))
        if bindings:
            function = entry(op, self.function)
            rewrite_each([function], lambda f, rewriter: bind_parameters(f, bindings, rewriter))
