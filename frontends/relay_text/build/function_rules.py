"""Closures, global functions, and calls of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, FunctionType
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from ....dialects import relay
from ....dialects.device import VirtualDeviceAttr
from ....dialects.relay.incomplete import IncompleteType
from ....dialects.relay.unification import Unifier
from ....dialects.xdsl_extras.xdsl_internals import append_arguments
from ...conversion import ssa_name
from ..errors import RelayTextError, SourceMap, location_of, nearest
from ..text import syntax as ast
from .build_context import Context, Generic, Signature
from .constraints import Notes
from .operators.call_site import Site
from .operators.composite_operators import on_device

# ---------------------------------------------------------- parameters, bodies


def region_body(
    context: Context, body: ast.Body, block: Block, is_function: bool = False
) -> SSAValue:
    """Build the body of a region into `block`; return its value."""
    region = context.scopes.of[body]
    context.scopes.settle(region)
    context.blocks[region] = block
    outer, context.region = context.region, region
    context.reached = body.offset
    with context.writing(block):
        value = body_value(context, body, is_function)
    context.region = outer
    return value


def branch(context: Context, body: ast.Body, block: Block) -> SSAValue:
    """
    Build `body` as `region_body` does and end the block with a `relay.yield`; return its value.
    """
    value = region_body(context, body, block)
    with context.writing(block):
        context.add(relay.YieldOp(value), body.result.offset)
    return value


def body_value(context: Context, body: ast.Body, is_function: bool = False) -> SSAValue:
    """Build the statements of `body` in order, then its result."""
    hints, refs = context.hints, context.scopes.refs
    result = hints.result(body) if is_function else body.result
    lets = {
        s: replace(s, value=hints.fixed(s.value))
        for s in body.statements
        if isinstance(s, ast.Statement) and s.local is not None
    }
    for statement in body.statements:
        if isinstance(statement, ast.Binding):
            is_here = context.scopes.place.get(statement) is context.region
            if is_here and statement not in context.scopes.impure:
                context.compute([statement])
            continue
        context.compute(refs[statement])
        context.rules[ast.Statement](context, lets.get(statement, statement))
    context.compute(refs[body])
    return context.emit(result)


def add_params(
    context: Context, block: Block, params: Sequence[ast.Local], types: Sequence[Attribute]
) -> None:
    """Add an argument to `block` for each of `params`, and bind these to them."""
    arguments: list[BlockArgument] = []
    for i, (param, type) in enumerate(zip(params, types, strict=True), len(block.args)):
        argument = BlockArgument(type, block, i, context.source_map.location(param.offset))
        argument.name_hint = ssa_name(param.name)
        context.note(argument)
        context.values[param] = argument
        arguments.append(argument)
    append_arguments(block, arguments)


# -------------------------------------------------------------------- closures


def let_value(
    context: Context, local: ast.Local, value: ast.Expr, annotation: Attribute | None
) -> SSAValue:
    """Build the value of a `let`; a function in it may name itself."""
    hint, function = unhinted(value)
    if not isinstance(function, ast.Function):
        return context.named(context.emit(value))
    built = closure(context, function, local, annotation)
    return built if hint is None else on_device(Site(context, hint, [built]))


def unhinted(expr: ast.Expr) -> tuple[ast.Call | None, ast.Expr]:
    """Return the `on_device` that `expr` is, if it is one, and what it is about."""
    if isinstance(expr, ast.Call) and expr.name == "on_device" and len(expr.args) == 1:
        return expr, expr.args[0]
    return None, expr


def closure(
    context: Context,
    function: ast.Function,
    itself: ast.Local | None = None,
    annotation: Attribute | None = None,
    generic: Generic | None = None,
) -> SSAValue:
    """
    Build a `relay.fn`; inside, `itself` is bound to it.

    If it is not `generic`, its type parameters stand for one type each.
    """
    outer_args = context.type_args
    if function.type_params and generic is None:
        fresh = {name: context.types.fresh() for name in function.type_params}
        context.type_args = {**outer_args, **fresh}
        here = context.source_map.location(function.offset)
        context.single_types += [(name, type, here) for name, type in fresh.items()]
    types = [context.annotation(p.type) for p in function.params]
    result = context.annotation(function.result)
    type = FunctionType.from_lists(types, [result])
    if annotation is not None:
        context.require(type, annotation, "the function", function.offset)
    block = Block()
    if itself is not None:
        self_argument = block.insert_arg(type, 0)
        self_argument.name_hint = ssa_name(itself.name)
        context.note(self_argument)
        context.values[itself] = self_argument
        if generic is not None:
            generic.value = self_argument
            context.values[itself] = generic
    add_params(context, block, function.params, types)
    value = function_value(context, function, block, result, itself)
    if function.result is None and annotation is None:
        result = value.type
    with context.writing(block):
        context.add(relay.YieldOp(value), context.hints.result(function.body).offset)
    recursive = itself is not None and block.args[0].first_use is not None
    if itself is not None and not recursive:
        block.erase_arg(block.args[0])
    context.type_args = outer_args
    op = relay.FnOp(
        types,
        result,
        Region(block),
        recursive,
        context.attributes(function.attrs, function.offset),
        _param_devices(function.params),
        function.device,
    )
    return context.value(op, function.offset)


def function_value(
    context: Context,
    function: ast.Function,
    block: Block,
    result: Attribute,
    itself: ast.Local | None,
) -> SSAValue:
    """Build the body of `function`, which `itself` names, into `block`."""
    home, region = context.scopes.home, context.scopes.of[function.body]
    scope = region if itself is None else home[itself]
    if itself is not None:
        home[itself] = region
    value = region_body(context, function.body, block, is_function=True)
    if itself is not None:
        home[itself] = scope
    context.require(
        value.type, result, "the result of the function", context.hints.result(function.body).offset
    )
    return value


def _param_devices(params: Sequence[ast.Local]) -> list[VirtualDeviceAttr] | None:
    if all(p.device is None for p in params):
        return None
    return [p.device or VirtualDeviceAttr() for p in params]


def call_value(
    context: Context, callee: SSAValue, args: Sequence[SSAValue], call: ast.Call
) -> SSAValue:
    type = callee.type
    if isinstance(type, FunctionType):
        _require_own_args(context, type, args, call)
        (result,) = type.outputs.data
    else:
        result = context.types.fresh()
        context.types.steps.append(_Called(context, type, args, result, call, context.source_map))
    op = relay.CallOp.create(operands=[callee, *args], result_types=[result])
    return context.value(op, call.offset)


@dataclass(eq=False, repr=False)
class _Called:
    """A call of a value whose type is unknown: it is a function of `args` that returns `result`."""

    context: Context
    callee: Attribute
    args: Sequence[SSAValue]
    result: Attribute
    call: ast.Call
    source_map: SourceMap

    def take(self, types: Unifier) -> IncompleteType | None:
        """Unify the types."""
        context, type = self.context, types.shallow(self.callee)
        wanted = FunctionType.from_lists([a.type for a in self.args], [self.result])
        if isinstance(type, FunctionType):
            saved, context.source_map = context.source_map, self.source_map
            _require_own_args(context, type, self.args, self.call)
            types.unify(self.result, type.outputs.data[0])
            context.source_map = saved
        elif not types.unify(type, wanted):
            given = context.text(type)
            wrong = (
                "infinite type: this function takes itself as an argument"
                if given == "_"
                else f"expected a function, but got a value of type {given}"
            )
            raise self.source_map.error(wrong, self.call.callee.offset)
        return None


def _require_own_args(
    context: Context, type: FunctionType, args: Sequence[SSAValue], call: ast.Call
) -> None:
    """Require that `args` are of the types that a function that is a value accepts."""

    def notes() -> Notes:
        """Name a type parameter that became the type of a parameter of the function."""
        inputs = [context.types.resolved(t) for t in type.inputs]
        single = [
            (
                f"the type parameter {name} of this function is {context.text(found)}: "
                "only a function that a let or a graph binding names can have several types",
                location,
            )
            for name, found, location in context.single_types
            if context.types.resolved(found) in inputs
        ]
        return single[-1:]

    require_args(context, type.inputs.data, args, call, "the function", notes)


def require_args(
    context: Context,
    wanted: Sequence[Attribute],
    args: Sequence[SSAValue],
    call: ast.Call,
    what: str,
    notes: Callable[[], Notes] = tuple,
) -> None:
    """Require that `args` are of the types that `what` accepts."""
    if len(args) != len(wanted):
        raise context.error(
            f"{what} expects {len(wanted)} arguments, but got {len(args)}", call.offset
        )
    for i, (arg, param) in enumerate(zip(args, wanted, strict=True)):
        at = call.args[i].offset if i < len(call.args) else call.offset
        context.require(arg.type, param, f"argument {i} of {what}", at, notes)


# ------------------------------------------------------------ global functions


def signature_of(context: Context, use: ast.Global) -> Signature:
    """Return the global function that `use` names."""
    signature = context.program.functions.get(use.name)
    if signature is None:
        hint = nearest(use.name, context.program.functions, "@")
        raise context.error(f"unknown function @{use.name}{hint}", use.offset, len(use.name) + 1)
    return signature


def instance(context: Context, signature: Signature) -> tuple[FunctionType, list[Attribute]]:
    """Return the type of a global function at fresh type arguments, and these arguments."""
    if not signature.type_params:
        return signature.type, []
    args = {name: context.types.fresh() for name in signature.type_params}
    return context.instantiated(signature.type, args), list(args.values())


def global_value(context: Context, use: ast.Global) -> SSAValue:
    type, args = instance(context, signature_of(context, use))
    op = relay.GlobalOp(use.name, type, args)
    if args:
        defer_type_args(context, op, args, f"@{use.name}")
    return context.value(op, use.offset)


def call_global(
    context: Context, use: ast.Global, args: Sequence[SSAValue], call: ast.Call
) -> SSAValue:
    signature = signature_of(context, use)
    type, type_args = instance(context, signature)
    require_args(context, type.inputs.data, args, call, f"@{use.name}")
    if type_args:
        invoke = relay.InvokeOp(use.name, type_args, args, type.outputs.data[0])
        defer_type_args(context, invoke, type_args, f"@{use.name}")
        return context.value(invoke, call.offset)
    op = FuncCallOp(use.name, list(args), type.outputs.data)
    context.calls.append((op, signature))
    return context.value(op, call.offset)


_WithTypeArgs: TypeAlias = relay.GlobalOp | relay.InvokeOp | relay.InstantiateOp


def defer_type_args(
    context: Context, op: _WithTypeArgs, args: Sequence[Attribute], name: str
) -> None:
    """Set the type arguments of `op`, which uses the function `name`, once they are known."""
    context.completions.append((_complete_type_args, op, (args, name)))


def _complete_type_args(
    context: Context, op: _WithTypeArgs, args: Sequence[Attribute], name: str
) -> None:
    types = [context.types.resolved(a) for a in args]
    unknown = next((t for t in types if context.types.first_unknown(t) is not None), None)
    if unknown is not None:
        text = f"cannot infer a type argument of {name}; add a type annotation"
        raise RelayTextError(text, location_of(op))
    op.type_args = ArrayAttr(types)
