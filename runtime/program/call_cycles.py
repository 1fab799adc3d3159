"""
Tail calls in cycles of calls: those that would otherwise nest without bound.

    loop:  …                                 @loop calls itself, and returns what it returns
           invoke r5 = loop(r3, r4)
           move r6 = r5
           kill_register r3
           ret r6
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...operators.records import record
from . import instructions as vm
from .components import components
from .instruction_table import jumps, writes
from .program import Function, Program

MAX_BITS = 1 << 28
"""Limit on the facts about registers that are kept at once, by the targets of jumps."""


def _callees(program: Program) -> dict[int, Iterable[int]]:
    """Return the callees of each function, and then of any call of a closure."""
    closures = len(program.functions)
    callees_of: dict[int, Iterable[int]] = {}
    captured: dict[int, None] = {}
    for number, function in enumerate(program.functions):
        callees: dict[int, None] = {}
        for instruction in function.instructions:
            if isinstance(instruction, vm.Invoke):
                callees[instruction.function] = None
            elif isinstance(instruction, vm.InvokeClosure):
                callees[closures] = None
            elif isinstance(instruction, vm.AllocClosure):
                captured[instruction.function] = None
        callees_of[number] = callees
    callees_of[closures] = captured
    return callees_of


def _writes_own_tensors(function: Function) -> bool:
    """
    Test whether `function` writes only to tensors that it has allocated.

    False if it jumps backwards, which is not followed, or is so large that this takes long.
    """
    bits: dict[int, int] = {}

    def bit(register: int) -> int:
        return bits.setdefault(register, 1 << len(bits))

    other: int | None = sum(map(bit, range(len(function.params))))
    """The registers that may hold other tensors, by their bits."""
    at_target: dict[int, int] = {}
    for pc, instruction in enumerate(function.instructions):
        arriving = at_target.pop(pc, None)
        if arriving is not None:
            other = arriving if other is None else other | arriving
        if other is None:
            continue
        written: tuple[int, ...] = ()
        match instruction:
            case vm.InvokePacked():
                written = instruction.outs
            case vm.DeviceCopy() | vm.CopyRows() | vm.ReadRows() | vm.WriteRows() | vm.FillRows():
                written = (instruction.out,)
            case vm.AllocTensor() | vm.AllocTensorReg() | vm.TakeRows():
                other &= ~bit(instruction.dst)
            case vm.Move(dst, source) | vm.ReshapeTensor(dst, source) | vm.SliceTensor(dst, source):
                other = other | bit(dst) if other & bit(source) else other & ~bit(dst)
            case vm.JoinTensors(dst, parts):
                is_own = not any(other & bit(part) for part in parts)
                other = other & ~bit(dst) if is_own else other | bit(dst)
            case _:
                for dst in writes(instruction):
                    other |= bit(dst)
        if any(other & bit(register) for register in written):
            return False
        if len(at_target) * len(bits) > MAX_BITS:
            return False
        offsets = jumps(instruction)
        for offset in offsets:
            if offset <= 0:
                return False
            at_target[pc + offset] = at_target.get(pc + offset, 0) | other
        if offsets or isinstance(instruction, vm.Ret | vm.Fatal):
            other = None
    return True


@record(eq=False)
class CallCycles:
    """
    The cycles of calls of a program.

    `components` has equal numbers for functions that call each other, directly or not.
    """

    program: Program
    components: Mapping[int, int]
    is_pure: bool
    """True if functions write only to tensors that they allocate: arguments can be copied then."""

    @staticmethod
    def of(program: Program) -> CallCycles:
        """Find the cycles of `program`."""
        is_pure = all(map(_writes_own_tensors, program.functions))
        numbers = {
            function: number
            for number, together in enumerate(components(_callees(program)))
            for function in together
        }
        return CallCycles(program, numbers, is_pure)

    def after_tail_call(
        self, function: int, pc: int, dst: int, callee: int, is_live: Callable[[int], bool]
    ) -> list[vm.Instruction] | None:
        """
        Return the instructions after the call of `callee` at `pc` if it is a tail call in a cycle.

        They only return the result, in `dst`, from `function`. `is_live` tests whether a register
        has a value at the call.
        """
        if not self.is_pure or self.components[function] != self.components[callee]:
            return None
        code = self.program.functions[function].instructions
        instructions: list[vm.Instruction] = []
        results, killed, pc = {dst}, set[int](), pc + 1
        while True:
            instruction = code[pc]
            instructions.append(instruction)
            match instruction:
                case vm.Move(to, source):
                    if source in killed or not (source in results or is_live(source)):
                        return None
                    killed.discard(to)
                    results = results | {to} if source in results else results - {to}
                case vm.KillRegister(register):
                    if register in killed or not (register in results or is_live(register)):
                        return None
                    killed.add(register)
                    results.discard(register)
                case vm.Goto(offset) if offset > 0:
                    pc += offset - 1
                case vm.Ret(result):
                    return instructions if result in results else None
                case _:
                    return None
            pc += 1
