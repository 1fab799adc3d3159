"""Closures, global functions, and calls of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    NoneType,
)
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from ....dialects.attributes import attribute_of as plain_attribute
from ....dialects.device import VirtualDeviceAttr
from ....dialects.relay import CallOp, FnOp, GlobalOp, InvokeOp
from ....dialects.relay.language.control import YieldOp
from ....dialects.relay.language.language_types import substituted
from ....dialects.xdsl_extras.xdsl_internals import append_arguments
from ..errors import RelayTextError, nearest
from ..text import syntax as ast
from . import calls_of_operators
from .composite_operators import on_device
from .definitions_of_program import Signature
from .explicit_memory import UnitResult
from .ir_builder import Value, ssa_name

if TYPE_CHECKING:
    from .module_builder import ModuleBuilder

# ------------------------------------------------------------------ attributes


def attribute_of(value: Any) -> Attribute | None:
    """Convert a function attribute's value to the IR; None if it has no form there."""
    match value:
        case None:
            return NoneType()
        case tuple():
            parts = [attribute_of(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
            known = [part for part in parts if part is not None]
            return ArrayAttr(known) if len(known) == len(parts) else None
        case dict():
            given = cast("dict[str, Any]", value)
            entries = {key: attribute_of(part) for key, part in given.items()}
            known_entries = {key: part for key, part in entries.items() if part is not None}
            return DictionaryAttr(known_entries) if len(known_entries) == len(entries) else None
        case Attribute():
            return value
        case _:
            return plain_attribute(value)


def attributes_of(
    builder: ModuleBuilder, attrs: Mapping[str, Any], at: int
) -> DictionaryAttr | None:
    """Convert the attributes of a function; None if it has none."""
    if not attrs:
        return None
    made: dict[str, Attribute] = {}
    for name, value in attrs.items():
        attr = attribute_of(value)
        if attr is None:
            raise builder.error(f"the function attribute {name} has an unsupported value", at)
        made[name] = attr
    return DictionaryAttr(made)


# ------------------------------------------------------------------ parameters


def add_params(
    builder: ModuleBuilder, block: Block, params: Sequence[ast.Local], types: Sequence[Attribute]
) -> None:
    """Add an argument to `block` for each of `params`, and bind these to them."""
    made: list[BlockArgument] = []
    for i, (param, type) in enumerate(zip(params, types, strict=True), len(block.args)):
        argument = BlockArgument(type, block, i, builder.source_map.location(param.offset))
        argument.name_hint = ssa_name(param.name)
        builder.note(argument)
        param.value = argument
        made.append(argument)
    append_arguments(block, made)


# -------------------------------------------------------------------- closures


def closure_value(builder: ModuleBuilder, function: ast.Function) -> Value:
    """Build a closure that does not name itself."""
    return closure(builder, function, None, None)


def let_value(
    builder: ModuleBuilder, statement: ast.Statement, annotation: Attribute | None
) -> SSAValue | UnitResult:
    """Build the value of a `let`; a function in it may name itself."""
    value: ast.Expr = statement.value
    if isinstance(value, ast.Function):
        return closure(builder, value, statement.local, annotation)
    if isinstance(value, ast.Call) and isinstance(value.callee, ast.Name):
        (first, *rest) = value.args or [None]
        if isinstance(first, ast.Function) and not rest and value.callee.name == "on_device":
            made = closure(builder, first, statement.local, annotation)
            return builder.ssa(on_device(builder, value, [made]))
    made = builder.emit(value)
    return made if isinstance(made, UnitResult) else builder.ssa(made)


def closure(
    builder: ModuleBuilder,
    function: ast.Function,
    itself: ast.Local | None,
    annotation: Attribute | None,
) -> SSAValue:
    """Build a `relay.fn`; inside, `itself` is bound to it."""
    outer_args = builder.type_args
    if function.type_params:
        fresh = {name: builder.solver.fresh() for name in function.type_params}
        builder.type_args = {**outer_args, **fresh}
        here = builder.source_map.location(function.offset)
        builder.single_types += [(name, type, here) for name, type in fresh.items()]
    types = [builder.annotation(p.type) for p in function.params]
    result = builder.annotation(function.result)
    type = FunctionType.from_lists(types, [result])
    if annotation is not None:
        builder.require(type, annotation, "the function", function.offset)
    block = Block()
    if itself is not None:
        self_argument = block.insert_arg(type, 0)
        self_argument.name_hint = ssa_name(itself.name)
        builder.note(self_argument)
        itself.value = self_argument
    value = body_value(builder, function, block, types, result, itself)
    with builder.writing(block):
        builder.add(YieldOp(value), function.body.result.offset)
    recursive = itself is not None and block.args[0].first_use is not None
    if itself is not None and not recursive:
        block.erase_arg(block.args[0])
    builder.type_args = outer_args
    op = FnOp(
        types,
        result,
        Region(block),
        recursive,
        attributes_of(builder, function.attrs, function.offset),
        _param_devices(function.params),
        function.device,
    )
    return builder.value(op, function.offset)


def body_value(
    builder: ModuleBuilder,
    function: ast.Function,
    block: Block,
    types: Sequence[Attribute],
    result: Attribute,
    itself: ast.Local | None,
) -> SSAValue:
    """Build the parameters and the body of `function`, which `itself` names, into `block`."""
    add_params(builder, block, function.params, types)
    if not ast.has_lets(function.body):
        function.body.result = calls_of_operators.fix_hint(function.body.result)
    outer_region, scope = builder.region, None if itself is None else itself.region
    if itself is not None:
        itself.region = function.region
    value = builder.region_body(function.region, function.body, block)
    if itself is not None:
        itself.region = scope
    assert builder.region is outer_region
    builder.require(value.type, result, "the result of the function", function.body.result.offset)
    return value


def _param_devices(params: Sequence[ast.Local]) -> list[VirtualDeviceAttr] | None:
    if all(p.device is None for p in params):
        return None
    return [p.device or VirtualDeviceAttr() for p in params]


def call_value(
    builder: ModuleBuilder, callee: SSAValue, args: Sequence[SSAValue], call: ast.Call
) -> SSAValue:
    """Call a function that is a value."""
    type = builder.solver.shallow(callee.type)
    if not isinstance(type, FunctionType):
        result = builder.solver.fresh()
        wanted = FunctionType.from_lists([a.type for a in args], [result])
        if not builder.solver.unify(type, wanted):
            given = builder.text(type)
            wrong = (
                "infinite type: this function takes itself as an argument"
                if given == "_"
                else f"expected a function, but got a value of type {given}"
            )
            raise builder.error(wrong, call.callee.offset)
        type = wanted
    try:
        require_args(builder, type, args, call, "the function")
    except RelayTextError as error:
        error.notes = tuple(_single_types(builder, type))[-1:]
        raise
    op = CallOp.create(operands=[callee, *args], result_types=type.outputs.data)
    return builder.value(op, call.offset)


def _single_types(
    builder: ModuleBuilder, type: FunctionType
) -> Iterator[tuple[str, FileLineColLoc]]:
    """Yield a note for each type parameter of a closure that became a parameter type of `type`."""
    inputs = [builder.solver.resolved(t) for t in type.inputs]
    for name, found, location in builder.single_types:
        if builder.solver.resolved(found) in inputs:
            yield (
                f"the type parameter {name} of this function is {builder.text(found)}: "
                "only a function that a let or a graph binding names can have several types",
                location,
            )


def require_args(
    builder: ModuleBuilder, type: FunctionType, args: Sequence[SSAValue], call: ast.Call, what: str
) -> None:
    """Require that `args` match the function type `type` of `what`."""
    wanted = type.inputs.data
    if len(args) != len(wanted):
        raise builder.error(
            f"{what} expects {len(wanted)} arguments, but got {len(args)}", call.offset
        )
    for i, (arg, param) in enumerate(zip(args, wanted, strict=True)):
        at = call.args[i].offset if i < len(call.args) else call.offset
        builder.require(arg.type, param, f"argument {i} of {what}", at)


# ------------------------------------------------------------ global functions


def signature_of(builder: ModuleBuilder, use: ast.Global) -> Signature:
    """Return the global function that `use` names."""
    signature = builder.program.functions.get(use.name)
    if signature is None:
        hint = nearest(use.name, builder.program.functions, "@")
        raise builder.error(f"unknown function @{use.name}{hint}", use.offset, len(use.name) + 1)
    return signature


def instance(builder: ModuleBuilder, signature: Signature) -> tuple[FunctionType, list[Attribute]]:
    """Return the type of a global function at fresh type arguments, and these arguments."""
    if not signature.type_params:
        return signature.type, []
    args = {name: builder.solver.fresh() for name in signature.type_params}
    type = substituted(builder.solver.resolved(signature.type), args)
    assert isinstance(type, FunctionType)
    return type, list(args.values())


def global_value(builder: ModuleBuilder, use: ast.Global) -> Value:
    """Build a global function as a value."""
    type, args = instance(builder, signature_of(builder, use))
    op = GlobalOp(use.name, type, args)
    if args:
        defer_type_args(builder, op, args, f"@{use.name}")
    return builder.value(op, use.offset)


def call_global(
    builder: ModuleBuilder, use: ast.Global, args: Sequence[SSAValue], call: ast.Call
) -> SSAValue:
    """Call a global function."""
    signature = signature_of(builder, use)
    type, type_args = instance(builder, signature)
    require_args(builder, type, args, call, f"@{use.name}")
    if type_args:
        invoke = InvokeOp(use.name, type_args, args, type.outputs.data[0])
        defer_type_args(builder, invoke, type_args, f"@{use.name}")
        return builder.value(invoke, call.offset)
    op = FuncCallOp(use.name, list(args), type.outputs.data)
    builder.calls.append((op, signature))
    return builder.value(op, call.offset)


def defer_type_args(
    builder: ModuleBuilder, op: GlobalOp | InvokeOp, args: Sequence[Attribute], name: str
) -> None:
    """
    Set the type arguments of `op`, which uses the function called `name`, once they are known.
    """
    builder.completions.append(lambda: _complete_type_args(builder, op, args, name))


def _complete_type_args(
    builder: ModuleBuilder, op: GlobalOp | InvokeOp, args: Sequence[Attribute], name: str
) -> None:
    types = [builder.solver.resolved(a) for a in args]
    unknown = next((t for t in types if builder.solver.first_unknown(t) is not None), None)
    if unknown is not None:
        from ..infer.complete_types import cannot_infer

        raise cannot_infer(f"a type argument of {name}", op)
    op.type_args = ArrayAttr(types)
