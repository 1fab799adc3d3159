"""
Functions with type parameters that a `let` or a graph binding names: closures at many types.

    def @main(%y: int32) {                          def @main_pair[A](%x: A, %y: int32) {
      let %pair = fn [A](%x: A) { (%x, %y) };         (%x, %y)
      (%pair(1), %pair(2f))                         }
    }                                         ->    def @main(%y: int32) {
                                                      (@main_pair(1, %y), @main_pair(2f, %y))
                                                    }

A closure of the IR has one type, a global function may be generic. So such a function becomes a
global one (lambda lifting, Johnsson 1985): its type parameters are its own and those of the
functions around; what it captures becomes parameters behind its own. Where it is a value and not
called it is a `relay.global`, or a closure around a call when it captures.

What is captured is found when the program has been read (`captures.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, SSAValue

from ...dialects.relay import GlobalOp, IncompleteType, InvokeOp
from ...dialects.relay.language_types import TypeVarType, substituted
from ...dialects.type_algebra import parts
from . import calls, functions
from . import syntax as ast
from .captures import type_params
from .errors import RelayTextError, location_of
from .names import ssa_name
from .program import Generic, Signature
from .writer import Value

if TYPE_CHECKING:
    from .emit import Emitter

# ------------------------------------------------------------------ definitions


def let(emitter: Emitter, statement: ast.Statement) -> Generic | None:
    """
    The generic function that a `let` names; None when what it binds is no such function.

    One whose variable is of a type without type parameters is a closure of that type.
    """
    local, function, hint = statement.local, statement.value, None
    assert local is not None
    if isinstance(function, ast.Call) and isinstance(function.callee, ast.Name):
        if function.callee.name == "on_device" and len(function.args) == 1:
            hint, function = function, function.args[0]
    generic = named(emitter, statement.value)
    if generic is not None:
        given = parts(emitter.solver.resolved(generic.signature.type))
        is_fixed = _fixes(local.type, given, generic.own)
    elif isinstance(function, ast.Function) and function.type_params:
        given = [*(param.type for param in function.params), function.result]
        is_fixed = _fixes(local.type, given, function.type_params)
        if not is_fixed:
            generic = define(emitter, function, local.name, local, hint)
    else:
        return None
    if is_fixed or generic is None:
        return None
    if local.type is not None:
        type, wanted = _instance(emitter, generic)[0], emitter.annotation(local.type)
        emitter.require(type, wanted, f"%{local.name}", local.at)
    return generic


def _fixes(
    wanted: Attribute | None, given: Sequence[Attribute | None], params: Sequence[str]
) -> bool:
    """Whether `wanted` says what a type parameter in the parts `given` of a type stands for."""
    wanted_parts = () if wanted is None else parts(wanted)
    return any(
        type.parameter.data in params
        if isinstance(type, TypeVarType)
        else type is not None and _fixes(part, parts(type), params)
        for part, type in zip(wanted_parts, given, strict=False)
        if not isinstance(part, IncompleteType)
    )


def bound(emitter: Emitter, binding: ast.Binding) -> Generic | None:
    """The generic function that a graph binding names; None when it is no such function."""
    value = binding.value
    if isinstance(value, ast.Function) and value.type_params:
        return define(emitter, value, binding.number, None, None)
    return None if value is None else named(emitter, value)


def named(emitter: Emitter, expr: ast.Expr) -> Generic | None:
    """The generic function that a name stands for."""
    value = None
    if isinstance(expr, ast.Use):
        value = emitter.meaning(expr) if isinstance(expr.local.value, Generic) else None
    elif isinstance(expr, ast.Node):
        value = emitter.result_of(expr.binding)
    return value if isinstance(value, Generic) else None


def define(
    emitter: Emitter,
    function: ast.Function,
    name: str,
    itself: ast.Local | None,
    hint: ast.Call | None,
) -> Generic:
    """Write `function` as a global one; inside, `itself` stands for it."""
    around, outer_args = emitter.signature, emitter.type_args
    assert around is not None, "what is written belongs to a function"
    own = _own_params(function.type_params, around.type_params)
    emitter.type_args = {**outer_args, **{p: TypeVarType(n) for p, n in own.items()}}
    function.type_params = [*own.values(), *around.type_params]
    types = [emitter.annotation(p.type) for p in function.params]
    result = emitter.annotation(function.result)
    definition = ast.Definition(function.at, _symbol(emitter, around, name), function)
    type = FunctionType.from_lists(types, [result])
    signature = Signature(definition, emitter.places, type, Block())
    outer = emitter.generics.get(around.definition.name)
    origin = around if outer is None else outer.origin
    generic = Generic(name, signature, tuple(own.values()), origin, hint)
    emitter.generics[definition.name] = generic

    if itself is not None:
        itself.value = generic
    emitter.signature = signature
    value = functions.body_value(emitter, function, signature.block, types, result, itself)
    with emitter.writing(signature.block):
        emitter.add(ReturnOp(value), function.body.result.at)
    emitter.signature, emitter.type_args = around, outer_args
    return generic


def _own_params(params: Sequence[str], around: Sequence[str]) -> dict[str, str]:
    """Names for type parameters that are not those of the functions around."""
    taken = set(around)
    own: dict[str, str] = {}
    for param in params:
        numbered = (f"{param}_{i}" for i in count(1))
        own[param] = param if param not in taken else next(n for n in numbered if n not in taken)
        taken.add(own[param])
    return own


def _symbol(emitter: Emitter, around: Signature, name: str) -> str:
    """A name for the global function that is no other's."""
    program = emitter.program
    first = f"{around.definition.name}_{ssa_name(name) or 'fn'}"
    numbered = (f"{first}_{i}" for i in count(max(1, len(emitter.generics))))
    return next(
        symbol
        for symbol in chain((first,), numbered)
        if symbol not in program.functions
        and symbol not in program.types
        and symbol not in emitter.generics
    )


# ------------------------------------------------------------------------- uses


def _instance(emitter: Emitter, generic: Generic) -> tuple[FunctionType, list[Attribute]]:
    """The type of a generic function at fresh arguments for its own parameters, and all of them."""
    fresh = {name: emitter.solver.fresh() for name in generic.own}
    emitter.solver.run_ready()
    type = substituted(emitter.solver.resolved(generic.signature.type), fresh)
    assert isinstance(type, FunctionType)
    return type, [fresh.get(n) or TypeVarType(n) for n in generic.signature.type_params]


def value(emitter: Emitter, generic: Generic, at: int) -> Value:
    """A generic function as a value, at one type."""
    type, args = _instance(emitter, generic)
    op = GlobalOp(generic.symbol, type, args)
    generic.uses.append(op)
    functions.complete_later(emitter, op, args, f"%{generic.name}")
    made = emitter.value(op, at)
    return made if generic.hint is None else calls.on_device(emitter, generic.hint, [made])


def call(emitter: Emitter, generic: Generic, call: ast.Call) -> SSAValue:
    """Call a generic function."""
    if generic.hint is not None:
        callee = emitter.ssa(value(emitter, generic, call.callee.at))
        args = [emitter.emit_ssa(arg) for arg in call.args]
        return functions.call_value(emitter, callee, args, call)
    args = [emitter.emit_ssa(arg) for arg in call.args]
    type, type_args = _instance(emitter, generic)
    functions.require_args(emitter, type, args, call, f"%{generic.name}")
    op = InvokeOp(generic.symbol, type_args, args, type.outputs.data[0])
    generic.uses.append(op)
    functions.complete_later(emitter, op, type_args, f"%{generic.name}")
    return emitter.value(op, call.at)


# ------------------------------------------------------------------- the program


def publish(emitter: Emitter) -> None:
    """Put each function that was made before the one it stands in, as if it were written there."""
    program = emitter.program
    made: dict[Signature, list[Generic]] = {}
    for generic in emitter.generics.values():
        made.setdefault(generic.origin, []).append(generic)
    functions: dict[str, Signature] = {}
    for name, signature in program.functions.items():
        functions.update((g.symbol, g.signature) for g in made.get(signature, ()))
        functions[name] = signature
    program.functions = functions


def check_scopes(emitter: Emitter) -> None:
    """No value may have a type that only means something inside of a generic function."""
    signatures = emitter.program.functions.values()
    if not any(s.type_params for s in signatures):
        return
    known = {signature.block: set(signature.type_params) for signature in signatures}
    for value in emitter.open_values:
        params = set(type_params(value.type))
        body = _body_of(value)
        wrong = params - known.get(body, params) if body is not None else params
        if wrong:
            raise RelayTextError(
                f"the type of {_called(value)} would be {emitter.text(value.type)}, but "
                f"{min(wrong)} is a type parameter of a function that this is not in "
                "(is a result type missing there?)",
                location_of(value),
            )


def _body_of(value: SSAValue) -> Block | None:
    """The block of the body of the function that `value` is in."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    while block is not None and (op := block.parent_op()) is not None:
        block = op.parent
    return block


def _called(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "this"
