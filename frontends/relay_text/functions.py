"""Closures, global functions, and calls of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    NoneType,
)
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from ...dialects.attributes import attribute_of as plain_attribute
from ...dialects.device import VirtualDeviceAttr
from ...dialects.relay import CallOp, FnOp, GlobalOp, InvokeOp
from ...dialects.relay.control import YieldOp
from ...dialects.relay.language_types import substituted
from ...dialects.xdsl_internals import append_arguments
from . import calls
from . import syntax as ast
from .errors import RelayTextError, nearest
from .explicit_memory import Nothing
from .names import ssa_name
from .program import Signature
from .writer import Value

if TYPE_CHECKING:
    from .emit import Emitter

# ------------------------------------------------------------------ attributes


def attribute_of(value: Any) -> Attribute | None:
    """A function attribute's value in the IR; None when there is no form for it."""
    match value:
        case None:
            return NoneType()
        case tuple():
            parts = [attribute_of(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
            known = [part for part in parts if part is not None]
            return ArrayAttr(known) if len(known) == len(parts) else None
        case Attribute():
            return value
        case _:
            return plain_attribute(value)


def attributes_of(emitter: Emitter, attrs: Mapping[str, Any], at: int) -> DictionaryAttr | None:
    """The attributes of a function; None when it has none."""
    if not attrs:
        return None
    made: dict[str, Attribute] = {}
    for name, value in attrs.items():
        attr = attribute_of(value)
        if attr is None:
            raise emitter.error(
                f"the value of the function's attribute {name} is not supported", at
            )
        made[name] = attr
    return DictionaryAttr(made)


# ------------------------------------------------------------------ parameters


def add_params(
    emitter: Emitter, block: Block, params: Sequence[ast.Local], types: Sequence[Attribute]
) -> None:
    """Give `block` an argument for each of `params`, and these their values."""
    made: list[BlockArgument] = []
    for i, (param, type) in enumerate(zip(params, types, strict=True), len(block.args)):
        argument = BlockArgument(type, block, i, emitter.places.location(param.at))
        argument.name_hint = ssa_name(param.name)
        emitter.note(argument)
        param.value = argument
        made.append(argument)
    append_arguments(block, made)


# -------------------------------------------------------------------- closures


def closure_value(emitter: Emitter, function: ast.Function) -> Value:
    """A closure that does not name itself."""
    return closure(emitter, function, None, None)


def let_value(
    emitter: Emitter, statement: ast.Statement, annotation: Attribute | None
) -> SSAValue | Nothing:
    """The value of a `let`; a function in it may name itself."""
    value: ast.Expr = statement.value
    if isinstance(value, ast.Function):
        return closure(emitter, value, statement.local, annotation)
    if isinstance(value, ast.Call) and isinstance(value.callee, ast.Name):
        (first, *rest) = value.args or [None]
        if isinstance(first, ast.Function) and not rest and value.callee.name == "on_device":
            made = closure(emitter, first, statement.local, annotation)
            return emitter.ssa(calls.on_device(emitter, value, [made]))
    made = emitter.emit(value)
    return made if isinstance(made, Nothing) else emitter.ssa(made)


def closure(
    emitter: Emitter,
    function: ast.Function,
    itself: ast.Local | None,
    annotation: Attribute | None,
) -> SSAValue:
    """Write a `relay.fn`; inside, `itself` stands for it."""
    outer_args = emitter.type_args
    if function.type_params:
        fresh = {name: emitter.solver.fresh() for name in function.type_params}
        emitter.type_args = {**outer_args, **fresh}
        here = emitter.places.location(function.at)
        emitter.single_types += [(name, type, here) for name, type in fresh.items()]
    types = [emitter.annotation(p.type) for p in function.params]
    result = emitter.annotation(function.result)
    type = FunctionType.from_lists(types, [result])
    if annotation is not None:
        emitter.require(type, annotation, "the function", function.at)
    block = Block()
    if itself is not None:
        self_argument = block.insert_arg(type, 0)
        self_argument.name_hint = ssa_name(itself.name)
        emitter.note(self_argument)
        itself.value = self_argument
    value = body_value(emitter, function, block, types, result, itself)
    with emitter.writing(block):
        emitter.add(YieldOp(value), function.body.result.at)
    recursive = itself is not None and block.args[0].first_use is not None
    if itself is not None and not recursive:
        block.erase_arg(block.args[0])
    emitter.type_args = outer_args
    op = FnOp(
        types,
        result,
        Region(block),
        recursive,
        attributes_of(emitter, function.attrs, function.at),
        _param_devices(function.params),
        function.device,
    )
    return emitter.value(op, function.at)


def body_value(
    emitter: Emitter,
    function: ast.Function,
    block: Block,
    types: Sequence[Attribute],
    result: Attribute,
    itself: ast.Local | None,
) -> SSAValue:
    """Write the parameters and the body of `function`, which `itself` names, into `block`."""
    add_params(emitter, block, function.params, types)
    if not ast.has_lets(function.body):
        function.body.result = calls.fixed_hint(function.body.result)
    outer_region, scope = emitter.region, None if itself is None else itself.region
    if itself is not None:
        itself.region = function.region
    value = emitter.region_body(function.region, function.body, block)
    if itself is not None:
        itself.region = scope
    assert emitter.region is outer_region
    emitter.require(value.type, result, "the result of the function", function.body.result.at)
    return value


def _param_devices(params: Sequence[ast.Local]) -> list[VirtualDeviceAttr] | None:
    if all(p.device is None for p in params):
        return None
    return [p.device or VirtualDeviceAttr() for p in params]


def call_value(
    emitter: Emitter, callee: SSAValue, args: Sequence[SSAValue], call: ast.Call
) -> SSAValue:
    """Call a function that is a value."""
    type = emitter.solver.shallow(callee.type)
    if not isinstance(type, FunctionType):
        result = emitter.solver.fresh()
        wanted = FunctionType.from_lists([a.type for a in args], [result])
        if not emitter.solver.unify(type, wanted):
            given = emitter.text(type)
            why = "takes itself" if given == "_" else f"is of type {given}"
            raise emitter.error(f"only a function can be called, but this {why}", call.callee.at)
        type = wanted
    try:
        require_args(emitter, type, args, call, "the function")
    except RelayTextError as error:
        error.notes = tuple(_single_types(emitter, type))[-1:]
        raise
    op = CallOp.create(operands=[callee, *args], result_types=type.outputs.data)
    return emitter.value(op, call.at)


def _single_types(emitter: Emitter, type: FunctionType) -> Iterator[tuple[str, FileLineColLoc]]:
    """Which type parameters of closures stand for a parameter of `type`, to say that."""
    inputs = [emitter.solver.resolved(t) for t in type.inputs]
    for name, found, location in emitter.single_types:
        if emitter.solver.resolved(found) in inputs:
            yield (
                f"the type parameter {name} of this function stands for {emitter.text(found)}: "
                "only a function that a let or a graph binding names has several types",
                location,
            )


def require_args(
    emitter: Emitter, type: FunctionType, args: Sequence[SSAValue], call: ast.Call, what: str
) -> None:
    """`args` must be what `what`, of the function type `type`, takes."""
    wanted = type.inputs.data
    if len(args) != len(wanted):
        raise emitter.error(
            f"{what} takes {len(wanted)} arguments, but {len(args)} are given", call.at
        )
    for i, (arg, param) in enumerate(zip(args, wanted, strict=True)):
        at = call.args[i].at if i < len(call.args) else call.at
        emitter.require(arg.type, param, f"argument {i} of {what}", at)


# ------------------------------------------------------------ global functions


def signature_of(emitter: Emitter, use: ast.Global) -> Signature:
    """The global function that `use` names."""
    signature = emitter.program.functions.get(use.name)
    if signature is None:
        hint = nearest(use.name, emitter.program.functions, "@")
        raise emitter.error(f"there is no function @{use.name}{hint}", use.at, len(use.name) + 1)
    return signature


def instance(emitter: Emitter, signature: Signature) -> tuple[FunctionType, list[Attribute]]:
    """The type of a global function at fresh type arguments, and these."""
    if not signature.type_params:
        return signature.type, []
    args = {name: emitter.solver.fresh() for name in signature.type_params}
    type = substituted(emitter.solver.resolved(signature.type), args)
    assert isinstance(type, FunctionType)
    return type, list(args.values())


def global_value(emitter: Emitter, use: ast.Global) -> Value:
    """A global function as a value."""
    type, args = instance(emitter, signature_of(emitter, use))
    op = GlobalOp(use.name, type, args)
    if args:
        complete_later(emitter, op, args, f"@{use.name}")
    return emitter.value(op, use.at)


def call_global(
    emitter: Emitter, use: ast.Global, args: Sequence[SSAValue], call: ast.Call
) -> SSAValue:
    """Call a global function."""
    signature = signature_of(emitter, use)
    type, type_args = instance(emitter, signature)
    require_args(emitter, type, args, call, f"@{use.name}")
    if type_args:
        invoke = InvokeOp(use.name, type_args, args, type.outputs.data[0])
        complete_later(emitter, invoke, type_args, f"@{use.name}")
        return emitter.value(invoke, call.at)
    op = FuncCallOp(use.name, list(args), type.outputs.data)
    emitter.calls.append((op, signature))
    return emitter.value(op, call.at)


def complete_later(
    emitter: Emitter, op: GlobalOp | InvokeOp, args: Sequence[Attribute], name: str
) -> None:
    """Give `op` the type arguments `args` of the function called `name` once they are known."""
    emitter.completions.append(lambda: _complete_type_args(emitter, op, args, name))


def _complete_type_args(
    emitter: Emitter, op: GlobalOp | InvokeOp, args: Sequence[Attribute], name: str
) -> None:
    types = [emitter.solver.resolved(a) for a in args]
    unknown = next((t for t in types if emitter.solver.first_unknown(t) is not None), None)
    if unknown is not None:
        from .finish import cannot_infer

        raise cannot_infer(f"a type argument of {name}", op)
    op.type_args = ArrayAttr(types)
