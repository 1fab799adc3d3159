"""
Operators on values of unknown types: deferred until the types are known.

    %r = relay.nn.relu %x          %x : ?0
    ->
    %p = "relay_text.deferred"(%x)  and, once ?0 is known, relay.nn.relu before it

Placeholders stay until the end, when `complete_types` replaces them by what was built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ....dialects.relay.language.tuples import TupleOp
from ....dialects.relay.unification import IncompleteType
from ....dialects.xdsl_extras.xdsl_internals import set_type
from .build_context import Context, Deferred, DeferredOp
from .declared_dims import refine_dims


def when_known(
    context: Context,
    rule: Callable[[Context, Any, Sequence[SSAValue]], SSAValue],
    node: Any,
    args: Sequence[SSAValue],
    shallow: bool = False,
) -> SSAValue:
    """
    Apply `rule` to `node` and `args` now if the types of `args` are known, or as soon as they are.

    With `shallow` only the top level of each type needs to be known.
    """
    unknown = _first_unknown(context, args, shallow)
    if unknown is not None:
        run_ready(context)
        unknown = _first_unknown(context, args, shallow)
    if unknown is None:
        complete(context, args)
        return rule(context, node, args)
    op = DeferredOp.create(operands=args, result_types=[context.types.fresh()])
    deferred = Deferred(*(op, rule, node, args, shallow), context.source_map, context.signature)
    context.deferred.append(deferred)
    context.types.when_known(unknown, deferred)
    return context.value(op, node.offset)


def run_ready(context: Context) -> None:
    """Build what has become ready, until nothing is left."""
    while ready := context.types.take_ready():
        for deferred in ready:
            unknown = _first_unknown(context, deferred.op.operands, deferred.shallow)
            if unknown is None:
                _build(context, deferred)
            else:
                context.types.when_known(unknown, deferred)


def _first_unknown(
    context: Context, args: Sequence[SSAValue], shallow: bool
) -> IncompleteType | None:
    for arg in args:
        if arg.type.__class__ is TensorType:
            continue
        type = context.types.shallow(arg.type)
        unknown = type if shallow else context.types.first_unknown(type)
        if isinstance(unknown, IncompleteType):
            return unknown
    return None


def complete(context: Context, args: Sequence[SSAValue]) -> None:
    """Fill in what is known so far about the types of `args`, and of the fields of tuples."""
    for arg in args:
        if arg.type.__class__ is not TensorType:
            set_type(arg, context.types.resolved(arg.type))
            complete(context, arg.owner.operands if isinstance(arg.owner, TupleOp) else ())


def _build(context: Context, deferred: Deferred) -> None:
    """Build the replacement of a placeholder, before it."""
    op, at = deferred.op, deferred.node.offset
    assert op.parent is not None, "a placeholder is in a block"
    source_map, context.source_map = context.source_map, deferred.source_map
    complete(context, op.operands)
    with context.writing(op.parent, op):
        value = context.named(deferred.rule(context, deferred.node, deferred.args))
        context.require(value.type, op.result.type, "this", at)
        deferred.done = refine_dims(context, value, op.result.type, at)
    context.source_map = source_map
