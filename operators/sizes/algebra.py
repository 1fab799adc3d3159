"""
The operations on expressions of sizes, in a normal form, so that equal ones are found.

    algebra = Algebra()
    n = algebra.symbol("n")
    algebra.apply("floordiv", n * 6 + 4, 3) == n * 2 + 1
    algebra.apply("floordiv", n, 2)                       a symbol, the same each time

Equal expressions are equal sizes; different ones may be equal for some values of their symbols.
A product of sums that has too many terms is one of its factors, in whatever order they are
multiplied. Arithmetic is that of the integers: a size that overflows is an error of the program
wherever it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

from ..measures import MAX_SIZE
from .holds import at_least, holds
from .measure_forms import MEASURE_FORMS, VALID_FORMS, Form
from .size_expressions import Expr, Symbol, inner_first, rank
from .size_table import (
    ALIGN,
    CHOOSE,
    FREE,
    NATURAL,
    OPERATIONS,
    PREDICATES,
    SELECT,
    TOTAL,
    Check,
    Range,
    SizeOp,
    compute,
    operation,
)

MAX_TERMS = 16
"""The maximum number of terms of an expression; a larger one becomes a symbol."""

MAX_FACTORS = 16
"""The maximum number of sums in a product whose factors are known."""

MAX_DEPTH = 4
"""The maximum depth of nested operations that are done again where a dim is 1."""

MAX_DEGREE = 16
"""The maximum degree of an expression; one of a higher degree becomes a symbol."""


@dataclass
class Algebra:
    """Creates the symbols of one analysis, and the operations that may need a new one."""

    _symbols: dict[tuple[Hashable, ...], Expr] = field(
        default_factory=dict[tuple[Hashable, ...], Expr]
    )
    _results: dict[tuple[Hashable, ...], Expr] = field(
        default_factory=dict[tuple[Hashable, ...], Expr]
    )
    """The results of operations."""
    _expanded: dict[tuple[Expr, ...], Expr] = field(default_factory=dict[tuple[Expr, ...], Expr])
    """Products of sums without a common factor."""
    _factors: dict[Expr, tuple[Expr, ...]] = field(default_factory=dict[Expr, tuple[Expr, ...]])
    """The factors of each sum or symbol that stands for a product."""

    _less: dict[tuple[Expr, Expr], bool | None] = field(
        default_factory=dict[tuple[Expr, Expr], "bool | None"]
    )
    """True if the one is always less than the other, false if never: each slice of a pack asks."""

    def symbol(
        self,
        name: str | None,
        kind: str = "symbol",
        args: Sequence[Hashable] = (),
        natural: bool = True,
        range: Range | None = None,
        divisor: int = 1,
    ) -> Expr:
        """
        Return the symbol of this kind and these arguments; without arguments, of this name.

        If it is new, it gets this name, these bounds and this divisor.
        """
        key = (kind, *(args or (name,)))
        known = self._symbols.get(key)
        if known is None:
            bounds = range or (NATURAL if natural else FREE)
            symbol = Symbol(len(self._symbols), name, kind, tuple(args), bounds, divisor)
            known = self._symbols[key] = Expr.of_symbol(symbol)
        return known

    def opaque(self, op: str, args: Sequence[Hashable], range: Range | None = None) -> Expr:
        """Return the symbol for the operation `op` on `args`, whose bounds are the table's."""
        known = self._symbols.get((op, *args))
        if known is not None:
            return known
        rules, payload = operation(op), args[: op == TOTAL]
        operands = [arg for arg in args if isinstance(arg, Expr)]
        divisor = 1
        if len(operands) + len(payload) == len(args):
            divisor = rules.divisor(*payload, *(operand.divisor for operand in operands)) or 1
        bounds = range or rules.range(*payload, *(operand.range for operand in operands))
        return self.symbol(None, op, args, range=bounds, divisor=divisor)

    def apply(self, op: str, *operands: Any) -> Expr:
        """
        Return `op` on operands: expressions, numbers, and of `TOTAL` a layout.

        Sums, products, maxima and minima may have any number of them. Raises `ValueError` if a
        measure has no value for numbers.
        """
        return self._known(op, MEASURE_FORMS, operands)

    def valid_measure(self, name: str, *operands: Any) -> Expr:
        """Return the measure `name` wherever it has a value; its checks are made elsewhere."""
        return self._known(name, VALID_FORMS, operands)

    def _known(self, op: str, forms: Mapping[str, Form], operands: Sequence[Any]) -> Expr:
        """Return `op` on operands, computed once."""
        args = [Expr.of(arg) if isinstance(arg, int) else arg for arg in operands]
        key = op, forms is VALID_FORMS, *args
        found = self._results.get(key)
        if found is None:
            normal = NORMAL_FORMS.get(op)
            do = partial(normal, self) if normal else partial(self._applied, op, forms)
            is_folded = len(args) != 2 and operation(op).commutes
            found = reduce(do, args) if is_folded else do(*args)
            self._results[key] = found
        return found

    def _applied(self, op: str, forms: Mapping[str, Form], *args: Any) -> Expr:
        """Return an operation that has no normal form, as arithmetic or as a symbol."""
        rules = operation(op)
        numbers = [arg.constant if isinstance(arg, Expr) else arg for arg in args]
        if None not in numbers and (numbers or op in OPERATIONS):
            try:
                return Expr.of(compute(op, *numbers))
            except ZeroDivisionError:
                pass
        if rules.commutes:
            args = in_order(*args)
        if rules.identity is not None:
            first, second = args
            if second == Expr.of(rules.identity):
                return first
            if rules.commutes and first == Expr.of(rules.identity):
                return second
        form, found = forms.get(op), None
        if form is not None and all(isinstance(arg, Expr) for arg in args):
            found = form(self, args)
        return found or self.opaque(op, args)

    def product(self, sizes: Iterable[Expr]) -> Expr:
        """Return the product of `sizes`."""
        return self.apply(SizeOp.MUL, 1, *sizes)

    def substitute(
        self,
        size: Expr,
        value_of: Callable[[Symbol], Expr | None],
        known: Mapping[Symbol, Expr] | None = None,
    ) -> Expr | None:
        """
        Return `size` with `known` symbols and `value_of` those that no operation computes.

        None if one has no value, or a measure has none for theirs.
        """
        values = dict(known or {})
        for symbol in inner_first([size], values):
            if symbol.is_computed:
                args = (self._with(a, values) if isinstance(a, Expr) else a for a in symbol.args)
                try:
                    values[symbol] = self.apply(symbol.kind, *args)
                except ValueError:
                    return None
            elif (value := value_of(symbol)) is not None:
                values[symbol] = value
            else:
                return None
        return self._with(size, values)

    def where(self, size: Expr, values: Mapping[Symbol, int]) -> Expr:
        """Return `size` where symbols have these values; as it is if it has none there."""
        known = {symbol: Expr.of(value) for symbol, value in values.items()}
        result = self.substitute(size, Expr.of_symbol, known)
        return size if result is None else result  # a program of such sizes fails

    def _with(self, size: Expr, values: Mapping[Symbol, Expr]) -> Expr:
        total = Expr(())
        for monomial, c in size.terms:
            term = self.product([Expr.of(c), *(values[symbol] for symbol in monomial)])
            total = self.add(total, term)
        return total

    def add(self, left: Expr, right: Expr) -> Expr:
        """Return the sum."""
        result = left + right
        return result if _is_small(result) else self.opaque(SizeOp.ADD, in_order(left, right))

    def subtract(self, left: Expr, right: Expr) -> Expr:
        """Return the difference."""
        for symbol in right.symbols():
            if symbol.kind == SizeOp.FLOORDIV and symbol.operands[0] == left:
                divisor = symbol.operands[1]
                if right == self.multiply(Expr.of_symbol(symbol), divisor):
                    return self.mod(left, divisor)
        result = left - right
        return result if _is_small(result) else self.opaque(SizeOp.SUB, (left, right))

    def multiply(self, left: Expr, right: Expr) -> Expr:
        """Return the product."""
        if left.constant is not None or right.constant is not None:
            scaled = left * right
            if _is_small(scaled):
                return scaled
        (one, sums), (other, more) = self._factored(left), self._factored(right)
        factors = (*sums, *more)
        if len(factors) <= MAX_FACTORS:
            ordered = factors if len(factors) < 2 else tuple(sorted(factors, key=_key))
            found = one * other * self._expand(ordered)
            if _is_small(found):
                return found
        return self.opaque(SizeOp.MUL, in_order(left, right))

    def _factored(self, size: Expr) -> tuple[Expr, tuple[Expr, ...]]:
        """Return `size` as a term and sums without a common factor, as far as it is a product."""
        term, sums = size.common_term, tuple[Expr, ...]()
        if len(size.terms) > 1:
            rest = size.quotient(term)
            assert rest is not None, "a common factor divides"
            sums = self._factors.get(rest, (rest,))
        for symbol in term.terms[0][0] if term.terms else ():
            factor = Expr.of_symbol(symbol)
            if symbol.kind == SizeOp.MUL and factor in self._factors:
                term, sums = term.quotient(factor) or term, (*sums, *self._factors[factor])
        return term, sums

    def _expand(self, sums: tuple[Expr, ...]) -> Expr:
        """Return the product of sums without a common factor; a symbol if it is large."""
        if len(sums) < 2:
            return sums[0] if sums else Expr.of(1)
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
            found = self._expanded[sums] = self.opaque(SizeOp.MUL, sums)
            self._factors[found] = sums
        return found

    def _quotient(self, left: Expr, right: Expr) -> Expr | None:
        """Return the size q with `left == q * right`, if one is found."""
        found = left.quotient(right)
        if found is not None or right.constant is not None:
            return found
        (one, factors), (other, divisors) = self._factored(left), self._factored(right)
        term, rest = one.quotient(other), list(factors)
        for factor in divisors:
            if factor not in rest:
                return None
            rest.remove(factor)
        return None if term is None else self.product([term, *rest])

    def floordiv(self, left: Expr, right: Expr) -> Expr:
        """Return `left / right`, rounded down."""
        exact = self._quotient(left, right)
        if exact is not None:
            return exact
        divisor = right.constant
        if divisor is not None and divisor > 0:
            whole = Expr.from_terms(
                # The constant is divided too, rounded down: (n - 1) // 2 becomes (n + 1) // 2 - 1,
                # whose dividend is a sum of natural numbers.
                {m: c // divisor for m, c in left.terms if not (m and c % divisor)}
            )
            rest = left - whole * divisor
            if rest.constant is not None:
                return whole + rest.constant // divisor
            if whole.terms:
                return whole + self.floordiv(rest, right)
        return self.opaque(SizeOp.FLOORDIV, (left, right))

    def mod(self, left: Expr, right: Expr) -> Expr:
        """Return the remainder of `floordiv`."""
        if self._quotient(left, right) is not None:
            return Expr.of(0)
        divisor = right.constant
        if divisor is not None and divisor > 0:
            left = Expr.from_terms({m: c % divisor for m, c in left.terms})
            if left.constant is not None:
                return Expr.of(left.constant % divisor)
        return self.opaque(SizeOp.MOD, (left, right))

    def truncated(self, op: str, floored: SizeOp, left: Expr, right: Expr) -> Expr:
        """Return a quotient rounded towards 0, or its remainder, which has the sign of `left`."""
        a, b = left.constant, right.constant
        if a is not None and b:
            return Expr.of(compute(op, a, b))
        if (left.is_natural and right.is_natural) or self._quotient(left, right) is not None:
            return self.apply(floored, left, right)
        return self.opaque(op, (left, right))

    def align(self, size: Expr, unit: Expr) -> Expr:
        """Return `size` rounded up to a multiple of `unit`."""
        return self.multiply(self.floordiv(size + unit - 1, unit), unit)

    def masked(self, left: Expr, right: Expr) -> Expr:
        """Return `a & -64`, which is `a` rounded down to a multiple of 64, as a quotient."""
        if left.constant is not None:
            left, right = right, left
        a, b = left.constant, right.constant
        if a is not None and b is not None:
            return Expr.of(a & b)
        if b is None or b >= 0 or -b & (-b - 1):
            return self.opaque("and", in_order(left, right))
        return self.multiply(self.floordiv(left, Expr.of(-b)), Expr.of(-b))

    def compare(self, predicate: str, left: Expr, right: Expr) -> Expr:
        """Return 1 if `left` and `right` are in the relation of a predicate, else 0."""
        if predicate in SWAPPED:
            predicate, left, right = SWAPPED[predicate], right, left
        check, positive = RELATIONS[predicate]
        certain = holds(check, left, right)
        if certain is not None:
            return Expr.of(int(certain == positive))
        if predicate == "lt" and not left.terms and right.range == (0, 1):
            return right
        symbol = right.symbol
        if predicate == "ge" and not left.terms and symbol is not None and symbol.kind in NEGATED:
            return self.compare(NEGATED[symbol.kind], *symbol.operands)
        return self.opaque(predicate, (left, right))

    def choose(self, condition: Expr, left: Expr, right: Expr) -> Expr:
        """Return `left` if `condition`, a natural number, is not 0, else `right`."""
        return self.select_less(Expr.of(0), condition, left, right)

    def select_less(self, less: Expr, more: Expr, left: Expr, right: Expr) -> Expr:
        """
        Return `left` if `less < more`, else `right`.

        `a == 1 ? b : a` is a broadcast; others are selections, and those of one condition agree.
        """
        symbol = None if less.terms else more.symbol
        if symbol is not None and symbol.kind in RELATIONS:
            a, b = symbol.operands
            if symbol.kind == "lt":
                return self.select_less(a, b, left, right)
            if symbol.kind == "ge":
                return self.select_less(a, b, right, left)
            if symbol.kind == "eq" and Expr.of(1) in (a, b) and right in (a, b):
                return self.broadcast(right, left)
        if left == right:
            return left
        is_less = self._is_less(less, more)
        if is_less is not None:
            return left if is_less else right
        if (left.constant, right.constant) in ((1, 0), (0, 1)):
            return self.compare("lt" if left.terms else "ge", less, more)
        is_maximum = (less, more) == (right, left)
        bounds = operation("max").range(left.range, right.range) if is_maximum else None
        return self.opaque(SELECT, (less, more, left, right), bounds)

    def _is_less(self, less: Expr, more: Expr) -> bool | None:
        """Test whether always `less < more`, or never; None if neither is certain."""
        if (less, more) not in self._less:
            is_less = at_least(more, less + 1)
            self._less[less, more] = is_less or (False if at_least(less, more) else None)
        return self._less[less, more]

    def extremum(self, op: SizeOp, left: Expr, right: Expr) -> Expr:
        """Return the greater or the lesser size."""
        greater, lesser = (left, right) if op is SizeOp.MAX else (right, left)
        if (greater - lesser).is_natural:
            return left
        if (lesser - greater).is_natural:
            return right
        nested = self._nested_maximum(left, right) if op is SizeOp.MAX else None
        return nested or self.opaque(op, in_order(left, right))

    def _nested_maximum(self, left: Expr, right: Expr) -> Expr | None:
        """Return `max(max(a, b) + k, c)` as `max(a + k, c)` if `b + k <= c`."""
        for sum, other in ((left, right), (right, left)):
            symbol = (sum - sum.offset).symbol
            if symbol is None or symbol.kind != SizeOp.MAX:
                continue
            a, b = (operand + sum.offset for operand in symbol.operands)
            for kept, dropped in ((a, b), (b, a)):
                if (other - dropped).is_natural:
                    return self.extremum(SizeOp.MAX, kept, other)
        return None

    def broadcast(self, left: Expr, right: Expr) -> Expr:
        """Return the size that both broadcast to."""
        if left == right or right.constant == 1:
            return left
        if left.constant == 1:
            return right
        if left.constant is not None or holds(Check.EQUAL, left, Expr.of(1)) is False:
            return left
        symbol = left.symbol  # if the other dim is 1 too wherever it is, as min(n, 64) is, it wins
        if symbol is not None and self._is_one_where(right, symbol):
            return left
        return self.opaque(SizeOp.BROADCAST, (left, right))

    def _is_one_where(self, size: Expr, symbol: Symbol) -> bool:
        """Test whether `size`, which is not deep, is 1 where `symbol` is."""
        return not size.is_deeper(MAX_DEPTH) and self.where(size, {symbol: 1}) == Expr.of(1)


def _degree(polynomial: Expr) -> int:
    return len(polynomial.terms[0][0]) if polynomial.terms else 0


def _is_small(polynomial: Expr) -> bool:
    """Test whether a polynomial has few terms of a low degree with small coefficients."""
    terms = polynomial.terms
    return (
        len(terms) <= MAX_TERMS
        and _degree(polynomial) <= MAX_DEGREE
        and all(abs(c) <= MAX_SIZE for _, c in terms)
    )


def in_order(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Return both in an order that does not depend on how they were given."""
    return (left, right) if _key(left) <= _key(right) else (right, left)


def _key(polynomial: Expr) -> list[tuple[tuple[int, tuple[int, ...]], int]]:
    return [(rank(term), term[1]) for term in polynomial.terms]


def _given(method: Callable[..., Expr], *first: str) -> Callable[..., Expr]:
    """Return a method of algebras with its first arguments."""

    def normal(algebra: Algebra, *operands: Expr) -> Expr:
        return method(algebra, *first, *operands)

    return normal


NORMAL_FORMS: Mapping[str, Callable[..., Expr]] = {
    SizeOp.ADD: Algebra.add,
    SizeOp.SUB: Algebra.subtract,
    SizeOp.MUL: Algebra.multiply,
    SizeOp.FLOORDIV: Algebra.floordiv,
    SizeOp.MOD: Algebra.mod,
    SizeOp.MAX: _given(Algebra.extremum, SizeOp.MAX),
    SizeOp.MIN: _given(Algebra.extremum, SizeOp.MIN),
    SizeOp.BROADCAST: Algebra.broadcast,
    "truncdiv": _given(Algebra.truncated, "truncdiv", SizeOp.FLOORDIV),
    "truncmod": _given(Algebra.truncated, "truncmod", SizeOp.MOD),
    "and": Algebra.masked,
    ALIGN: Algebra.align,
    SELECT: Algebra.select_less,
    CHOOSE: Algebra.choose,
    **{name: _given(Algebra.compare, name) for name in PREDICATES},
}
"""The normal form of each operation that is more than a symbol."""

RELATIONS = {
    "eq": (Check.EQUAL, True),
    "ne": (Check.EQUAL, False),
    "ge": (Check.AT_LEAST, True),
    "lt": (Check.AT_LEAST, False),
}
"""The relation that a predicate tests, and the result where it holds."""

NEGATED = {"eq": "ne", "ne": "eq", "ge": "lt", "lt": "ge"}
"""The predicate that holds where another does not."""

SWAPPED = {"gt": "lt", "le": "ge"}
"""The predicates that are others, with their operands swapped."""
