"""Sample values of sizes that are not known yet."""

from collections.abc import Sequence

import pytest
from helpers.programs.programs import parse
from xdsl.dialects import func

from xrelay.operators.named_dims import Bounds
from xrelay.operators.sizes import SizeOp
from xrelay.operators.sizes.algebra import Algebra
from xrelay.operators.sizes.size_expressions import Expr
from xrelay.passes.sizes.reader import Sizes
from xrelay.passes.sizes.sample_sizes import levels_of, samples_of


@pytest.mark.parametrize(
    ("bounds", "levels"),
    [
        (Bounds(1, None), (1, 16, 128, 1024)),
        (Bounds(40, None), (40, 40, 128, 1024)),
        (Bounds(5000, None), (5000, 5000, 5000, 5000)),
        (Bounds(1, 2048), (1, 13, 161, 2048)),
        (Bounds(16, 16), (16, 16, 16, 16)),
        (Bounds(0, 8), (1, 2, 4, 8)),
        (Bounds(0, 0), (0, 0, 0, 0)),
    ],
)
def test_levels_are_within_bounds_and_reach_them(bounds: Bounds, levels: Sequence[int]):
    assert levels_of(bounds.range) == levels
    assert all(map(bounds.allow, levels))


def test_one_symbol_is_small_middle_and_large():
    n = Algebra().symbol("n")
    samples = samples_of([n * 4, Expr.of(64), n * n], 2**40)
    assert [sample.sizes for sample in samples] == [
        (4, 64, 1),
        (64, 64, 256),
        (512, 64, 16384),
        (4096, 64, 1048576),
    ]
    assert [str(sample) for sample in samples] == ["n = 1", "n = 16", "n = 128", "n = 1024"]


def test_two_symbols_also_vary_alone():
    algebra = Algebra()
    samples = samples_of([algebra.symbol("n"), algebra.symbol("m")], 2**40)
    assert [sample.sizes for sample in samples] == [
        (1, 1),
        (16, 16),
        (128, 128),
        (1024, 1024),
        (1024, 16),
        (1, 1024),
        (16, 1024),
        (1024, 1),
    ]


def test_a_symbol_that_follows_from_others_has_their_value():
    algebra = Algebra()
    n = algebra.symbol("n")
    half = algebra.floordiv(n + 1, Expr.of(2))
    least = algebra.apply(SizeOp.MIN, half, Expr.of(100))
    samples = samples_of([half, least * 4], 2**40)
    assert [sample.sizes for sample in samples] == [(1, 4), (8, 32), (64, 256), (512, 400)]
    assert str(samples[0]) == "n = 1"


def test_a_size_is_never_negative_and_a_division_by_0_is_no_size():
    algebra = Algebra()
    n = algebra.symbol("n")
    odd = algebra.floordiv(Expr.of(7), n - 1)
    assert [s.sizes for s in samples_of([n - 20, odd], 2**40)] == [
        (0, 1),
        (0, 0),
        (108, 0),
        (1004, 0),
    ]


def test_samples_that_are_too_large_are_omitted():
    n = Algebra().symbol("n")
    assert [sample.sizes for sample in samples_of([n * n], 2000)] == [(1,), (256,)]
    assert samples_of([n * 5000], 4000) == []


def test_dims_stay_within_the_bounds_of_the_function():
    module = parse(
        """
        func.func @f(%x: tensor<?x?xf32> {relay.dims = ["n", "m"]}, %y: tensor<?xf32>)
            attributes {relay.dim_bounds = {n = [16, 2000]}} { func.return }
        """
    )
    function = next(iter(module.ops))
    assert isinstance(function, func.FuncOp)
    x, y = function.args
    sizes = Sizes()
    samples = samples_of([*sizes.dims(x), *sizes.dims(y)], 2**40)
    assert [sample.sizes for sample in samples][:5] == [
        (16, 1, 1),
        (80, 16, 16),
        (400, 128, 128),
        (2000, 1024, 1024),
        (2000, 16, 16),
    ]
    assert {sample.sizes[0] for sample in samples} <= set(range(16, 2001))
