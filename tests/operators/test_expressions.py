"""Expressions of sizes against the values that they stand for."""

import random
from collections.abc import Mapping, Sequence
from math import prod

from helpers.programs.every_case import seeds

from xrelay.operators.orders import Orders, PoolTotal
from xrelay.operators.sizes import Check, SizeOp
from xrelay.operators.sizes.algebra import MAX_DEGREE, MAX_TERMS, Algebra
from xrelay.operators.sizes.holds import at_least, holds
from xrelay.operators.sizes.size_expressions import Expr, Values, free_symbols


def constant(value: int) -> Expr:
    return Expr.of(value)


def apply(kind: str, a: int, b: int) -> int:
    """Return the meaning of an operation on two integers, as the machine has it."""
    match kind:
        case SizeOp.ADD:
            return a + b
        case SizeOp.SUB:
            return a - b
        case SizeOp.MUL:
            return a * b
        case SizeOp.FLOORDIV:
            return a // b
        case SizeOp.MOD:
            return a % b
        case SizeOp.MAX:
            return max(a, b)
        case SizeOp.MIN:
            return min(a, b)
        case SizeOp.BROADCAST:
            return b if a == 1 else a
        case "truncdiv":
            return int(a / b)
        case "truncmod":
            return a - b * int(a / b)
        case "align":
            return next(c for c in range(a, a + b) if c % b == 0)
        case _:
            raise AssertionError(kind)


def evaluate(size: Expr, values: Mapping[str, int]) -> int:
    """Evaluate for values of the dims, by name."""
    return Values({symbol: values[symbol.name] for symbol in free_symbols([size])}).of(size)


@seeds(200)
def test_operations_agree_with_those_on_integers(seed: int):
    rng = random.Random(seed)
    algebra = Algebra()
    names = ["n", "m", "k"]
    values = [{name: rng.randrange(6) for name in names} for _ in range(8)]
    known = [(algebra.symbol(name, range=(0, 5)), [v[name] for v in values]) for name in names]
    known += [(constant(c), [c] * len(values)) for c in (0, 1, 2, 3)]
    for _ in range(30):
        kind = rng.choice([*SizeOp, "truncdiv", "truncmod", "align"])
        (left, a), (right, b) = rng.choice(known), rng.choice(known)
        if kind == "align":
            right, b = constant(8), [8] * len(values)
        if kind in (SizeOp.FLOORDIV, SizeOp.MOD, "truncdiv", "truncmod"):
            right, b = right + 1, [each + 1 for each in b]
            if any(each <= 0 for each in b):
                continue
        result = algebra.apply(kind, left, right)
        expected = [apply(kind, x, y) for x, y in zip(a, b, strict=True)]
        if max(map(abs, expected)) > 2**40:
            continue
        assert [evaluate(result, v) for v in values] == expected, f"{left} {kind} {right}"
        assert len(result.terms) <= MAX_TERMS
        low, high = result.range
        assert low <= min(expected)
        assert high >= max(expected)
        assert all(each % result.divisor == 0 if result.divisor else each == 0 for each in expected)
        known.append((result, expected))


@seeds(100)
def test_what_always_or_never_holds_does(seed: int):
    rng = random.Random(seed)
    algebra = Algebra()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    left, right = (n * rng.randrange(3) + m * rng.randrange(3) + rng.randrange(3) for _ in range(2))
    for check in Check:
        certain = holds(check, left, right)
        if certain is None:
            continue
        for a in range(4):
            for b in range(4):
                values = {"n": a, "m": b}
                found = check.holds(evaluate(left, values), evaluate(right, values))
                assert found is certain, f"{check} {left}, {right} with {values}"


def test_certain_relations_are_found():
    algebra = Algebra()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    assert holds(Check.EQUAL, n, n) is True
    assert holds(Check.EQUAL, n, n + 1) is False
    assert holds(Check.EQUAL, n, n + m + 1) is False
    assert holds(Check.EQUAL, n, m) is None
    assert holds(Check.AT_LEAST, n + m, n) is True
    assert holds(Check.AT_LEAST, constant(0), n + 1) is False
    assert holds(Check.DIVISIBLE, n * 6, constant(3)) is True
    assert holds(Check.ONE_OR_EQUAL, n, n) is True
    assert holds(Check.BROADCAST, n, constant(1)) is True


def test_division_is_exact_where_it_can_be():
    algebra = Algebra()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    assert (n * m * 4).quotient(m * 2) == n * 2
    assert (n * n - 1).quotient(n + 1) == n - 1
    assert (n * m + 1).quotient(m) is None
    assert n.quotient(constant(0)) is None
    assert algebra.floordiv(n * 6 + 4, constant(3)) == n * 2 + 1
    assert algebra.floordiv(n, constant(2)) == algebra.floordiv(n, constant(2))
    assert algebra.floordiv(n - 5, constant(4)) == algebra.floordiv(n + 3, constant(4)) - 2
    assert algebra.mod(n * 6 + 4, constant(3)) == constant(1)


def test_nested_maxima_of_lesser_sizes_are_one():
    algebra = Algebra()
    n, zero = algebra.symbol("n"), constant(0)
    once = algebra.apply(SizeOp.MAX, n - 1, zero)
    twice = algebra.apply(SizeOp.MAX, once - 1, zero)
    assert twice == algebra.apply(SizeOp.MAX, n - 2, zero)


def test_large_sums_and_products_become_symbols():
    algebra = Algebra()
    total, product = constant(0), constant(1)
    for i in range(100):
        symbol = algebra.symbol(f"n{i}")
        total = algebra.apply(SizeOp.ADD, total, symbol)
        product = algebra.apply(SizeOp.MUL, product, symbol)
        assert len(total.terms) <= MAX_TERMS
        assert len(product.terms[0][0]) <= MAX_DEGREE
    huge = algebra.apply(SizeOp.MUL, constant(2**40), constant(2**40))
    assert huge.constant is None


@seeds(50)
def test_a_large_product_is_that_of_its_factors_in_any_order(seed: int):
    rng = random.Random(seed)
    algebra = Algebra()
    symbols = [algebra.symbol(f"n{i}") for i in range(5)]

    def factor() -> Expr:
        terms = rng.sample(symbols, rng.randint(1, 4))
        return sum((s * rng.randint(-2, 3) for s in terms), constant(rng.randint(0, 2)))

    def multiplied(factors: Sequence[Expr]) -> Expr:
        """Multiply in a random order."""
        left = [*factors]
        while len(left) > 1:
            rng.shuffle(left)
            left.append(algebra.apply(SizeOp.MUL, left.pop(), left.pop()))
        return left[0]

    factors = [factor() for _ in range(6)]
    products = [multiplied(factors) for _ in range(5)]
    assert len(set(products)) == 1
    values = {f"n{i}": rng.randint(0, 9) for i in range(5)}
    expected = [evaluate(each, values) for each in factors]
    assert evaluate(products[0], values) == prod(expected)
    if all(each.terms for each in factors):
        divisor = multiplied(factors[:3])
        if divisor.terms:
            assert algebra.floordiv(products[0], divisor) == multiplied(factors[3:])
            assert algebra.mod(products[0], divisor) == constant(0)


def test_an_expression_is_written_as_a_sum():
    algebra = Algebra()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    assert str(n * m * 2 - n + 3) == "2*n*m - n + 3"
    assert str(constant(0)) == "0"
    assert str(algebra.floordiv(n, constant(2))) == "floordiv(n, 2)"


def test_what_is_certain_of_operations():
    algebra = Algebra()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    larger = algebra.apply("max", n, m)
    aligned = algebra.apply("align", n * 4 + 1, 64)
    assert at_least(larger + 4, m)
    assert at_least(aligned, n * 4 + 1)
    assert at_least(algebra.apply("max", aligned, m) * 2, n * 8)
    assert at_least(n, algebra.apply("min", n, m))
    assert not at_least(m, larger)
    assert not at_least(aligned, n * 4 + 2)
    bounded = algebra.symbol("k", range=(2, 8))
    assert holds(Check.AT_LEAST, bounded, constant(2)) is True
    assert holds(Check.AT_MOST, bounded, constant(1)) is False
    assert holds(Check.DIVISIBLE, aligned + 128, constant(32)) is True


def test_a_maximum_of_many_sizes_is_at_least_each():
    """Of any number: a slice is as large as the tensors that take turns in it."""
    algebra = Algebra()
    sizes = [algebra.symbol(f"n{i}") * 4 for i in range(600)]
    largest = algebra.apply("max", *sizes)
    assert all(at_least(largest + 4, size) for size in (sizes[0], sizes[300], sizes[-1]))
    assert not at_least(largest, sizes[0] + 1)


@seeds(100)
def test_the_total_of_a_pack_is_at_least_each_size(seed: int):
    rng = random.Random(seed)
    algebra = Algebra()
    sizes = [algebra.symbol(name) * 4 for name in "nmk"]
    orders = [tuple(tuple(j for j in range(i) if rng.random() < 0.5) for i in range(3))]
    if rng.random() < 0.5:
        orders.append(((1,), (), (0, 1)))
    layout = PoolTotal(Orders(64, tuple(orders)))
    total = algebra.apply("total", layout, *sizes)
    assert total == algebra.apply("total", PoolTotal(Orders(64, tuple(orders))), *sizes)
    assert total != algebra.apply("total", PoolTotal(Orders(32, tuple(orders))), *sizes)
    assert all(at_least(total + 1, size) for size in sizes)
    values = {name: rng.randrange(40) for name in "nmk"}
    expected: list[int] = []
    for order in orders:
        ends: dict[int, int] = {}
        for i in (1, 0, 2) if order == orders[-1] and len(orders) > 1 else (0, 1, 2):
            base = max([ends[j] for j in order[i]], default=0)
            ends[i] = (base + 63) // 64 * 64 + values["nmk"[i]] * 4
        expected.append(max(ends.values()))
    assert evaluate(total, values) == min(expected)
    caller = algebra.symbol("p")
    moved = algebra.substitute(total, lambda symbol: caller if symbol.name == "n" else sizes[1])
    assert moved == algebra.apply("total", layout, caller * 4, *[sizes[1] * 4] * 2)


def test_an_expression_with_an_unknown_dim_has_no_value():
    algebra = Algebra()
    n, m = (algebra.symbol(name, "dim", (name,)) for name in "nm")
    size = algebra.apply("max", n * 4, algebra.apply("align", m + n, 64))
    assert algebra.substitute(size, lambda symbol: None) is None
