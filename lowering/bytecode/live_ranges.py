"""
The ranges in which the registers of a bytecode function are live.

    slot  instruction            live (a slot p reads at 2p and writes at 2p + 1)
    0     (start)                r0  [-1, 9)
    1     get_tag r1, r0         r1  [3, 5)
    2     if r1 1, 3             r2  [9, 12) [15, 19)
    3     (start)
    4     move r2, r0            Parameters are written at -1. Each stretch of instructions without
    5     goto 2                 jumps starts with a slot that has none.
    6     (start)
    7     load_const r2, …       A `kill_register` belongs to the last slot before it that accesses
    8     (start)                the register, or to the start of its stretch: there the register
    9     ret r2                 ends.

A register that may be read before it is written is live from -1 too, and one that may be read after
a kill is live after that kill; both are `unsafe`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Operation

from ...dialects import bytecode

ENTRY = -1
"""The position at which parameters are written."""

Range: TypeAlias = tuple[int, int]
"""Positions from the first up to the second, exclusive."""

ENDS: frozenset[type[Operation]] = frozenset(
    {bytecode.RetOp, bytecode.GotoOp, bytecode.IfOp, bytecode.FatalOp}
)
"""The instructions that the next one follows only if they jump to it."""


@dataclass(eq=False, slots=True)
class Slot:
    """An instruction, or the start of a block, and the kills that follow it."""

    op: bytecode.Instruction | None = None
    """None at the start of a block, and for a kill of what is already killed."""
    reads: Sequence[int] = ()
    writes: Sequence[int] = ()
    kills: list[tuple[int, bytecode.Instruction]] = field(
        default_factory=list[tuple[int, bytecode.Instruction]]
    )
    """Each with its register."""
    targets: tuple[int, ...] = ()
    """The slots to which it may jump, which are starts of blocks."""

    @property
    def ends_block(self) -> bool:
        return type(self.op) in ENDS


def _reached(
    code: Sequence[bytecode.Instruction], jumps: Mapping[int, Sequence[int]]
) -> list[bool]:
    """Test for each instruction whether a path from the first one leads to it."""
    reached = [False] * len(code)
    pending = [0]
    while pending:
        at = pending.pop()
        while at < len(code) and not reached[at]:
            reached[at] = True
            pending += jumps.get(at, ())
            if type(code[at]) in ENDS:
                break
            at += 1
    return reached


_KILLED = -1
"""The last access to a register was a kill."""


def slots_of(code: Sequence[bytecode.Instruction]) -> list[Slot]:
    """Return the slots of a function; instructions that are never reached have none."""
    jumps = {at: [at + by for by in op.jumps] for at, op in enumerate(code) if op.JUMPS}
    reached = _reached(code, jumps)
    starts = {to for at, targets in jumps.items() if reached[at] for to in targets}
    slots = [Slot()]
    start_of: dict[int, int] = {}
    """The slots of the instructions in `starts`."""
    jumping: list[tuple[Slot, int]] = []
    start, accesses = 0, dict[int, int]()
    """The first slot of the current block, and the last one that accesses each register."""
    for at, op in enumerate(code):
        if not reached[at]:
            continue
        if at in starts or slots[-1].ends_block:
            start, accesses = len(slots), {}
            start_of[at] = start
            slots.append(Slot())
        if type(op) is bytecode.KillRegisterOp:
            (register,) = op.writes
            last = accesses.get(register, start)
            if last == _KILLED:
                slots.append(Slot())
            slots[last].kills.append((register, op))
            accesses[register] = _KILLED
            continue
        slot = Slot(op, op.reads, op.writes)
        for register in (*slot.reads, *slot.writes):
            accesses[register] = len(slots)
        slots.append(slot)
        if at in jumps:
            jumping.append((slot, at))
    for slot, at in jumping:
        slot.targets = tuple(start_of[to] for to in jumps[at])
    return slots


@dataclass
class LiveRanges:
    """
    The ranges of each register, in order, and the registers that may be read unwritten.

    Registers are ordered by their first position; those written by one instruction, as in its
    fields.
    """

    of: dict[int, list[Range]]
    unsafe: set[int]


@dataclass
class _Walk:
    """A walk over the slots from the last to the first."""

    slots: Sequence[Slot]
    live_in: dict[int, frozenset[int]]
    """The registers live at slots to which a later slot jumps, as far as earlier walks found."""
    ranges: dict[int, list[Range]] = field(default_factory=dict[int, list[Range]])
    """The last range first."""
    unsafe: set[int] = field(default_factory=set[int])
    ends: dict[int, int] = field(default_factory=dict[int, int])
    """The ends of the ranges that are not complete, by register: of all that are live here."""

    def start(self, register: int, at: int) -> None:
        """Start the range of `register` that is not complete, or one of a single position."""
        end = self.ends.pop(register, at + 1)
        self.ranges.setdefault(register, []).append((at, end))

    def continue_at(self, targets: Sequence[int], live: dict[int, frozenset[int]], at: int) -> None:
        """Let the registers `live` at `targets`, and no others, be live up to position `at`."""
        live_out = frozenset[int]().union(*(live[target] for target in targets))
        for register in self.ends.keys() - live_out:
            self.start(register, at)
        for register in live_out - self.ends.keys():
            self.ends[register] = at

    def step(self, number: int, slot: Slot) -> None:
        """Process the kills of `slot`, then what it writes, then what it reads."""
        read, written = 2 * number, 2 * number + 1
        killed = [register for register, _ in slot.kills]
        used = [register for register in killed if register in self.ends]
        self.unsafe.update(used)
        for register in {*slot.writes, *used}:
            self.start(register, written)
        for register in slot.reads:
            self.ends.setdefault(register, read + 1)
        for register in killed:
            if register not in slot.writes:
                self.ends.setdefault(register, read + 1)

    def run(self) -> None:
        """Walk to the first slot."""
        first_jump: dict[int, int] = {}
        for number, slot in enumerate(self.slots):
            for target in slot.targets:
                first_jump.setdefault(target, number)
        live = dict(self.live_in)
        for number in reversed(range(len(self.slots))):
            slot = self.slots[number]
            if slot.ends_block:
                self.continue_at(slot.targets, live, 2 * number + 2)
                for target in slot.targets:
                    if first_jump[target] == number and target not in self.live_in:
                        live.pop(target, None)  # no slot before this one jumps there
            self.step(number, slot)
            if number in first_jump:
                live[number] = frozenset(self.ends)
                if number in self.live_in:
                    self.live_in[number] = live[number]


def live_ranges(slots: Sequence[Slot], parameters: int) -> LiveRanges:
    """Return the live ranges in a function that has `parameters` parameters."""
    loops = {target for at, slot in enumerate(slots) for target in slot.targets if target <= at}
    walk = _Walk(slots, dict.fromkeys(loops, frozenset[int]()))
    before = None
    while before != walk.live_in:  # at most twice, unless there are loops
        before = dict(walk.live_in)
        walk = _Walk(slots, walk.live_in)
        walk.run()
    walk.unsafe.update(register for register in walk.ends if register >= parameters)
    order: dict[int, None] = dict.fromkeys(range(parameters))
    order |= dict.fromkeys(sorted(walk.ends))
    order |= dict.fromkeys(r for slot in slots for r in slot.writes)
    for register in range(parameters):
        walk.start(register, ENTRY)
    for register in list(walk.ends):
        walk.start(register, ENTRY)
    ranges = {register: walk.ranges[register][::-1] for register in order}
    first = sorted(ranges, key=lambda register: ranges[register][0][0])
    return LiveRanges({register: ranges[register] for register in first}, walk.unsafe)
