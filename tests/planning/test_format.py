"""Planner, checker and file format agree on every column, for random problems."""

from pathlib import Path

import pytest
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from planning.random_problems import height_of, is_right, plain_problems, rich_problems

from xrelay.planning import (
    STRATEGIES,
    Buffer,
    Interval,
    Plan,
    Pool,
    Problem,
    check,
    solve,
)
from xrelay.planning.csv_io import (
    CsvError,
    format_plan,
    parse_problem,
    parse_table,
    plan_of,
    problem_of,
)
from xrelay.tools.plan import main


def row_of(buffer: Buffer, inclusive: int) -> dict[str, str]:
    """Return every column of the format for `buffer`, by name."""
    start, stop = buffer.lifetime
    return {
        "id": buffer.id,
        "start" if inclusive else "lower": str(start),
        "end" if inclusive else "upper": str(stop - inclusive),
        "size": str(buffer.size),
        "alignment": str(buffer.alignment),
        "gaps": " ".join(f"{g.start}-{g.stop - inclusive}@0:{g.kept}" for g in buffer.gaps),
        "offset": "" if buffer.offset is None else str(buffer.offset),
        "pools": " ".join(buffer.pools),
        "arms": " ".join(f"{arm.branch}:{arm.arm}" for arm in buffer.arms),
        "tie": buffer.tie or "",
        "reads": str(buffer.reads),
        "writes": str(buffer.writes),
    }


@st.composite
def files(draw: st.DrawFn) -> tuple[Problem, str]:
    """A problem and a file that describes it: columns in any order, inclusive or exclusive ends."""
    problem = draw(plain_problems() | rich_problems())
    inclusive = draw(st.integers(0, 1))
    titles = draw(st.permutations([*row_of(Buffer("", Interval(0, 0), 0), inclusive)]))
    rows = [row_of(buffer, inclusive) for buffer in problem.buffers]
    lines = [titles, *([row[title] for title in titles] for row in rows)]
    return problem, "".join(",".join(line) + "\n" for line in lines)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(file=files())
@exactly(60, 4)
def test_a_plan_is_right_as_it_is_and_as_a_file(strategy: str, file: tuple[Problem, str]):
    problem, text = file
    table = parse_table(text)
    read = problem_of(table, problem.pools)
    assert read.buffers == list(problem.buffers)
    plan = solve(read, strategy, budget=300)
    assert isinstance(plan, Plan), plan
    assert is_right(problem, plan.offsets, plan.pools)
    again = plan_of(parse_table(format_plan(table, read, plan)), read)
    assert (again.offsets, again.pools, again.heights) == (plan.offsets, plan.pools, plan.heights)
    assert check(read, again) == []


@given(rich_problems(most=4), st.data())
@exactly(50, 4)
def test_check_agrees_with_the_rules_byte_by_byte(problem: Problem, data: st.DataObject):
    rows, names = problem.buffers, range(len(problem.pools))
    offsets = tuple(data.draw(st.integers(0, 14)) if b.offset is None else b.offset for b in rows)
    pools = tuple(data.draw(st.sampled_from(names)) for _ in rows)
    heights = [0 for _ in names]
    for pool in names:
        mine = [i for i, p in enumerate(pools) if p == pool]
        heights[pool] = height_of([rows[i] for i in mine], [offsets[i] for i in mine])
    faults = check(problem, Plan(offsets, pools, tuple(heights)))
    assert (faults == []) == is_right(problem, offsets, pools)
    assert "height" not in {fault.rule for fault in faults}


def test_bytes_that_are_never_needed_are_not_part_of_the_arena(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    problem, plan = tmp_path / "window.csv", tmp_path / "plan.csv"
    problem.write_text("id,lower,upper,size,gaps\nb0,2,3,14,2-3@0:4\n")
    assert main([str(problem), "-o", str(plan)]) == 0
    assert "height 4, bound 4" in capsys.readouterr().out
    assert main(["--check", str(problem), str(plan)]) == 0
    assert capsys.readouterr().out == f"{plan}: valid: 1 buffers, height 4\n"


def test_tied_rows_without_bytes_are_in_a_pool_that_all_may_lie_in():
    text = "id,lower,upper,size,pools,tie\na,0,0,0,,t\nb,0,0,0,slow,t\n"
    problem = parse_problem(text, pools=(Pool("fast"), Pool("slow")))
    plan = solve(problem)
    assert isinstance(plan, Plan)
    assert check(problem, plan) == []


def test_buffers_at_one_fixed_offset_are_in_two_pools():
    text = "id,lower,upper,size,offset,pools\na,0,2,4,0,fast slow\nb,1,3,4,2,fast slow\nc,0,3,2,,\n"
    problem = parse_problem(text, pools=(Pool("fast"), Pool("slow")))
    plan = solve(problem)
    assert isinstance(plan, Plan)
    assert check(problem, plan) == []
    assert plan.pools[0] != plan.pools[1]


def test_a_tie_that_leaves_one_pool_leaves_it_for_fixed_offsets_too():
    text = "id,lower,upper,size,offset,pools,tie\na,0,1,1,0,,t\nb,0,0,0,,slow,t\nc,0,1,1,0,slow,\n"
    with pytest.raises(CsvError, match=r"4: error: buffers 'a' and 'c' are alive together"):
        parse_problem(text, pools=(Pool("fast"), Pool("slow")))


def test_alignments_that_have_no_common_multiple_in_range_are_refused():
    text = f"id,lower,upper,size,alignment,tie\na,0,1,4,{2**40},t\nb,0,1,4,{2**40 - 1},t\n"
    with pytest.raises(
        CsvError, match=r"3: error: tie 't' needs an offset that is a multiple of 12089258196\d+,"
    ):
        parse_problem(text)
