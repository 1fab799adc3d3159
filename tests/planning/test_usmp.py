"""Faults of TVM's USMP planners that ours do not have; the problems are small enough to see why."""

import pytest

from xrelay.planning import (
    STRATEGIES,
    Buffer,
    Infeasible,
    Interval,
    Plan,
    Pool,
    Problem,
    check,
    solve,
)

PLANNERS = [name for name in STRATEGIES if name != "coalesce"]


def buffer(name: str, start: int, stop: int, size: int, alignment: int = 1) -> Buffer:
    return Buffer(name, Interval(start, stop), size, alignment)


@pytest.mark.parametrize("strategy", PLANNERS)
def test_a_pool_that_overflows_is_not_used_again(strategy: str):
    """
    C fits neither above B nor above A in 100 bytes; USMP puts it over B, at 60.

    With a second pool, it goes there.
    """
    rows = (buffer("a", 0, 2, 60), buffer("b", 0, 3, 30), buffer("c", 1, 3, 20))
    assert isinstance(solve(Problem(rows, (Pool("arena", 100),)), strategy), Infeasible)
    problem = Problem(rows, (Pool("arena", 100), Pool("other", 20)))
    plan = solve(problem, strategy)
    assert isinstance(plan, Plan)
    assert check(problem, plan) == []


@pytest.mark.parametrize("strategy", PLANNERS)
def test_an_offset_has_the_alignment_of_its_buffer(strategy: str):
    problem = Problem((buffer("a", 0, 2, 12, 4), buffer("b", 0, 2, 8, 16), buffer("c", 0, 2, 3)))
    plan = solve(problem, strategy)
    assert isinstance(plan, Plan)
    assert check(problem, plan) == []
    assert plan.offsets[0] % 4 == plan.offsets[1] % 16 == 0


@pytest.mark.parametrize("strategy", PLANNERS)
def test_a_hole_is_used_when_the_space_above_is_too_small(strategy: str):
    """Above the top buffer 5 bytes are left, but the hole below it has 20."""
    rows = (
        Buffer("low", Interval(0, 4), 40, offset=0),
        Buffer("high", Interval(0, 4), 35, offset=60),
        buffer("last", 1, 3, 20),
    )
    problem = Problem(rows, (Pool("arena", 100),))
    plan = solve(problem, strategy)
    assert isinstance(plan, Plan)
    assert check(problem, plan) == []
    assert plan.offsets[2] == 40


def test_the_best_plan_found_is_returned():
    """`auto` tries the other strategies, and is never worse than one of them."""
    rows = tuple(
        buffer(str(i), i * 7 % 11, i * 7 % 11 + 1 + i % 5, 3 + i * 5 % 13) for i in range(24)
    )
    problem = Problem(rows)
    heights = [plan.height for s in PLANNERS if isinstance(plan := solve(problem, s), Plan)]
    assert len(heights) == len(PLANNERS)
    best = solve(problem)
    assert isinstance(best, Plan)
    assert check(problem, best) == []
    assert best.height == min(heights)
    assert len(set(heights)) > 1, "all strategies are equally good"
