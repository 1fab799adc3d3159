"""
Expressions of sizes that are not known yet: sums of products of symbols.

    (n + 1) * (n - 1) == n * n - 1
    4*n + 8*m                             at least 0, a multiple of 4, of the dims n and m
    Values({n: 5}).of(4*n + 8)            28

A symbol is a size unconstrained but for its bounds, such as a dim; or an operation of the table
(`size_table`) on expressions. `algebra` makes them, one for equal operands.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from math import gcd, prod
from typing import TypeAlias

from .size_table import SELECT, TOTAL, Range, compute, is_operation, product_range, sum_range

MAX_QUOTIENT = 16
"""The maximum number of terms of a quotient."""

MAX_NAME = 80
"""The maximum length of the text of an operation."""

MAX_VALUE = 2**62
"""Sizes that are this large are not computed."""

NO_VALUE = 1
"""The value of an operation that has none for its operands, as of a program that stops."""

DIM = "dim"
"""The kind of a symbol that is a dim of a tensor."""

ELEMENT = "element"
"""The kind of a symbol that is an element of a tensor."""


class Symbol:
    """
    An unknown size, or an operation on sizes.

    `kind` and `args` identify the symbol; in each algebra they determine it. Of an operation,
    `kind` is its name in the table and `args` are its operands: expressions, numbers, or a layout.
    """

    __slots__ = ("_name", "args", "divisor", "kind", "number", "range")

    def __init__(
        self,
        number: int,
        name: str | None,
        kind: str,
        args: tuple[Hashable, ...],
        range: Range,
        divisor: int,
    ):
        self.number = number
        self._name = name
        self.kind = kind
        self.args = args
        self.range = range
        """The least and the greatest value."""
        self.divisor = divisor
        """A number that divides it."""

    @property
    def name(self) -> str:
        if self._name is None:
            shown = [str(arg) for arg in self.args if isinstance(arg, Expr | int | float)]
            if self.kind == SELECT:
                text = "({2} if {0} < {1} else {3})".format(*shown)
            else:
                text = f"{self.kind}({', '.join(shown)})"
            self._name = text if len(text) <= MAX_NAME else f"{text[: MAX_NAME - 3]}..."
        return self._name

    @property
    def natural(self) -> bool:
        return self.range[0] >= 0

    @property
    def operands(self) -> list[Expr]:
        """The expressions among the arguments."""
        return [arg for arg in self.args if isinstance(arg, Expr)]

    @property
    def is_computed(self) -> bool:
        """True if the value follows from those of the operands."""
        return is_operation(self.kind) and not any(
            not isinstance(arg, Expr | int | float) for arg in self.args[self.kind == TOTAL :]
        )

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


Monomial: TypeAlias = tuple[Symbol, ...]
"""A product of symbols, by number; a power is a symbol repeated."""

Term: TypeAlias = tuple[Monomial, int]


def rank(term: Term) -> tuple[int, tuple[int, ...]]:
    """Return the sort key of a term: the leading one, by degree and then by symbols, is first."""
    return -len(term[0]), tuple([symbol.number for symbol in term[0]])


def _number(symbol: Symbol) -> int:
    return symbol.number


def _product(one: Term, other: Term) -> Term:
    """Return the product of two terms."""
    (left, a), (right, b) = one, other
    both = left or right
    return tuple(sorted((*left, *right), key=_number)) if left and right else both, a * b


def _quotient(term: Term, divisor: Term) -> Term | None:
    """Return the quotient of two terms, if it is one."""
    (monomial, c), (divisors, d) = term, divisor
    rest = [*monomial]
    for symbol in divisors:
        if symbol not in rest:
            return None
        rest.remove(symbol)
    return None if c % d else (tuple(rest), c // d)


def _common(one: Monomial, other: Monomial) -> Monomial:
    """Return the greatest product that divides both."""
    found, rest = list[Symbol](), [*other]
    for symbol in one:
        if symbol in rest:
            rest.remove(symbol)
            found.append(symbol)
    return tuple(found)


def _shown_rank(term: Term) -> tuple[int, bool]:
    """Return the sort key of a term in texts: dims are before what is computed from them."""
    return -len(term[0]), any(symbol.kind != DIM for symbol in term[0])


class Expr:
    """A sum of terms with coefficients other than 0, the leading term first."""

    __slots__ = ("_hash", "_range", "terms")

    def __init__(self, terms: tuple[Term, ...]):
        self.terms = terms
        self._hash = hash(terms)
        self._range: Range | None = None

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Expr) and self._hash == other._hash and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    @staticmethod
    @lru_cache(4096)
    def of(value: int) -> Expr:
        return Expr((((), value),) if value else ())

    @staticmethod
    def of_symbol(symbol: Symbol) -> Expr:
        """Return the expression that is a symbol."""
        return Expr((((symbol,), 1),))

    @staticmethod
    def from_terms(coefficients: Mapping[Monomial, int]) -> Expr:
        terms = [term for term in coefficients.items() if term[1]]
        if len(terms) > 1:
            terms.sort(key=rank)
        return Expr(tuple(terms))

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
    def divisor(self) -> int:
        """A number that divides the value, the greatest that is known; 0 if the value is 0."""
        if (number := self.constant) is not None:
            return abs(number)
        return gcd(*(c * prod(symbol.divisor for symbol in m) for m, c in self.terms))

    @property
    def symbol(self) -> Symbol | None:
        """The symbol that the expression is, if it is one."""
        if len(self.terms) != 1:
            return None
        monomial, coefficient = self.terms[0]
        return monomial[0] if coefficient == 1 and len(monomial) == 1 else None

    @property
    def range(self) -> Range:
        """The least and the greatest value, as far as bounds of the symbols tell."""
        if self._range is None:
            total: Range = 0, 0
            for monomial, c in self.terms:
                low, high = product_range(*[symbol.range for symbol in monomial])
                total = sum_range(total, (low * c, high * c) if c > 0 else (high * c, low * c))
            self._range = total
        return self._range

    @property
    def is_natural(self) -> bool:
        """True if the value is never below 0."""
        return self.range[0] >= 0

    @property
    def is_positive(self) -> bool:
        """True if the value is never below 1."""
        return self.range[0] > 0

    def is_deeper(self, depth: int) -> bool:
        """Test whether operations are nested more than `depth` deep."""
        operands = (operand for symbol in self.symbols() for operand in symbol.operands)
        return any(depth == 0 or operand.is_deeper(depth - 1) for operand in operands)

    def symbols(self) -> list[Symbol]:
        return list(dict.fromkeys(s for monomial, _ in self.terms for s in monomial))

    def value(self, values: Mapping[Symbol, int]) -> int:
        """Return the value for these values of the symbols."""
        return sum(c * prod(values[s] for s in monomial) for monomial, c in self.terms)

    def __add__(self, other: Expr | int) -> Expr:
        other = other if isinstance(other, Expr) else Expr.of(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        if not self.offset and other.constant is not None:
            return Expr((*self.terms, *other.terms))
        sums = dict(self.terms)
        for monomial, coefficient in other.terms:
            sums[monomial] = sums.get(monomial, 0) + coefficient
        return Expr.from_terms(sums)

    def __neg__(self) -> Expr:
        return Expr(tuple((monomial, -c) for monomial, c in self.terms))

    def __sub__(self, other: Expr | int) -> Expr:
        return self + -other

    def __mul__(self, other: Expr | int) -> Expr:
        other = other if isinstance(other, Expr) else Expr.of(other)
        many, few = (self, other) if len(self.terms) > len(other.terms) else (other, self)
        if few.constant == 1:
            return many
        if len(few.terms) < 2:  # the order of terms stays
            return Expr(tuple([_product(a, b) for b in few.terms for a in many.terms]))
        products: dict[Monomial, int] = {}
        for monomial, c in (_product(a, b) for a in many.terms for b in few.terms):
            products[monomial] = products.get(monomial, 0) + c
        return Expr.from_terms(products)

    @property
    def common_term(self) -> Expr:
        """The greatest term that divides all, with the sign of the first; 0 of 0."""
        if len(self.terms) < 2:
            return self
        first, c = self.terms[0]
        common = reduce(_common, (monomial for monomial, _ in reversed(self.terms)), first)
        return Expr(((common, self.content if c > 0 else -self.content),))

    def quotient(self, divisor: Expr) -> Expr | None:
        """Return the polynomial q with `self == q * divisor`, if there is one."""
        if not divisor.terms:
            return None
        if divisor.constant == 1:
            return self
        lead = divisor.terms[0]
        if len(divisor.terms) == 1:
            found = [over for term in self.terms if (over := _quotient(term, lead)) is not None]
            return Expr(tuple(found)) if len(found) == len(self.terms) else None
        terms: list[Term] = []
        rest = self
        while rest.terms:
            term = _quotient(rest.terms[0], lead)
            if term is None or len(terms) > MAX_QUOTIENT:
                return None
            terms.append(term)
            rest -= Expr((term,)) * divisor
        return Expr(tuple(terms))

    def __str__(self) -> str:
        text = ""
        for monomial, coefficient in sorted(self.terms, key=_shown_rank):
            sign = (" - " if text else "-") if coefficient < 0 else " + " if text else ""
            factors = [str(symbol) for symbol in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            text += sign + "*".join(factors)
        return text or "0"

    __repr__ = __str__


Dims: TypeAlias = tuple[Expr, ...]
"""The dims of a tensor, or the elements of one."""


def inner_first(roots: Iterable[Expr], known: Container[Symbol] = ()) -> list[Symbol]:
    """Return the symbols in `roots` that are not `known`, each after those in its operands."""
    done: dict[Symbol, None] = {}
    pending = [(s, False) for root in reversed(list(roots)) for s in reversed(root.symbols())]
    while pending:
        symbol, is_ready = pending.pop()
        if is_ready:
            done[symbol] = None
        elif symbol not in done and symbol not in known:
            pending.append((symbol, True))
            pending += [
                (s, False)
                for operand in reversed(symbol.operands)
                for s in reversed(operand.symbols())
                if s not in done
            ]
    return list(done)


def free_symbols(sizes: Iterable[Expr]) -> list[Symbol]:
    """Return the symbols from which `sizes` follow, in order."""
    return [symbol for symbol in inner_first(sizes) if not symbol.is_computed]


@dataclass
class Values:
    """Evaluates expressions at a point, which has the value of each free symbol."""

    point: Mapping[Symbol, int]
    _known: dict[Symbol, int] = field(default_factory=dict[Symbol, int])

    def of(self, size: Expr) -> int:
        """Return the value of `size`."""
        return self.all_of([size])[0]

    def all_of(self, sizes: Sequence[Expr]) -> list[int]:
        """Return the values of `sizes`."""
        for symbol in inner_first(sizes, self._known):
            self._known[symbol] = self._value(symbol) if symbol.is_computed else self.point[symbol]
        return [size.value(self._known) for size in sizes]

    def _value(self, symbol: Symbol) -> int:
        args = [arg.value(self._known) if isinstance(arg, Expr) else arg for arg in symbol.args]
        try:
            value = compute(symbol.kind, *args)
        except (ArithmeticError, ValueError, TypeError):
            return NO_VALUE
        return value if abs(value) < MAX_VALUE else MAX_VALUE
