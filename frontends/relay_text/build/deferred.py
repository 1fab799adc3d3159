"""
Operators on values of unknown types: deferred until the types are known.

    %r = relay.nn.relu %x          %x : ?0
    ->
    %p = "relay_text.deferred"(%x)  and, once ?0 is known, relay.nn.relu before it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ....dialects.relay.language.tuples import TupleOp
from ....dialects.relay.unification import IncompleteType, Unifier
from ....dialects.xdsl_extras.xdsl_internals import set_type
from ..errors import SourceMap
from .build_context import Context, DeferredOp
from .declared_dims import refine_dims
from .definitions_of_program import Signature

Rule: TypeAlias = Callable[[Context, Any, Sequence[SSAValue]], SSAValue]
"""Builds a node of the tree on arguments of known types."""


@dataclass(eq=False, repr=False)
class Deferred:
    """A placeholder, and what replaces it: the result of `rule` for `node` and its operands."""

    context: Context
    op: DeferredOp
    rule: Rule
    node: Any
    shallow: bool
    """True if only the top level of the arguments' types must be known."""
    source_map: SourceMap
    signature: Signature | None
    """The function that contains it."""

    @property
    def is_done(self) -> bool:
        """True once it is replaced."""
        return self.op.parent is None

    def take(self, types: Unifier) -> IncompleteType | None:
        """Replace the placeholder, once the types are known."""
        context, op, at = self.context, self.op, self.node.offset
        unknown = _first_unknown(context, op.operands, self.shallow)
        if unknown is not None:
            return unknown
        assert op.parent is not None, "a placeholder is in a block"
        saved = context.source_map, context.signature
        context.source_map, context.signature = self.source_map, self.signature
        complete(context, op.operands)
        with context.writing(op.parent, op):
            value = self.rule(context, self.node, op.operands)
            if op.result not in context.tuples:
                value = context.named(value)
            context.require(value.type, op.result.type, "this", at)
            value = refine_dims(context, value, op.result.type, at)
        op.result.replace_all_uses_with(value)
        op.detach()
        op.erase()
        context.source_map, context.signature = saved
        return None


def when_known(
    context: Context,
    rule: Rule,
    node: Any,
    args: Sequence[SSAValue],
    shallow: bool = False,
    result: Attribute | None = None,
) -> SSAValue:
    """
    Apply `rule` to `node` and `args` now if the types of `args` are known, or as soon as they are.

    With `shallow` only the top level of each type needs to be known.
    """
    if _first_unknown(context, args, shallow) is None:
        complete(context, args)
        return rule(context, node, args)
    op = DeferredOp.create(operands=args, result_types=[result or context.types.fresh()])
    where = context.source_map, context.signature
    context.types.steps.append(Deferred(context, op, rule, node, shallow, *where))
    context.tuples[op.result] = True
    return context.value(op, node.offset)


def deferred_of(context: Context) -> list[Deferred]:
    """Return what was deferred."""
    return [step for step in context.types.steps if isinstance(step, Deferred)]


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
