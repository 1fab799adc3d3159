"""Infer the unknown types of a module that was built, and report those still unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import FunctionType, TupleType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from ....dialects import relay
from ....dialects.device import tensor_type
from ....dialects.tensors import as_tensor
from ....dialects.type_algebra import parts
from ....dialects.xdsl_extras.xdsl_internals import set_type
from ....passes.functions.calls import recast
from ..errors import RelayTextError, location_of
from ..tvm_weights import Weight
from .build_context import Context, called
from .constraints import Instance
from .deferred import Deferred, deferred_of, try_retype


def complete_types(context: Context) -> None:
    """Complete all types; raises `RelayTextError` where one cannot be inferred."""
    context.types.solve()
    while _take_instance(context) or any([_infer_weights(context, *c) for c in context.weights]):
        context.types.solve()
    _complete_type_arguments(context)
    context.types.solve()
    for deferred in deferred_of(context):
        if not deferred.is_done:
            raise _unresolved(deferred, context)
    context.erase_unused_tuples()
    for value in context.open_values:
        if isinstance(value, OpResult) and value.op.parent is None:  # erased
            continue
        type = context.types.resolved(value.type)
        if context.types.first_unknown(type) is not None:
            raise _unknown_value(value, context)
        set_type(value, type)
    for rule, op, data in context.completions:
        rule(context, op, *data)
    _complete_signatures(context)


def _take_instance(context: Context) -> bool:
    """Take the first instance of a generic type that is not known; return whether there is one."""
    steps = (step for step in context.types.steps if isinstance(step, Instance))
    instance = next((step for step in steps if not step.is_done), None)
    if instance is None:
        return False
    instance.is_last_resort = True
    instance.take(context.types)
    return True


def _infer_weights(
    context: Context, weight: Weight, operands: Sequence[SSAValue], attrs: Mapping[str, Any]
) -> bool:
    """Give a type to the weights of a call that have none yet; return whether there were any."""
    types = context.types
    data, *weights = (types.shallow(operand.type) for operand in operands)
    unknown = [type for type in weights if isinstance(type, relay.IncompleteType)]
    tensor = as_tensor(data)
    if tensor is None or weight.shape is None or not unknown:
        return False
    shape = weight.shape(attrs, tensor.get_shape())
    if shape is None:
        return False
    weight_type = tensor_type(tensor.element_type, [*shape])
    return all([types.unify(type, weight_type) for type in unknown])


def _complete_type_arguments(context: Context) -> None:
    """
    Let type arguments of data types that no value has be `()`: `Nil` alone is a `List[()]`.

    TVM's printer writes them as `meta[IncompleteType][0]`. An unknown type that a value itself has
    stays unknown.
    """
    types = context.types
    unknowns: dict[relay.IncompleteType, bool] = {}  # whether they are type arguments alone
    pending = [(value.type, False) for value in context.open_values]
    while pending:
        type, is_argument = pending.pop()
        type = types.shallow(type)
        if isinstance(type, relay.IncompleteType):
            unknowns[type] = unknowns.get(type, True) and is_argument
        is_argument = is_argument or isinstance(type, relay.AdtType)
        pending += [(part, is_argument) for part in parts(type)]
    for unknown, is_argument in unknowns.items():
        if is_argument:
            types.unify(unknown, TupleType(()))


def _unknown_value(value: SSAValue, context: Context) -> RelayTextError:
    name, location = called(value), location_of(value)
    if isinstance(value, BlockArgument):
        message = f"cannot infer the type of {name}; add a type annotation"
        return RelayTextError(message, location)
    op = value.owner
    if isinstance(op, relay.CallOpaqueOp):
        return RelayTextError(
            f"cannot infer the result type of {op.operator.data}, which is not an operator of the "
            "dialect; write it after the call, as in /* ty=Tensor[(4), float32] */",
            location,
        )
    if isinstance(op, relay.MatchOp) and not op.cases:
        return RelayTextError(
            "cannot infer the type of a match without cases; bind it with a type, as in "
            "let %x: int32 = match (…) {};",
            location,
        )
    text = context.text(value.type)
    so_far = "" if text == "_" else f" (known so far: {text})"
    return RelayTextError(
        f"cannot infer the type of {name}{so_far}; add a type annotation", location
    )


def _unresolved(deferred: Deferred, context: Context) -> RelayTextError:
    """Report an unknown operand type, preferably of an operand whose type can be annotated."""
    for arg in deferred.op.operands:
        can_be_written = isinstance(arg.owner, Block | relay.CallOpaqueOp | relay.MatchOp)
        if can_be_written and context.types.first_unknown(arg.type):
            return _unknown_value(arg, context)
    return deferred.source_map.error(
        "cannot infer the type of this: the type of an argument is unknown", deferred.node.offset
    )


# ------------------------------------------------------------------ signatures


def _complete_signatures(context: Context) -> None:
    for signature in context.program.functions.values():
        type = context.types.resolved(signature.type)
        assert isinstance(type, FunctionType)
        returned = signature.block.last_op
        if returned is not None:
            _adapt_result(context, returned, type.outputs.data[0])
        signature.type = type
        function = signature.block.parent_op()
        assert isinstance(function, FuncOp), "the module is built"
        function.function_type = type
    for op, signature in context.calls:
        _adapt_call(op, signature.type)


def _adapt_result(context: Context, returned: Operation, declared: Attribute) -> None:
    """Adapt the returned value to the declared result, whose dims may be known elsewhere."""
    (value,) = returned.operands
    if value.type == declared:
        return
    block = returned.parent
    assert block is not None
    if isinstance(value, OpResult) and value.op.parent is block and try_retype(value, declared):
        return
    if ops := recast(value, declared):
        for op in ops:
            op.location = returned.location
        block.insert_ops_before(ops, returned)
        returned.operands = [ops[-1].results[0]]
        return
    raise RelayTextError(
        f"the function returns a value of type {context.text(value.type)}, "
        f"but its result is declared as {context.text(declared)}",
        location_of(returned),
    )


def _adapt_call(op: CallOp, type: FunctionType) -> None:
    """Replace a `func.call`, which needs equal types, by `relay.invoke` where known dims differ."""
    (result,) = op.result_types
    if type != FunctionType.from_lists(op.operand_types, [result]):
        invoke = relay.InvokeOp(op.callee, [], op.operands, result)
        invoke.location = op.location
        invoke.attributes |= op.attributes
        Rewriter.replace_op(op, invoke)
