"""
Functions with type parameters that a `let` or a graph binding names.

    let %pair = fn [A](%x: A) { (%x, %y) };
    (%pair(1), …)
    ->
    %pair = relay.fn (%x: A) -> tuple<A, T> attributes {type_params = ["A"]} {…}
    %0 = relay.instantiate %pair<[tensor<i32>]>
    %1 = relay.call %0(…)

A value of the IR has one type, so each use is an instance of the closure, at types that are
inferred. `lambda-lift` makes the closure a generic function, and calls of instances calls of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, FunctionType, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects import relay
from ....dialects.type_algebra import parts
from ....passes.functions.captures import type_variables
from ....passes.functions.symbols import SymbolNames
from ...conversion import ssa_name
from ..errors import RelayTextError, location_of
from ..text import syntax as ast
from . import function_rules
from .build_context import Context, Generic, called
from .operators.call_site import Site
from .operators.composite_operators import on_device

# ------------------------------------------------------------------ definitions


def let(context: Context, statement: ast.Statement) -> Generic | None:
    """
    Return the generic function that a `let` names; None if it binds anything else.

    If the variable has a type without type parameters, the function is a closure of that type.
    """
    local, (hint, function) = statement.local, function_rules.unhinted(statement.value)
    assert local is not None
    generic = named(context, statement.value)
    if generic is not None:
        is_fixed = _fixes(local.type, parts(generic.type), generic.own)
    elif isinstance(function, ast.Function) and function.type_params:
        types = [*(param.type for param in function.params), function.result]
        is_fixed = _fixes(local.type, types, function.type_params)
        if not is_fixed:
            generic = define(context, function, local.name, local, hint)
    else:
        return None
    if is_fixed or generic is None:
        return None
    if local.type is not None:
        fresh = {name: context.types.fresh() for name in generic.own}
        type = context.instantiated(generic.type, fresh)
        wanted = context.annotation(local.type)
        context.require(type, wanted, f"%{local.name}", local.offset)
    return generic


def _fixes(
    wanted: Attribute | None, types: Sequence[Attribute | None], params: Sequence[str]
) -> bool:
    """Return whether `wanted` fixes one of the type parameters in the parts `types` of a type."""
    wanted_parts = () if wanted is None else parts(wanted)
    return any(
        type.parameter.data in params
        if isinstance(type, relay.TypeVarType)
        else type is not None and _fixes(part, parts(type), params)
        for part, type in zip(wanted_parts, types, strict=False)
        if not isinstance(part, relay.IncompleteType)
    )


def binding(context: Context, binding: ast.Binding) -> SSAValue | Generic:
    """Build the value of a graph binding; a generic function gets a name of its own."""
    value = context.hints.value(binding)
    if isinstance(value, ast.Function) and value.type_params:
        return define(context, value, binding.number, None, None)
    generic = named(context, value)
    return context.emit(value) if generic is None else generic


def named(context: Context, expr: ast.Expr) -> Generic | None:
    """Return the generic function that an expression names, or None."""
    value = None
    if isinstance(expr, ast.Use):
        value = (
            context.lookup(expr) if isinstance(context.values.get(expr.local), Generic) else None
        )
    elif isinstance(expr, ast.Node):
        value = context.result_of(expr.binding)
    return value if isinstance(value, Generic) else None


def define(
    context: Context,
    function: ast.Function,
    name: str,
    itself: ast.Local | None,
    hint: ast.Call | None,
) -> Generic:
    """Build `function` as a closure with type parameters; inside, `itself` is bound to it."""
    assert context.signature is not None, "a generic function is inside a global function"
    outer_args = context.type_args
    around = (v.parameter.data for v in outer_args.values() if isinstance(v, relay.TypeVarType))
    taken = SymbolNames({*context.signature.type_params, *around})
    own = {param: taken.unique(param) for param in function.type_params}
    context.type_args = {**outer_args, **{p: relay.TypeVarType(n) for p, n in own.items()}}
    generic = Generic(name, tuple(own.values()), hint)
    generic.value = function_rules.closure(context, function, itself, None, generic)
    context.type_args = outer_args
    assert isinstance(generic.value.owner, relay.FnOp)
    generic.value.owner.type_params = ArrayAttr(map(StringAttr, generic.own))
    generic.value.name_hint = ssa_name(name)
    context.has_generics = True
    return generic


# ------------------------------------------------------------------------- uses


def value(context: Context, generic: Generic, at: int) -> SSAValue:
    """Build a generic function as a value of one type."""
    instance = _instance(context, generic, at)
    return instance if generic.hint is None else on_device(Site(context, generic.hint, [instance]))


def _instance(context: Context, generic: Generic, at: int) -> SSAValue:
    fresh = {name: context.types.fresh() for name in generic.own}
    type = context.instantiated(generic.type, fresh)
    op = relay.InstantiateOp(generic.value, [*fresh.values()], type)
    function_rules.defer_type_args(context, op, [*fresh.values()], f"%{generic.name}")
    return context.value(op, at)


def call(context: Context, generic: Generic, call: ast.Call) -> SSAValue:
    if generic.hint is not None:
        callee = value(context, generic, call.callee.offset)
        args = [context.emit(arg) for arg in call.args]
        return function_rules.call_value(context, callee, args, call)
    args = [context.emit(arg) for arg in call.args]
    callee = _instance(context, generic, call.offset)
    assert isinstance(callee.type, FunctionType)
    function_rules.require_args(context, callee.type.inputs.data, args, call, f"%{generic.name}")
    op = relay.CallOp.create(operands=[callee, *args], result_types=callee.type.outputs.data)
    return context.value(op, call.offset)


# ----------------------------------------------------------------------- scopes


def check_scopes(context: Context) -> None:
    """Reject values whose types use a type parameter out of its scope."""
    signatures = context.program.functions.values()
    if not context.has_generics and not any(s.type_params for s in signatures):
        return
    params_of = {signature.block: signature.type_params for signature in signatures}
    for value in context.open_values:
        params = set(type_variables(value.type))
        wrong = params and params.difference(_type_params_around(value, params_of))
        if wrong:
            raise RelayTextError(
                f"the type of {called(value)} would be {context.text(value.type)}, but the type "
                f"parameter {min(wrong)} is not in scope here (is the result type of its "
                "function missing?)",
                location_of(value),
            )


def _type_params_around(value: SSAValue, params_of: Mapping[Block, Sequence[str]]) -> Iterator[str]:
    """Yield the type parameters of the functions that contain `value`, and of the value itself."""
    at: Operation | Block | None = value.owner
    while at is not None:
        if isinstance(at, Block):
            yield from params_of.get(at, ())
            at = at.parent_op()
        else:
            yield from at.own_type_params if isinstance(at, relay.FnOp) else ()
            at = at.parent
