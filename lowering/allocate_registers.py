"""
Let values that are not live at the same time share a register.

    bytecode.alloc_storage r2, 16 …                bytecode.alloc_storage r2, 16 …
    bytecode.alloc_tensor r3, r2[0] : …            bytecode.alloc_tensor r2, r2[0] : …
    bytecode.kill_register r2
    bytecode.invoke_packed @f(r1) -> (r3)    ->    bytecode.invoke_packed @f(r1) -> (r2)
    bytecode.move r4, r3
    bytecode.kill_register r3
    bytecode.goto 1
    bytecode.ret r4                                bytecode.ret r2

Registers that a move joins become one where they may, and the move is erased, as are jumps to the
next instruction and instructions that no path reaches. Parameters stay in the first registers,
which are free after their last use. What a register held is released no later than before: a kill
moves up to the last use in its block, and is erased where that instruction overwrites the register.
A register that may be read before it is written shares with none that would give it a value.
Running the pass again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import bytecode
from ..dialects.bytecode.instruction import Renaming
from ..dialects.integers import i64_attribute
from ..passes.support.changes import LevelPass
from ..passes.support.rewriting import apply_patterns
from .bytecode.live_ranges import Slot, live_ranges, slots_of
from .bytecode.register_assignment import Assignment, assign_registers


def moves_in(slots: Sequence[Slot], unsafe: set[int]) -> Iterator[tuple[int, int]]:
    """Yield the registers of each move from one that certainly has a value."""
    for slot in slots:
        if type(slot.op) is bytecode.MoveOp and slot.reads[0] not in unsafe:
            yield slot.writes[0], slot.reads[0]


@dataclass(frozen=True)
class Allocation:
    """The slots of a function and the registers assigned to them."""

    slots: Sequence[Slot]
    unsafe: set[int]
    assignment: Assignment

    @staticmethod
    def of(code: Sequence[bytecode.Instruction], parameters: int) -> Allocation:
        slots = slots_of(code)
        live = live_ranges(slots, parameters)
        moves = moves_in(slots, live.unsafe)
        return Allocation(slots, live.unsafe, assign_registers(live, parameters, moves))

    def is_needless(self, slot: Slot) -> bool:
        """Test whether `slot` moves a value to the register in which it is."""
        if type(slot.op) is not bytecode.MoveOp or slot.reads[0] in self.unsafe:
            return False
        new = self.assignment.register
        return new[slot.reads[0]] == new[slot.writes[0]]

    def kills_after(self, slot: Slot) -> list[bytecode.Instruction]:
        """Return the kills of `slot` but those of registers that it overwrites."""
        new = self.assignment.register
        written = {new[register] for register in slot.writes}
        return [
            kill
            for register, kill in slot.kills
            if register in slot.writes or new[register] not in written
        ]

    def code(self) -> list[list[bytecode.Instruction]]:
        """Return the instructions that remain of each slot, without jumps over nothing."""
        code: list[list[bytecode.Instruction]] = []
        following = [len(self.slots)] * (len(self.slots) + 1)
        """By slot: the first one from there on of which something remains."""
        for number in reversed(range(len(self.slots))):
            slot = self.slots[number]
            kept = [] if slot.op is None or self.is_needless(slot) else [slot.op]
            if type(slot.op) is bytecode.GotoOp:
                (target,) = slot.targets
                if number < target and following[number + 1] == following[target] < len(self.slots):
                    kept = []
            code.append([*kept, *self.kills_after(slot)] if slot.kills else kept)
            following[number] = number if code[-1] else following[number + 1]
        code.reverse()
        return code

    def write(self) -> list[bytecode.Instruction]:
        """Give the remaining instructions their registers and jump offsets; return them."""
        kept = self.code()
        renaming = Renaming(self.assignment.register)
        position, starts = 0, list[int]()
        for ops in kept:
            starts.append(position)
            position += len(ops)
        for slot, ops, start in zip(self.slots, kept, starts, strict=True):
            for op in ops:
                op.rename(renaming)
            if slot.op is not None and slot.targets and ops and ops[0] is slot.op:
                slot.op.set_jumps([starts[target] - start for target in slot.targets])
        return [op for ops in kept for op in ops]


def allocated(
    code: Sequence[bytecode.Instruction], parameters: int
) -> tuple[Sequence[bytecode.Instruction], int]:
    """Allocate the registers of a function; return what remains of it and their number."""
    while True:
        allocation = Allocation.of(code, parameters)
        code = allocation.write()
        kept = sum(type(op) is not bytecode.KillRegisterOp for op in code)
        if kept == sum(slot.op is not None for slot in allocation.slots):
            return code, allocation.assignment.count
        # without a move or a jump, kills may move up further


class AllocateRegisters(RewritePattern):
    """Allocate the registers of a function."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: bytecode.FuncOp, rewriter: PatternRewriter, /) -> None:
        block = op.body.block
        before = [inner for inner in block.ops if isinstance(inner, bytecode.Instruction)]
        code, count = allocated(before, len(op.param_names))
        for inner in before:
            inner.detach()
        block.add_ops(code)
        op.register_count = i64_attribute(count)
        rewriter.notify_op_modified(op)


class AllocateRegistersPass(LevelPass):
    name = "allocate-registers"
    accepts = "bytecode"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [inner for inner in op.ops if isinstance(inner, bytecode.FuncOp)]
        apply_patterns(op, AllocateRegisters(), only=functions)
