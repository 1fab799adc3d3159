"""Literal problems with literal answers, for each strategy."""

from pathlib import Path

import pytest

from xrelay.planning import (
    STRATEGIES,
    Arm,
    Buffer,
    Gap,
    Infeasible,
    Interval,
    Plan,
    Pool,
    Problem,
    ProblemError,
    UnknownStrategy,
    check,
    solve,
)
from xrelay.planning.csv_io import parse_problem
from xrelay.planning.objectives import Heights
from xrelay.planning.offsets.bounds import lower_bound
from xrelay.planning.offsets.core import core_of
from xrelay.planning.offsets.greedy import Placement
from xrelay.planning.pools import prefer

DATA = Path(__file__).parents[1] / "data" / "planning"


def buffer(name: str, start: int, stop: int, size: int, **more: object) -> Buffer:
    return Buffer(name, Interval(start, stop), size, **more)  # pyright: ignore[reportArgumentType]


def planned(problem: Problem, strategy: str = "auto", budget: int | None = None) -> Plan:
    answer = solve(problem, strategy, budget)
    assert isinstance(answer, Plan), answer
    assert check(problem, answer) == []
    return answer


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_buffers_need_no_bytes(strategy: str):
    plan = planned(Problem(()), strategy)
    assert (plan.offsets, plan.height, plan.lower_bound, plan.is_optimal) == ((), 0, 0, True)
    assert plan.ratio == 1.0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_buffer_lies_at_the_ground(strategy: str):
    plan = planned(Problem((buffer("a", 3, 4, 7),)), strategy)
    assert (plan.offsets, plan.height, plan.is_optimal) == ((0,), 7, True)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_equal_lifetimes_are_stacked(strategy: str):
    plan = planned(Problem(tuple(buffer(name, 0, 1, 5) for name in "abc")), strategy)
    assert sorted(plan.offsets) == [0, 5, 10]
    assert plan.is_optimal


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "coalesce"])
def test_bytes_are_used_again(strategy: str):
    rows = (buffer("a", 0, 2, 8), buffer("b", 2, 4, 8), buffer("c", 4, 6, 8))
    assert planned(Problem(rows), strategy).offsets == (0, 0, 0)


def test_coalesce_uses_no_byte_twice():
    rows = (buffer("a", 0, 2, 8), buffer("b", 2, 4, 8), buffer("c", 4, 6, 3, alignment=16))
    plan = planned(Problem(rows), "coalesce")
    assert (plan.offsets, plan.height, plan.lower_bound) == ((0, 8, 16), 19, 8)


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "coalesce"])
def test_size_zero_and_empty_lifetimes_never_conflict(strategy: str):
    rows = (buffer("a", 0, 9, 8), buffer("none", 0, 9, 0), buffer("never", 5, 5, 99))
    plan = planned(Problem(rows), strategy)
    assert (plan.height, plan.is_optimal) == (8, True)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_alignment_larger_than_the_size(strategy: str):
    rows = tuple(buffer(name, 0, 1, 1, alignment=64) for name in "abc")
    plan = planned(Problem(rows), strategy)
    # The topmost needs one byte, not 64; the lower bound takes this into account.
    assert sorted(plan.offsets) == [0, 64, 128]
    assert (plan.height, plan.lower_bound, plan.is_optimal) == (129, 129, True)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_sizes_of_two_to_the_forty(strategy: str):
    rows = (buffer("a", 0, 2, 2**40), buffer("b", 1, 3, 2**40 + 1), buffer("c", 1, 3, 3))
    assert planned(Problem(rows), strategy).height == 2**41 + 4


def test_the_classic_where_first_fit_wastes():
    # b is short and lies between; placed in order of birth, c cannot reuse a's bytes with b.
    rows = (
        buffer("a", 0, 2, 4),
        buffer("b", 1, 5, 2),
        buffer("c", 3, 6, 6),
        buffer("d", 2, 3, 4),
    )
    assert planned(Problem(rows), "first-fit").height == 12
    assert planned(Problem(rows), "greedy-by-size").height == 8
    assert planned(Problem(rows)).height == 8


def test_best_fit_takes_the_smallest_gap():
    rows = (
        buffer("a", 0, 2, 8),
        buffer("b", 0, 9, 1),
        buffer("c", 0, 2, 4),
        buffer("d", 0, 9, 1),
        buffer("e", 3, 5, 4),
    )
    # By birth, the longest life first: b 0, d 1, a 2, c 10. Then e fits above d.
    assert planned(Problem(rows), "first-fit").offsets == (2, 0, 10, 1, 2)
    rows = (buffer("k", 0, 9, 1), buffer("l", 0, 9, 2), buffer("x", 0, 2, 9))
    assert planned(Problem(rows), "best-fit").offsets == (2, 0, 3)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_arms_of_a_branch_lie_over_each_other(strategy: str):
    rows = (
        buffer("then", 0, 4, 6, arms=(Arm("if", "then"),)),
        buffer("else", 0, 4, 9, arms=(Arm("if", "else"),)),
        buffer("both", 0, 4, 2),
    )
    plan = planned(Problem(rows), strategy)
    assert plan.lower_bound == 11
    if strategy != "coalesce":
        assert (plan.height, plan.is_optimal) == (11, True)


def test_nested_branches_take_the_heaviest_arm_at_each_level():
    outer, other = Arm("o", "x"), Arm("o", "y")
    rows = (
        buffer("p", 0, 1, 5, arms=(outer, Arm("i", "u"))),
        buffer("q", 0, 1, 7, arms=(outer, Arm("i", "v"))),
        buffer("r", 0, 1, 4, arms=(outer,)),
        buffer("s", 0, 1, 10, arms=(other,)),
        buffer("t", 0, 1, 1),
    )
    plan = planned(Problem(rows))
    # x costs 4 + max(5, 7) = 11, y costs 10.
    assert (plan.lower_bound, plan.height, plan.is_optimal) == (12, 12, True)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_ties_share_an_offset(strategy: str):
    rows = (
        buffer("in", 0, 3, 8, tie="t"),
        buffer("out", 2, 5, 4, tie="t", alignment=4),
        buffer("x", 1, 4, 3),
    )
    plan = planned(Problem(rows), strategy)
    assert plan.offsets[0] == plan.offsets[1]
    assert (plan.lower_bound, plan.height) == (11, 11)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fixed_offsets_stay(strategy: str):
    rows = (buffer("a", 0, 4, 8, offset=4), buffer("b", 0, 4, 4), buffer("c", 2, 6, 2))
    plan = planned(Problem(rows), strategy)
    assert plan.offsets[0] == 4
    if strategy != "coalesce":
        assert plan.height == 14
        assert plan.offsets[1] == 0


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "coalesce"])
def test_a_gap_lets_others_in(strategy: str):
    rows = (
        buffer("a", 0, 9, 8, gaps=(Gap(3, 6, 2),)),
        buffer("b", 3, 6, 6),
        buffer("c", 0, 3, 1),
    )
    plan = planned(Problem(rows), strategy)
    assert (plan.height, plan.lower_bound) == (9, 9)


def test_gaps_of_two_buffers_interleave():
    rows = (
        buffer("a", 0, 8, 8, gaps=(Gap(2, 4), Gap(6, 8))),
        buffer("b", 0, 8, 8, gaps=(Gap(0, 2), Gap(4, 6))),
    )
    assert planned(Problem(rows)).offsets == (0, 0)


def test_a_capacity_below_the_bound_is_proved_impossible():
    rows = (buffer("a", 0, 2, 8), buffer("b", 1, 3, 8))
    answer = solve(Problem(rows, (Pool("arena", 12),)))
    assert isinstance(answer, Infeasible)
    assert (answer.proved, answer.shortfall, answer.lower_bound) == (True, 4, 16)


def test_a_plan_that_fits_its_capacity_is_found():
    rows = (buffer("a", 0, 2, 8), buffer("b", 1, 3, 8))
    assert planned(Problem(rows, (Pool("arena", 16),))).height == 16


def test_pools_add_up_and_preference_breaks_ties():
    pools = (Pool("fast", 8), Pool("slow"))
    rows = (
        buffer("a", 0, 4, 8, pools=("fast", "slow")),
        buffer("b", 0, 4, 6),
        buffer("c", 4, 8, 6, pools=("slow",)),
        buffer("d", 4, 8, 8, pools=("fast", "slow")),
    )
    plan = planned(Problem(rows, pools))
    assert (plan.heights, plan.is_optimal) == ((8, 6), True)
    assert plan.pools == (0, 1, 1, 0)


@pytest.mark.parametrize(("height", "pools"), [(8, [0, 0]), (4, [1, 0])])
def test_a_body_moves_to_the_pool_it_prefers_if_that_is_no_higher(height: int, pools: list[int]):
    rows = (buffer("a", 0, 4, 8, pools=("fast", "slow")), buffer("b", 4, 8, 4, pools=("fast",)))
    core = core_of(Problem(rows, (Pool("fast"), Pool("slow"))))
    moved = prefer(core, Placement([0, 0], [1, 0], [height, 8]), Heights(core))
    assert (moved.offsets, moved.pools) == ([0, 0], pools)


def test_a_pool_that_is_too_small_is_not_used():
    pools = (Pool("fast", 4), Pool("slow"))
    rows = (buffer("a", 0, 4, 8, pools=("fast", "slow")), buffer("b", 0, 4, 4))
    plan = planned(Problem(rows, pools))
    assert plan.pools[0] == 1
    assert plan.height == 12


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_buffer_that_fits_no_pool_is_infeasible(strategy: str):
    pools = (Pool("fast", 4), Pool("slow", 6))
    answer = solve(Problem((buffer("a", 0, 4, 8),), pools), strategy)
    assert isinstance(answer, Infeasible)
    assert answer.shortfall > 0
    if strategy in ("exact", "auto"):
        assert answer.proved


def test_the_result_says_how_it_was_made():
    problem = parse_problem((DATA / "A.1048576.csv").read_text())
    plan = planned(problem)
    assert (plan.height, plan.lower_bound, plan.gap, plan.ratio) == (1048576, 1048576, 0, 1.0)
    assert plan.is_optimal
    assert plan.strategy.startswith("auto (")
    assert plan.nodes > 0
    assert plan.seconds > 0


def test_an_unknown_strategy_lists_those_there_are():
    with pytest.raises(
        UnknownStrategy, match=r"unknown strategy 'magic' \(expected one of: coalesce, "
    ):
        solve(Problem(()), "magic")


@pytest.mark.parametrize(
    ("rows", "pools", "words", "named"),
    [
        ((buffer("a", 0, 1, -1),), (), "'a': size must be at least 0, but is -1", (0,)),
        (
            (buffer("a", 0, 1, 1, alignment=0),),
            (),
            "'a': alignment must be at least 1, but is 0",
            (0,),
        ),
        (
            (buffer("a", 3, 1, 1),),
            (),
            "'a': lifetime must not end before it starts, but has length -2",
            (0,),
        ),
        (
            (buffer("a", 0, 1, 2**62),),
            (),
            "'a': 4611686018427387904 is not between -2^62 and 2^62",
            (0,),
        ),
        ((buffer("a", 0, 1, 2**70),), (), "is not between -2^62 and 2^62", (0,)),
        ((buffer("a", 0, 1, 1), buffer("a", 0, 1, 1)), (), "duplicate id 'a'", (0, 1)),
        (
            (buffer("a", 0, 4, 8, offset=0), buffer("b", 3, 6, 8, offset=4)),
            (),
            "'a' and 'b' are alive together at 3 and fixed at 0 and 4, where they overlap",
            (0, 1),
        ),
        (
            (buffer("a", 0, 4, 8, offset=0, tie="t"), buffer("b", 5, 6, 8, offset=8, tie="t")),
            (),
            "'a' and 'b' are tied ('t'), but fixed at 0 and 8",
            (0, 1),
        ),
        (
            (buffer("a", 0, 4, 8, offset=8, tie="t"), buffer("b", 5, 6, 8, alignment=16, tie="t")),
            (),
            "fixed offset 8 of one is not a multiple of the other's alignment 16",
            (0, 1),
        ),
        (
            (
                buffer("a", 0, 1, 1, tie="t", pools=("p",)),
                buffer("b", 0, 1, 1, tie="t", pools=("q",)),
            ),
            (Pool("p"), Pool("q")),
            "no pool is allowed for all buffers of tie 't'",
            (0, 1),
        ),
        ((buffer("a", 0, 1, 1, offset=3, alignment=2),), (), "3 is not a multiple", (0,)),
        ((buffer("a", 0, 1, 1, pools=("x",)),), (), "unknown pool 'x' (declared: ", (0,)),
        ((buffer("a", 0, 4, 1, gaps=(Gap(2, 6),)),), (), "gap 2-6 is not within", (0,)),
        (
            (buffer("a", 0, 1, 1, arms=(Arm("i", "x"), Arm("i", "y"))),),
            (),
            "is in arms 'x' and 'y' of branch 'i'",
            (0,),
        ),
    ],
)
def test_contradictions_are_errors_that_name_the_rows(
    rows: tuple[Buffer, ...], pools: tuple[Pool, ...], words: str, named: tuple[int, ...]
):
    with pytest.raises(ProblemError) as error:
        Problem(rows, pools or (Pool("arena"),))
    assert words in error.value.message
    assert error.value.rows == named


@pytest.mark.parametrize("name", ["minilm_int8.b1s16", "basic_pitch.b1", "slanet_plus.h224"])
def test_real_networks_reach_the_bound(name: str):
    plan = planned(parse_problem((DATA / f"{name}.csv").read_text()))
    assert plan.height == plan.lower_bound


@pytest.mark.ci
@pytest.mark.parametrize("name", ["A", "C", "J", "K"])
def test_hard_instances_fit_a_mebibyte(name: str):
    problem = parse_problem((DATA / f"{name}.1048576.csv").read_text())
    plan = planned(problem.with_capacity(1048576))
    assert plan.height <= 1048576


def test_equal_problems_give_equal_plans():
    text = (DATA / "C.1048576.csv").read_text()
    assert planned(parse_problem(text)) == planned(parse_problem(text))


def test_instance_d_has_a_plan_at_its_lower_bound():
    rows = parse_problem((DATA / "D.986112.csv").read_text()).buffers
    offsets = tuple(row.offset for row in rows if row.offset is not None)
    problem = Problem(tuple(row._replace(offset=None) for row in rows))
    assert lower_bound(core_of(problem)) == 986_112
    assert check(problem, Plan(offsets, (0,) * len(rows), (986_112,))) == []
