"""Orientations: plans for sizes that are not known, judged by independent code."""

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest
from helpers.programs.random_settings import rounds
from planning.random_problems import height_of

from xrelay.planning import (
    Arm,
    Buffer,
    Gap,
    Interval,
    Plan,
    Pool,
    Problem,
    ProblemError,
    check,
    solve,
)
from xrelay.planning.unknown_sizes import Orientation, orientation, orientation_of


def random_rows(rng: random.Random, most: int, branches: bool) -> list[Buffer]:
    """Rows with lifetimes, sizes (some 0), alignments and, on request, arms of nested branches."""
    rows: list[Buffer] = []
    for i in range(rng.randint(1, most)):
        start = rng.randint(0, 12)
        arms: list[Arm] = []
        if branches and rng.random() < 0.6:
            arms.append(Arm("outer", rng.choice("xy")))
            if rng.random() < 0.5:
                arms.append(Arm(f"inner-{arms[0].arm}", rng.choice("uvw")))
        rows.append(
            Buffer(
                str(i),
                Interval(start, start + rng.randint(0, 6)),
                rng.choice([0, 1, 2, 3, 5, 8, 13]),
                rng.choice([1, 1, 1, 2, 4, 3]),
                arms=tuple(arms),
            )
        )
    return rows


def resized(rows: Sequence[Buffer], rng: random.Random) -> list[Buffer]:
    largest = rng.choice([1, 10, 10**6])
    return [b._replace(size=rng.randint(0, largest)) for b in rows]


def conflicts(rows: Sequence[Buffer]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of rows that are alive together, unless arms exclude each other."""
    for (i, a), (j, b) in combinations(enumerate(rows), 2):
        together = max(a.lifetime.start, b.lifetime.start) < min(a.lifetime.stop, b.lifetime.stop)
        if together and not any(x.branch == y.branch and x != y for x in a.arms for y in b.arms):
            yield i, j


def plan_of(rows: Sequence[Buffer], strategy: str) -> Plan:
    plan = solve(Problem(tuple(rows)), strategy, 200)
    assert isinstance(plan, Plan)
    return plan


@pytest.mark.ci
@pytest.mark.parametrize("branches", [False, True])
def test_no_sizes_make_buffers_overlap(branches: bool):
    rng = random.Random(branches)
    for _ in range(rounds(1000, 4)):
        rows = random_rows(rng, 14, branches)
        found = orientation_of(
            Problem(tuple(rows)), plan_of(rows, rng.choice(["greedy-by-size", "best-fit"])).offsets
        )
        pairs = list(conflicts(rows))
        for _ in range(3):
            rows = resized(rows, rng)
            sizes = [b.size for b in rows]
            at = found.offsets(sizes)
            for i, j in pairs:
                assert at[i] + sizes[i] <= at[j] or at[j] + sizes[j] <= at[i]
            assert all(offset % b.alignment == 0 for offset, b in zip(at, rows, strict=True))
            alive = [i for i, b in enumerate(rows) if b.lifetime.stop > b.lifetime.start]
            assert found.height(sizes) == max((at[i] + sizes[i] for i in alive), default=0)
            ends = height_of(rows, at)
            assert check(Problem(tuple(rows)), Plan(tuple(at), (0,) * len(at), (ends,))) == []


@pytest.mark.parametrize("strategy", ["auto", "coalesce", "first-fit", "greedy-by-breadth"])
def test_the_arena_is_at_most_that_of_the_plan_it_comes_from(strategy: str):
    rng = random.Random(7)
    for turn in range(rounds(250, 4)):
        rows = random_rows(rng, 14, branches=turn % 2 == 1)
        plan = plan_of(rows, strategy)
        found = orientation_of(Problem(tuple(rows)), plan.offsets)
        sizes = [b.size for b in rows]
        at = found.offsets(sizes)
        assert all(a <= b for a, b, size in zip(at, plan.offsets, sizes, strict=True) if size)
        assert found.height(sizes) <= plan.height


@pytest.mark.parametrize("strategy", ["first-fit", "greedy-by-size", "greedy-by-breadth"])
def test_with_static_sizes_the_arithmetic_is_the_static_plan(strategy: str):
    # Each of these strategies rests every buffer on another one, or on 0.
    rng = random.Random(11)
    for turn in range(rounds(250, 4)):
        rows = random_rows(rng, 14, branches=turn % 2 == 1)
        plan = plan_of(rows, strategy)
        found = orientation_of(Problem(tuple(rows)), plan.offsets)
        sizes = [b.size for b in rows]
        assert tuple(found.offsets(sizes)) == plan.offsets
        assert found.height(sizes) == plan.height


def reduction(rows: Sequence[Buffer], order: Sequence[int]) -> list[set[int]]:
    """Return, by definition, what lies directly below each row when rows are in `order`."""
    rank = {row: place for place, row in enumerate(order)}
    below: list[set[int]] = [set() for _ in rows]
    for i, j in conflicts(rows):
        high, low = (i, j) if rank[i] > rank[j] else (j, i)
        below[high].add(low)
    reach = [set(under) for under in below]
    for i in order:
        reach[i] = reach[i].union(*(reach[j] for j in below[i]))
    return [
        {j for j in below[i] if not any(j in reach[k] for k in below[i])} for i in range(len(rows))
    ]


@pytest.mark.parametrize("branches", [False, True])
def test_only_direct_relations_are_kept(branches: bool):
    rng = random.Random(5)
    for _ in range(rounds(400, 4)):
        rows = random_rows(rng, 16, branches)
        found = orientation_of(Problem(tuple(rows)), plan_of(rows, "greedy-by-size").offsets)
        assert [set(under) for under in found.below] == reduction(rows, found.order)
        rank = {row: place for place, row in enumerate(found.order)}
        for i in found.order:
            places = [rank[j] for j in found.below[i]]
            assert places == sorted(places)
            assert all(place < rank[i] for place in places)


def test_beyond_the_limit_relations_through_one_other_are_dropped(monkeypatch: pytest.MonkeyPatch):
    rng = random.Random(6)
    longer = 0
    for _ in range(rounds(400, 4)):
        rows = random_rows(rng, 16, branches=False)
        plan = plan_of(rows, "greedy-by-size")
        exact = orientation_of(Problem(tuple(rows)), plan.offsets)
        with monkeypatch.context() as patch:
            patch.setattr(orientation, "_MAX_REACH", 0)
            quick = orientation_of(Problem(tuple(rows)), plan.offsets)
        for few, more in zip(exact.below, quick.below, strict=True):
            assert set(few) <= set(more)
            longer += len(more) - len(few)
        sizes = [b.size for b in resized(rows, rng)]
        assert exact.offsets(sizes) == quick.offsets(sizes)
    assert longer < 200


PICTURE = Problem(
    (
        Buffer("a", Interval(0, 3), 8),
        Buffer("b", Interval(1, 4), 4),
        Buffer("c", Interval(2, 4), 6),
    )
)


def test_the_example_of_the_documentation():
    found = orientation_of(PICTURE, (0, 8, 12))
    assert found == Orientation((0, 1, 2), ((), (0,), (1,)), (1, 1, 1))
    assert found.tops == (2,)
    assert found.offsets([8, 4, 6]) == [0, 8, 12]
    assert found.height([8, 4, 6]) == 18
    assert found.offsets([1, 100, 6]) == [0, 1, 101]


def test_arms_that_exclude_each_other_share_bytes():
    rows = (
        Buffer("before", Interval(0, 4), 8),
        Buffer("then", Interval(1, 3), 8, arms=(Arm("if", "then"),)),
        Buffer("else", Interval(1, 3), 8, arms=(Arm("if", "else"),)),
        Buffer("after", Interval(2, 4), 8),
    )
    found = orientation_of(Problem(rows), (0, 8, 8, 16))
    assert found.below == ((), (0,), (0,), (1, 2))
    assert found.offsets([8, 1, 100, 8]) == [0, 8, 8, 108]


def test_a_row_that_is_never_alive_takes_nothing():
    rows = (Buffer("x", Interval(0, 0), 8), Buffer("y", Interval(0, 1), 8, alignment=4))
    found = orientation_of(Problem(rows), (0, 0))
    assert found.order == (1,)
    assert found.height([100, 8]) == 8
    assert orientation_of(Problem(()), ()).height([]) == 0


@pytest.mark.parametrize(
    "problem",
    [
        Problem((Buffer("x", Interval(0, 4), 8, gaps=(Gap(1, 2),)),)),
        Problem((Buffer("x", Interval(0, 4), 8, offset=0),)),
        Problem((Buffer("x", Interval(0, 4), 8, tie="t"),)),
        Problem((), (Pool("fast"), Pool("slow"))),
        Problem((), (Pool("aligned", alignment=64),)),
    ],
)
def test_an_order_of_more_than_lifetimes_is_no_orientation(problem: Problem):
    with pytest.raises(ProblemError, match="an orientation is of one pool, without gaps"):
        orientation_of(problem, (0,) * len(problem.buffers))


def test_a_training_step_has_few_relations_though_most_pairs_conflict():
    n = 3000
    lower, upper = [*range(n)], [2 * n - i for i in range(n)]
    problem = Problem.of(lower, upper, [64 + i % 5 for i in range(n)])
    found = orientation_of(problem, plan_of_columns(problem))
    assert sum(map(len, found.below)) == n - 1


def plan_of_columns(problem: Problem) -> Sequence[int]:
    plan = solve(problem, "coalesce")
    assert isinstance(plan, Plan)
    return plan.offsets
