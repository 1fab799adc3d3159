"""The target `smt2` of `xrelay-opt -t`: a memory plan as claims that solvers check."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.target import Target

from ...dialects import memory
from ...operators.sizes.size_expressions import Expr
from ...passes.bytes.numbered import Row
from ...passes.plan_check.checker import Checker
from ...passes.plan_check.faults import How, NotShown
from ...passes.plan_check.slots import Slot
from ...passes.support.diagnostics import PassError
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
class Claims(Checker):
    """A checker that claims what it knows, and what it does not, of all pairs of slots."""

    text: SmtText = field(default_factory=SmtText)
    seen: set[tuple[Slot, Slot]] = field(default_factory=set[tuple[Slot, Slot]])

    def __post_init__(self) -> None:
        self.slots.assumes = True

    def overwrite(
        self,
        row: Row,
        slot: Slot,
        certain: How = How.OVERWRITTEN,
        result: int | None = None,
    ) -> None:
        ends = self.state.ends.now
        for other, values in self.state.held.beside(slot).values.items():
            if other is slot or slot.is_whole or other.is_whole:
                continue
            named = {name for value in values for name in self.names.naming(value)}
            if not named <= ends.keys():
                self.claim_apart(slot, other)
        super().overwrite(row, slot, certain, result)

    def require_apart(self, op: Operation, i: int, j: int, one: Slot, other: Slot) -> None:
        self.claim_apart(one, other)
        super().require_apart(op, i, j, one, other)

    def claim_apart(self, one: Slot, other: Slot) -> None:
        """Claim that no byte is in both slots."""
        if (one, other) in self.seen or (other, one) in self.seen:
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

    def place(self, op: Operation, slot: Slot) -> None:
        room = self.slots.rooms.of_storage(op.operands[0])
        if room.size is not None:
            stop = room.start + room.size
            if slot.static is None or stop.constant is None:
                self.claim_inside(slot, room.start, stop)
        with suppress(NotShown):
            super().place(op, slot)

    def claim_inside(self, slot: Slot, start: Expr, stop: Expr) -> None:
        """Claim that a slot, if it is not empty, lies in these bounds."""
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


def smt2_of(module: ModuleOp) -> str:
    """Return the claims of a plan; an error if it has a fault that is none of bytes."""
    buffer = next((op for op in module.walk() if isinstance(op, memory.BufferOp)), None)
    if buffer is not None:
        raise PassError("the claims of plans of memrefs are not written; they are checked", buffer)
    text, seen = SmtText(), set[tuple[Slot, Slot]]()
    check_module(module, partial(Claims, text=text, seen=seen))
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
