"""Calls: of operators, constructors, global functions and closures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Block, OpResult, Region, SSAValue, SSAValues
from xdsl.utils.exceptions import VerifyException

from ...dialects.attributes import properties_of
from ...dialects.interfaces import InferTypes
from ...dialects.relay import BY_NAME, FnOp
from ...dialects.relay.control import YieldOp
from ...dialects.relay.operator import Operator
from ...dialects.tensors import Tensor, as_tensor
from . import functions, generics, matches
from . import syntax as ast
from .kernel_calls import KERNEL_CALLS
from .operators import (
    AttributeProblem,
    Values,
    converted,
    gives_tuple,
    is_variadic,
    operand_count,
    rule_of,
)
from .special import SPECIAL, on_device
from .unregistered import opaque_call
from .writer import Several, Value

if TYPE_CHECKING:
    from .emit import Emitter

__all__ = ["call", "fixed_hint", "known_operators", "name_value", "on_device"]


def known_operators() -> list[str]:
    """The names of all operators that the text can use."""
    return [*BY_NAME, *SPECIAL, *KERNEL_CALLS]


def call(emitter: Emitter, expr: ast.Call) -> Value:
    """
    The value of a call.

    Calls that are each other's first argument, as infix operators make them, are no recursion.
    """
    spine = [expr]
    while True:
        first = spine[-1].args[0] if spine[-1].args else None
        callee = spine[-1].callee
        if not isinstance(first, ast.Call) or not isinstance(callee, ast.Name):
            break
        if callee.name in KERNEL_CALLS:
            break
        spine.append(first)
    value: Value | None = None
    while spine:
        each = spine.pop()
        value = _call(emitter, each, value)
    assert value is not None
    return value


def _call(emitter: Emitter, expr: ast.Call, first: Value | None) -> Value:
    """The value of a call whose first argument has the value `first`, if it is known."""
    callee = expr.callee
    emit = emitter.emit
    if isinstance(callee, ast.Name):
        kernel_call = KERNEL_CALLS.get(callee.name)
        if kernel_call is not None:
            return kernel_call(emitter, expr)
        if first is None:
            args = [emit(arg) for arg in expr.args]
        else:
            args = [first, *(emit(arg) for arg in expr.args[1:])]
        name = callee.name
        if name in emitter.program.constructors:
            _refuse_attributes(emitter, expr)
            return matches.construct(emitter, name, [emitter.ssa(a) for a in args], expr)
        special = SPECIAL.get(name)
        if special is not None:
            return special(emitter, expr, args)
        if name in BY_NAME:
            return operator(emitter, name, args, expr.attrs, expr.at)
        if emitter.ctx.allow_unregistered:
            return opaque_call(emitter, name, [emitter.ssa(a) for a in args], expr)
        raise emitter.unknown_name(name, expr.at)
    _refuse_attributes(emitter, expr)
    if isinstance(callee, ast.Global):
        args = [emitter.emit_ssa(arg) for arg in expr.args]
        return functions.call_global(emitter, callee, args, expr)
    generic = generics.named(emitter, callee)
    if generic is not None:
        return generics.call(emitter, generic, expr)
    function = emitter.emit_ssa(callee)
    return functions.call_value(emitter, function, [emitter.emit_ssa(a) for a in expr.args], expr)


def _refuse_attributes(emitter: Emitter, expr: ast.Call) -> None:
    for name in expr.attrs:
        if name != "attrs_type_key":
            raise emitter.error(f"only calls of operators have attributes, such as {name}", expr.at)


# ------------------------------------------------------------------- operators


def operator(
    emitter: Emitter, name: str, args: Sequence[Value], attrs: Mapping[str, Any], at: int
) -> Value:
    """The value of operator `name` on `args`; several results are a tuple."""
    cls, properties, dropped = _prepared(emitter, name, attrs, at)
    count = operand_count(name)
    if len(args) != (1 if count is None else count):
        wanted = "one tuple" if count is None else f"{count} argument{'' if count == 1 else 's'}"
        raise emitter.error(f"{name} takes {wanted}, but {len(args)} are given", at, len(name))

    def build(operands: Sequence[SSAValue]) -> Value:
        return _write(emitter, name, cls, operands, properties, dropped, at)

    if count is None:
        return _on_tuple(emitter, name, args[0], build, at)
    operands = [a if isinstance(a, SSAValue) else emitter.ssa(a) for a in args]
    for operand in operands:
        if operand.type.__class__ is not TensorType:
            return emitter.when_known(operands, lambda: build(operands), at)
    return build(operands)


def _on_tuple(
    emitter: Emitter,
    name: str,
    arg: Value,
    build: Callable[[Sequence[SSAValue]], Value],
    at: int,
) -> Value:
    """An operator on the fields of one tuple."""
    if isinstance(arg, Several):
        values = arg.values
        return emitter.when_known(values, lambda: build(values), at)

    def take_apart() -> Value:
        type = arg.type
        if not isinstance(type, TupleType):
            given = emitter.text(type)
            raise emitter.error(f"{name} takes a tuple, but this is of type {given}", at)
        fields = [emitter.projected(arg, i, at) for i in range(len(type.types))]
        return build([emitter.ssa(f) for f in fields])

    return emitter.when_known([arg], take_apart, at)


def _prepared(
    emitter: Emitter, name: str, attrs: Mapping[str, Any], at: int
) -> tuple[type[Operator], dict[str, Attribute], Values]:
    """The class of operator `name`, its properties, and the attributes that are only checked."""
    key = (name, *attrs.items())
    try:
        known = emitter.prepared.get(key)
    except TypeError:  # an attribute that is not hashable
        known = None
    if known is not None:
        return known
    cls = BY_NAME[name]
    try:
        values, dropped = converted(name, attrs)
        properties = properties_of(cls, values)
        wanted = [n for n, d in cls.get_irdl_definition().properties.items() if _must_be_given(d)]
        missing = next((n for n in wanted if n not in properties), None)
        if missing is not None:
            raise AttributeProblem(f"{missing} must be given")
    except (VerifyException, AttributeProblem) as error:
        text = str(error).replace(f"of relay.{name}", f"of {name}").replace("relay.", "")
        raise emitter.error(f"{name}: {text}", at, len(name)) from None
    made = cls, properties, dropped
    emitter.prepared[key] = made
    return made


def _must_be_given(definition: Any) -> bool:
    from xdsl.irdl import OptPropertyDef

    return not isinstance(definition, OptPropertyDef) and definition.default_value is None


def _write(
    emitter: Emitter,
    name: str,
    cls: type[Operator],
    operands: Sequence[SSAValue],
    properties: dict[str, Attribute],
    dropped: Values,
    at: int,
) -> Value:
    op = cls.create(operands=operands, properties=properties)
    try:
        if dropped:
            _check(name, dropped, operands)
        infer = op.get_trait(InferTypes)
        assert infer is not None, f"{name} has a type rule"
        types = infer.rule(op)
    except (VerifyException, AttributeProblem) as error:
        text = str(error).replace("relay.", "")
        raise emitter.error(f"{name}: {text}", at, len(name)) from None
    op.results = SSAValues(OpResult(type, op, i) for i, type in enumerate(types))
    emitter.add(op, at)
    results = op.results
    return emitter.several(results, at, results=True) if gives_tuple(name) else results[0]


def _check(name: str, dropped: Values, operands: Sequence[SSAValue]) -> None:
    check = rule_of(name).check
    tensors: list[Tensor] = []
    for operand in operands:
        tensor = as_tensor(operand.type)
        if tensor is None:
            return  # the type rule says so
        tensors.append(tensor)
    if check is not None:
        check(dropped, tensors)


def fixed_hint(expr: ast.Expr) -> ast.Expr:
    """
    `expr` with the `on_device` that it is constraining its result too.

    That is what TVM's planner makes of one that a `let` binds or that is a function's body; it
    takes the field of a hinted tuple for a hinted field. A hint that other expressions share
    stays as it is.
    """
    if isinstance(expr, ast.Node) and len(expr.binding.uses) == 1:
        assert expr.binding.value is not None
        expr.binding.value = fixed_hint(expr.binding.value)
    elif isinstance(expr, ast.Body) and not ast.has_lets(expr):
        expr.result = fixed_hint(expr.result)
    elif isinstance(expr, ast.Projection):
        hint = _taken_hint(expr)
        if hint is not None:
            hint.args = [expr]
            return fixed_hint(hint)
    elif _is_hint(expr):
        expr.attrs = {**expr.attrs, "constrain_result": True}
    return expr


def _is_hint(expr: ast.Expr | None) -> TypeGuard[ast.Call]:
    return (
        isinstance(expr, ast.Call)
        and isinstance(expr.callee, ast.Name)
        and expr.callee.name == "on_device"
        and bool(expr.attrs.get("constrain_body", True))
    )


def _taken_hint(projection: ast.Projection) -> ast.Call | None:
    """The hint on the tuple of which this is a field, taken off it; None when it must stay."""
    while True:
        inner, binding = projection.tuple, None
        if isinstance(inner, ast.Node):
            binding = inner.binding
            if len(binding.uses) != 1 or binding.value is None:
                return None
            inner = binding.value
        if isinstance(inner, ast.Projection):
            projection = inner
            continue
        if not _is_hint(inner) or inner.attrs.get("constrain_result") or len(inner.args) != 1:
            return None
        if binding is None:
            projection.tuple = inner.args[0]
        else:
            binding.value = inner.args[0]
        return inner


# ---------------------------------------------------------- operators as values


def name_value(emitter: Emitter, expr: ast.Name) -> Value:
    """A constructor or an operator as a value: a closure around a call of it."""
    name = expr.name
    made = emitter.program.constructors.get(name)
    if made is not None:
        count = len(made.fields)
        if not count:
            return matches.construct(emitter, name, [], _bare_call(expr))
    elif name in BY_NAME and not is_variadic(name):
        count = operand_count(name) or 0
    else:
        if name in BY_NAME or name in SPECIAL or name in KERNEL_CALLS:
            raise emitter.error(f"{name} can only be called", expr.at, len(name))
        raise emitter.unknown_name(name, expr.at)
    types = [emitter.solver.fresh() for _ in range(count)]
    block = Block()
    for type in types:
        emitter.note(block.insert_arg(type, len(block.args)))
    with emitter.writing(block):
        args = list(block.args)
        if made is not None:
            value = matches.construct(emitter, name, args, _bare_call(expr))
        else:
            value = emitter.ssa(operator(emitter, name, args, {}, expr.at))
        emitter.add(YieldOp(value), expr.at)
    return emitter.value(FnOp(types, value.type, Region(block)), expr.at)


def _bare_call(expr: ast.Name) -> ast.Call:
    return ast.Call(expr.at, expr, [], {}, expr.at + len(expr.name))
