"""Calls of operators, constructors, global functions and closures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, OpResult, Region, SSAValue, SSAValues
from xdsl.irdl import VarResultDef
from xdsl.utils.exceptions import VerifyException

from ....dialects.attributes import properties_of
from ....dialects.interfaces import InferTypes
from ....dialects.relay import BY_NAME, FnOp
from ....dialects.relay.language.annotations import ATTRS
from ....dialects.relay.language.control import YieldOp
from ....dialects.relay.language.tuples import TupleOp
from ....dialects.relay.operator import Operator
from ....dialects.tensors import Tensor, as_tensor
from ..infer.weight_types import Weights, has_weights
from ..outline import type_parameters
from ..text import syntax as ast
from ..text.type_grammar import HOLE
from ..tvm_operators import (
    InvalidAttribute,
    Values,
    convert_attributes,
    is_variadic,
    operand_count,
    returns_tuple,
    rule_of,
)
from . import matches, relay_functions
from .calls_of_kernels import KERNEL_CALLS
from .composite_operators import COMPOSITES
from .ir_builder import TupleValue, Value
from .opaque_calls import opaque_call

if TYPE_CHECKING:
    from .module_builder import ModuleBuilder


def known_operators() -> list[str]:
    """Return the names of all operators that the text can use."""
    return [*BY_NAME, *COMPOSITES, *KERNEL_CALLS]


def call(builder: ModuleBuilder, expr: ast.Call) -> Value:
    """
    Build a call.

    Calls that are each other's first argument, as infix operators make them, cause no recursion.
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
        value = _call(builder, each, value)
    assert value is not None
    return value


def _call(builder: ModuleBuilder, expr: ast.Call, first: Value | None) -> Value:
    """Build a call; `first` is the value of its first argument, if already built."""
    callee = expr.callee
    emit = builder.emit
    if isinstance(callee, ast.Name):
        kernel_call = KERNEL_CALLS.get(callee.name)
        if kernel_call is not None:
            return kernel_call(builder, expr)
        if first is None:
            args = [emit(arg) for arg in expr.args]
        else:
            args = [first, *(emit(arg) for arg in expr.args[1:])]
        name = callee.name
        if name in builder.program.constructors:
            _refuse_attributes(builder, expr)
            return matches.construct(builder, name, [builder.ssa(a) for a in args], expr)
        if has_weights(name):
            _note_weights(builder, name, args, expr.attrs)
        special = COMPOSITES.get(name)
        if special is not None:
            return special(builder, expr, args)
        if name in BY_NAME:
            return operator(builder, name, args, expr.attrs, expr.offset)
        if builder.ctx.allow_unregistered:
            return opaque_call(builder, name, [builder.ssa(a) for a in args], expr)
        raise builder.unknown_name(name, expr.offset)
    value = _call_function(builder, callee, expr)
    attrs = relay_functions.attributes_of(builder, expr.attrs, expr.offset)
    if attrs is not None:
        assert isinstance(value, OpResult)
        value.op.attributes[ATTRS] = attrs
    return value


def _call_function(builder: ModuleBuilder, callee: ast.Expr, expr: ast.Call) -> SSAValue:
    if isinstance(callee, ast.Global):
        args = [builder.emit_ssa(arg) for arg in expr.args]
        return relay_functions.call_global(builder, callee, args, expr)
    generic = type_parameters.named(builder, callee)
    if generic is not None:
        return type_parameters.call(builder, generic, expr)
    function = builder.emit_ssa(callee)
    return relay_functions.call_value(
        builder, function, [builder.emit_ssa(a) for a in expr.args], expr
    )


def _note_weights(
    builder: ModuleBuilder, name: str, args: Sequence[Value], attrs: Mapping[str, Any]
) -> None:
    """Note the weights of a call, if their types are not known yet."""
    values = [arg for arg in args if isinstance(arg, SSAValue)]
    if len(values) == len(args) > 1 and any(type(v.type) is not TensorType for v in values[1:]):
        builder.weights.append(Weights(name, values[0], values[1:], attrs))


def _refuse_attributes(builder: ModuleBuilder, expr: ast.Call) -> None:
    for name in expr.attrs:
        raise builder.error(f"unexpected attribute {name}: a constructor has none", expr.offset)


# ------------------------------------------------------------------- operators


def operator(
    builder: ModuleBuilder, name: str, args: Sequence[Value], attrs: Mapping[str, Any], at: int
) -> Value:
    """Build operator `name` on `args`; several results become a tuple."""
    cls, properties, dropped = _prepare(builder, name, attrs, at)
    count = operand_count(name)
    if len(args) != (1 if count is None else count):
        wanted = "one tuple" if count is None else f"{count} argument{'' if count == 1 else 's'}"
        raise builder.error(f"{name} expects {wanted}, but got {len(args)}", at, len(name))

    def build(operands: Sequence[SSAValue]) -> Value:
        return _infer_and_add(builder, name, cls, operands, properties, dropped, at)

    if count is None:
        return _on_tuple(builder, name, args[0], build, at)
    operands = [a if isinstance(a, SSAValue) else builder.ssa(a) for a in args]
    for operand in operands:
        if operand.type.__class__ is not TensorType:
            return builder.defer_until_known(operands, lambda: build(operands), at)
    return build(operands)


def _on_tuple(
    builder: ModuleBuilder,
    name: str,
    arg: Value,
    build: Callable[[Sequence[SSAValue]], Value],
    at: int,
) -> Value:
    """Build an operator on the fields of one tuple."""
    if isinstance(arg, TupleValue):
        values = arg.values
        return builder.defer_until_known(values, lambda: build(values), at)

    def take_apart() -> Value:
        type = arg.type
        if not isinstance(type, TupleType):
            given = builder.text(type)
            raise builder.error(f"{name} expects a tuple, but got a value of type {given}", at)
        fields = [builder.project_value(arg, i, at) for i in range(len(type.types))]
        return build([builder.ssa(f) for f in fields])

    return builder.defer_until_known([arg], take_apart, at)


def _prepare(
    builder: ModuleBuilder, name: str, attrs: Mapping[str, Any], at: int
) -> tuple[type[Operator], dict[str, Attribute], Values]:
    """
    Return the class of operator `name`, its properties, and the attributes that are only checked.
    """
    key = (name, *attrs.items())
    try:
        known = builder.prepared.get(key)
    except TypeError:  # an attribute that is not hashable
        known = None
    if known is not None:
        return known
    cls = BY_NAME[name]
    try:
        values, dropped = convert_attributes(name, attrs)
        properties = properties_of(cls, values)
        wanted = [n for n, d in cls.get_irdl_definition().properties.items() if _must_be_given(d)]
        missing = next((n for n in wanted if n not in properties), None)
        if missing is not None:
            raise InvalidAttribute(f"{missing} is required")
    except (VerifyException, InvalidAttribute) as error:
        text = str(error).replace(f"of relay.{name}", f"of {name}").replace("relay.", "")
        raise builder.error(f"{name}: {text}", at, len(name)) from None
    made = cls, properties, dropped
    builder.prepared[key] = made
    return made


def _must_be_given(definition: Any) -> bool:
    from xdsl.irdl import OptPropertyDef

    return not isinstance(definition, OptPropertyDef) and definition.default_value is None


def _infer_and_add(
    builder: ModuleBuilder,
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
            _verify_redundant(name, dropped, operands)
        infer = op.get_trait(InferTypes)
        assert infer is not None, f"{name} has a type rule"
        types = infer.rule(op)
    except (VerifyException, InvalidAttribute) as error:
        text = str(error).replace("relay.", "")
        raise builder.error(f"{name}: {text}", at, len(name)) from None
    op.results = SSAValues(OpResult(type, op, i) for i, type in enumerate(types))
    builder.add(op, at)
    results = op.results
    if returns_tuple(name, len(results)):
        return builder.tuple_value(results, at, from_operator=True)
    return results[0]


def _verify_redundant(name: str, dropped: Values, operands: Sequence[SSAValue]) -> None:
    verify = rule_of(name).verify
    tensors: list[Tensor] = []
    for operand in operands:
        tensor = as_tensor(operand.type)
        if tensor is None:
            return  # the type rule reports it
        tensors.append(tensor)
    if verify is not None:
        verify(dropped, tensors)


def fix_hint(expr: ast.Expr) -> ast.Expr:
    """
    Make the `on_device` that `expr` is constrain its result too, and return the new `expr`.

    TVM's planner does so for a hint that is bound by a `let` or is the body of a function, and it
    treats a field of a hinted tuple as a hinted field. A hint that other expressions share stays as
    it is.
    """
    if isinstance(expr, ast.Node) and len(expr.binding.uses) == 1:
        assert expr.binding.value is not None
        expr.binding.value = fix_hint(expr.binding.value)
    elif isinstance(expr, ast.Body) and not ast.has_lets(expr):
        expr.result = fix_hint(expr.result)
    elif isinstance(expr, ast.Projection):
        hint = _detach_hint(expr)
        if hint is not None:
            hint.args = [expr]
            return fix_hint(hint)
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


def _detach_hint(projection: ast.Projection) -> ast.Call | None:
    """Detach the hint from the tuple that `projection` reads; None when it must stay."""
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


def operator_program(builder: ModuleBuilder, expr: ast.Name) -> FuncOp:
    """
    Build the `@main` of a program that is one operator, whose operands are the parameters.

    Their types, and those of the results, remain to be inferred.
    """
    cls, properties, _ = _prepare(builder, expr.name, {}, expr.offset)
    definition = cls.get_irdl_definition()
    is_fixed = not any(isinstance(d, VarResultDef) for _, d in definition.results)
    if is_variadic(expr.name) or not is_fixed:
        raise _only_called(builder, expr)
    block = Block()
    for name, _ in definition.operands:
        block.insert_arg(HOLE, len(block.args)).name_hint = name
    results = [HOLE] * len(definition.results)
    op = cls.create(operands=block.args, properties=properties, result_types=results)
    with builder.writing(block):
        builder.add(op, expr.offset)
        value = op.results[0]
        if returns_tuple(expr.name, len(results)):
            value = builder.value(TupleOp(op.results), expr.offset)
        builder.add(ReturnOp(value), expr.offset)
    function = FuncOp("main", ([HOLE] * len(block.args), [value.type]), Region(block))
    function.location = builder.source_map.location(expr.offset)
    return function


def _only_called(builder: ModuleBuilder, expr: ast.Name) -> Exception:
    text = f"{expr.name} can only be called, not used as a value"
    return builder.error(text, expr.offset, len(expr.name))


def name_value(builder: ModuleBuilder, expr: ast.Name) -> Value:
    """Build a constructor or an operator as a value: a closure around a call of it."""
    name = expr.name
    made = builder.program.constructors.get(name)
    if made is not None:
        count = len(made.fields)
        if not count:
            return matches.construct(builder, name, [], _bare_call(expr))
    elif name in BY_NAME and not is_variadic(name):
        count = operand_count(name) or 0
    else:
        if name in BY_NAME or name in COMPOSITES or name in KERNEL_CALLS:
            raise _only_called(builder, expr)
        raise builder.unknown_name(name, expr.offset)
    types = [builder.solver.fresh() for _ in range(count)]
    block = Block()
    for type in types:
        builder.note(block.insert_arg(type, len(block.args)))
    with builder.writing(block):
        args = list(block.args)
        if made is not None:
            value = matches.construct(builder, name, args, _bare_call(expr))
        else:
            value = builder.ssa(operator(builder, name, args, {}, expr.offset))
        builder.add(YieldOp(value), expr.offset)
    return builder.value(FnOp(types, value.type, Region(block)), expr.offset)


def _bare_call(expr: ast.Name) -> ast.Call:
    return ast.Call(expr.offset, expr, [], {}, expr.offset + len(expr.name))
