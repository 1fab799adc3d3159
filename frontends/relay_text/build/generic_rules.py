"""
Lift functions with type parameters that a `let` or a graph binding names.

    def @main(%y: int32) {                          def @main_pair[A](%x: A, %y: int32) {
      let %pair = fn [A](%x: A) { (%x, %y) };         (%x, %y)
      (%pair(1), %pair(2f))                         }
    }                                         ->    def @main(%y: int32) {
                                                      (@main_pair(1, %y), @main_pair(2f, %y))
                                                    }

A closure of the IR has one type, while a global function may be generic. So such a function is
lifted (lambda lifting, Johnsson 1985): its type parameters are its own and those of the enclosing
functions, and its captures become parameters after its own. Where it is a value and not called,
it becomes a `relay.global`, or a closure around a call if it captures anything.

Captures are determined once the program has been read (`lambda_lift.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, SSAValue

from ....dialects import relay
from ....dialects.relay.language.language_types import substituted
from ....dialects.type_algebra import parts
from ....passes.functions.captures import type_variables
from ..errors import RelayTextError, location_of
from ..text import syntax as ast
from . import function_rules
from .build_context import Context, ssa_name
from .deferred import run_ready
from .definitions_of_program import Generic, Signature
from .operators.call_site import Site
from .operators.composite_operators import on_device

# ------------------------------------------------------------------ definitions


def let(context: Context, statement: ast.Statement) -> Generic | None:
    """
    Return the generic function that a `let` names; None if it binds anything else.

    If the variable has a type without type parameters, the function is a closure of that type.
    """
    local, function, hint = statement.local, statement.value, None
    assert local is not None
    if isinstance(function, ast.Call) and isinstance(function.callee, ast.Name):
        if function.callee.name == "on_device" and len(function.args) == 1:
            hint, function = function, function.args[0]
    generic = named(context, statement.value)
    if generic is not None:
        given = parts(context.types.resolved(generic.signature.type))
        is_fixed = _fixes(local.type, given, generic.own)
    elif isinstance(function, ast.Function) and function.type_params:
        given = [*(param.type for param in function.params), function.result]
        is_fixed = _fixes(local.type, given, function.type_params)
        if not is_fixed:
            generic = define(context, function, local.name, local, hint)
    else:
        return None
    if is_fixed or generic is None:
        return None
    if local.type is not None:
        type, wanted = _instance(context, generic)[0], context.annotation(local.type)
        context.require(type, wanted, f"%{local.name}", local.offset)
    return generic


def _fixes(
    wanted: Attribute | None, given: Sequence[Attribute | None], params: Sequence[str]
) -> bool:
    """Return whether `wanted` fixes one of the type parameters in the parts `given` of a type."""
    wanted_parts = () if wanted is None else parts(wanted)
    return any(
        type.parameter.data in params
        if isinstance(type, relay.TypeVarType)
        else type is not None and _fixes(part, parts(type), params)
        for part, type in zip(wanted_parts, given, strict=False)
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
    """Build `function` as a global function; inside, `itself` is bound to it."""
    enclosing, outer_args = context.signature, context.type_args
    assert enclosing is not None, "a generic function is inside a global function"
    own = _own_params(function.type_params, enclosing.type_params)
    context.type_args = {**outer_args, **{p: relay.TypeVarType(n) for p, n in own.items()}}
    types = [context.annotation(p.type) for p in function.params]
    result = context.annotation(function.result)
    definition = ast.Definition(function.offset, _symbol(context, enclosing, name), function)
    type = FunctionType.from_lists(types, [result])
    params = [*own.values(), *enclosing.type_params]
    signature = Signature(definition, context.source_map, type, Block(), params, function.params)
    outer = context.generics.get(enclosing.definition.name)
    origin = enclosing if outer is None else outer.origin
    generic = Generic(name, signature, tuple(own.values()), origin, hint)
    context.generics[definition.name] = generic

    if itself is not None:
        context.values[itself] = generic
    context.signature = signature
    value = function_rules.function_value(context, function, signature.block, types, result, itself)
    with context.writing(signature.block):
        context.add(ReturnOp(value), context.hints.result(function.body).offset)
    context.signature, context.type_args = enclosing, outer_args
    return generic


def _own_params(params: Sequence[str], enclosing: Sequence[str]) -> dict[str, str]:
    """Rename type parameters that clash with those of the enclosing functions."""
    taken = set(enclosing)
    own: dict[str, str] = {}
    for param in params:
        numbered = (f"{param}_{i}" for i in count(1))
        own[param] = param if param not in taken else next(n for n in numbered if n not in taken)
        taken.add(own[param])
    return own


def _symbol(context: Context, enclosing: Signature, name: str) -> str:
    """Return an unused name for the global function."""
    program = context.program
    first = f"{enclosing.definition.name}_{ssa_name(name) or 'fn'}"
    numbered = (f"{first}_{i}" for i in count(max(1, len(context.generics))))
    return next(
        symbol
        for symbol in chain((first,), numbered)
        if symbol not in program.functions
        and symbol not in program.types
        and symbol not in context.generics
    )


# ------------------------------------------------------------------------- uses


def _instance(context: Context, generic: Generic) -> tuple[FunctionType, list[Attribute]]:
    """Return the type of a generic function at fresh type arguments, and all its type arguments."""
    fresh = {name: context.types.fresh() for name in generic.own}
    run_ready(context)
    type = substituted(context.types.resolved(generic.signature.type), fresh)
    assert isinstance(type, FunctionType)
    return type, [fresh.get(n) or relay.TypeVarType(n) for n in generic.signature.type_params]


def value(context: Context, generic: Generic, at: int) -> SSAValue:
    """Build a generic function as a value of one type."""
    type, args = _instance(context, generic)
    op = relay.GlobalOp(generic.symbol, type, args)
    generic.uses.append(op)
    function_rules.defer_type_args(context, op, args, f"%{generic.name}")
    made = context.value(op, at)
    return made if generic.hint is None else on_device(Site(context, generic.hint, [made]))


def call(context: Context, generic: Generic, call: ast.Call) -> SSAValue:
    """Call a generic function."""
    if generic.hint is not None:
        callee = value(context, generic, call.callee.offset)
        args = [context.emit(arg) for arg in call.args]
        return function_rules.call_value(context, callee, args, call)
    args = [context.emit(arg) for arg in call.args]
    type, type_args = _instance(context, generic)
    function_rules.require_args(context, type, args, call, f"%{generic.name}")
    op = relay.InvokeOp(generic.symbol, type_args, args, type.outputs.data[0])
    generic.uses.append(op)
    function_rules.defer_type_args(context, op, type_args, f"%{generic.name}")
    return context.value(op, call.offset)


# ------------------------------------------------------------------- the program


def publish(context: Context) -> None:
    """Insert each lifted function before the function that contained it."""
    program = context.program
    made: dict[Signature, list[Generic]] = {}
    for generic in context.generics.values():
        made.setdefault(generic.origin, []).append(generic)
    functions: dict[str, Signature] = {}
    for name, signature in program.functions.items():
        functions.update((g.symbol, g.signature) for g in made.get(signature, ()))
        functions[name] = signature
    program.functions = functions


def check_scopes(context: Context) -> None:
    """Reject values whose types use a type parameter out of its scope."""
    signatures = context.program.functions.values()
    if not any(s.type_params for s in signatures):
        return
    known = {signature.block: set(signature.type_params) for signature in signatures}
    for value in context.open_values:
        params = set(type_variables(value.type))
        body = _body_of(value)
        wrong = params - known.get(body, params) if body is not None else params
        if wrong:
            raise RelayTextError(
                f"the type of {_called(value)} would be {context.text(value.type)}, but the type "
                f"parameter {min(wrong)} is not in scope here (is the result type of its "
                "function missing?)",
                location_of(value),
            )


def _body_of(value: SSAValue) -> Block | None:
    """Return the body of the function that contains `value`."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    while block is not None and (op := block.parent_op()) is not None:
        block = op.parent
    return block


def _called(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "this"
