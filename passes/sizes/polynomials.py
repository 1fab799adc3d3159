"""
Polynomials with integer coefficients, to compare sizes that are not known yet.

    algebra = Algebra()
    n = algebra.symbol("n")
    (n + 1) * (n - 1) == n * n - 1
    algebra.floordiv(n * 6 + 4, Polynomial.of(3)) == n * 2 + 1
    algebra.floordiv(n, Polynomial.of(2))         a symbol, the same each time

Equal polynomials are equal sizes; different ones may be equal for some values of their symbols.
What a polynomial cannot express is a symbol that its operation and operands identify; a product
of sums that has too many terms is one of its factors, in whatever order they are multiplied.
Arithmetic is that of the integers: a size that overflows is an error of the program wherever it is
computed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import gcd, prod
from typing import NamedTuple, TypeAlias

from ...operators.measures import MAX_SIZE
from ...operators.sizes import Check, SizeOp

MAX_TERMS = 16
"""The maximum number of terms of a polynomial; a larger one becomes a symbol."""

MAX_FACTORS = 16
"""The maximum number of sums in a product whose factors are known."""

MAX_DEGREE = 16
"""The maximum degree of a polynomial; one of a higher degree becomes a symbol."""


SELECT = "select"
"""The kind of a symbol with operands a, b, c, d that is c if a < b, else d."""


PACK = "pack"
"""The kind of a symbol that is a result of a `memory.pack`; its operand is `Packed`."""


TOTAL = "total"
"""The kind of a symbol with operands `PoolTotal` and sizes: the size of an arena."""


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """
    An unconstrained integer; non-negative if `natural`.

    `kind` and `args` identify the symbol; in each analysis they determine the symbol.
    """

    number: int
    name: str
    kind: str
    args: tuple[Hashable, ...]
    natural: bool

    def __str__(self) -> str:
        return self.name


Monomial: TypeAlias = tuple[Symbol, ...]
"""A product of symbols, by number; a power is a symbol repeated."""

Term: TypeAlias = tuple[Monomial, int]


class Product(NamedTuple):
    """A product of a number, symbols, and sums without a common factor, in order."""

    coefficient: int
    monomial: Monomial
    sums: tuple[Polynomial, ...]


def _rank(term: Term) -> tuple[int, tuple[int, ...]]:
    """Return the sort key of a term: the leading one, by degree and then by symbols, is first."""
    return -len(term[0]), tuple(symbol.number for symbol in term[0])


def _number(symbol: Symbol) -> int:
    return symbol.number


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of terms with coefficients other than 0, the leading term first."""

    terms: tuple[Term, ...]

    @staticmethod
    def of(value: int) -> Polynomial:
        return Polynomial((((), value),) if value else ())

    @staticmethod
    def from_terms(coefficients: Mapping[Monomial, int]) -> Polynomial:
        terms = [term for term in coefficients.items() if term[1]]
        if len(terms) > 1:
            terms.sort(key=_rank)
        return Polynomial(tuple(terms))

    @property
    def constant(self) -> int | None:
        """The value, if it does not depend on symbols."""
        if not self.terms:
            return 0
        monomial, coefficient = self.terms[0]
        return None if monomial else coefficient

    @property
    def offset(self) -> int:
        """The constant term."""
        if not self.terms:
            return 0
        monomial, coefficient = self.terms[-1]
        return 0 if monomial else coefficient

    @property
    def content(self) -> int:
        """The greatest common divisor of the coefficients."""
        return gcd(*(coefficient for _, coefficient in self.terms))

    @property
    def symbol(self) -> Symbol | None:
        """The symbol that the polynomial is, if it is one."""
        if len(self.terms) != 1:
            return None
        monomial, coefficient = self.terms[0]
        return monomial[0] if coefficient == 1 and len(monomial) == 1 else None

    @property
    def lower_bound(self) -> int | None:
        """A bound that the value is never below, if there is an obvious one."""
        for monomial, coefficient in self.terms:
            if monomial and (coefficient < 0 or not all(s.natural for s in monomial)):
                return None
        return self.offset

    def symbols(self) -> list[Symbol]:
        return list(dict.fromkeys(s for monomial, _ in self.terms for s in monomial))

    def value(self, values: Mapping[Symbol, int]) -> int:
        """Return the value for these values of the symbols."""
        return sum(c * prod(values[s] for s in monomial) for monomial, c in self.terms)

    def __add__(self, other: Polynomial | int) -> Polynomial:
        other = other if isinstance(other, Polynomial) else Polynomial.of(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        sums = dict(self.terms)
        for monomial, coefficient in other.terms:
            sums[monomial] = sums.get(monomial, 0) + coefficient
        return Polynomial.from_terms(sums)

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple((monomial, -c) for monomial, c in self.terms))

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        other = other if isinstance(other, Polynomial) else Polynomial.of(other)
        products: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                both = (
                    tuple(sorted((*left, *right), key=_number)) if left and right else left or right
                )
                products[both] = products.get(both, 0) + a * b
        return Polynomial.from_terms(products)

    def quotient(self, divisor: Polynomial) -> Polynomial | None:
        """Return the polynomial q with `self == q * divisor`, if there is one."""
        if not divisor.terms:
            return None
        lead, coefficient = divisor.terms[0]
        found, rest = Polynomial(()), self
        while rest.terms:
            monomial, c = rest.terms[0]
            over = monomial_quotient(monomial, lead)
            if over is None or c % coefficient or len(found.terms) > MAX_TERMS:
                return None
            term = Polynomial(((over, c // coefficient),))
            found += term
            rest -= term * divisor
        return found

    def __str__(self) -> str:
        text = ""
        for monomial, coefficient in self.terms:
            sign = (" - " if text else "-") if coefficient < 0 else " + " if text else ""
            factors = [str(symbol) for symbol in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            text += sign + "*".join(factors)
        return text or "0"


def monomial_quotient(monomial: Monomial, factor: Monomial) -> Monomial | None:
    """Return `monomial / factor`, if that is a monomial."""
    rest = list(monomial)
    for symbol in factor:
        if symbol not in rest:
            return None
        rest.remove(symbol)
    return tuple(rest)


def _common(monomials: Sequence[Monomial]) -> Monomial:
    """Return the greatest monomial that divides all of `monomials`."""
    common = list(monomials[0])
    for monomial in monomials[1:]:
        if not common:
            break
        rest, found = list(monomial), list[Symbol]()
        for symbol in common:
            if symbol in rest:
                rest.remove(symbol)
                found.append(symbol)
        common = found
    return tuple(common)


def holds(check: Check, left: Polynomial, right: Polynomial) -> bool | None:
    """Test whether the relation `check` always holds, or never does; None if neither is certain."""
    a, b = left.constant, right.constant
    if a is not None and b is not None:
        return check.holds(a, b)
    match check:
        case Check.EQUAL:
            return _equal(left, right)
        case Check.AT_LEAST:
            return _at_least(left, right)
        case Check.AT_MOST:
            return _at_least(right, left)
        case Check.DIVISIBLE:
            positive = b is not None and b > 0
            return True if positive and left.quotient(right) is not None else None
        case Check.ONE_OR_EQUAL:
            return True if left == right or a == 1 else None
        case Check.BROADCAST:
            return True if left == right or 1 in (a, b) else None


def _equal(left: Polynomial, right: Polynomial) -> bool | None:
    difference = left - right
    if not difference.terms:
        return True
    if difference.constant is not None:
        return False
    bounds = difference.lower_bound, (-difference).lower_bound
    return False if any(bound is not None and bound > 0 for bound in bounds) else None


def _at_least(left: Polynomial, right: Polynomial) -> bool | None:
    bound = (left - right).lower_bound
    if bound is not None and bound >= 0:
        return True
    bound = (right - left).lower_bound
    return False if bound is not None and bound > 0 else None


@dataclass
class Algebra:
    """Creates the symbols of one analysis, and the operations that may need a new one."""

    _symbols: dict[tuple[Hashable, ...], Polynomial] = field(
        default_factory=dict[tuple[Hashable, ...], Polynomial]
    )
    _expanded: dict[tuple[Polynomial, ...], Polynomial] = field(
        default_factory=dict[tuple[Polynomial, ...], Polynomial]
    )
    """Products of sums without a common factor."""
    _factors: dict[Polynomial | Symbol, tuple[Polynomial, ...]] = field(
        default_factory=dict["Polynomial | Symbol", tuple[Polynomial, ...]]
    )
    """The factors of each sum or symbol that stands for a product."""

    def symbol(
        self, name: str, kind: str = "symbol", args: Sequence[Hashable] = (), natural: bool = True
    ) -> Polynomial:
        """
        Return the symbol of this kind and these arguments; without arguments, of this name.

        If it is new, it gets this name and bound.
        """
        key = (kind, *(args or (name,)))
        found = self._symbols.get(key)
        if found is None:
            symbol = Symbol(len(self._symbols), name, kind, tuple(args), natural)
            found = self._symbols[key] = Polynomial((((symbol,), 1),))
        return found

    def opaque(
        self, kind: str, args: Sequence[Hashable], natural: bool, name: str | None = None
    ) -> Polynomial:
        """Return the symbol for the operation `kind` on `args`."""
        shown = name or f"{kind}({', '.join(map(str, args))})"
        if len(shown) > 80:
            shown = f"{shown[:77]}..."
        return self.symbol(shown, kind, args, natural)

    def again(self, symbol: Symbol, args: Sequence[Hashable]) -> Polynomial:
        """Return the operation that `symbol` is, on other operands."""
        sizes = [arg for arg in args if isinstance(arg, Polynomial)]
        if symbol.kind in list(SizeOp):
            return self.apply(SizeOp(symbol.kind), sizes)
        if symbol.kind == SELECT:
            return self.select_less(*sizes)
        return self.opaque(symbol.kind, args, symbol.natural, symbol.name)

    def binary(self, op: SizeOp, left: Polynomial, right: Polynomial) -> Polynomial:
        """Return `left op right`."""
        match op:
            case SizeOp.ADD:
                return self._bounded(op, left, right, left + right)
            case SizeOp.SUB:
                return self._bounded(op, left, right, left - right)
            case SizeOp.MUL:
                return self._multiply(left, right)
            case SizeOp.FLOORDIV:
                return self.floordiv(left, right)
            case SizeOp.MOD:
                return self.mod(left, right)
            case SizeOp.MAX:
                return self._extremum(op, left, right)
            case SizeOp.MIN:
                return self._extremum(op, left, right)
            case SizeOp.BROADCAST:
                return self._broadcast(left, right)

    def apply(self, op: SizeOp, sizes: Sequence[Polynomial]) -> Polynomial:
        """Return `op` of one or more sizes, from left to right."""
        return reduce(lambda left, right: self.binary(op, left, right), sizes)

    def product(self, sizes: Sequence[Polynomial]) -> Polynomial:
        """Return the product of `sizes`."""
        return self.apply(SizeOp.MUL, (Polynomial.of(1), *sizes))

    def _multiply(self, left: Polynomial, right: Polynomial) -> Polynomial:
        one, other = self._factored(left), self._factored(right)
        term = Polynomial(((one.monomial, one.coefficient),)) * Polynomial(
            ((other.monomial, other.coefficient),)
        )
        sums = sorted((*one.sums, *other.sums), key=_key)
        if len(sums) <= MAX_FACTORS:
            found = term * self._expand(tuple(sums))
            if _is_small(found):
                return found
        return self.opaque(SizeOp.MUL, _ordered(left, right), _natural(left, right))

    def _factored(self, size: Polynomial) -> Product:
        """Return `size` as a product, as far as it is known to be one."""
        if not size.terms:
            return Product(0, (), ())
        common = _common([monomial for monomial, _ in size.terms])
        content = size.content if size.terms[0][1] > 0 else -size.content
        sums: tuple[Polynomial, ...] = ()
        if len(size.terms) > 1:
            rest = Polynomial.from_terms(
                {monomial_quotient(m, common) or (): c // content for m, c in size.terms}
            )
            sums = self._factors.get(rest, (rest,))
        symbols: list[Symbol] = []
        for symbol in common:
            factors = self._factors.get(symbol)
            if factors is None:
                symbols.append(symbol)
            else:
                sums += factors
        return Product(content, tuple(symbols), sums)

    def _expand(self, sums: tuple[Polynomial, ...]) -> Polynomial:
        """Return the product of sums without a common factor; a symbol if it is large."""
        if len(sums) < 2:
            return sums[0] if sums else Polynomial.of(1)
        found = self._expanded.get(sums)
        if found is None:
            found = sums[0]
            for factor in sums[1:]:
                if len(found.terms) * len(factor.terms) > MAX_TERMS**2:
                    break
                found = found * factor
            else:
                if _is_small(found):
                    self._factors.setdefault(found, sums)
                    self._expanded[sums] = found
                    return found
            found = self._expanded[sums] = self.opaque(SizeOp.MUL, sums, _natural(*sums))
            assert found.symbol is not None
            self._factors[found.symbol] = sums
        return found

    def _quotient(self, left: Polynomial, right: Polynomial) -> Polynomial | None:
        """Return the size q with `left == q * right`, if one is found."""
        found = left.quotient(right)
        if found is not None or not right.terms:
            return found
        one, other = self._factored(left), self._factored(right)
        monomial, sums = monomial_quotient(one.monomial, other.monomial), list(one.sums)
        if monomial is None or one.coefficient % other.coefficient:
            return None
        for factor in other.sums:
            if factor not in sums:
                return None
            sums.remove(factor)
        term = Polynomial(((monomial, one.coefficient // other.coefficient),))
        return self.product([term, *sums])

    def _bounded(
        self, op: SizeOp, left: Polynomial, right: Polynomial, result: Polynomial
    ) -> Polynomial:
        if _is_small(result):
            return result
        args = (left, right) if op is SizeOp.SUB else _ordered(left, right)
        return self.opaque(op, args, op is not SizeOp.SUB and _natural(left, right))

    def floordiv(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Return `left / right`, rounded down."""
        exact = self._quotient(left, right)
        if exact is not None:
            return exact
        divisor = right.constant
        if divisor is not None and divisor > 0:
            whole = Polynomial.from_terms(
                # The constant is divided too, rounded down: (n - 1) // 2 becomes (n + 1) // 2 - 1,
                # whose dividend is a sum of natural numbers.
                {m: c // divisor for m, c in left.terms if not (m and c % divisor)}
            )
            rest = left - whole * divisor
            if rest.constant is not None:
                return whole + rest.constant // divisor
            if whole.terms:
                return whole + self.floordiv(rest, right)
        return self.opaque(SizeOp.FLOORDIV, (left, right), _natural(left, right))

    def mod(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Return the remainder of `floordiv`."""
        if self._quotient(left, right) is not None:
            return Polynomial.of(0)
        divisor = right.constant
        if divisor is not None and divisor > 0:
            left = Polynomial.from_terms({m: c % divisor for m, c in left.terms})
            if left.constant is not None:
                return Polynomial.of(left.constant % divisor)
        return self.opaque(SizeOp.MOD, (left, right), _natural(right))

    def truncdiv(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Return `left / right`, rounded towards 0."""
        a, b = left.constant, right.constant
        if a is not None and b is not None and b:
            return Polynomial.of(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
        if _natural(left, right) or self._quotient(left, right) is not None:
            return self.floordiv(left, right)
        return self.opaque("truncdiv", (left, right), False)

    def truncmod(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Return the remainder of `truncdiv`, which has the sign of `left`."""
        a, b = left.constant, right.constant
        if a is not None and b is not None and b:
            return Polynomial.of(abs(a) % abs(b) * (-1 if a < 0 else 1))
        if _natural(left, right) or self._quotient(left, right) is not None:
            return self.mod(left, right)
        return self.opaque("truncmod", (left, right), _natural(left))

    def select_less(
        self, less: Polynomial, more: Polynomial, left: Polynomial, right: Polynomial
    ) -> Polynomial:
        """Return `left` if `less < more`, else `right`."""
        if left == right:
            return left
        bounds = _natural(left), _natural(right)
        is_maximum = (less, more) == (right, left)
        natural = any(bounds) if is_maximum else all(bounds)
        shown = f"({left} if {less} < {more} else {right})"
        return self.opaque(SELECT, (less, more, left, right), natural, shown)

    def _extremum(self, op: SizeOp, left: Polynomial, right: Polynomial) -> Polynomial:
        greater, lesser = (left, right) if op is SizeOp.MAX else (right, left)
        if holds(Check.AT_LEAST, greater, lesser):
            return left
        if holds(Check.AT_LEAST, lesser, greater):
            return right
        nested = self._nested_maximum(left, right) if op is SizeOp.MAX else None
        if nested is not None:
            return nested
        natural = _natural(left, right) or (
            op is SizeOp.MAX and (_natural(left) or _natural(right))
        )
        return self.opaque(op, _ordered(left, right), natural)

    def _nested_maximum(self, left: Polynomial, right: Polynomial) -> Polynomial | None:
        """Return `max(max(a, b) + k, c)` as `max(a + k, c)` if `b + k <= c`."""
        for sum, other in ((left, right), (right, left)):
            symbol = (sum - sum.offset).symbol
            if symbol is None or symbol.kind != SizeOp.MAX:
                continue
            a, b = (p + sum.offset for p in symbol.args if isinstance(p, Polynomial))
            for kept, dropped in ((a, b), (b, a)):
                if holds(Check.AT_LEAST, other, dropped):
                    return self._extremum(SizeOp.MAX, kept, other)
        return None

    def _broadcast(self, left: Polynomial, right: Polynomial) -> Polynomial:
        if left == right or right.constant == 1:
            return left
        if left.constant == 1:
            return right
        if left.constant is not None:
            return left
        symbol = left.symbol  # if the other dim is 1 too wherever it is, as min(n, 64) is, it wins
        if symbol is not None and self._where_one(right, symbol) == Polynomial.of(1):
            return left
        return self.opaque(SizeOp.BROADCAST, (left, right), _natural(left, right))

    def _where_one(self, size: Polynomial, symbol: Symbol, depth: int = 4) -> Polynomial | None:
        """Return `size` where `symbol` is 1; None if it is too deep, or not arithmetic on it."""
        result = Polynomial.of(0)
        for monomial, coefficient in size.terms:
            term = Polynomial.of(coefficient)
            for factor in monomial:
                found = self._factor_where_one(factor, symbol, depth)
                if found is None:
                    return None
                term = term * found
            result = result + term
        return result

    def _factor_where_one(self, factor: Symbol, symbol: Symbol, depth: int) -> Polynomial | None:
        if factor is symbol:
            return Polynomial.of(1)
        if factor.kind not in list(SizeOp):
            return None
        args: list[Polynomial] = []
        for arg in factor.args:
            found = None
            if depth and isinstance(arg, Polynomial):
                found = self._where_one(arg, symbol, depth - 1)
            if found is None:
                return None
            args.append(found)
        return self.apply(SizeOp(factor.kind), args)


def _degree(polynomial: Polynomial) -> int:
    return len(polynomial.terms[0][0]) if polynomial.terms else 0


def _is_small(polynomial: Polynomial) -> bool:
    """Test whether a polynomial has few terms of a low degree with small coefficients."""
    terms = polynomial.terms
    return (
        len(terms) <= MAX_TERMS
        and _degree(polynomial) <= MAX_DEGREE
        and all(abs(c) <= MAX_SIZE for _, c in terms)
    )


def _natural(*polynomials: Polynomial) -> bool:
    return all(p.lower_bound is not None and p.lower_bound >= 0 for p in polynomials)


def _ordered(left: Polynomial, right: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return both in an order that does not depend on how they were given."""
    return (left, right) if _key(left) <= _key(right) else (right, left)


def _key(polynomial: Polynomial) -> list[tuple[tuple[int, tuple[int, ...]], int]]:
    return [(_rank(term), term[1]) for term in polynomial.terms]
