"""Large problems: sweeps from the peak, local repair, and columns instead of rows."""

import random
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from planning.random_problems import plain_problems

from xrelay.planning import Interval, Plan, Problem, ProblemError, check, solve
from xrelay.planning.buffers import Ints
from xrelay.planning.csv_io import parse_problem
from xrelay.planning.offsets import gap_index, peak_first
from xrelay.planning.offsets.bounds import lower_bound
from xrelay.planning.offsets.core import Core, core_of, oriented
from xrelay.planning.offsets.gap_index import fill
from xrelay.planning.offsets.greedy import place_in_order
from xrelay.planning.offsets.local_repair import repair
from xrelay.planning.offsets.peak_first import plan_from_peak
from xrelay.planning.offsets.portfolio import as_array, is_dense, plans
from xrelay.planning.offsets.sort_keys import busiest, by_birth, by_size, by_size_and_life
from xrelay.planning.offsets.sweep import sweep_from_peak

solver = sys.modules["xrelay.planning.solve"]
"""The module: the package has a function of that name."""

DATA = Path(__file__).parents[1] / "data" / "planning"


def faults(problem: Problem, core: Core, offsets: Ints) -> list[str]:
    by_row = np.append(offsets, 0)[core.row_body].tolist()
    height = int((offsets + core.size).max(initial=0))
    plan = Plan(tuple(by_row), (0,) * len(by_row), (height,))
    return [str(fault) for fault in check(problem, plan)]


@pytest.mark.parametrize("stack", ["death", "birth", "life"])
@pytest.mark.parametrize("ends", [False, True])
@given(problem=plain_problems(most=25))
@exactly(60, 4)
def test_sweeps_are_right(stack: str, ends: bool, problem: Problem):
    core = core_of(problem)
    if core.n_bodies:
        assert faults(problem, core, sweep_from_peak(core, stack, ends)) == []


@given(problem=plain_problems(most=25), budget=st.integers(1, 3000))
@exactly(100, 4)
def test_repair_is_right_and_never_worse(problem: Problem, budget: int):
    core = core_of(problem)
    if not core.n_bodies:
        return
    placed = place_in_order(core, by_birth(core))
    assert placed is not None
    before = np.array(placed.offsets, dtype=np.int64)
    outcome = repair(core, before, lower_bound(core), budget)
    assert faults(problem, core, outcome.offsets) == []
    assert outcome.height <= placed.heights[0]
    assert outcome.nodes <= budget


def chain(n: int, seed: int) -> Problem:
    """Short lifetimes and varying sizes: greedy by size has a few isolated peaks."""
    rng = np.random.default_rng(seed)
    lower = np.arange(n)
    return Problem.of(lower, lower + rng.integers(1, 4, n), rng.integers(1, 33, n))


def test_local_repair_lowers_what_greedy_leaves_too_high():
    problem = chain(4000, 1)
    core = core_of(problem)
    placed = place_in_order(core, by_size(core))
    assert placed is not None
    bound = lower_bound(core)
    assert placed.heights[0] > bound
    outcome = repair(core, np.array(placed.offsets, dtype=np.int64), bound, 100_000)
    assert outcome.height == bound
    plan = solve(problem)
    assert isinstance(plan, Plan)
    assert plan.height == bound
    assert check(problem, plan) == []


def training_step(n: int) -> Problem:
    """Activations that live until the backward pass: half of all are alive at its start."""
    rng = random.Random(5)
    rows: list[tuple[int, int, int]] = []
    for i in range(n):
        rows.append((3 * i, 6 * n - 3 * i, rng.choice([64, 128, 192])))
        rows.append((3 * i + 1, 3 * i + 3, rng.choice([64, 512, 1024])))
        rows.append((6 * n - 3 * i - 1, 6 * n - 3 * i + 2, rng.choice([64, 256])))
    lower, upper, size = zip(*rows, strict=True)
    return Problem.of(lower, upper, size)


@pytest.mark.ci
def test_a_training_step_is_planned_at_the_bound_without_pairs():
    problem = training_step(3000)
    assert core_of(problem).n_overlaps > 100 * 9000 + 50_000
    plan = solve(problem)
    assert isinstance(plan, Plan)
    assert check(problem, plan) == []
    assert plan.is_optimal
    assert plan.strategy == "auto (sweep)"


def long_step(layers: int, seed: int) -> Problem:
    """A training step in which temporaries of varying sizes fill the space between activations."""
    rng = np.random.default_rng(seed)
    half, most = 30 * layers, 60 * layers + 30
    sizes = np.array([5120, 10240, 640, 8192, 4, 400, 2560, 320, 1600, 1])
    now = np.arange(2 * half)
    shares = [0.2, 0.3, 0.2, 0.1, 0.1, 0.05, 0.05]
    until = now + 1 + rng.choice([2, 3, 4, 6, 10, 30, 60], 2 * half, p=shares)
    saved = (now < half) & (now % 10 == 3)
    until[saved] = 2 * half - now[saved] + rng.integers(-30, 30, saved.sum())
    until[now % 30 == 9] = most
    size = rng.choice(sizes, 2 * half)
    size[saved] = rng.choice([400, 1600, 2560, 320], saved.sum())
    return Problem.of(now, np.clip(until, now + 1, most), size)


STEP = long_step(50, 0)


@cache
def cheapest() -> int:
    """Return the lowest of the cheap plans of `STEP`."""
    return min(placement.heights[0] for _, placement in plans(core_of(STEP)))


@pytest.mark.ci
def test_a_plan_from_the_peak_is_lower_than_the_cheap_plans():
    core = core_of(STEP)
    assert is_dense(core)
    bound, known = lower_bound(core), cheapest()
    found = plan_from_peak(core, bound, known, 3000)
    assert found.placement is not None
    assert faults(STEP, core, as_array(found.placement)) == []
    assert found.nodes <= 3000
    assert bound <= found.placement.heights[0] < known
    plan = solve(STEP)
    assert isinstance(plan, Plan)
    assert plan.is_optimal
    assert plan.strategy.startswith("auto (peak first")
    assert check(STEP, plan) == []
    assert solve(STEP) == plan


def test_a_problem_too_large_for_peaks_is_left_alone(monkeypatch: pytest.MonkeyPatch):
    core = core_of(STEP)
    monkeypatch.setattr(peak_first, "MAX_BODIES", 100)
    assert plan_from_peak(core, 0, 2**62, 3000) == ("", None, 0)


@given(plain_problems(most=25), st.integers(0, 500))
@exactly(40, 4)
def test_plans_from_the_peak_are_right_and_within_budget(problem: Problem, budget: int):
    core = core_of(problem)
    found = plan_from_peak(core, 0, 2**62, budget)
    assert found.nodes <= budget
    if found.placement is not None:
        assert faults(problem, core, as_array(found.placement)) == []
    if not budget or not core.n_bodies:
        assert found == ("", None, 0)


@given(plain_problems(most=80), st.integers(0, 80), st.sampled_from([1, 2, 5]))
@exactly(80, 4)
def test_the_gap_index_finds_the_same_gaps_as_pairs(problem: Problem, n_given: int, leaf: int):
    core = core_of(problem)
    if not core.n_bodies:
        return
    order = by_size_and_life(core)
    placed = place_in_order(core, order)
    assert placed is not None
    start = as_array(placed)
    start[order[n_given:]] = -1
    with pytest.MonkeyPatch.context() as patch:
        # Small nodes, so that a small problem has several levels.
        patch.setattr(gap_index, "_LEAF", leaf)
        patch.setattr(gap_index, "_FAN", 2)
        assert fill(core, start, order[n_given:]) == placed


def test_the_gap_index_finds_the_same_gaps_as_pairs_in_a_training_step():
    core = core_of(STEP)
    none = np.full(core.n_bodies, -1)
    assert fill(core, none, by_size(core)) == place_in_order(core, by_size(core))


@pytest.mark.ci
@given(plain_problems(most=20), st.integers(0, 3000), st.integers(0, 3000))
@exactly(60, 4)
def test_a_larger_budget_is_never_worse(problem: Problem, one: int, two: int):
    assert_monotone(problem, sorted((one, two)))


@pytest.mark.ci
@pytest.mark.parametrize("name", ["A", "J", "K"])
def test_a_larger_budget_is_never_worse_on_an_instance(name: str):
    problem = parse_problem((DATA / f"{name}.1048576.csv").read_text())
    assert_monotone(problem, [0, 100, 1500])


def test_a_larger_budget_is_never_worse_on_a_large_problem(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(solver, "_MAX_BODIES", 100)
    for seed in range(2):
        assert_monotone(long_step(5, seed), [0, 50, 200, 1000])


def assert_monotone(problem: Problem, budgets: list[int]):
    heights: list[int] = []
    for budget in budgets:
        plan = solve(problem, budget=budget)
        assert isinstance(plan, Plan)
        assert check(problem, plan) == []
        assert plan.nodes <= budget
        heights.append(plan.height)
    assert heights == sorted(heights, reverse=True)


@pytest.mark.parametrize("strategy", ["auto", "exact"])
@pytest.mark.parametrize("budget", [0, 20_000])
def test_a_budget_on_a_large_problem_is_kept_and_makes_nothing_worse(strategy: str, budget: int):
    plan = solve(STEP, strategy, budget)
    assert isinstance(plan, Plan)
    assert check(STEP, plan) == []
    assert plan.nodes <= budget
    assert plan.height <= cheapest()


@pytest.mark.parametrize("strategy", ["auto", "exact"])
def test_a_timeout_ends_the_search_with_the_best_plan_so_far(strategy: str):
    problem = parse_problem((DATA / "J.1048576.csv").read_text())
    first = solve(problem, "greedy-by-size")
    assert isinstance(first, Plan)
    began = time.process_time()
    plan = solve(problem, strategy, timeout=0.1)
    # Without a limit, exact does not end. CPU time, because the machine may be busy.
    assert time.process_time() - began < 5
    assert isinstance(plan, Plan)
    assert check(problem, plan) == []
    assert plan.height <= first.height
    assert not plan.is_optimal


def test_a_timeout_of_0_returns_a_cheap_plan():
    plan = solve(STEP, timeout=0)
    assert isinstance(plan, Plan)
    assert plan.nodes == 0
    assert check(STEP, plan) == []


@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_a_time_limit_ends_cheap_plans_after_the_first(
    seconds: float, monkeypatch: pytest.MonkeyPatch
):
    """A clock that advances with each look at it: no other work depends on the machine."""
    core = core_of(STEP)
    looks = iter(range(10**9))
    monkeypatch.setattr(time, "monotonic", lambda: 0.01 * next(looks))
    found = list(plans(core, seconds))
    assert found[0] == next(plans(core))
    assert len(found) < len(list(plans(core)))
    assert next(looks) <= 100 * seconds + 2


@pytest.mark.parametrize("strategy", ["auto", "exact"])
def test_a_problem_too_large_to_search_as_a_whole(strategy: str, monkeypatch: pytest.MonkeyPatch):
    problem = long_step(10, 1)
    monkeypatch.setattr(solver, "_MAX_BODIES", 100)
    monkeypatch.setattr(solver, "_MAX_PAIRS", 1000)
    monkeypatch.setattr(solver, "_LARGE_NODES", 0)
    for budget, timeout in ((10**6, None), (None, 100.0)):
        plan = solve(problem, strategy, budget, timeout)
        assert isinstance(plan, Plan)
        assert check(problem, plan) == []
    with pytest.raises(ProblemError, match=r"are too many for strategy exact \(at most 50000 and"):
        solve(problem, "exact")


def test_columns_and_rows_are_the_same_problem():
    columns = chain(200, 3)
    rows = Problem(tuple(columns.buffers))
    assert [b.id for b in rows.buffers][:3] == ["0", "1", "2"]
    assert solve(columns) == solve(rows)


def test_columns_of_different_lengths_are_an_error():
    with pytest.raises(ProblemError, match="columns must have equal lengths, but have 1, 2, 1"):
        Problem.of([0], [1, 2], [3])


@pytest.mark.ci
@pytest.mark.parametrize(("name", "budget"), [("A.1048576", 5_000), ("K.1048576", 20_000)])
def test_a_mirrored_instance_is_searched_alike(name: str, budget: int):
    problem = parse_problem((DATA / f"{name}.csv").read_text()).with_capacity(1048576)
    rows = [
        b._replace(lifetime=Interval(-b.lifetime.stop, -b.lifetime.start)) for b in problem.buffers
    ]
    random.Random(2).shuffle(rows)
    mirror = Problem(tuple(rows), problem.pools)
    one, two = solve(problem, budget=budget), solve(mirror, budget=budget)
    assert isinstance(one, Plan)
    assert isinstance(two, Plan)
    assert check(mirror, two) == []
    assert (one.height, one.nodes) == (two.height, two.nodes)


@given(plain_problems(most=15))
@exactly(100, 4)
def test_a_core_and_its_mirror_have_one_orientation(problem: Problem):
    turned = Problem(
        tuple(
            b._replace(lifetime=Interval(-b.lifetime.stop, -b.lifetime.start))
            for b in problem.buffers
        )
    )
    one, two = (core_of(p) for p in (problem, turned))
    if not one.n_bodies:
        return
    a, b = oriented(one)[0], oriented(two)[0]
    assert (a.lower - a.lower[0]).tolist() == (b.lower - b.lower[0]).tolist()
    assert (a.upper - a.lower[0]).tolist() == (b.upper - b.lower[0]).tolist()
    assert a.size.tolist() == b.size.tolist()


@given(plain_problems(most=20))
@exactly(100, 4)
def test_busiest_is_the_largest_load_of_a_life(problem: Problem):
    core = core_of(problem)
    if not core.n_bodies:
        return
    load = [
        sum(s for a, z, s in zip(core.lower, core.upper, core.size, strict=True) if a <= t < z)
        for t in core.lower
    ]
    lives = zip(core.lower.tolist(), core.upper.tolist(), strict=True)
    expected = [
        max(x for x, t in zip(load, core.lower, strict=True) if a <= t < z) for a, z in lives
    ]
    assert busiest(core)[0].tolist() == expected


def test_the_examples_of_the_documentation_run():
    text = (Path(__file__).parents[2] / "docs" / "planning.md").read_text()
    blocks = [part.partition("```")[0] for part in text.split("```python\n")[1:]]
    assert len(blocks) == 2
    for block in blocks:
        exec(block, {})
