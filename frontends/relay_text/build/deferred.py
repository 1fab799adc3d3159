"""
Operators on values of unknown types, deferred until the types are known; types that are declared.

    %r = relay.nn.relu %x          %x : ?0
    ->
    %p = "relay_text.deferred"(%x)  and, once ?0 is known, relay.nn.relu before it

    let %y: Tensor[(3, 4), float32] = @f(%x);          (@f returns a Tensor[(?, 4), float32])
    ->
    %y = relay.invoke @f<[]>(%x) : (…) -> tensor<3x4xf32>

The defining op adopts declared dims that inference does not find. A value that no op of the block
defines (a parameter, or a value from outside a branch) is viewed as the declared type by a
`relay.reshape`, a tuple field by field. Dims inside functions, cells and data types keep their
inferred form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects.relay.incomplete import refine
from ....dialects.relay.language.tuples import TupleOp
from ....dialects.relay.unification import IncompleteType, Unifier
from ....dialects.tensors import as_tensor
from ....dialects.xdsl_extras.xdsl_internals import set_type
from ....passes.functions.calls import recast
from ..errors import SourceMap
from .build_context import Context, DeferredOp, Signature

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


def has_dims(type: Attribute) -> bool:
    """Return whether values of `type`, a tensor or tuple, can be viewed as others of known dims."""
    return isinstance(type, TupleType) or as_tensor(type) is not None


def refine_dims(context: Context, value: SSAValue, declared: Attribute, at: int) -> SSAValue:
    """Return `value` with the further dims that `declared`, which agrees with its type, has."""
    types = context.types
    if value.type is declared:
        return value
    inferred, declared = types.resolved(value.type), types.resolved(declared)
    if inferred == declared or not has_dims(inferred):
        return value
    if types.first_unknown(inferred) is not None or types.first_unknown(declared) is not None:
        return value
    type = refine(inferred, declared)
    if type is None or type == inferred or _retype_here(context, value, type):
        return value
    for op in (ops := recast(value, type)):
        context.add(op, at)
    return ops[-1].results[0] if ops else value


def _retype_here(context: Context, value: SSAValue, type: Attribute) -> bool:
    """Retype `value` if an op of the current block defines it; return whether that succeeded."""
    if not isinstance(value, OpResult) or value.op.parent is not context.block:
        return False
    for operand in value.op.operands:
        set_type(operand, context.types.resolved(operand.type))
    return try_retype(value, type)


def try_retype(value: OpResult, type: Attribute) -> bool:
    """Retype `value` to `type` if its defining op still verifies; return whether it did."""
    before = value.type
    set_type(value, type)
    if isinstance(value.op, DeferredOp | FuncCallOp):  # settled once all types are known
        return True
    try:
        value.op.verify_()
    except VerifyException:
        set_type(value, before)
        return False
    return True
