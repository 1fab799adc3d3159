"""
Rename each tensor to the value that a kernel wrote into it.

    %t = memory.alloc_tensor %s[0]                     %t = memory.alloc_tensor %s[0]
    vm.invoke_tvm_op @f ins(%x) outs(%t) -> T    ->    %y = vm.invoke_tvm_op @f … outs(%t) -> T
    %z = relay.negative %t                             %z = relay.negative %y

TVM updates a tensor in place, by its one name; in the IR a kernel returns a new value. Blocks are
visited in program order, with the tensors written so far in the block and those enclosing it.
Errors are: reading a tensor before it is written, after its `memory.kill`, or when only a branch
writes it; writing it twice; writing it in a closure that does not own it. A tuple of tensors that
are not written yet is built where it is used. `memory.kill` names the tensor itself. The verifier
refuses what this pass removes, so run it first, with `--disable-verify`; the reader of Relay text
runs it on programs with explicit memory. Level: any; the level stays.
"""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from ..dialects.memory import AllocTensorOp, KillOp
from ..dialects.relay.device_ops import OnDeviceOp
from ..dialects.relay.language.closures import FnOp
from ..dialects.relay.language.tuples import TupleGetItemOp, TupleOp
from ..dialects.vm import DestinationCall
from ..dialects.xdsl_extras.walking import walk
from .support.changes import LevelPass
from .support.diagnostics import PassError


def _called(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "the tensor"


@dataclass(eq=False)
class _Renaming:
    """State at the current op."""

    module: ModuleOp
    written: dict[SSAValue, tuple[SSAValue, Operation]] = field(default_factory=lambda: {})
    """The value that was written into each tensor, and the op that wrote it."""
    written_in_region: dict[SSAValue, Operation] = field(default_factory=lambda: {})
    """The op that wrote a tensor inside the regions of an op that is already visited."""
    killed: dict[SSAValue, Operation] = field(default_factory=lambda: {})
    aliases: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})
    """Projections of deferred tuples, mapped to the fields that they select."""
    deferred_tuples: dict[SSAValue, TupleOp] = field(default_factory=lambda: {})
    """Tuples that are built where they are used."""
    owner: dict[SSAValue, Operation | None] = field(default_factory=lambda: {})
    """The closure, if any, that owns each tensor to write."""
    closure: Operation | None = None
    dead: list[Operation] = field(default_factory=lambda: [])
    """Ops without remaining uses."""

    def __post_init__(self) -> None:
        for op in walk(self.module):
            for out in op.outs if isinstance(op, DestinationCall) else ():
                if isinstance(out, BlockArgument):
                    enclosing = out.block.parent_op()
                    if isinstance(enclosing, FnOp):
                        self.owner[out] = enclosing
                    elif enclosing is not None and enclosing.parent is self.module.body.block:
                        self.owner[out] = None  # a parameter

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
        outer, inside = self.closure, dict[SSAValue, Operation]()
        self.closure = op if isinstance(op, FnOp) else outer
        for block in (block for region in op.regions for block in region.blocks):
            for value in self.block(block):
                _, inside[value] = self.written.pop(value)
        self.written_in_region |= inside
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
            value = self._tensor(op.value, op)
            op.operands[0] = value if value in self.owner else self._resolve(value, op)
            self.killed[value] = op
            return
        outs = len(op.ins) if isinstance(op, DestinationCall) else len(op.operands)
        for i, operand in enumerate(op.operands):
            if i < outs:
                value = self._resolve(operand, op)
            else:
                value = self._tensor(operand, op)
                self._write(value, op, op.results[i - outs])
            if value is not operand:
                op.operands[i] = value

    def _is_deferred(self, value: SSAValue) -> bool:
        """Return whether `value` cannot be named yet."""
        value = self.aliases.get(value, value)
        return value in self.deferred_tuples or (value in self.owner and value not in self.written)

    def _tensor(self, value: SSAValue, user: Operation) -> SSAValue:
        """Return the value that `value` is a name of, which must not have been killed."""
        value = self.aliases.get(value, value)
        if value in self.killed:
            text, killed = f"{_called(value)} is used after its memory.kill", self.killed[value]
            raise PassError(text, user, notes=[(killed, "killed here")])
        return value

    def _resolve(self, value: SSAValue, user: Operation) -> SSAValue:
        """Return the value that `value` refers to where `user` uses it."""
        value = self._tensor(value, user)
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
        if value not in self.written:
            raise self._unwritten(value, user)
        return self.written[value][0]

    def _write(self, value: SSAValue, op: Operation, result: OpResult) -> None:
        """Record that `op` writes the tensor `value`, which then holds `result` or a hint on it."""
        if value not in self.owner:
            made = value.owner.name if isinstance(value.owner, Operation) else "a pattern"
            raise PassError(
                f"a kernel must write into a memory.alloc_tensor or a parameter, "
                f"but {_called(value)} is defined by {made}",
                op,
            )
        _, before = self.written.get(value, (None, self.written_in_region.get(value)))
        if before is not None:
            raise PassError(
                f"{_called(value)} is written twice; to reuse its bytes, write into another "
                "memory.alloc_tensor at the same offset",
                op,
                notes=[(before, "first written here")],
            )
        if self.owner[value] is not self.closure:
            raise PassError(
                f"a closure cannot write {_called(value)}, which it does not own: it may be called "
                "several times",
                op,
            )
        result.name_hint = result.name_hint or value.name_hint
        self.written[value] = _hinted(result), op

    # ------------------------------------------------------------------ errors

    def _unwritten(self, value: SSAValue, user: Operation) -> PassError:
        inside = self.written_in_region.get(value)
        if inside is not None:
            return PassError(
                f"{_called(value)} is written in a branch and undefined outside it: "
                "return it from the branches",
                user,
                notes=[(inside, "written here")],
            )
        message = f"{_called(value)} is used before a kernel has written it"
        if isinstance(value, BlockArgument):
            message += "; a parameter that a kernel writes has no contents before"
        return PassError(message, user)


def _hinted(result: OpResult) -> SSAValue:
    """Return the hint on what a kernel wrote, if that is its only use, or the result itself."""
    use = result.first_use
    if use is not None and result.has_one_use() and isinstance(use.operation, OnDeviceOp):
        return use.operation.result
    return result


def rename_written_tensors(module: ModuleOp) -> None:
    """Make all uses of tensors that kernels write refer to what was written."""
    renaming = _Renaming(module)
    for op in module.ops:
        for region in op.regions:
            for block in region.blocks:
                renaming.block(block)
    renaming.erase_dead()


class RenameWrittenTensorsPass(LevelPass):
    name = "rename-written-tensors"
    accepts = "every"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rename_written_tensors(op)
