"""`check` reports each violation in a plan, and none in a valid plan."""

import pytest

from xrelay.planning import Arm, Buffer, Gap, Interval, Plan, Pool, Problem, check


def buffer(name: str, start: int, stop: int, size: int, **more: object) -> Buffer:
    return Buffer(name, Interval(start, stop), size, **more)  # pyright: ignore[reportArgumentType]


TWO = (buffer("a", 0, 4, 8), buffer("b", 2, 6, 4))


def test_a_right_plan_has_no_faults():
    assert check(Problem(TWO), Plan((0, 8), (0, 0), (12,))) == []


def test_touching_lifetimes_and_touching_bytes_are_right():
    rows = (buffer("a", 0, 4, 8), buffer("b", 4, 6, 8), buffer("c", 3, 5, 1))
    assert check(Problem(rows), Plan((0, 0, 8), (0, 0, 0), (9,))) == []


def test_an_overlap_names_the_buffers_the_time_and_the_bytes():
    faults = check(Problem(TWO), Plan((0, 5), (0, 0), (9,)))
    assert [fault.rule for fault in faults] == ["overlap"]
    assert str(faults[0]) == (
        "buffers 'a' and 'b' are both alive from 2 and share 3 bytes from 5 of pool 'arena'"
    )
    assert faults[0].rows == (0, 1)


def test_every_overlapping_pair_is_found_once():
    rows = tuple(buffer(name, 0, 9, 4) for name in "abcd")
    faults = check(Problem(rows), Plan((0, 2, 3, 9), (0,) * 4, (13,)))
    assert sorted(fault.rows for fault in faults) == [(0, 1), (0, 2), (1, 2)]


def test_a_long_buffer_far_below_is_still_found():
    rows = (buffer("long", 0, 9, 100), buffer("x", 1, 9, 1), buffer("y", 2, 9, 1))
    faults = check(Problem(rows), Plan((0, 50, 60), (0, 0, 0), (100,)))
    assert sorted(fault.rows for fault in faults) == [(0, 1), (0, 2)]


@pytest.mark.parametrize(
    ("rows", "plan", "rule", "words"),
    [
        (
            TWO,
            Plan((-1, 8), (0, 0), (12,)),
            "offset",
            "'a' must be at an offset of at least 0, but is at -1",
        ),
        (
            (buffer("a", 0, 1, 4, alignment=16),),
            Plan((8,), (0,), (12,)),
            "alignment",
            "'a' must be aligned to 16, but is at 8",
        ),
        (TWO, Plan((0, 8), (0, 1), (12,)), "pool", "'b' is in pool 1, but there are 1 pools"),
        (
            (buffer("a", 0, 1, 4, offset=16),),
            Plan((0,), (0,), (4,)),
            "fixed offset",
            "'a' is at 0, but is fixed at 16",
        ),
        (
            (buffer("a", 0, 2, 4, tie="t"), buffer("b", 1, 3, 4, tie="t")),
            Plan((0, 4), (0, 0), (8,)),
            "tie",
            "'a' and 'b' are tied, but are at 0 of pool 'arena' and at 4 of pool 'arena'",
        ),
        (TWO, Plan((0, 8), (0, 0), (10,)), "height", "height 10, but its buffers end at 12"),
        (TWO, Plan((0,), (0,), (12,)), "shape", "the plan must have 2 offsets, but has 1"),
    ],
)
def test_each_broken_rule_is_named(rows: tuple[Buffer, ...], plan: Plan, rule: str, words: str):
    faults = check(Problem(rows), plan)
    assert [fault.rule for fault in faults] == [rule]
    assert words in faults[0].message


def test_a_capacity_is_held():
    faults = check(Problem(TWO, (Pool("sram", 10),)), Plan((0, 8), (0, 0), (12,)))
    assert [str(fault) for fault in faults] == [
        "buffer 'b' ends at 12, 2 bytes above the capacity 10 of pool 'sram'"
    ]


def test_a_forbidden_pool_is_named():
    rows = (buffer("a", 0, 1, 4, pools=("fast",)),)
    faults = check(Problem(rows, (Pool("slow"), Pool("fast"))), Plan((0,), (0,), (4, 0)))
    assert [fault.rule for fault in faults] == ["pool preference"]
    assert "is in pool 'slow', but may only be in: fast" in faults[0].message


def test_pools_do_not_overlap_each_other():
    problem = Problem(TWO, (Pool("one"), Pool("two")))
    assert check(problem, Plan((0, 0), (0, 1), (8, 4))) == []


def test_arms_of_one_branch_may_share_and_others_may_not():
    arms = [(Arm("if", "then"),), (Arm("if", "else"),), (Arm("other", "then"),)]
    rows = tuple(buffer(str(i), 0, 1, 4, arms=a) for i, a in enumerate(arms))
    faults = check(Problem(rows), Plan((0, 0, 4), (0, 0, 0), (8,)))
    assert faults == []
    faults = check(Problem(rows), Plan((0, 0, 0), (0, 0, 0), (4,)))
    assert sorted(fault.rows for fault in faults) == [(0, 2), (1, 2)]


def test_ties_may_share_their_bytes():
    rows = (buffer("a", 0, 3, 8, tie="t"), buffer("b", 2, 5, 4, tie="t"))
    assert check(Problem(rows), Plan((0, 0), (0, 0), (8,))) == []


def test_a_gap_frees_what_it_does_not_keep():
    rows = (buffer("a", 0, 9, 8, gaps=(Gap(3, 6, 2),)), buffer("b", 3, 6, 6))
    assert check(Problem(rows), Plan((0, 2), (0, 0), (8,))) == []
    faults = check(Problem(rows), Plan((0, 1), (0, 0), (8,)))
    assert [fault.message for fault in faults] == [
        "buffers 'a' and 'b' are both alive from 3 and share 1 bytes from 1 of pool 'arena'"
    ]


def test_nothing_conflicts_with_size_zero_or_an_empty_lifetime():
    rows = (buffer("a", 0, 9, 8), buffer("none", 0, 9, 0), buffer("never", 5, 5, 8))
    assert check(Problem(rows), Plan((0, 4, 0), (0, 0, 0), (8,))) == []
