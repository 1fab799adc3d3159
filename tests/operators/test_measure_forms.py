"""Symbolic measures against those of integers."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import inf

import numpy as np
import pytest
from helpers.programs.every_case import seeds

from xrelay.operators.all_rules import RULES
from xrelay.operators.measures import MEASURES
from xrelay.operators.signature import SignatureError
from xrelay.operators.sizes.algebra import Algebra
from xrelay.operators.sizes.size_expressions import Expr, Values, free_symbols
from xrelay.runtime.kernels.checked import call_on


def evaluate(size: Expr, values: dict[str, int]) -> int:
    """Evaluate for values of the dims, by name."""
    return Values({symbol: values[symbol.name] for symbol in free_symbols([size])}).of(size)


def arithmetic(algebra: Algebra, measure: str, args: Sequence[Expr]) -> Expr | None:
    """Return a measure; None if it is a symbol of its own."""
    size = algebra.apply(measure, *args)
    return None if size.symbol is not None and size.symbol.kind == measure else size


@seeds(100)
def test_lengths_of_slices(seed: int):
    rng = random.Random(seed)
    algebra = Algebra()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    dim = n * rng.randrange(1, 3) + rng.randrange(2)
    begin, end = (
        rng.choice([m, n, m + 1, Expr.of(rng.randrange(-3, 4)), Expr.of(2**63 - 1)])
        for _ in range(2)
    )
    args = dim, begin, end, Expr.of(1)
    found = arithmetic(algebra, "slice_length", args)
    assert found is not None
    for a in range(5):
        for b in range(5):
            values = {"n": a, "m": b}
            numbers = [evaluate(arg, values) for arg in args]
            assert evaluate(found, values) == MEASURES["slice_length"](*numbers)


@seeds(100)
def test_lengths_of_ranges(seed: int):
    rng = random.Random(seed)
    algebra = Algebra()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    start, stop = (rng.choice([m, n * 2, n + m, Expr.of(rng.randrange(-3, 4))]) for _ in range(2))
    args = start, stop, Expr.of(rng.choice([-3, -1, 1, 2]))
    found = arithmetic(algebra, "arange_length", args)
    assert found is not None
    for a in range(5):
        for b in range(5):
            values = {"n": a, "m": b}
            numbers = [evaluate(arg, values) for arg in args]
            assert evaluate(found, values) == MEASURES["arange_length"](*numbers)


def test_a_range_as_long_as_a_dim_has_that_dim():
    algebra = Algebra()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    assert algebra.apply("arange_length", 0, n + m, 1) == n + m
    assert algebra.apply("arange_length", m, n + m, 1) == n
    assert arithmetic(algebra, "arange_length", [n, m, n]) is None


@seeds(100)
def test_dims_of_reshaped_tensors(seed: int):
    rng = random.Random(seed)
    algebra = Algebra()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    parts = [n, m, Expr.of(2), Expr.of(3), n + 1]
    dims = rng.sample(parts, 3)
    merged = rng.choice(
        [
            [dims[0], dims[1] * dims[2]],
            [dims[0] * dims[1], dims[2]],
            [dims[0], dims[1], dims[2]],
            [dims[0] * dims[1] * dims[2]],
        ]
    )
    entries = list(merged)
    if rng.random() < 0.6:
        entries[rng.randrange(len(entries))] = Expr.of(-1)
    allowzero = rng.randrange(2)
    found_any = False
    for axis in range(len(entries)):
        first = [Expr.of(axis), Expr.of(allowzero), Expr.of(len(dims))]
        args = [*first, *dims, *entries]
        found = arithmetic(algebra, "reshaped_dim", args)
        if found is None:
            continue
        found_any = True
        for a in range(4):
            for b in range(4):
                values = {"n": a, "m": b}
                numbers = [evaluate(arg, values) for arg in args]
                assert evaluate(found, values) == MEASURES["reshaped_dim"](*numbers)
    if allowzero and entries == merged:
        assert found_any


@seeds(200)
def test_dims_of_valid_reshapes(seed: int):
    """Wherever the reshape is valid, its dims are those; some are found though it may fail."""
    rng = random.Random(seed)
    algebra = Algebra()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    parts = [n, m, n * 2, n + m, Expr.of(2), Expr.of(4), n + 1]
    dims = rng.choices(parts, k=rng.randrange(1, 4))
    entries = rng.choices([*parts, *dims, *dims, Expr.of(0)], k=rng.randrange(1, 5))
    if rng.random() < 0.6:
        entries[rng.randrange(len(entries))] = Expr.of(-1)
    for axis in range(len(entries)):
        first = [Expr.of(axis), Expr.of(rng.randrange(2)), Expr.of(len(dims))]
        args = [*first, *dims, *entries]
        try:
            found = algebra.valid_measure("reshaped_dim", *args)
        except ValueError:  # it never is
            continue
        if found.symbol is not None and found.symbol.kind == "reshaped_dim":
            continue
        for a in range(5):
            for b in range(5):
                values = {"n": a, "m": b}
                numbers = [evaluate(arg, values) for arg in args]
                try:
                    expected = MEASURES["reshaped_dim"](*numbers)
                except ValueError:
                    continue
                assert evaluate(found, values) == expected, f"{args} for {values}"


def test_the_first_and_last_dims_of_a_reshape_stay():
    algebra = Algebra()
    n, m, k = (algebra.symbol(name) for name in "nmk")
    some = algebra.symbol("s", range=(1, inf))
    dims = [n, Expr.of(4), some, Expr.of(8)]

    def dim(axis: int, entries: list[Expr], allowzero: int = 0) -> Expr:
        return algebra.valid_measure("reshaped_dim", axis, allowzero, 4, *dims, *entries)

    assert dim(0, [n, m, k]) == n
    assert dim(0, [Expr.of(-1), some, Expr.of(8)]) == n * 4
    assert dim(0, [n, Expr.of(-1)]) == n
    assert dim(2, [n, m, k], allowzero=1) == k
    assert str(dim(1, [n, m, k])) == "(m if 0 < m else 4)"


def test_an_entry_that_may_be_0_and_copy_another_dim_is_a_choice():
    algebra = Algebra()
    n, m = algebra.symbol("n"), algebra.symbol("m")

    def dim(axis: int, dims: list[Expr], entries: list[Expr]) -> str:
        args = [axis, 0, len(dims), *dims, *entries]
        return str(algebra.valid_measure("reshaped_dim", *args))

    minus = Expr.of(-1)
    assert dim(1, [n * 2, m], [n, minus]) == "(2*m if 0 < n else m)"
    assert dim(1, [n, m], [n, minus]) == "m"
    assert dim(0, [Expr.of(4), n], [n, Expr.of(4)]) == "(n if 0 < n else 4)"
    assert dim(0, [n * 3, m], [n, m * 3]) == "n"


def test_a_reshape_that_may_fail_is_not_arithmetic():
    algebra = Algebra()
    n = algebra.symbol("n")
    numbers = [Expr.of(c) for c in (0, 0, 1)]
    for entries in ([Expr.of(-1), Expr.of(6)], [n + 1], [algebra.symbol("m")]):
        assert arithmetic(algebra, "reshaped_dim", [*numbers, n, *entries]) is None


def test_a_measure_of_constants_is_its_value_or_error():
    algebra = Algebra()
    sizes = [Expr.of(c) for c in (5, 0, -1, 2)]
    assert algebra.apply("slice_length", *sizes) == Expr.of(2)
    with pytest.raises(ValueError, match="step"):
        algebra.apply("arange_length", 0, 4, 0)


def test_the_rule_of_reshape_accepts_what_its_measure_does():
    """A program allocates by the measure; the kernel is bound by the rule: empty tensors, too."""
    count = Counter[bool]()
    for dims in ((0, 4), (2, 0), (0, 3, 4), (2, 3, 4), (), (0,)):
        for rank in (1, 2, 3):
            for entries in product((-1, 0, 1, 2, 4, 3), repeat=rank):
                for zero in (False, True):
                    try:
                        args = (int(zero), len(dims), *dims, *entries)
                        sizes = tuple(MEASURES["reshaped_dim"](i, *args) for i in range(rank))
                    except ValueError:
                        sizes = None
                    data, shape = np.zeros(dims, np.float32), np.array(entries, np.int64)
                    call = call_on("relay.dyn.reshape", {"allowzero": zero}, [data, shape])
                    if sizes is None:
                        with pytest.raises(SignatureError):
                            RULES["relay.dyn.reshape"](call)
                    else:
                        assert RULES["relay.dyn.reshape"](call)[0].dims == sizes
                    count[sizes is None] += 1
    assert count[False] > 150
