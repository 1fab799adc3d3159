"""Properties of all problems, tested on random ones."""

import random

from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from planning.random_problems import brute_force, plain_problems, rich_problems

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
from xrelay.planning.offsets.bounds import lower_bound
from xrelay.planning.offsets.core import core_of

SLOW = exactly(60, 4)


def height(problem: Problem, strategy: str, budget: int | None = None) -> int:
    answer = solve(problem, strategy, budget)
    assert isinstance(answer, Plan), answer
    assert check(problem, answer) == []
    assert answer.height >= answer.lower_bound
    assert answer.is_optimal == (answer.height == answer.lower_bound)
    return answer.height


@given(plain_problems(most=7, largest=4))
@SLOW
def test_exact_is_as_good_as_brute_force_on_plain_problems(problem: Problem):
    limit = height(problem, "greedy-by-size")
    plan = solve(problem, "exact")
    assert isinstance(plan, Plan)
    assert plan.is_optimal
    assert plan.height == brute_force(problem, limit)


@given(rich_problems(most=5, fixed=False) | rich_problems(most=2))
@SLOW
def test_exact_is_as_good_as_brute_force_on_rich_problems(problem: Problem):
    limit = height(problem, "greedy-by-size")
    plan = solve(problem, "exact")
    assert isinstance(plan, Plan)
    assert plan.is_optimal
    assert plan.height == brute_force(problem, limit)


@given(plain_problems() | rich_problems())
@exactly(100, 4)
def test_every_plan_passes_the_check_and_auto_is_never_worse_than_a_strategy(problem: Problem):
    best = height(problem, "auto", 200)
    for strategy in STRATEGIES:
        assert best <= height(problem, strategy, 200), strategy


@given(plain_problems(most=20) | rich_problems(), st.integers(0, 99))
@exactly(50, 4)
def test_shuffled_rows_give_the_same_height(problem: Problem, seed: int):
    rows = list(problem.buffers)
    random.Random(seed).shuffle(rows)
    shuffled = Problem(tuple(rows), problem.pools)
    for strategy in STRATEGIES:
        assert height(problem, strategy, 200) == height(shuffled, strategy, 200), strategy


@given(plain_problems(most=20), st.integers(0, 99))
@exactly(50, 4)
def test_renamed_rows_give_the_same_plan(problem: Problem, seed: int):
    names = [f"{n:03}" for n in range(len(problem.buffers))]
    random.Random(seed).shuffle(names)
    rows = tuple(b._replace(id=n) for b, n in zip(problem.buffers, names, strict=True))
    assert solve(problem, budget=200) == solve(Problem(rows), budget=200)


def mirrored(problem: Problem) -> Problem:
    return Problem(
        tuple(
            b._replace(lifetime=Interval(-b.lifetime.stop, -b.lifetime.start))
            for b in problem.buffers
        )
    )


@given(plain_problems(most=20))
@exactly(50, 4)
def test_the_bound_is_the_same_when_time_runs_backwards(problem: Problem):
    assert lower_bound(core_of(problem)) == lower_bound(core_of(mirrored(problem)))


@given(plain_problems(most=7), st.integers(0, 30))
@SLOW
def test_a_capacity_is_met_or_proved_impossible(problem: Problem, capacity: int):
    smallest = solve(problem, "exact")
    assert isinstance(smallest, Plan)
    limited = problem.with_capacity(capacity)
    answer = solve(limited, "exact")
    if smallest.height <= capacity:
        assert isinstance(answer, Plan)
        assert check(limited, answer) == []
    else:
        assert isinstance(answer, Infeasible)
        assert answer.proved
        assert answer.shortfall >= smallest.height - capacity


@given(rich_problems(most=4), st.integers(0, 12), st.integers(0, 12))
@SLOW
def test_pool_capacities_are_met_or_proved_impossible(problem: Problem, one: int, two: int):
    capacities = (one, two)
    pools = tuple(Pool(p.name, c) for p, c in zip(problem.pools, capacities, strict=False))
    limited = Problem(problem.buffers, pools)
    answer = solve(limited, "exact")
    if isinstance(answer, Plan):
        assert check(limited, answer) == []
        # One pool with a capacity ends the search at the first plan that fits.
        assert answer.is_optimal or len(pools) == 1
    else:
        assert answer.proved
        assert answer.shortfall > 0


def damaged(problem: Problem, plan: Plan, row: int, delta: int) -> Plan:
    offsets = list(plan.offsets)
    offsets[row] += delta
    return Plan(tuple(offsets), plan.pools, plan.heights)


@given(plain_problems(most=12), st.data())
@exactly(200, 4)
def test_check_finds_a_planted_overlap(problem: Problem, data: st.DataObject):
    plan = solve(problem, "greedy-by-size")
    assert isinstance(plan, Plan)
    pairs = [
        (i, j)
        for i, a in enumerate(problem.buffers)
        for j, b in enumerate(problem.buffers)
        if i != j and a.size and b.size and a.lifetime.meets(b.lifetime)
    ]
    if not pairs:
        return
    i, j = data.draw(st.sampled_from(pairs))
    # Move i so that its first byte overlaps j.
    to = plan.offsets[j] + data.draw(st.integers(0, problem.buffers[j].size - 1))
    faults = check(problem, damaged(problem, plan, i, to - plan.offsets[i]))
    assert any(f.rule == "overlap" and set(f.rows) == {i, j} for f in faults)


@given(plain_problems(most=9), st.integers(2, 4))
@exactly(20, 4)
def test_scaling_all_bytes_scales_the_height(problem: Problem, factor: int):
    rows = tuple(
        Buffer(b.id, b.lifetime, b.size * factor, b.alignment * factor) for b in problem.buffers
    )
    assert height(Problem(rows), "exact") >= (height(problem, "exact") - 4) * factor
