"""The cost of reads and writes over several pools, against a search of all placements."""

from collections.abc import Sequence

import pytest
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from planning.random_problems import bytes_at, may_be_last, rich_problems

from xrelay.planning import Buffer, Infeasible, Interval, Plan, Pool, Problem, check, solve
from xrelay.planning.buffers import parse_pool, parse_pools


def cheapest(problem: Problem, limit: int) -> int | None:
    """Return the least cost of all placements below `limit`; None if none is within capacities."""
    best: int | None = None
    rows = problem.buffers
    ends = [max(bytes_at(b, time) for time in range(*b.lifetime)) for b in rows]

    def go(offsets: Sequence[int], pools: Sequence[int], cost: int) -> None:
        nonlocal best
        i = len(offsets)
        if best is not None and cost >= best:
            return
        if i == len(rows):
            best = cost
            return
        for number, pool in enumerate(problem.pools):
            top = limit if pool.capacity is None else min(limit, pool.capacity)
            for at in range(0, top - ends[i] + 1):
                here = [*offsets, at], [*pools, number]
                if at % pool.alignment == 0 and may_be_last(problem, *here):
                    go(*here, cost + rows[i].traffic * pool.cost)

    go([], [], 0)
    return best


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """A few buffers, and two pools, of which one has a capacity or both have."""
    rows: list[Buffer] = []
    for i in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, 4))
        life = Interval(start, start + draw(st.integers(1, 3)))
        reads, writes = draw(st.integers(0, 4)), draw(st.integers(0, 2))
        size = draw(st.integers(1, 4))
        rows.append(Buffer(str(i), life, size, reads=reads, writes=writes))
    fast = Pool("fast", draw(st.integers(0, 6)), 1, draw(st.sampled_from([1, 2])))
    slow = Pool("slow", draw(st.sampled_from([None, 4])), draw(st.integers(1, 5)))
    return Problem(tuple(rows), (fast, slow))


@pytest.mark.ci
@exactly(100, 8)
@given(problems())
def test_no_placement_of_a_few_buffers_costs_less(problem: Problem):
    least = cheapest(problem, sum(b.size for b in problem.buffers))
    for strategy in ("auto", "exact"):
        answer = solve(problem, strategy, minimize="cost")
        if isinstance(answer, Infeasible):
            assert least is None
            assert answer.shortfall > 0
            assert answer.proved
            continue
        assert check(problem, answer) == []
        assert (answer.cost, answer.lower_bound, answer.is_optimal) == (least, least, True)


@exactly(120, 4)
@given(rich_problems())
def test_a_proof_that_nothing_fits_is_right(problem: Problem):
    """With the capacities that are said to do, there is a plan; with less than proved, none."""
    tight = Problem(problem.buffers, tuple(pool._replace(capacity=5) for pool in problem.pools))
    answer = solve(tight, minimize="cost")
    if isinstance(answer, Plan):
        assert check(tight, answer) == []
        return
    assert answer.shortfall > 0
    alive = [tight.buffers[row] for row in answer.rows]
    if answer.moment and all(b.tie is None and not b.gaps for b in alive):
        assert all(b.lifetime.start <= answer.moment < b.lifetime.stop for b in alive)
    if answer.enough:
        roomy = Problem(problem.buffers, answer.enough)
        assert isinstance(solve(roomy, minimize="cost"), Plan)


def test_what_does_not_fit_is_explained():
    buffers = (
        Buffer("a", Interval(0, 3), 40),
        Buffer("b", Interval(1, 3), 60),
        Buffer("c", Interval(2, 4), 50),
    )
    answer = solve(Problem(buffers, (Pool("dtcm", 64), Pool("sram", 70))), minimize="cost")
    assert isinstance(answer, Infeasible)
    assert (answer.proved, answer.shortfall, answer.moment) == (True, 16, 2)
    assert [buffers[row].id for row in answer.rows] == ["b", "c", "a"]
    assert answer.enough == (Pool("dtcm", 64), Pool("sram", 110))


def test_a_buffer_larger_than_its_pools_is_the_proof():
    buffers = (Buffer("a", Interval(0, 1), 9, pools=("fast",)), Buffer("b", Interval(2, 3), 1))
    answer = solve(Problem(buffers, (Pool("fast", 8), Pool("slow"))))
    assert isinstance(answer, Infeasible)
    assert (answer.proved, answer.shortfall, answer.rows) == (True, 1, (0,))


def test_heights_of_pools_that_a_greedy_plan_exceeds():
    """Largest first puts `a` and `b` into the large pool; only each in its own pool fits."""
    buffers = (
        Buffer("a", Interval(0, 2), 6),
        Buffer("b", Interval(0, 2), 5),
        Buffer("c", Interval(0, 2), 4, pools=("large",)),
    )
    problem = Problem(buffers, (Pool("large", 9), Pool("small", 6)))
    plan = solve(problem)
    assert isinstance(plan, Plan)
    assert check(problem, plan) == []


@pytest.mark.parametrize(
    ("text", "pool"),
    [
        ("dtcm=64KiB:1", Pool("dtcm", 65536, 1)),
        ("psram=:10", Pool("psram", None, 10)),
        ("cpu:0=512MiB:1", Pool("cpu:0", 512 << 20, 1)),
        ("sram=2K:3:64", Pool("sram", 2000, 3, 64)),
        ("flash", Pool("flash")),
        ("cuda:0/shared=1GB", Pool("cuda:0/shared", 10**9)),
    ],
)
def test_pools_are_spelled(text: str, pool: Pool):
    assert parse_pool(text) == pool
    assert parse_pool(str(pool)) == pool


@pytest.mark.parametrize("text", ["=4", "a=x", "a=1TiB", "a=:b", "a=KiB", "a=1:2:3:4", ""])
def test_other_spellings_are_errors(text: str):
    with pytest.raises(ValueError, match="a pool must be NAME="):
        parse_pool(text)


def test_lists_of_pools():
    assert [p.name for p in parse_pools("a=1:1, b=:2")] == ["a", "b"]
    assert parse_pools("") == []
