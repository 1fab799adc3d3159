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

Captures are what the body uses from outside, and what the generic functions that it calls capture.
Once the types are known, the function keeps only those type parameters of the enclosing functions
that its body or its callees need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress

from xdsl.dialects.builtin import ArrayAttr, FunctionType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ....dialects import relay
from ....dialects.type_algebra import parts
from ....dialects.xdsl_extras.walking import walk
from ....passes.functions.captures import type_variables
from ....passes.functions.symbol_names import SymbolNames
from ..errors import RelayTextError, location_of
from ..text import syntax as ast
from . import function_rules
from .binding_scopes import is_within
from .build_context import Context, called, ssa_name
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
        given = parts(generic.type)
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
    symbol = context.names.unique(f"{enclosing.definition.name}_{ssa_name(name) or 'fn'}")
    definition = ast.Definition(function.offset, symbol, function)
    captured = _captured(context, function, itself)
    outside = {key: v for key in captured if isinstance(v := context.values[key], SSAValue)}
    locals = [
        ast.Local(value.name_hint or "captured", function.offset, None)
        for value in outside.values()
    ]
    params = (*function.params, *locals)
    types += [value.type for value in outside.values()]
    signature = Signature(
        *(definition, context.source_map, FunctionType.from_lists(types, [result]), Block()),
        *([*own.values(), *enclosing.type_params], params),
    )
    outer = context.generics.get(enclosing.definition.name)
    origin = enclosing if outer is None else outer.origin
    generic = Generic(name, signature, tuple(own.values()), origin, hint, captured)
    context.generics[definition.name] = generic

    if itself is not None:
        context.values[itself] = generic
    context.signature = signature
    function_rules.add_params(context, signature.block, params, types)
    context.values |= {k: context.values[local] for k, local in zip(captured, locals, strict=True)}
    value = function_rules.function_value(context, function, signature.block, result, itself)
    if function.result is None:
        signature.type = FunctionType.from_lists(types, [value.type])
    with context.writing(signature.block):
        context.add(ReturnOp(value), context.hints.result(function.body).offset)
    context.signature, context.type_args = enclosing, outer_args
    context.values |= outside
    return generic


def _captured(
    context: Context, function: ast.Function, itself: ast.Local | None
) -> Sequence[ast.Local | ast.Binding]:
    """Return the variables and graph bindings from outside that a function uses, in order."""
    scopes, inside = context.scopes, context.scopes.of[function.body]
    captured = list[ast.Local | ast.Binding]()
    seen: set[ast.Local | ast.Binding | None] = {itself}
    pending: list[ast.Expr | ast.Local | ast.Binding] = [function.body]
    while pending:
        match pending.pop():
            case ast.Use(_, key) | ast.Node(_, key) | (ast.Local() | ast.Binding() as key):
                if key in seen:
                    continue
                seen.add(key)
                region = scopes.home[key] if isinstance(key, ast.Local) else scopes.place[key]
                scopes.settle(region)
                value = context.values.get(key)
                if is_within(region, inside):
                    pending += [key.value] if isinstance(key, ast.Binding) else []
                elif isinstance(value, Generic):
                    pending += reversed(value.captured)
                else:
                    captured.append(key)
            case expr:
                pending += reversed(ast.inner(expr))
    return captured


def _own_params(params: Sequence[str], enclosing: Sequence[str]) -> dict[str, str]:
    """Rename type parameters that clash with those of the enclosing functions."""
    names = SymbolNames({*enclosing})
    return {param: names.unique(param) for param in params}


# ------------------------------------------------------------------------- uses


def _instance(context: Context, generic: Generic) -> tuple[FunctionType, list[Attribute]]:
    """Return the type of a generic function at fresh type arguments, and all its type arguments."""
    fresh = {name: context.types.fresh() for name in generic.own}
    return context.instantiated(generic.type, fresh), [
        fresh.get(n) or relay.TypeVarType(n) for n in generic.signature.type_params
    ]


def value(context: Context, generic: Generic, at: int) -> SSAValue:
    """Build a generic function as a value of one type; with captures, it is a closure."""
    type, type_args = _instance(context, generic)
    if generic.captured:
        block = Block(arg_types=type.inputs.data)
        for argument, param in zip(block.args, generic.signature.params, strict=False):
            argument.name_hint = ssa_name(param.name)
            context.note(argument)
        with context.writing(block):
            result = _invoke(context, generic, block.args, type, type_args, at)
            context.add(relay.YieldOp(result), at)
        made = context.value(relay.FnOp(type.inputs.data, result.type, Region(block)), at)
    else:
        op = relay.GlobalOp(generic.symbol, type, type_args)
        generic.uses.append(op)
        function_rules.defer_type_args(context, op, type_args, f"%{generic.name}")
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
    function_rules.require_args(context, type.inputs.data, args, call, f"%{generic.name}")
    return _invoke(context, generic, args, type, type_args, call.offset)


def _invoke(
    context: Context,
    generic: Generic,
    args: Sequence[SSAValue],
    type: FunctionType,
    type_args: Sequence[Attribute],
    at: int,
) -> SSAValue:
    """Build a call of a generic function, to which what it captures is passed, too."""
    captured = [context.values[key] for key in generic.captured]
    context.arguments_added += len(captured)
    if context.arguments_added > MAX_ADDED_ARGUMENTS:
        raise context.error(
            f"%{generic.name} and the functions that it calls capture {len(captured)} values, "
            f"which adds more than {MAX_ADDED_ARGUMENTS} arguments to calls of generic functions; "
            "pass some of them in a tuple",
            generic.signature.definition.offset,
        )
    values = [value for value in captured if isinstance(value, SSAValue)]
    op = relay.InvokeOp(generic.symbol, type_args, [*args, *values], type.outputs.data[0])
    generic.uses.append(op)
    function_rules.defer_type_args(context, op, type_args, f"%{generic.name}")
    return context.value(op, at)


MAX_ADDED_ARGUMENTS = 100_000
"""Maximum number of arguments added to the calls of a program (a few seconds' work)."""


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
                f"the type of {called(value)} would be {context.text(value.type)}, but the type "
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


def drop_unused_params(generics: Mapping[str, Generic]) -> None:
    """Drop type parameters of the enclosing functions that neither body nor callees need."""
    needs = {name: _needs(generic, generics) for name, generic in generics.items()}
    changed = True
    while changed:
        changed = False
        for params, callees in needs.values():
            before = len(params)
            for callee in callees:
                params |= needs[callee][0].difference(generics[callee].own)
            changed |= len(params) != before
    for name, generic in generics.items():
        params, own = generic.signature.type_params, len(generic.own)
        kept = [i < own or param in needs[name][0] for i, param in enumerate(params)]
        generic.signature.type_params = list(compress(params, kept))
        for use in generic.uses:
            use.type_args = ArrayAttr(compress(use.type_args, kept))


def _needs(generic: Generic, generics: Mapping[str, Generic]) -> tuple[set[str], set[str]]:
    """Return the type parameters in the body of a function, and the generic functions it uses."""
    types, callees = [argument.type for argument in generic.signature.block.args], set[str]()
    for op in walk(generic.signature.block):
        types += op.result_types
        types += [a.type for region in op.regions for block in region.blocks for a in block.args]
        if isinstance(op, relay.InvokeOp | relay.GlobalOp):
            callee = generics.get(op.callee.string_value())
            types += op.type_args.data[: None if callee is None else len(callee.own)]
            callees.update(() if callee is None else (callee.symbol,))
    return {name for type in types for name in type_variables(type)}, callees
