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
from operator import add

from ...operators.sizes import SizeOp
from ..analysis.polynomials import PACK, SELECT, Monomial, Polynomial, Symbol
from ..analysis.sizes import Packed

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

ZERO = Polynomial.of(0)

ONE = Polynomial.of(1)

SAMPLES = 5
"""The number of sample points."""

SIZE_OPS = frozenset[str](SizeOp)

EXTREMA = (SizeOp.MAX, SizeOp.MIN)


def args_of(symbol: Symbol) -> list[Polynomial]:
    """Return the operands of the operation on sizes that `symbol` is."""
    return [arg for arg in symbol.args if isinstance(arg, Polynomial)]


def without(monomial: Monomial, symbol: Symbol) -> Monomial:
    """Return `monomial` without one factor `symbol`, which it has."""
    at = monomial.index(symbol)
    return monomial[:at] + monomial[at + 1 :]


def quotient(monomial: Monomial, factor: Monomial) -> Monomial | None:
    """Return `monomial / factor`, if that is a monomial."""
    for symbol in factor:
        if symbol not in monomial:
            return None
        monomial = without(monomial, symbol)
    return monomial


def substituted(size: Polynomial, symbol: Symbol, value: Polynomial) -> Polynomial:
    """Return `size` with `value` in place of one factor `symbol` of each term that has it."""
    found = ZERO
    for monomial, coefficient in size.terms:
        if symbol not in monomial:
            found += Polynomial(((monomial, coefficient),))
            continue
        found += Polynomial(((without(monomial, symbol), coefficient),)) * value
    return found


def conditions(size: Polynomial) -> list[Condition]:
    """Return the conditions of the selections in `size`."""
    return list(dict.fromkeys(condition_of(s) for s in size.symbols() if s.kind == SELECT))


Condition = tuple[Polynomial, Polynomial]
"""The first is less than the second."""


def condition_of(symbol: Symbol) -> Condition:
    less, more, *_ = args_of(symbol)
    return less, more


def resolved(size: Polynomial, condition: Condition, holds: bool) -> Polynomial:
    """Return `size` with what is selected if `condition` holds or does not."""
    while True:
        chosen = next(
            (s for s in size.symbols() if s.kind == SELECT and condition_of(s) == condition), None
        )
        if chosen is None:
            return size
        size = substituted(size, chosen, args_of(chosen)[2 if holds else 3])


Case = tuple[tuple[Condition, bool], ...]
"""Conditions, and if each holds."""

MAX_CASES = 64
"""The maximum number of cases of a size."""


def cases_of(size: Polynomial) -> list[Case]:
    """Return the cases in which what is selected in `size` is known."""
    found: list[Case] = []
    pending: list[tuple[Case, Polynomial]] = [((), size)]
    while pending:
        case, left = pending.pop()
        open = conditions(left) if len(found) + len(pending) < MAX_CASES else []
        if not open:
            found.append(case)
            continue
        for holds in (True, False):
            pending.append(((*case, (open[0], holds)), resolved(left, open[0], holds)))
    return found


def in_case(size: Polynomial, case: Case) -> Polynomial:
    """Return `size` with what is selected in `case`."""
    for condition, holds in case:
        size = resolved(size, condition, holds)
    return size


def kind_of(symbol: Symbol) -> SizeOp | None:
    """Return the operation that `symbol` is; a selection may be a maximum or minimum."""
    if symbol.kind == SELECT:
        less, more, left, right = args_of(symbol)
        if (left, right) == (less, more):
            return SizeOp.MIN
        return SizeOp.MAX if (left, right) == (more, less) else None
    return SizeOp(symbol.kind) if symbol.kind in SIZE_OPS else None


def packed_of(symbol: Symbol) -> tuple[Packed, int] | None:
    """Return the results of a `memory.pack`, and the number of the one that `symbol` is."""
    if symbol.kind != PACK:
        return None
    number, packed = symbol.args[:2]
    assert isinstance(number, int)
    assert isinstance(packed, Packed)
    return packed, number


class Samples:
    """The values of sizes at a few points; slices of a pack are one after the other."""

    def __init__(self) -> None:
        self._values: dict[Symbol, tuple[int, ...]] = {}
        self._packed: dict[Packed, list[tuple[int, ...]]] = {}

    def bounds(self, start: Polynomial, stop: Polynomial) -> tuple[int, int]:
        """Return the values of both at one point."""
        return self.of(start)[2], self.of(stop)[2]

    def of(self, size: Polynomial) -> list[int]:
        """Return the value of `size` at each point."""
        total = [0] * SAMPLES
        for monomial, coefficient in size.terms:
            if not monomial:
                total = [value + coefficient for value in total]
                continue
            columns = [self._values.get(symbol) or self._value(symbol) for symbol in monomial]
            total = [
                value + coefficient * prod(column[i] for column in columns)
                for i, value in enumerate(total)
            ]
        return total

    def _value(self, symbol: Symbol) -> tuple[int, ...]:
        """Compute the values of `symbol`, after those in it that are not known."""
        pending = [symbol]
        while pending:
            at = pending[-1]
            inner = [s for arg in inner_of(at) for s in arg.symbols() if s not in self._values]
            if inner:
                pending += inner
                continue
            pending.pop()
            if at not in self._values:
                self._values[at] = self._computed(at)
        return self._values[symbol]

    def _computed(self, symbol: Symbol) -> tuple[int, ...]:
        result = packed_of(symbol)
        if result is not None:
            return self._laid_out(result[0])[result[1]]
        if not is_operation(symbol):
            return point_of(symbol)
        return tuple(
            value_at(symbol.kind, row)
            for row in zip(*(self.of(arg) for arg in args_of(symbol)), strict=True)
        )

    def _laid_out(self, packed: Packed) -> list[tuple[int, ...]]:
        found = self._packed.get(packed)
        if found is not None:
            return found
        unit, end = packed.alignment, (0,) * SAMPLES
        offsets: list[tuple[int, ...]] = []
        for size in packed.sizes:
            offsets.append(at := tuple(-(-value // unit) * unit for value in end))
            end = tuple(map(add, at, (max(value, 0) for value in self.of(size))))
        found = self._packed[packed] = [end, *offsets]
        return found


def inner_of(symbol: Symbol) -> Sequence[Polynomial]:
    """Return the sizes from which the value of `symbol` follows."""
    result = packed_of(symbol)
    if result is not None:
        return result[0].sizes
    return args_of(symbol) if is_operation(symbol) else []


def is_operation(symbol: Symbol) -> bool:
    """Test whether the value of `symbol` follows from those of its operands."""
    return symbol.kind == SELECT or symbol.kind in SIZE_OPS


def point_of(symbol: Symbol) -> tuple[int, ...]:
    """Return the values of a symbol that can have any."""
    n = symbol.number
    return (1, 5 + 7 * n % 11, 1000 + 37 * n % 101, 333 if n % 2 else 1, 1 if n % 2 else 333)


def value_at(kind: str, args: tuple[int, ...]) -> int:
    """Compute an operation; where it has no value, any will do."""
    if kind == SELECT:
        return args[2] if args[0] < args[1] else args[3]
    left, right = args[0], args[-1]
    match SizeOp(kind):
        case SizeOp.ADD:
            return left + right
        case SizeOp.SUB:
            return left - right
        case SizeOp.MUL:
            return prod(args)
        case SizeOp.FLOORDIV:
            return left // right if right else 0
        case SizeOp.MOD:
            return left % right if right else 0
        case SizeOp.MAX:
            return max(left, right)
        case SizeOp.MIN:
            return min(left, right)
        case SizeOp.BROADCAST:
            return right if left == 1 else left


def lower_bounds(size: Polynomial) -> list[Polynomial]:
    """Return sizes that `size` is at least, whatever the facts: without its first maximum."""
    for monomial, c in size.terms:
        symbol = monomial[0] if len(monomial) == 1 else None
        if symbol is None or c < 0:
            continue
        kind, result = kind_of(symbol), packed_of(symbol)
        if kind is None and (result is None or result[1]):
            continue
        if any(symbol in other for other, _ in size.terms if other is not monomial):
            continue
        rest = size - Polynomial(((monomial, c),))
        args = args_of(symbol)[-2:]
        if kind == SizeOp.MAX:
            return [rest + arg * c for arg in args]
        if kind == SizeOp.ADD:
            return [rest + (args[0] + args[1]) * c]
        divisor = args[1].constant if kind == SizeOp.FLOORDIV else None
        if divisor is not None and divisor > 0 and c % divisor == 0:
            return [rest + (args[0] - (divisor - 1)) * (c // divisor)]
        if result is not None:
            return [rest + result[0].end(i) * c for i in range(len(result[0].sizes))]
    return []


@dataclass(eq=False)
class _Level:
    """The facts of a block, and what was shown with them and those of the blocks around it."""

    natural: dict[Symbol, bool] = field(default_factory=dict[Symbol, bool])
    facts: dict[Symbol, list[Polynomial]] = field(default_factory=dict[Symbol, list[Polynomial]])
    """Facts, by the symbols in them."""
    shown: dict[Polynomial, bool] = field(default_factory=dict[Polynomial, bool])
    spans: dict[Polynomial, dict[Polynomial, None]] = field(
        default_factory=dict[Polynomial, "dict[Polynomial, None]"]
    )
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
        self._ends: dict[Polynomial, Sequence[Polynomial]] = {}
        """Sizes that are at least the end of a slot, whatever the facts."""

    # ------------------------------------------------------------------- facts

    def open(self, facts: Iterable[Polynomial]) -> bool:
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

    def _is_known_fact(self, fact: Polynomial) -> bool:
        symbols = fact.symbols()
        return bool(symbols) and any(
            fact in level.facts.get(symbols[0], ()) for level in self._levels
        )

    def close(self) -> None:
        """Forget the facts that were added last."""
        self._levels.pop()

    # ------------------------------------------------------------ inequalities

    def at_least(self, left: Polynomial, right: Polynomial) -> bool:
        """Test whether `left >= right` can be shown."""
        size = left - right
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

    def add_span(self, start: Polynomial, stop: Polynomial, ends: Sequence[Polynomial]) -> None:
        """
        Let proofs use that `ends`, those of a slice with this slot, are not below the bounds of the
        slot, and that it does not end before it starts, if that can be shown.
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

    def _below(self, size: Polynomial) -> list[Polynomial]:
        """Return sizes that `size` is at least: starts of slots that end there, or its parts."""
        starts = [
            start for level in self._levels for start in level.spans.get(size, ()) if level.spans
        ]
        return starts or lower_bounds(size)

    def all_below(self, top: Polynomial, limit: int) -> set[Polynomial]:
        """Return the ends of slots, and other sizes, that are shown to be at most `top`."""
        found, pending = {top}, [top]
        while pending and len(found) < limit:
            for size in self._below(pending.pop()):
                if size not in found:
                    found.add(size)
                    pending.append(size)
        return found

    def _descends(self, left: Polynomial, right: Polynomial) -> bool:
        """Test whether a way down from `left` leads to `right`, from slot to slot."""
        ends = self._ends.get(right, ())
        if any(self._is_plain(left - end) for end in ends):
            return True
        found, pending = {left}, [left]
        while pending and len(found) < MAX_STEPS:
            for size in self._below(pending.pop()):
                if size in found:
                    continue
                found.add(size)
                rest = size - right
                if self._is_plain(rest) or any(self._is_plain(size - end) for end in ends):
                    return True
                if not self._fails(rest):
                    pending.append(size)
        return False

    def fails(self, left: Polynomial, right: Polynomial) -> bool:
        """Test whether `left >= right` is wrong at a sample point."""
        return self._fails(left - right)

    def _fails(self, size: Polynomial) -> bool:
        values = self.samples.of(size)
        return any(values[i] < 0 for i in self._levels[-1].points)

    def _is_plain(self, size: Polynomial) -> bool:
        """Test whether `size` is at least 0 for all natural values of its symbols."""
        return all(c > 0 and all(s.natural for s in m) for m, c in size.terms)

    def _not_negative(self, size: Polynomial, tried: dict[Polynomial, bool], depth: int) -> bool:
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

    def _are_natural(
        self, symbols: Iterable[Symbol], tried: dict[Polynomial, bool], depth: int
    ) -> bool:
        return all(self._is_natural(symbol, tried, depth) for symbol in symbols)

    def _is_natural(self, symbol: Symbol, tried: dict[Polynomial, bool], depth: int) -> bool:
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

    def _follows(self, symbol: Symbol, tried: dict[Polynomial, bool], depth: int) -> bool:
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

    def _reductions(
        self, size: Polynomial, tried: dict[Polynomial, bool], depth: int
    ) -> Iterator[list[Polynomial]]:
        """Yield lists of sizes: if those of one list are at least 0, so is `size`."""
        later: list[list[Polynomial]] = []
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

    def _quotient(
        self, size: Polynomial, symbol: Symbol, positive: bool
    ) -> Iterator[list[Polynomial]]:
        """Bound `q = a / d`, rounded down: `a - d + 1 <= d * q <= a`."""
        a, divisor = args_of(symbol)
        d = divisor.constant
        coefficient = dict(size.terms).get((symbol,), 0)
        alone = sum(symbol in monomial for monomial, _ in size.terms) == 1
        if d is None or d <= 0 or not alone or not coefficient or coefficient % d:
            return
        rest = size - Polynomial((((symbol,), coefficient),))
        yield [rest + (a - (d - 1) if positive else a) * (coefficient // d)]

    def _by_facts(
        self, size: Polynomial, tried: dict[Polynomial, bool], depth: int
    ) -> Iterator[list[Polynomial]]:
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
                    factor = quotient(monomial, part)
                    if (c > 0) != (d > 0) or factor is None:
                        continue
                    times = c // d if c > 0 else -(c // -d)
                    if not times or not self._are_natural(factor, tried, depth):
                        continue
                    rest = size - Polynomial(((factor, times),)) * fact
                    if len(rest.terms) <= len(size.terms):
                        yield [rest]

    # --------------------------------------------------------------- multiples

    def is_multiple(self, size: Polynomial, of: int, depth: int = 0) -> bool:
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
