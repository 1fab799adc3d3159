"""Tuples, and their fields."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TupleType
from xdsl.ir import SSAValue

from ....dialects.relay.language.tuples import TupleGetItemOp, TupleOp
from ..text import syntax as ast
from .build_context import Context
from .deferred import when_known


def tuple_(context: Context, tuple: ast.Tuple) -> SSAValue:
    fields = [context.emit(f) for f in tuple.fields]
    if not fields:
        return context.value(TupleOp([]), tuple.offset)
    return context.packed(fields, tuple.offset)


def projection(context: Context, projection: ast.Projection) -> SSAValue:
    """Build a field of a tuple; fields of fields cause no recursion."""
    spine = [projection]
    inner = projection.tuple
    while isinstance(inner, ast.Projection):
        spine.append(inner)
        inner = inner.tuple
    value = context.emit(inner)
    for each in reversed(spine):
        value = _field_of(context, value, each)
    return value


def project(context: Context, value: SSAValue, index: int, at: int) -> SSAValue:
    return _field_of(context, value, ast.Projection(at, _ANY, index))


_ANY = ast.Tuple(0, ())


def _field_of(context: Context, value: SSAValue, node: ast.Projection) -> SSAValue:
    return when_known(context, _field, node, [value], shallow=True)


def _field(context: Context, node: ast.Projection, args: Sequence[SSAValue]) -> SSAValue:
    (tuple,) = args
    fields = context.fields(tuple) if context.tuples.get(tuple) else None
    if fields is not None and node.index < len(fields):
        return fields[node.index]
    type = context.types.shallow(tuple.type)
    if not isinstance(type, TupleType):
        given = context.text(type)
        raise context.error(f"expected a tuple, but got a value of type {given}", node.offset)
    size = len(type.types)
    if node.index >= size:
        raise context.error(
            f"the tuple has {size} fields, but field {node.index} is used", node.offset
        )
    return context.value(TupleGetItemOp(tuple, node.index), node.offset)
