"""
The target `smt2` of `xrelay-opt -t`: a memory plan as claims that solvers check.

They are text of SMT-LIB 2, in linear integer arithmetic.

    (declare-const product1 Int)              n * m: any number that is at least 0
    (define-fun s2 () Int (* 4 product1))
    (declare-const offset3 Int)               of a slice that lies on another
    (assert (<= end4 offset3))

A product of sizes is a constant of its own, at least 0 if its factors are; a quotient by a number
is an integer between bounds. Other operations that are not linear are constants.
Of an ordered pack only what the order says is known: that offsets are the least ones, and
multiples of the alignment, is left out, as what follows without it holds with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.target import Target

from ...dialects import memory
from ...operators.orders import Orders, PoolTotal
from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import Expr, Monomial, Symbol
from ...operators.sizes.size_table import SELECT, TOTAL
from ...passes.buffer_check.buffer_checker import BufferChecker
from ...passes.bytes.numbered import Row
from ...passes.plan_check.checker import Checker
from ...passes.plan_check.faults import How, NotShown
from ...passes.plan_check.held import Held
from ...passes.plan_check.slots import Slot, Slots, packed_of
from ...passes.sizes.reader import PACK, Packed
from ...passes.verify_memory_plan import check_module
from ..pass_run.pipeline_steps import EXPANDS

_TERMS = {
    SizeOp.ADD: "(+ {0} {1})",
    SizeOp.SUB: "(- {0} {1})",
    SizeOp.MAX: "(ite (>= {0} {1}) {0} {1})",
    SizeOp.MIN: "(ite (<= {0} {1}) {0} {1})",
    SizeOp.BROADCAST: "(ite (= {0} 1) {1} {0})",
    SELECT: "(ite (< {0} {1}) {2} {3})",
}
"""The terms of the operations that are linear."""

Key = Expr | Monomial | Symbol | Packed | tuple[Orders, tuple[str, ...]]


@dataclass
class SmtText:
    """The definitions of sizes, and the claims about them."""

    lines: list[str] = field(default_factory=list[str])
    claims: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    """The text of each claim, and the assertions that contradict it."""
    _terms: dict[Key, str] = field(default_factory=dict[Key, str])
    _layouts: dict[tuple[Orders, tuple[str, ...]], list[str]] = field(
        default_factory=dict[tuple[Orders, tuple[str, ...]], list[str]]
    )
    _count: int = 0

    def _new(self, what: str) -> str:
        self._count += 1
        return f"{what}{self._count}"

    def constant(self, what: str, natural: bool) -> str:
        """Declare an integer, which is at least 0 if it is `natural`."""
        name = self._new(what)
        self.lines.append(f"(declare-const {name} Int)")
        if natural:
            self.require(f"(<= 0 {name})")
        return name

    def define(self, what: str, term: str) -> str:
        name = self._new(what)
        self.lines.append(f"(define-fun {name} () Int {term})")
        return name

    def require(self, term: str) -> None:
        """Assert what is known."""
        self.lines.append(f"(assert {term})")

    def claim(self, what: str, *negated: str) -> None:
        """Claim that the terms `negated` do not hold together."""
        self.claims.append((what, [*negated]))

    def size(self, size: Expr) -> str:
        """Return the term of a size, which is linear in its monomials."""
        name = self._terms.get(size)
        if name is None:
            parts = [self._scaled(factor, monomial) for monomial, factor in size.terms]
            term = f"(+ {' '.join(parts)})" if len(parts) > 1 else parts[0] if parts else "0"
            name = self._terms[size] = self.define("s", term) if len(parts) > 1 else term
        return name

    def _scaled(self, factor: int, monomial: Monomial) -> str:
        number = str(factor) if factor >= 0 else f"(- {-factor})"
        if not monomial:
            return number
        term = self._monomial(monomial)
        return term if factor == 1 else f"(* {number} {term})"

    def _monomial(self, monomial: Monomial) -> str:
        key = monomial[0] if len(monomial) == 1 else monomial
        term = self._terms.get(key)
        if term is None:
            if isinstance(key, Symbol):
                term = self._symbol(key)
            else:
                term = self.constant("product", all(symbol.natural for symbol in monomial))
            self._terms[key] = term
        return term

    def _symbol(self, symbol: Symbol) -> str:
        place = packed_of(symbol)
        orders = None if place is None else place[0].packing.orders
        if place is not None and orders is not None:
            return self._orders(orders, place[0].sizes)[place[1]]
        if symbol.kind == TOTAL:
            layout, *sizes = symbol.args
            assert isinstance(layout, PoolTotal)
            known = [size for size in sizes if isinstance(size, Expr)]
            return self._orders(layout.orders, known)[len(known) + layout.pool]
        if symbol.kind == PACK:
            return self.constant("packed", True)
        args = [self.size(arg) for arg in symbol.operands]
        if symbol.kind == SizeOp.FLOORDIV:
            divisor = symbol.operands[1].constant
            if divisor is not None and divisor > 0:
                name = self.constant("quotient", symbol.natural)
                self.require(f"(<= (* {divisor} {name}) {args[0]})")
                self.require(f"(< {args[0]} (+ (* {divisor} {name}) {divisor}))")
                return name
        term = _TERMS.get(symbol.kind)
        if term is None or not symbol.is_computed:
            return self.constant("size", symbol.natural)
        return self.define("op", term.format(*args))

    def _orders(self, orders: Orders, sizes: Sequence[Expr]) -> list[str]:
        """Return the offsets, and the total of each pool, of which only orders are known."""
        terms = tuple(map(self.size, sizes))
        names = self._layouts.get((orders, terms))
        if names is not None:
            return names
        rows = orders.rows
        offsets = [self.constant("offset", True) for _ in terms]
        ends: list[str] = []
        for i, (at, size) in enumerate(zip(offsets, terms, strict=True)):
            natural = size if size.isdigit() else f"(ite (< {size} 0) 0 {size})"
            over = rows[i].over if rows else None
            ends.append(
                self.define("end", f"(+ {at} {natural})" if over is None else ends[over[1]])
            )
        totals = [self.constant("total", True) for _ in range(orders.n_pools)]
        for i, end in enumerate(ends):
            self.require(f"(<= {end} {totals[rows[i].pool if rows else 0]})")
        for i, row in enumerate(rows):
            below = [
                *([] if row.beside is None else [ends[row.beside]]),
                *([] if row.tied is None else [offsets[row.tied]]),
                *([] if row.over is None else [offsets[row.over[0]]]),
                *([] if row.at is None else [str(row.at)]),
            ]
            for term in below:
                self.require(f"(= {offsets[i]} {term})")
        chosen = [self._new("order") for _ in orders.on] if len(orders.on) > 1 else [""]
        self.lines += [f"(declare-const {name} Bool)" for name in chosen if name]
        for name, on in zip(chosen, orders.on, strict=True):
            for i, under in enumerate(on):
                for j in under:
                    term = f"(<= {ends[j]} {offsets[i]})"
                    self.require(f"(=> {name} {term})" if name else term)
        if len(chosen) > 1:
            self.require(f"(or {' '.join(chosen)})")
        self._layouts[orders, terms] = [*offsets, *totals]
        return self._layouts[orders, terms]

    def written(self, head: str) -> str:
        """Return the file, which begins with `head` as a comment."""
        lines = [*(f"; {line}".rstrip() for line in head.strip().splitlines())]
        lines += ["(set-logic QF_LIA)", *self.lines]
        for what, negated in self.claims:
            lines += [f"; {what}", "(push 1)", *(f"(assert {term})" for term in negated)]
            lines += ["(check-sat)", "(pop 1)"]
        return "\n".join([*lines, ""])


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
