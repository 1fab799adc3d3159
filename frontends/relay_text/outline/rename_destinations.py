"""
Rename each tensor to the value that a kernel wrote into it.

    %t = memory.alloc_tensor %s[0]                     %t = memory.alloc_tensor %s[0]
    vm.invoke_tvm_op @f ins(%x) outs(%t) -> T    ->    %y = vm.invoke_tvm_op @f … outs(%t) -> T
    %z = relay.negative %t                             %z = relay.negative %y

Relay updates a tensor in place; in the IR a kernel returns a new value. Blocks are visited in
program order, with the tensors written so far in the block and those enclosing it. Errors are:
reading a tensor before it is written, after its `memory.kill`, or when only a branch writes it;
writing it twice; writing it in a closure that does not own it. A tuple of tensors that are not
written yet is built where it is used. `memory.kill` names the tensor itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects.memory import AllocTensorOp, KillOp
from ....dialects.relay.language.closures import FnOp
from ....dialects.relay.language.tuples import TupleGetItemOp, TupleOp
from ....dialects.vm import DestinationCall
from ..build.build_context import ExplicitMemory
from ..errors import RelayTextError, location_of


def rename_written_tensors(explicit: ExplicitMemory, blocks: Sequence[Block]) -> None:
    """Make the uses in `blocks`, the bodies of functions, refer to the values written."""
    if not explicit.calls and not explicit.ops:
        return
    renaming = _Renaming(explicit)
    for block in blocks:
        renaming.block(block)
    renaming.erase_dead()
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
class _Renaming:
    """State at the current op."""

    explicit: ExplicitMemory
    written: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The value that was written into each tensor."""
    written_in_region: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])
    """The op that wrote a tensor inside the regions of an op that is already visited."""
    killed: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])
    aliases: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Projections of deferred tuples, mapped to the fields that they select."""
    deferred_tuples: dict[SSAValue, TupleOp] = field(default_factory=dict[SSAValue, TupleOp])
    """Tuples that are built where they are used."""
    owner: dict[SSAValue, Operation | None] = field(
        default_factory=dict[SSAValue, "Operation | None"]
    )
    """The closure, if any, that owns each tensor to write."""
    closure: Operation | None = None
    dead: list[Operation] = field(default_factory=list[Operation])
    """Ops without remaining uses."""

    def __post_init__(self) -> None:
        for call in self.explicit.calls:
            for out in call.op.outs if isinstance(call.op, DestinationCall) else ():
                enclosing = out.block.parent_op() if isinstance(out, BlockArgument) else call.op
                if enclosing is None or isinstance(enclosing, FnOp):  # a parameter
                    self.owner[out] = enclosing

    # ------------------------------------------------------------------- order

    def block(self, block: Block) -> list[SSAValue]:
        """Visit a block; return the tensors that it writes, which no later block can name."""
        written, killed = len(self.written), len(self.killed)
        for op in list(block.ops):
            self._visit_operands(op)
            if op.regions:
                self._visit_regions(op)
        mine = list(self.written)[written:]
        for value in list(self.killed)[killed:]:
            del self.killed[value]
        return mine

    def _visit_regions(self, op: Operation) -> None:
        outer = self.closure
        if isinstance(op, FnOp):
            self.closure = op
        written_in_region: dict[SSAValue, Operation] = {}
        for region in op.regions:
            for block in region.blocks:
                for value in self.block(block):
                    written_in_region[value] = _writer(self.written.pop(value))
        self.written_in_region |= written_in_region
        self.closure = outer

    def erase_dead(self) -> None:
        """Erase the original tuples and projections that are no longer used."""
        for op in reversed(self.dead):
            if op.parent is not None:
                op.parent.erase_op(op)

    # ---------------------------------------------------------------- operands

    def _visit_operands(self, op: Operation) -> None:
        if isinstance(op, AllocTensorOp):
            self.owner[op.tensor] = self.closure
        elif isinstance(op, TupleOp) and any(map(self._is_deferred, op.operands)):
            self.deferred_tuples[op.result] = op
            self.dead.append(op)
            return
        elif (
            isinstance(op, TupleGetItemOp)
            and self.aliases.get(op.tuple, op.tuple) in self.deferred_tuples
        ):
            whole = self.deferred_tuples[self.aliases.get(op.tuple, op.tuple)]
            field = whole.operands[op.index.value.data]
            self.aliases[op.result] = self.aliases.get(field, field)
            self.dead.append(op)
            return
        elif isinstance(op, KillOp):
            value = self.aliases.get(op.value, op.value)
            if value in self.killed:
                raise self._used_after_kill(value, op)
            op.operands[0] = value if value in self.owner else self._resolve(value, op)
            self.killed[value] = op
            return
        outs = len(op.ins) if isinstance(op, DestinationCall) else len(op.operands)
        for i, operand in enumerate(op.operands):
            if i < outs:
                value = self._resolve(operand, op)
            else:
                value = self.aliases.get(operand, operand)
                self._write(value, op, op.results[i - outs])
            if value is not operand:
                op.operands[i] = value

    def _is_deferred(self, value: SSAValue) -> bool:
        """Return whether `value` cannot be named yet."""
        value = self.aliases.get(value, value)
        return value in self.deferred_tuples or (value in self.owner and value not in self.written)

    def _resolve(self, value: SSAValue, user: Operation) -> SSAValue:
        """Return the value that `value` refers to where `user` uses it."""
        value = self.aliases.get(value, value)
        if value in self.killed:
            raise self._used_after_kill(value, user)
        if value in self.deferred_tuples:
            fields = [self._resolve(part, user) for part in self.deferred_tuples[value].operands]
            made = TupleOp(fields)
            made.location = self.deferred_tuples[value].location
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
        """Record that `op` writes the tensor `value`, which then holds `result` or a hint on it."""
        if value in self.killed:
            raise self._used_after_kill(value, op)
        if value not in self.owner:
            made = value.owner.name if isinstance(value.owner, Operation) else "a pattern"
            raise RelayTextError(
                f"a kernel must write into a memory.alloc_tensor or a parameter, "
                f"but {_called(value)} is defined by {made}",
                location_of(op),
            )
        before = self.written_in_region.get(value)
        if value in self.written:
            before = _writer(self.written[value])
        if before is not None:
            raise RelayTextError(
                f"{_called(value)} is written twice; to reuse its bytes, write into another "
                "memory.alloc_tensor at the same offset",
                location_of(op),
                notes=[("first written here", location_of(before))],
            )
        if self.owner[value] is not self.closure:
            raise RelayTextError(
                f"a closure cannot write {_called(value)}, which it does not own: it may be called "
                "several times",
                location_of(op),
            )
        result.name_hint = value.name_hint
        self.written[value] = self.explicit.hinted.get(result, result)

    # ------------------------------------------------------------------ errors

    def _unwritten(self, value: SSAValue, user: Operation) -> RelayTextError:
        inside = self.written_in_region.get(value)
        if inside is not None:
            return RelayTextError(
                f"{_called(value)} is written in a branch and undefined outside it: "
                "return it from the branches",
                location_of(user),
                notes=[("written here", location_of(inside))],
            )
        message = f"{_called(value)} is used before a kernel has written it"
        if isinstance(value, BlockArgument):
            message += "; a parameter that a kernel writes has no contents before"
        return RelayTextError(message, location_of(user))

    def _used_after_kill(self, value: SSAValue, user: Operation) -> RelayTextError:
        return RelayTextError(
            f"{_called(value)} is used after its memory.kill",
            location_of(user),
            notes=[("killed here", location_of(self.killed[value]))],
        )


def _writer(value: SSAValue) -> Operation:
    """Return the op that wrote `value`, which may be a hint on its result."""
    op = value.owner
    assert isinstance(op, Operation)
    if isinstance(op, DestinationCall):
        return op
    inner = op.operands[0].owner
    assert isinstance(inner, Operation)
    return inner
