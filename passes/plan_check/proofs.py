"""
Proofs of inequalities of sizes, for all values of their symbols.

    max(a, 4*n) >= 4*n                   a maximum is at least each of its operands
    64*((4*n + 63) // 64) >= 4*n         a quotient is at least what is left of its dividend
    4*n*m - 4*m >= 0                     if a tensor has n - 1 elements: no dim is negative
    select(a < b, a, b) <= b             both cases are shown

Symbols stand for any integers, natural ones for any that are at least 0. *Facts* are polynomials
that are known to be at least 0 in the current block, such as the dims of tensors that are allocated
there; they are added with `open` and forgotten with `close`.

What does not hold at one of a few sample points is not tried. A proof is given up after `MAX_STEPS`
inequalities, and after fewer when many of one body were long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd, prod

from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import Expr, Symbol, monomial_quotient
from ...operators.sizes.size_table import SELECT
from .operations import (
    EXTREMA,
    ONE,
    ZERO,
    args_of,
    condition_of,
    kind_of,
    lower_bounds,
    packed_of,
    resolved,
    substituted,
    without,
)
from .refutation import SAMPLES, Samples

MAX_STEPS = 2000
"""The maximum number of inequalities that a proof tries."""

MAX_ALL_STEPS = 500_000
"""The number of inequalities of a body after which each proof tries few."""

FEW_STEPS = 20

MAX_DEPTH = 100
"""The maximum number of substitutions in a row, and of operations in each other."""

MAX_TERMS = 64
"""The maximum number of terms of an inequality."""

MAX_FACTS = 16
"""The maximum number of facts that are tried on an inequality."""


@dataclass(eq=False)
class _Level:
    """The facts of a block, and what was shown with them and those of enclosing blocks."""

    natural: dict[Symbol, bool] = field(default_factory=dict[Symbol, bool])
    facts: dict[Symbol, list[Expr]] = field(default_factory=dict[Symbol, list[Expr]])
    """Facts, by the symbols in them."""
    shown: dict[Expr, bool] = field(default_factory=dict[Expr, bool])
    spans: dict[Expr, dict[Expr, None]] = field(default_factory=dict[Expr, "dict[Expr, None]"])
    """Ends of slots, each with starts that it is at least."""
    points: list[int] = field(default_factory=list[int])
    """The sample points at which all facts hold."""


class Proofs:
    """Proofs of inequalities."""

    def __init__(self) -> None:
        self.samples = Samples()
        self.has_given_up = False
        """True if a proof was given up because it was too long."""
        self._levels = [_Level(points=list(range(SAMPLES)))]
        self._steps = 0
        self._multiples: dict[tuple[Symbol, int], bool] = {}
        self._ends: dict[Expr, Sequence[Expr]] = {}
        """For the end of a slot, sizes that are at least as large, whatever the facts."""

    # ------------------------------------------------------------------- facts

    def open(self, facts: Iterable[Expr]) -> bool:
        """Add `facts`, sizes that are at least 0, until `close`; return False if none is new."""
        found = [fact for fact in dict.fromkeys(facts) if not self._is_plain(fact)]
        found = [fact for fact in found if not self._is_known_fact(fact)]
        if not found:
            return False
        level = _Level(points=list(self._levels[-1].points))
        self._levels.append(level)
        for fact in found:
            values = self.samples.of(fact)
            level.points = [i for i in level.points if values[i] >= 0]
            if fact.symbol is not None:
                level.natural[fact.symbol] = True
            for symbol in fact.symbols():
                level.facts.setdefault(symbol, []).append(fact)
        return True

    def _is_known_fact(self, fact: Expr) -> bool:
        symbols = fact.symbols()
        return bool(symbols) and any(
            fact in level.facts.get(symbols[0], ()) for level in self._levels
        )

    def close(self) -> None:
        """Forget the facts that were added last."""
        self._levels.pop()

    # ------------------------------------------------------------ inequalities

    def at_least(self, left: Expr, right: Expr) -> bool:
        """Test whether `left >= right` can be shown."""
        size = left - right if right.terms else left
        constant = size.constant
        if constant is not None:
            return constant >= 0
        level = self._levels[-1]
        found = level.shown.get(size)
        if found is None:
            found = any(outer.shown.get(size, False) for outer in self._levels[:-1])
            found = found or self._is_plain(size)
            if not found and not self._fails(size):
                found = self._descends(left, right) or self._not_negative(size, {}, 0)
            level.shown[size] = found
        return found

    def add_span(self, start: Expr, stop: Expr, ends: Sequence[Expr]) -> None:
        """
        Let proofs use that `ends`, which a slice of this slot may have, are at least the bounds of
        the slot, and that the slot does not end before it starts, if that can be shown.
        """
        if not stop.terms:
            return
        spans = self._levels[-1].spans
        others = [end for end in ends if end != stop]
        for end in others:
            spans.setdefault(end, {}).update({stop: None, start: None})
        if others:
            self._ends[stop] = others
        if self.at_least(stop, start):
            spans.setdefault(stop, {})[start] = None

    def _below(self, size: Expr) -> list[Expr]:
        """Return sizes that `size` is at least: starts of slots that end there, or its parts."""
        starts = [
            start for level in self._levels for start in level.spans.get(size, ()) if level.spans
        ]
        return starts or lower_bounds(size)

    def all_below(self, top: Expr, limit: int) -> set[Expr]:
        """Return the ends of slots, and other sizes, that are shown to be at most `top`."""
        found, pending = {top}, [top]
        while pending and len(found) < limit:
            for size in self._below(pending.pop()):
                if size not in found:
                    found.add(size)
                    pending.append(size)
        return found

    def _descends(self, left: Expr, right: Expr) -> bool:
        """Test whether a way down from `left` leads to `right`, from slot to slot."""
        ends = self._ends.get(right, ())
        if any(self._is_plain(left - end) for end in ends):
            return True
        found, pending = {left}, [left]
        points, goal = self._levels[-1].points, self.samples.of(right)
        while pending and len(found) < MAX_STEPS:
            for size in self._below(pending.pop()):
                if size in found:
                    continue
                found.add(size)
                values = self.samples.of_slot(size)
                if any(values[i] < goal[i] for i in points):
                    continue
                if self._is_plain(size - right) or any(self._is_plain(size - end) for end in ends):
                    return True
                pending.append(size)
        return False

    def fails(self, left: Expr, right: Expr) -> bool:
        """Test whether `left >= right` is wrong at a sample point."""
        return self._fails(left - right)

    def _fails(self, size: Expr) -> bool:
        values = self.samples.of(size)
        return any(values[i] < 0 for i in self._levels[-1].points)

    def _is_plain(self, size: Expr) -> bool:
        """Test whether `size` is at least 0 for all natural values of its symbols."""
        return all(c > 0 and all(s.natural for s in m) for m, c in size.terms)

    def _not_negative(self, size: Expr, tried: dict[Expr, bool], depth: int) -> bool:
        if self._is_plain(size):
            return True
        if size in tried:
            return tried[size]
        limit = MAX_STEPS if self._steps < MAX_ALL_STEPS else FEW_STEPS
        if len(tried) >= limit or depth >= MAX_DEPTH or len(size.terms) > MAX_TERMS:
            self.has_given_up = True
            return False
        tried[size] = False
        self._steps += 1
        if self._fails(size):
            return False
        found = all(c > 0 and self._are_natural(m, tried, depth) for m, c in size.terms) or any(
            all(self._not_negative(case, tried, depth + 1) for case in cases)
            for cases in self._reductions(size, tried, depth)
        )
        tried[size] = found
        return found

    def _are_natural(self, symbols: Iterable[Symbol], tried: dict[Expr, bool], depth: int) -> bool:
        return all(self._is_natural(symbol, tried, depth) for symbol in symbols)

    def _is_natural(self, symbol: Symbol, tried: dict[Expr, bool], depth: int) -> bool:
        """Test whether `symbol` is at least 0: it is, its operands are, or a fact says so."""
        if symbol.natural or any(level.natural.get(symbol) for level in self._levels):
            return True
        level = self._levels[-1]
        if symbol not in level.natural:
            level.natural[symbol] = False
            found = self._follows(symbol, tried, depth)
            if found or depth < MAX_DEPTH // 2:
                level.natural[symbol] = found
            else:
                del level.natural[symbol]
        return level.natural.get(symbol, False)

    def _follows(self, symbol: Symbol, tried: dict[Expr, bool], depth: int) -> bool:
        args = args_of(symbol)
        kind = kind_of(symbol)
        values = args if kind == SizeOp.MUL else args[-2:]
        natural = (self._not_negative(arg, tried, depth + 1) for arg in values)
        if kind == SizeOp.FLOORDIV:
            divisor = args[1].constant
            return divisor is not None and divisor > 0 and next(natural)
        if kind == SizeOp.MAX:
            return any(natural)
        if symbol.kind in (SizeOp.MIN, SizeOp.ADD, SizeOp.MUL, SizeOp.BROADCAST, SELECT):
            return all(natural)
        return False

    def _reductions(self, size: Expr, tried: dict[Expr, bool], depth: int) -> Iterator[list[Expr]]:
        """Yield lists of sizes: if those of one list are at least 0, so is `size`."""
        later: list[list[Expr]] = []
        for symbol in size.symbols():
            args = args_of(symbol)
            kind = kind_of(symbol)
            packed, number = packed_of(symbol) or (None, 0)
            if packed is not None and not number and dict(size.terms).get((symbol,), 0) > 0:
                others = (packed_of(other) for other in size.symbols())
                yield from (
                    [substituted(size, symbol, packed.end(other[1] - 1))]
                    for other in others
                    if other is not None and other[0] is packed and other[1]
                )
            if symbol.kind == SELECT:
                condition = condition_of(symbol)
                later.append([resolved(size, condition, holds) for holds in (True, False)])
            if kind is None:
                continue
            cases = [substituted(size, symbol, arg) for arg in args[-2:]]
            if kind == SizeOp.ADD:
                yield [substituted(size, symbol, args[0] + args[1])]
            if kind == SizeOp.MUL and prod(len(arg.terms) for arg in args) <= MAX_TERMS:
                later.append([substituted(size, symbol, prod(args, start=ONE))])
            if symbol.kind in (*EXTREMA, SizeOp.BROADCAST):
                later.append(cases)  # whichever of its operands it is
            signs = {c > 0 for monomial, c in size.terms if symbol in monomial}
            factors = {
                factor
                for monomial, _ in size.terms
                if symbol in monomial
                for factor in without(monomial, symbol)
            }
            if len(signs) > 1 or not self._are_natural(factors, tried, depth):
                continue
            positive = signs.pop()
            if kind == (SizeOp.MAX if positive else SizeOp.MIN):
                yield from ([case] for case in cases)
            elif kind == SizeOp.FLOORDIV:
                yield from self._quotient(size, symbol, positive)
            elif kind == SizeOp.MOD and (args[1].constant or 0) > 0:
                yield [substituted(size, symbol, ZERO if positive else args[1] - 1)]
        yield from self._by_facts(size, tried, depth)
        yield from later

    def _quotient(self, size: Expr, symbol: Symbol, positive: bool) -> Iterator[list[Expr]]:
        """Bound `q = a / d`, rounded down: `a - d + 1 <= d * q <= a`."""
        a, divisor = args_of(symbol)
        d = divisor.constant
        coefficient = dict(size.terms).get((symbol,), 0)
        alone = sum(symbol in monomial for monomial, _ in size.terms) == 1
        if d is None or d <= 0 or not alone or not coefficient or coefficient % d:
            return
        rest = size - Expr((((symbol,), coefficient),))
        yield [rest + (a - (d - 1) if positive else a) * (coefficient // d)]

    def _by_facts(self, size: Expr, tried: dict[Expr, bool], depth: int) -> Iterator[list[Expr]]:
        """Subtract multiples of facts, which are at least 0, that cancel a term."""
        symbols = size.symbols()
        facts = dict.fromkeys(
            fact
            for level in self._levels
            if level.facts
            for symbol in symbols
            for fact in level.facts.get(symbol, ())
        )
        for fact in list(facts)[:MAX_FACTS]:
            for monomial, c in size.terms:
                if c > 0 and self._are_natural(monomial, tried, depth):
                    continue
                for part, d in fact.terms:
                    factor = monomial_quotient(monomial, part)
                    if (c > 0) != (d > 0) or factor is None:
                        continue
                    times = c // d if c > 0 else -(c // -d)
                    if not times or not self._are_natural(factor, tried, depth):
                        continue
                    rest = size - Expr(((factor, times),)) * fact
                    if len(rest.terms) <= len(size.terms):
                        yield [rest]

    # --------------------------------------------------------------- multiples

    def is_multiple(self, size: Expr, of: int, depth: int = 0) -> bool:
        """Test whether `size` is a multiple of `of` for all values of its symbols."""
        for monomial, coefficient in size.terms:
            need = of // gcd(of, coefficient)
            if need != 1 and not any(self._symbol_is_multiple(s, need, depth) for s in monomial):
                return False
        return True

    def _symbol_is_multiple(self, symbol: Symbol, of: int, depth: int) -> bool:
        """Test it of an operation: of most all operands must be multiples, of a product one."""
        result = packed_of(symbol)
        if result is not None:
            return result[1] > 0 and result[0].alignment % of == 0
        kinds = (*EXTREMA, SizeOp.ADD, SizeOp.MUL, SizeOp.BROADCAST, SELECT)
        if symbol.kind not in kinds or depth >= MAX_DEPTH:
            return False
        found = self._multiples.get((symbol, of))
        if found is None:
            if symbol.kind == SizeOp.MUL:
                found = any(self.is_multiple(arg, of, depth + 1) for arg in args_of(symbol))
            else:
                found = all(self.is_multiple(arg, of, depth + 1) for arg in args_of(symbol)[-2:])
            self._multiples[symbol, of] = found
        return found
