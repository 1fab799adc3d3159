"""
Operators of the dialect, by TVM's names and attributes, on operands of known types.

    nn.conv2d(%x, %w, groups=4)    ->    relay.nn.conv2d %x, %w {groups = 4 : i64}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, OpResult, SSAValue, SSAValues
from xdsl.irdl import OptPropertyDef
from xdsl.utils.exceptions import VerifyException

from .....dialects.attributes import properties_of
from .....dialects.interfaces import InferTypes
from .....dialects.relay.operator import Operator
from .....dialects.tensors import Tensor, as_tensor
from ...text import syntax as ast
from ...tvm_operators import (
    BY_NAME,
    InvalidAttribute,
    Values,
    convert_attributes,
    is_variadic,
    operand_count,
    returns_tuple,
    verify_repeated,
)
from ..build_context import Context
from ..deferred import when_known
from ..tuple_rules import project


def call_operator(context: Context, call: ast.Call, args: Sequence[SSAValue]) -> SSAValue:
    """Build a call of an operator of the dialect, as soon as the types of `args` are known."""
    assert isinstance(call.callee, ast.Name)
    name, count = call.callee.name, operand_count(call.callee.name)
    prepare(context, name, call.attrs, call.offset)
    if len(args) != count:
        wanted = f"{count} argument{'' if count == 1 else 's'}"
        wanted = "one tuple" if count == 1 and is_variadic(name) else wanted
        raise context.error(f"{name} expects {wanted}, but got {len(args)}", call.offset, len(name))
    return when_known(context, _on_known, call, args)


def _on_known(context: Context, call: ast.Call, args: Sequence[SSAValue]) -> SSAValue:
    assert isinstance(call.callee, ast.Name)
    return operator(context, call.callee.name, args, call.attrs, call.offset)


def operator(
    context: Context, name: str, args: Sequence[SSAValue], attrs: Mapping[str, Any], at: int
) -> SSAValue:
    """Build operator `name` on `args`, whose types are known; several results become a tuple."""
    cls, properties, dropped = prepare(context, name, attrs, at)
    operands = args
    if is_variadic(name) and len(args) == operand_count(name):
        operands = [part for arg in args for part in _parts(context, name, arg, at)]
    op = cls.create(operands=operands, properties=properties)
    try:
        if dropped:
            _verify_redundant(name, dropped, operands)
        infer = op.get_trait(InferTypes)
        assert infer is not None, f"{name} has a type rule"
        types = infer.rule(op)
    except (VerifyException, InvalidAttribute) as error:
        raise _wrong_call(context, name, error, at) from None
    op.results = SSAValues(OpResult(type, op, i) for i, type in enumerate(types))
    context.add(op, at)
    if returns_tuple(name, len(op.results)):
        return context.packed(op.results, at, from_operator=True)
    return op.results[0]


def _wrong_call(context: Context, name: str, error: Exception, at: int) -> Exception:
    """Return `error` about a call of operator `name`, which it begins with."""
    text = str(error).replace("relay.", "")
    return context.error(text if text.startswith(f"{name} ") else f"{name}: {text}", at, len(name))


def _parts(context: Context, name: str, arg: SSAValue, at: int) -> Sequence[SSAValue]:
    """Return the fields of a tuple, and a tensor as it is, if not all operands are tuples."""
    if operand_count(name) > 1 and as_tensor(arg.type) is not None:
        return [arg]
    return fields_of(context, name, arg, at)


def fields_of(context: Context, name: str, arg: SSAValue, at: int) -> Sequence[SSAValue]:
    """Return the fields of the one tuple that a variadic operator takes."""
    known, type = context.fields(arg), arg.type
    if known is not None:
        return known
    if not isinstance(type, TupleType):
        given = context.text(type)
        raise context.error(f"{name} expects a tuple, but got a value of type {given}", at)
    return [project(context, arg, i, at) for i in range(len(type.types))]


def prepare(
    context: Context, name: str, attrs: Mapping[str, Any], at: int
) -> tuple[type[Operator], dict[str, Attribute], Values]:
    """
    Return the class of operator `name`, its properties, and the attributes that are only checked.
    """
    key = (name, *attrs.items())
    try:
        known = context.caches.get(key)
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
        raise _wrong_call(context, name, error, at) from None
    operator = cls, properties, dropped
    context.caches[key] = operator
    return operator


def _must_be_given(definition: Any) -> bool:
    return not isinstance(definition, OptPropertyDef) and definition.default_value is None


def _verify_redundant(name: str, dropped: Values, operands: Sequence[SSAValue]) -> None:
    tensors: list[Tensor] = []
    for operand in operands:
        tensor = as_tensor(operand.type)
        if tensor is None:
            return  # the type rule reports it
        tensors.append(tensor)
    verify_repeated(name, dropped, tensors)
