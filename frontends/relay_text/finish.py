"""When a program has been read: fill in the types that were found, complain about the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FileLineColLoc, FunctionType
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from ...dialects.relay import CallOpaqueOp, InvokeOp, MatchOp
from ...dialects.tensors import as_tensor
from ...dialects.xdsl_internals import set_type
from .errors import RelayTextError
from .refinement import takes_over, view
from .writer import Waiting, WaitingOp

if TYPE_CHECKING:
    from .emit import Emitter


def finish(emitter: Emitter) -> None:
    """Complete all types; raises `RelayTextError` where one cannot be inferred."""
    emitter.solver.run_ready()
    _replace_placeholders(emitter)
    for value in emitter.open_values:
        if _is_placeholder(value):
            continue
        type = emitter.solver.resolved(value.type)
        if emitter.solver.first_unknown(type) is not None:
            raise _unknown_value(value, emitter)
        set_type(value, type)
    for complete in emitter.completions:
        complete()
    _complete_signatures(emitter)


def _is_placeholder(value: SSAValue) -> bool:
    return isinstance(value, OpResult) and isinstance(value.op, WaitingOp)


def cannot_infer(what: str, op: Operation) -> RelayTextError:
    """The error that the type of `what` is not determined."""
    location = op.location
    assert isinstance(location, FileLineColLoc)
    return RelayTextError(f"{what} cannot be inferred: write its type", location)


def _unknown_value(value: SSAValue, emitter: Emitter) -> RelayTextError:
    name = f"%{value.name_hint}" if value.name_hint else "this"
    if isinstance(value, BlockArgument):
        location = getattr(value, "location", None)
        if isinstance(location, FileLineColLoc):
            return RelayTextError(f"the type of {name} cannot be inferred: write it", location)
        op = value.block.parent_op()
        assert op is not None
    else:
        assert isinstance(value, OpResult)
        op = value.op
    location = op.location
    assert isinstance(location, FileLineColLoc)
    if isinstance(op, CallOpaqueOp):
        return RelayTextError(
            f"the type of the result of {op.operator.data}, which is no operator of the dialect, "
            "cannot be inferred: write it behind the call, as in /* ty=Tensor[(4), float32] */",
            location,
        )
    if isinstance(op, MatchOp) and not op.cases:
        return RelayTextError(
            "nothing says what this match without cases gives: bind it with a type, as in "
            "let %x: int32 = match (…) {};",
            location,
        )
    text = emitter.text(value.type)
    known = "" if text == "_" else f" (known so far: {text})"
    return RelayTextError(f"the type of {name} cannot be inferred{known}", location)


def _replace_placeholders(emitter: Emitter) -> None:
    by_op: dict[Operation, Waiting] = {w.op: w for w in emitter.waiting}

    def final(value: SSAValue) -> SSAValue:
        while isinstance(value, OpResult) and value.op in by_op:
            done = by_op[value.op].done
            assert done is not None
            value = done
        return value

    for waiting in emitter.waiting:
        if waiting.done is None:
            continue
        value = final(waiting.done)
        waiting.op.result.replace_all_uses_with(value)
    for waiting in emitter.waiting:
        if waiting.done is None:
            raise _never_known(waiting, emitter)
        waiting.op.detach()
        waiting.op.erase()


def _never_known(waiting: Waiting, emitter: Emitter) -> RelayTextError:
    """What is missing is the type of an operand: best of one whose type can be written."""
    for arg in waiting.op.operands:
        can_be_written = isinstance(arg.owner, Block | CallOpaqueOp | MatchOp)
        if can_be_written and emitter.solver.first_unknown(arg.type):
            return _unknown_value(arg, emitter)
    return waiting.places.error(
        "the type of this cannot be inferred: an argument's type is not known", waiting.at
    )


# ------------------------------------------------------------------ signatures


def _complete_signatures(emitter: Emitter) -> None:
    for signature in emitter.program.functions.values():
        type = emitter.solver.resolved(signature.type)
        assert isinstance(type, FunctionType)
        returned = signature.block.last_op
        if returned is not None:
            _fit_result(emitter, returned, type.outputs.data[0])
        signature.type = type
    for op, signature in emitter.calls:
        _fit_call(op, signature.type)


def _fit_result(emitter: Emitter, returned: Operation, declared: Attribute) -> None:
    """What is returned may know other dims than the declaration says; its op takes that over."""
    (value,) = returned.operands
    if value.type == declared:
        return
    block = returned.parent
    assert block is not None
    if isinstance(value, OpResult) and value.op.parent is block and takes_over(value, declared):
        return
    tensor = as_tensor(declared)
    if tensor is not None:
        op = view(value, tensor)
        op.location = returned.location
        block.insert_op_before(op, returned)
        returned.operands = [op.result]
        return
    location = returned.location
    assert isinstance(location, FileLineColLoc)
    raise RelayTextError(
        f"the function returns a value of type {emitter.text(value.type)}, "
        f"but its result is declared as {emitter.text(declared)}",
        location,
    )


def _fit_call(op: Operation, type: FunctionType) -> None:
    """Where dims are known on one side only, `relay.invoke` calls: `func.call` is strict."""
    given = [a.type for a in op.operands]
    if given == list(type.inputs) and [r.type for r in op.results] == list(type.outputs):
        return
    assert isinstance(op, CallOp)
    invoke = InvokeOp(op.callee, [], list(op.operands), op.results[0].type)
    invoke.location = op.location
    block = op.parent
    assert block is not None
    block.insert_op_before(invoke, op)
    op.results[0].replace_all_uses_with(invoke.result)
    block.erase_op(op)
