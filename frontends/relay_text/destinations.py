"""
After a kernel has written a tensor, the tensor's name means what was written.

    %t = memory.alloc_tensor %s[0]                     %t = memory.alloc_tensor %s[0]
    vm.invoke_tvm_op @f ins(%x) outs(%t) -> T    ->    %y = vm.invoke_tvm_op @f … outs(%t) -> T
    %z = relay.negative %t                             %z = relay.negative %y

In Relay a tensor is changed where it is; in the IR a kernel gives a new value. Blocks are gone
through in program order, with what has been written in this block and those around it. What is
read before it is written, after its `memory.kill`, or what only a branch writes is an error;
so is what is written twice, or by a closure that does not own it. A tuple of tensors
that are not written yet is made where it is used. `memory.kill` names the tensor itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.memory import AllocTensorOp, KillOp
from ...dialects.relay.closures import FnOp
from ...dialects.relay.tuples import TupleGetItemOp, TupleOp
from ...dialects.vm import DestinationCall
from .errors import RelayTextError, location_of
from .explicit_memory import ExplicitMemory


def name_what_is_written(explicit: ExplicitMemory, blocks: Sequence[Block]) -> None:
    """Let the uses in `blocks`, the bodies of functions, name what was written."""
    if not explicit.calls and not explicit.ops:
        return
    naming = _Naming(explicit)
    for block in blocks:
        naming.block(block)
    naming.clear()
    for op in (*explicit.ops, *(call.op for call in explicit.calls)):
        if op.parent is None:
            continue
        try:
            op.verify_()
        except VerifyException as error:
            raise RelayTextError(f"{op.name}: {error}", location_of(op)) from None


def _called(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "the tensor"


@dataclass(eq=False)
class _Naming:
    """What is known at the op at hand."""

    explicit: ExplicitMemory
    written: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """What each tensor was written with."""
    within: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])
    """The op that wrote a tensor, inside of an op that has come to its end."""
    killed: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])
    meant: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Projections of tuples that are made later: the fields that they are."""
    later: dict[SSAValue, TupleOp] = field(default_factory=dict[SSAValue, TupleOp])
    """Tuples that are made where they are used."""
    owner: dict[SSAValue, Operation | None] = field(
        default_factory=dict[SSAValue, "Operation | None"]
    )
    """The closure, if any, in which each tensor to write stands."""
    closure: Operation | None = None
    done: list[Operation] = field(default_factory=list[Operation])
    """What is left over."""

    def __post_init__(self) -> None:
        for call in self.explicit.calls:
            for out in call.op.outs if isinstance(call.op, DestinationCall) else ():
                around = out.block.parent_op() if isinstance(out, BlockArgument) else call.op
                if around is None or isinstance(around, FnOp):  # a parameter
                    self.owner[out] = around

    # ------------------------------------------------------------------- order

    def block(self, block: Block) -> list[SSAValue]:
        """Go through a block; the tensors that it writes, which nobody after it can name."""
        written, killed = len(self.written), len(self.killed)
        for op in list(block.ops):
            self._operands(op)
            if op.regions:
                self._regions(op)
        mine = list(self.written)[written:]
        for value in list(self.killed)[killed:]:
            del self.killed[value]
        return mine

    def _regions(self, op: Operation) -> None:
        outer = self.closure
        if isinstance(op, FnOp):
            self.closure = op
        within: dict[SSAValue, Operation] = {}
        for region in op.regions:
            for block in region.blocks:
                for value in self.block(block):
                    within[value] = _writer(self.written.pop(value))
        self.within |= within
        self.closure = outer

    def clear(self) -> None:
        """Remove the tuples that nobody uses where they stood."""
        for op in reversed(self.done):
            if op.parent is not None:
                op.parent.erase_op(op)

    # ---------------------------------------------------------------- operands

    def _operands(self, op: Operation) -> None:
        if isinstance(op, AllocTensorOp):
            self.owner[op.tensor] = self.closure
        elif isinstance(op, TupleOp) and any(map(self._is_later, op.operands)):
            self.later[op.result] = op
            self.done.append(op)
            return
        elif isinstance(op, TupleGetItemOp) and self.meant.get(op.tuple, op.tuple) in self.later:
            whole = self.later[self.meant.get(op.tuple, op.tuple)]
            field = whole.operands[op.index.value.data]
            self.meant[op.result] = self.meant.get(field, field)
            self.done.append(op)
            return
        elif isinstance(op, KillOp):
            value = self.meant.get(op.value, op.value)
            if value in self.killed:
                raise self._dead(value, op)
            op.operands[0] = value if value in self.owner else self._resolved(value, op)
            self.killed[value] = op
            return
        outs = len(op.ins) if isinstance(op, DestinationCall) else len(op.operands)
        for i, operand in enumerate(op.operands):
            if i < outs:
                value = self._resolved(operand, op)
            else:
                value = self.meant.get(operand, operand)
                self._write(value, op, op.results[i - outs])
            if value is not operand:
                op.operands[i] = value

    def _is_later(self, value: SSAValue) -> bool:
        """Whether `value` cannot be named yet."""
        value = self.meant.get(value, value)
        return value in self.later or (value in self.owner and value not in self.written)

    def _resolved(self, value: SSAValue, user: Operation) -> SSAValue:
        """What `value` means where `user` uses it."""
        value = self.meant.get(value, value)
        if value in self.killed:
            raise self._dead(value, user)
        if value in self.later:
            fields = [self._resolved(part, user) for part in self.later[value].operands]
            made = TupleOp(fields)
            made.location = self.later[value].location
            made.result.name_hint = value.name_hint
            block = user.parent
            assert block is not None
            block.insert_ops_before([made], user)
            return made.result
        if value not in self.owner:
            return value
        result = self.written.get(value)
        if result is None:
            raise self._unwritten(value, user)
        return result

    def _write(self, value: SSAValue, op: Operation, result: OpResult) -> None:
        """`op` writes the tensor `value`; what is there then is `result`, or a hint on it."""
        if value in self.killed:
            raise self._dead(value, op)
        if value not in self.owner:
            made = value.owner.name if isinstance(value.owner, Operation) else "a pattern"
            raise RelayTextError(
                f"what is written must be a tensor of memory.alloc_tensor or a parameter, "
                f"but {_called(value)} comes from {made}",
                location_of(op),
            )
        before = self.within.get(value)
        if value in self.written:
            before = _writer(self.written[value])
        if before is not None:
            raise RelayTextError(
                f"{_called(value)} is written twice: a tensor of memory.alloc_tensor is written "
                "once, another tensor in the same bytes is another memory.alloc_tensor",
                location_of(op),
                notes=[("it is written here", location_of(before))],
            )
        if self.owner[value] is not self.closure:
            raise RelayTextError(
                f"a closure cannot write {_called(value)}, which is not its own: it may be called "
                "several times",
                location_of(op),
            )
        result.name_hint = value.name_hint
        self.written[value] = self.explicit.hinted.get(result, result)

    # ------------------------------------------------------------------ errors

    def _unwritten(self, value: SSAValue, user: Operation) -> RelayTextError:
        inside = self.within.get(value)
        if inside is not None:
            return RelayTextError(
                f"{_called(value)} is written in a branch, so what it holds is known there only: "
                "let the branches give it",
                location_of(user),
                notes=[("it is written here", location_of(inside))],
            )
        message = f"{_called(value)} is used here, but no kernel has written it yet"
        if isinstance(value, BlockArgument):
            message += ": a parameter that a kernel writes holds nothing before"
        return RelayTextError(message, location_of(user))

    def _dead(self, value: SSAValue, user: Operation) -> RelayTextError:
        return RelayTextError(
            f"{_called(value)} is used after its memory.kill",
            location_of(user),
            notes=[("it is killed here", location_of(self.killed[value]))],
        )


def _writer(value: SSAValue) -> Operation:
    """The op that wrote `value`, which may be a hint on what it gives."""
    op = value.owner
    assert isinstance(op, Operation)
    if isinstance(op, DestinationCall):
        return op
    inner = op.operands[0].owner
    assert isinstance(inner, Operation)
    return inner
