"""
Sizes, orders and claims as text of SMT-LIB 2, in linear integer arithmetic.

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
from dataclasses import dataclass, field

from ...operators.orders import Orders, PoolTotal
from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import Expr, Monomial, Symbol
from ...operators.sizes.size_table import SELECT, TOTAL
from ...passes.plan_check.slots import packed_of
from ...passes.sizes.reader import PACK, Packed

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
        found = self._terms.get(size)
        if found is None:
            parts = [self._scaled(factor, monomial) for monomial, factor in size.terms]
            term = f"(+ {' '.join(parts)})" if len(parts) > 1 else parts[0] if parts else "0"
            found = self._terms[size] = self.define("s", term) if len(parts) > 1 else term
        return found

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
