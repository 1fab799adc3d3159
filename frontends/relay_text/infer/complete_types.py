"""Fill in the inferred types once the program has been read, and report those still unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FileLineColLoc, FunctionType, TupleType
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from ....dialects.relay import CallOpaqueOp, InvokeOp, MatchOp
from ....dialects.relay.language.language_types import AdtType
from ....dialects.tensors import as_tensor
from ....dialects.type_algebra import parts
from ....dialects.xdsl_extras.xdsl_internals import set_type
from ..build.ir_builder import Deferred, DeferredOp
from ..errors import RelayTextError
from .declared_dims import reshape_view, try_retype
from .solver import UnknownType

if TYPE_CHECKING:
    from ..build.module_builder import ModuleBuilder


def complete_types(builder: ModuleBuilder) -> None:
    """Complete all types; raises `RelayTextError` where one cannot be inferred."""
    builder.solver.run_ready()
    while any([weights.infer(builder.solver) for weights in builder.weights]):
        builder.solver.run_ready()
    _complete_type_arguments(builder)
    builder.solver.run_ready()
    _replace_placeholders(builder)
    for value in builder.open_values:
        if _is_placeholder(value):
            continue
        type = builder.solver.resolved(value.type)
        if builder.solver.first_unknown(type) is not None:
            raise _unknown_value(value, builder)
        set_type(value, type)
    for complete in builder.completions:
        complete()
    _complete_signatures(builder)


def _complete_type_arguments(builder: ModuleBuilder) -> None:
    """
    Let type arguments of data types that no value has be `()`: `Nil` alone is a `List[()]`.

    TVM's printer writes them as `meta[IncompleteType][0]`. An unknown type that a value itself has
    stays unknown.
    """
    solver = builder.solver
    arguments: list[UnknownType] = []
    of_values: set[UnknownType] = set()
    for value in builder.open_values:
        pending = [(value.type, False)]
        while pending:
            type, is_argument = pending.pop()
            type = solver.shallow(type)
            if not isinstance(type, UnknownType):
                is_argument = is_argument or isinstance(type, AdtType)
                pending += [(part, is_argument) for part in parts(type)]
            elif is_argument:
                arguments.append(type)
            else:
                of_values.add(type)
    for unknown in dict.fromkeys(arguments):
        if unknown not in of_values:
            solver.unify(unknown, TupleType(()))


def _is_placeholder(value: SSAValue) -> bool:
    return isinstance(value, OpResult) and isinstance(value.op, DeferredOp)


def cannot_infer(what: str, op: Operation) -> RelayTextError:
    """Return the error that the type of `what` cannot be inferred."""
    location = op.location
    assert isinstance(location, FileLineColLoc)
    return RelayTextError(f"cannot infer {what}; add a type annotation", location)


def _unknown_value(value: SSAValue, builder: ModuleBuilder) -> RelayTextError:
    name = f"%{value.name_hint}" if value.name_hint else "this"
    if isinstance(value, BlockArgument):
        location = getattr(value, "location", None)
        if isinstance(location, FileLineColLoc):
            return RelayTextError(
                f"cannot infer the type of {name}; add a type annotation", location
            )
        op = value.block.parent_op()
        assert op is not None
    else:
        assert isinstance(value, OpResult)
        op = value.op
    location = op.location
    assert isinstance(location, FileLineColLoc)
    if isinstance(op, CallOpaqueOp):
        return RelayTextError(
            f"cannot infer the result type of {op.operator.data}, which is not an operator of the "
            "dialect; write it after the call, as in /* ty=Tensor[(4), float32] */",
            location,
        )
    if isinstance(op, MatchOp) and not op.cases:
        return RelayTextError(
            "cannot infer the type of a match without cases; bind it with a type, as in "
            "let %x: int32 = match (…) {};",
            location,
        )
    text = builder.text(value.type)
    known = "" if text == "_" else f"; known so far: {text}"
    return RelayTextError(f"cannot infer the type of {name}{known}", location)


def _replace_placeholders(builder: ModuleBuilder) -> None:
    by_op: dict[Operation, Deferred] = {w.op: w for w in builder.deferred}

    def final(value: SSAValue) -> SSAValue:
        while isinstance(value, OpResult) and value.op in by_op:
            done = by_op[value.op].done
            assert done is not None
            value = done
        return value

    for deferred in builder.deferred:
        if deferred.done is None:
            continue
        value = final(deferred.done)
        deferred.op.result.replace_all_uses_with(value)
    for deferred in builder.deferred:
        if deferred.done is None:
            raise _unresolved(deferred, builder)
        deferred.op.detach()
        deferred.op.erase()


def _unresolved(deferred: Deferred, builder: ModuleBuilder) -> RelayTextError:
    """Report an unknown operand type, preferably of an operand whose type can be annotated."""
    for arg in deferred.op.operands:
        can_be_written = isinstance(arg.owner, Block | CallOpaqueOp | MatchOp)
        if can_be_written and builder.solver.first_unknown(arg.type):
            return _unknown_value(arg, builder)
    return deferred.source_map.error(
        "cannot infer the type of this: the type of an argument is unknown", deferred.offset
    )


# ------------------------------------------------------------------ signatures


def _complete_signatures(builder: ModuleBuilder) -> None:
    for signature in builder.program.functions.values():
        type = builder.solver.resolved(signature.type)
        assert isinstance(type, FunctionType)
        returned = signature.block.last_op
        if returned is not None:
            _adapt_result(builder, returned, type.outputs.data[0])
        signature.type = type
    for op, signature in builder.calls:
        _adapt_call(op, signature.type)


def _adapt_result(builder: ModuleBuilder, returned: Operation, declared: Attribute) -> None:
    """Adapt the returned value to the declared result, whose dims may be known elsewhere."""
    (value,) = returned.operands
    if value.type == declared:
        return
    block = returned.parent
    assert block is not None
    if isinstance(value, OpResult) and value.op.parent is block and try_retype(value, declared):
        return
    tensor = as_tensor(declared)
    if tensor is not None:
        op = reshape_view(value, tensor)
        op.location = returned.location
        block.insert_op_before(op, returned)
        returned.operands = [op.result]
        return
    location = returned.location
    assert isinstance(location, FileLineColLoc)
    raise RelayTextError(
        f"the function returns a value of type {builder.text(value.type)}, "
        f"but its result is declared as {builder.text(declared)}",
        location,
    )


def _adapt_call(op: Operation, type: FunctionType) -> None:
    """Replace a `func.call`, which needs equal types, by `relay.invoke` where known dims differ."""
    given = [a.type for a in op.operands]
    if given == list(type.inputs) and [r.type for r in op.results] == list(type.outputs):
        return
    assert isinstance(op, CallOp)
    invoke = InvokeOp(op.callee, [], list(op.operands), op.results[0].type)
    invoke.location = op.location
    invoke.attributes |= op.attributes
    block = op.parent
    assert block is not None
    block.insert_op_before(invoke, op)
    op.results[0].replace_all_uses_with(invoke.result)
    block.erase_op(op)
