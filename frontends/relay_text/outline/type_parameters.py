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
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, SSAValue

from ....dialects.relay import GlobalOp, IncompleteType, InvokeOp
from ....dialects.relay.language.language_types import TypeVarType, substituted
from ....dialects.type_algebra import parts
from ..build import relay_functions
from ..build.composite_operators import on_device
from ..build.definitions_of_program import Generic, Signature
from ..build.ir_builder import Value, ssa_name
from ..errors import RelayTextError, location_of
from ..text import syntax as ast
from .lift_generics import type_params

if TYPE_CHECKING:
    from ..build.module_builder import ModuleBuilder

# ------------------------------------------------------------------ definitions


def let(builder: ModuleBuilder, statement: ast.Statement) -> Generic | None:
    """
    Return the generic function that a `let` names; None if it binds anything else.

    If the variable has a type without type parameters, the function is a closure of that type.
    """
    local, function, hint = statement.local, statement.value, None
    assert local is not None
    if isinstance(function, ast.Call) and isinstance(function.callee, ast.Name):
        if function.callee.name == "on_device" and len(function.args) == 1:
            hint, function = function, function.args[0]
    generic = named(builder, statement.value)
    if generic is not None:
        given = parts(builder.solver.resolved(generic.signature.type))
        is_fixed = _fixes(local.type, given, generic.own)
    elif isinstance(function, ast.Function) and function.type_params:
        given = [*(param.type for param in function.params), function.result]
        is_fixed = _fixes(local.type, given, function.type_params)
        if not is_fixed:
            generic = define(builder, function, local.name, local, hint)
    else:
        return None
    if is_fixed or generic is None:
        return None
    if local.type is not None:
        type, wanted = _instance(builder, generic)[0], builder.annotation(local.type)
        builder.require(type, wanted, f"%{local.name}", local.offset)
    return generic


def _fixes(
    wanted: Attribute | None, given: Sequence[Attribute | None], params: Sequence[str]
) -> bool:
    """Return whether `wanted` fixes one of the type parameters in the parts `given` of a type."""
    wanted_parts = () if wanted is None else parts(wanted)
    return any(
        type.parameter.data in params
        if isinstance(type, TypeVarType)
        else type is not None and _fixes(part, parts(type), params)
        for part, type in zip(wanted_parts, given, strict=False)
        if not isinstance(part, IncompleteType)
    )


def bound(builder: ModuleBuilder, binding: ast.Binding) -> Generic | None:
    """Return the generic function that a graph binding names; None if it binds anything else."""
    value = binding.value
    if isinstance(value, ast.Function) and value.type_params:
        return define(builder, value, binding.number, None, None)
    return None if value is None else named(builder, value)


def named(builder: ModuleBuilder, expr: ast.Expr) -> Generic | None:
    """Return the generic function that an expression names, or None."""
    value = None
    if isinstance(expr, ast.Use):
        value = builder.lookup(expr) if isinstance(expr.local.value, Generic) else None
    elif isinstance(expr, ast.Node):
        value = builder.result_of(expr.binding)
    return value if isinstance(value, Generic) else None


def define(
    builder: ModuleBuilder,
    function: ast.Function,
    name: str,
    itself: ast.Local | None,
    hint: ast.Call | None,
) -> Generic:
    """Build `function` as a global function; inside, `itself` is bound to it."""
    enclosing, outer_args = builder.signature, builder.type_args
    assert enclosing is not None, "a generic function is inside a global function"
    own = _own_params(function.type_params, enclosing.type_params)
    builder.type_args = {**outer_args, **{p: TypeVarType(n) for p, n in own.items()}}
    function.type_params = [*own.values(), *enclosing.type_params]
    types = [builder.annotation(p.type) for p in function.params]
    result = builder.annotation(function.result)
    definition = ast.Definition(function.offset, _symbol(builder, enclosing, name), function)
    type = FunctionType.from_lists(types, [result])
    signature = Signature(definition, builder.source_map, type, Block())
    outer = builder.generics.get(enclosing.definition.name)
    origin = enclosing if outer is None else outer.origin
    generic = Generic(name, signature, tuple(own.values()), origin, hint)
    builder.generics[definition.name] = generic

    if itself is not None:
        itself.value = generic
    builder.signature = signature
    value = relay_functions.body_value(builder, function, signature.block, types, result, itself)
    with builder.writing(signature.block):
        builder.add(ReturnOp(value), function.body.result.offset)
    builder.signature, builder.type_args = enclosing, outer_args
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


def _symbol(builder: ModuleBuilder, enclosing: Signature, name: str) -> str:
    """Return an unused name for the global function."""
    program = builder.program
    first = f"{enclosing.definition.name}_{ssa_name(name) or 'fn'}"
    numbered = (f"{first}_{i}" for i in count(max(1, len(builder.generics))))
    return next(
        symbol
        for symbol in chain((first,), numbered)
        if symbol not in program.functions
        and symbol not in program.types
        and symbol not in builder.generics
    )


# ------------------------------------------------------------------------- uses


def _instance(builder: ModuleBuilder, generic: Generic) -> tuple[FunctionType, list[Attribute]]:
    """Return the type of a generic function at fresh type arguments, and all its type arguments."""
    fresh = {name: builder.solver.fresh() for name in generic.own}
    builder.solver.run_ready()
    type = substituted(builder.solver.resolved(generic.signature.type), fresh)
    assert isinstance(type, FunctionType)
    return type, [fresh.get(n) or TypeVarType(n) for n in generic.signature.type_params]


def value(builder: ModuleBuilder, generic: Generic, at: int) -> Value:
    """Build a generic function as a value of one type."""
    type, args = _instance(builder, generic)
    op = GlobalOp(generic.symbol, type, args)
    generic.uses.append(op)
    relay_functions.defer_type_args(builder, op, args, f"%{generic.name}")
    made = builder.value(op, at)
    return made if generic.hint is None else on_device(builder, generic.hint, [made])


def call(builder: ModuleBuilder, generic: Generic, call: ast.Call) -> SSAValue:
    """Call a generic function."""
    if generic.hint is not None:
        callee = builder.ssa(value(builder, generic, call.callee.offset))
        args = [builder.emit_ssa(arg) for arg in call.args]
        return relay_functions.call_value(builder, callee, args, call)
    args = [builder.emit_ssa(arg) for arg in call.args]
    type, type_args = _instance(builder, generic)
    relay_functions.require_args(builder, type, args, call, f"%{generic.name}")
    op = InvokeOp(generic.symbol, type_args, args, type.outputs.data[0])
    generic.uses.append(op)
    relay_functions.defer_type_args(builder, op, type_args, f"%{generic.name}")
    return builder.value(op, call.offset)


# ------------------------------------------------------------------- the program


def publish(builder: ModuleBuilder) -> None:
    """Insert each lifted function before the function that contained it."""
    program = builder.program
    made: dict[Signature, list[Generic]] = {}
    for generic in builder.generics.values():
        made.setdefault(generic.origin, []).append(generic)
    functions: dict[str, Signature] = {}
    for name, signature in program.functions.items():
        functions.update((g.symbol, g.signature) for g in made.get(signature, ()))
        functions[name] = signature
    program.functions = functions


def check_scopes(builder: ModuleBuilder) -> None:
    """Reject values whose types use a type parameter out of its scope."""
    signatures = builder.program.functions.values()
    if not any(s.type_params for s in signatures):
        return
    known = {signature.block: set(signature.type_params) for signature in signatures}
    for value in builder.open_values:
        params = set(type_params(value.type))
        body = _body_of(value)
        wrong = params - known.get(body, params) if body is not None else params
        if wrong:
            raise RelayTextError(
                f"the type of {_called(value)} would be {builder.text(value.type)}, but the type "
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
