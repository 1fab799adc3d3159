"""The target `smt2` of `xrelay-opt -t`: a memory plan as claims that solvers check."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.target import Target

from ...dialects import memory
from ...passes.buffer_check.buffer_checker import BufferChecker
from ...passes.bytes.numbered import Row
from ...passes.plan_check.checker import Checker
from ...passes.plan_check.faults import How, NotShown
from ...passes.plan_check.held import Held
from ...passes.plan_check.slots import Slot, Slots
from ...passes.verify_memory_plan import check_module
from ..pass_run.pipeline import EXPANDS
from .smt2_text import SmtText

HEAD = """
A memory plan: the plan is right if each query, a claim negated, is unsat.

Claimed: two tensors whose contents are needed together on some path share no byte; a tensor lies in
its storage, and a slice of a storage in that. {offsets}
Trusted: which contents are needed together, and the sizes of tensors, as verify-memory-plan reads
them; that products of sizes are at least 0; that the machine keeps apart what lifetimes of a pack
at_bind let meet. Not claimed, but errors of the export: uses after a kill, overlaps of numbers.
Each claim assumes nothing of the others; sat and unknown are both no proof.
"""

ORDERED = "Offsets are what the orders of packs say."
EXPANDED = "Offsets are the arithmetic that the program computes."


@dataclass(eq=False)
class Claiming:
    """Claims of slots."""

    slots: Slots
    text: SmtText = field(default_factory=SmtText)
    seen: set[tuple[Slot, Slot]] = field(default_factory=set[tuple[Slot, Slot]])

    def claim_apart(self, one: Slot, other: Slot) -> None:
        """Claim that no byte is in both slots."""
        if one.is_whole or other.is_whole or {(one, other), (other, one)} & self.seen:
            return
        self.seen.add((one, other))
        bounds = (one.start, one.stop, other.start, other.stop)
        a, b, c, d = map(self.text.size, bounds)
        place, there = one.place, other.place
        if place is not None and there is not None and place.packed is there.packed:
            packing = place.packed.packing
            if packing.op.at_bind is not None and self.slots.are_apart(place, there):
                self.text.require(f"(or (<= {b} {c}) (<= {d} {a}))")
        what = f"bytes {one} and {other} are apart"
        self.text.claim(what, f"(< {a} {b})", f"(< {c} {d})", f"(< {a} {d})", f"(< {c} {b})")

    def claim_inside(self, slot: Slot, storage: SSAValue) -> None:
        """Claim that a slot, if it is not empty, lies in its storage."""
        room = self.slots.rooms.of_storage(storage)
        if room.size is None:
            return
        start, stop = room.start, room.start + room.size
        if slot.static is not None and stop.constant is not None:
            return
        a, b, c, d = map(self.text.size, (slot.start, slot.stop, start, stop))
        place = slot.place
        if place is not None and place.packed.packing.op.at_bind is not None:
            total = place.total
            if total is not None:
                self.text.require(f"(<= {b} {self.text.size(total)})")
        self.text.claim(
            f"bytes {slot} lie in [{start}, {stop})",
            f"(< {a} {b})",
            f"(or (< {a} {c}) (< {d} {b}))",
        )


@dataclass(eq=False)
class Claims(Checker):
    """A checker that claims what it knows, and what it does not, of all pairs of slots."""

    text: SmtText = field(default_factory=SmtText)
    claims: Claiming = field(init=False)

    def __post_init__(self) -> None:
        self.slots.assumes = True
        self.claims = Claiming(self.slots, self.text)

    def overwrite(
        self, row: Row, slot: Slot, certain: How = How.OVERWRITTEN, result: int | None = None
    ) -> None:
        ends = self.state.ends.now
        for other, values in self.state.held.beside(slot).values.items():
            named = {name for value in values for name in self.names.naming(value)}
            if other is not slot and not named <= ends.keys():
                self.claims.claim_apart(slot, other)
        super().overwrite(row, slot, certain, result)

    def require_apart(self, op: Operation, i: int, j: int, one: Slot, other: Slot) -> None:
        self.claims.claim_apart(one, other)
        super().require_apart(op, i, j, one, other)

    def place(self, op: Operation, slot: Slot) -> None:
        self.claims.claim_inside(slot, op.operands[0])
        with suppress(NotShown):
            super().place(op, slot)


@dataclass(eq=False)
class BufferClaims(BufferChecker):
    """A checker of buffers that claims what it knows, and what it does not."""

    text: SmtText = field(default_factory=SmtText)
    claims: Claiming = field(init=False)

    def __post_init__(self) -> None:
        self.slots.assumes = True
        self.claims = Claiming(self.slots, self.text)

    def require_room(self, op: Operation, slot: Slot) -> None:
        self.claims.claim_inside(slot, op.operands[0])
        with suppress(NotShown):
            super().require_room(op, slot)

    def require_alone(self, at: int, j: int, slot: Slot, held: Held) -> None:
        for other, members in held.beside(slot).values.items():
            if other is not slot and any(self.are_both_needed(j, k) for k in members):
                self.claims.claim_apart(slot, other)
        super().require_alone(at, j, slot, held)


def smt2_of(module: ModuleOp) -> str:
    """Return the claims of a plan; an error if it has a fault that is none of bytes."""
    text = SmtText()
    check_module(module, partial(Claims, text=text), partial(BufferClaims, text=text))
    is_ordered = any(isinstance(op, memory.PackOp) for op in module.walk())
    return text.written(HEAD.format(offsets=ORDERED if is_ordered else EXPANDED))


@dataclass(frozen=True)
class Smt2Target(Target):
    """
    Writes a memory plan as claims in SMT-LIB 2, each of which holds if a solver answers `unsat`.

    The module is one of level `memory-planned`; with `expanded`, of level `expanded`, so that the
    claims are about the arithmetic that the program computes.
    """

    name: ClassVar[str] = "smt2"
    reads_before: ClassVar[str] = EXPANDS
    pipeline: ClassVar[str] = "vm"
    """The pass before which the driver stops."""

    expanded: bool = False
    """Stop after `expand-packs`, and claim what its arithmetic must show."""

    @property
    def stops_after(self) -> bool:
        """True if the driver stops after the pass that it would stop before."""
        return self.expanded

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(smt2_of(module))
