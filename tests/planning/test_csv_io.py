"""Reading and writing CSV: the format's columns, and errors with file and line."""

import re
import time

import pytest
from helpers.programs.random_settings import exactly
from hypothesis import example, given
from hypothesis import strategies as st

from xrelay.planning import (
    Arm,
    Gap,
    Interval,
    Plan,
    Pool,
    Problem,
    ProblemError,
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
from xrelay.planning.offsets.bounds import lower_bound
from xrelay.planning.offsets.core import core_of

EVERYTHING = """\
id,lower,upper,size,alignment,gaps,offset,pools,arms,tie,reads,writes
a,0,9,8,4,2-4 6-7@0:2,16,slow fast,if:then inner:x,t,5,2
b,1,2,3,,,,,,,,
"""


def test_all_columns_are_read():
    problem = parse_problem(EVERYTHING, pools=(Pool("fast"), Pool("slow")))
    a, b = problem.buffers
    assert (a.id, a.lifetime, a.size, a.alignment, a.offset) == ("a", Interval(0, 9), 8, 4, 16)
    assert a.gaps == (Gap(2, 4, 0), Gap(6, 7, 2))
    assert a.pools == ("slow", "fast")
    assert a.arms == (Arm("if", "then"), Arm("inner", "x"))
    assert a.tie == "t"
    assert (a.reads, a.writes, a.traffic) == (5, 2, 56)
    assert (b.reads, b.writes, b.traffic) == (1, 1, 6)
    assert (b.alignment, b.offset, b.gaps, b.pools, b.arms, b.tie) == (1, None, (), (), (), None)


@pytest.mark.parametrize("header", ["begin,end,size,id", "start,end,size,buffer_id"])
def test_inclusive_ends_become_half_open(header: str):
    problem = parse_problem(f"{header},gaps\n0,3,4,b1,1-2\n")
    assert problem.buffers[0].lifetime == Interval(0, 4)
    assert problem.buffers[0].gaps == (Gap(1, 3),)
    assert problem.buffers[0].id == "b1"


def test_negative_times_and_windows_line_ends_are_read():
    problem = parse_problem("id,lower,upper,size,gaps\r\n\r\nx,-5,-1,4,-4--2\r\n")
    assert problem.buffers[0].lifetime == Interval(-5, -1)
    assert problem.buffers[0].gaps == (Gap(-4, -2),)


def test_offsets_can_be_ignored():
    text = "id,lower,upper,size,offset\na,0,1,4,8\n"
    assert parse_problem(text).buffers[0].offset == 8
    assert parse_problem(text, fixed=False).buffers[0].offset is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "p.csv:1: error: missing header: expected id,lower,upper,size,…"),
        ("id,lower,upper\n", "p.csv:1: error: missing column 'size'"),
        ("id,size,upper\n", "p.csv:1: error: missing column 'lower' (or begin, start)"),
        ("id,lower,upper,size,id\n", "p.csv:1: error: duplicate column 'id'"),
        (
            "id,lower,begin,upper,size\n",
            "p.csv:1: error: duplicate column 'begin', which means the same as 'lower'",
        ),
        (
            "id,lower,upper,size\na,0,1\n",
            "p.csv:2: error: expected 4 cells, as in the header, but got 3",
        ),
        (
            "id,lower,upper,size\n\na,0,x,4\n",
            "p.csv:3: error: upper must be an integer, but is 'x'",
        ),
        (
            "id,lower,upper,size\na,0,1,4.5\n",
            "p.csv:2: error: size must be an integer, but is '4.5'",
        ),
        (
            "id,lower,upper,size\na,0,1,-4\n",
            "p.csv:2: error: buffer 'a': size must be at least 0, but is -4",
        ),
        (
            "id,lower,upper,size\na,0,1,4\nb,0,1,4\na,0,1,4\n",
            "p.csv:4: error: duplicate id 'a' (see line 2)",
        ),
        (
            "id,lower,upper,size,alignment\na,0,1,4,0\n",
            "p.csv:2: error: buffer 'a': alignment must be at least 1, but is 0",
        ),
        (
            "id,lower,upper,size,gaps\na,0,9,4,1:2\n",
            "p.csv:2: error: a gap must be 'from-to' or 'from-to@low:high', but is '1:2'",
        ),
        (
            "id,lower,upper,size,gaps\na,0,9,4,1-2@0:8\n",
            "p.csv:2: error: a gap's window 0:8 is not within the buffer's 4 bytes",
        ),
        (
            "id,lower,upper,size,arms\na,0,9,4,if\n",
            "p.csv:2: error: an arm must be 'branch:arm', but is 'if'",
        ),
        (
            "id,lower,upper,size,offset\na,0,9,4,0\nb,0,9,4,2\n",
            "p.csv:3: error: buffers 'a' and 'b' are alive together at 0 and fixed at 0 and 2, "
            "where they overlap (see line 2)",
        ),
        (
            "id,lower,upper,size,reads\na,0,9,4,twice\n",
            "p.csv:2: error: reads must be an integer, but is 'twice'",
        ),
        (
            "id,lower,upper,size,writes\na,0,9,4,-1\n",
            "p.csv:2: error: buffer 'a': writes must be from 0 to 2^31 - 1, but is -1",
        ),
        ('id,lower,upper,size\na,0,1,"4\n', "p.csv:2: error: invalid CSV: unexpected end of data"),
    ],
)
def test_malformed_files_say_where(text: str, message: str):
    with pytest.raises(CsvError) as error:
        parse_problem(text, "p.csv")
    assert str(error.value) == message


def test_plans_keep_the_rows_and_come_back():
    table = parse_table(EVERYTHING)
    problem = problem_of(table, (Pool("fast"), Pool("slow")))
    plan = solve(problem)
    assert isinstance(plan, Plan)
    text = format_plan(table, problem, plan)
    assert text == (
        "id,lower,upper,size,alignment,gaps,pools,arms,tie,reads,writes,pool,offset\n"
        "a,0,9,8,4,2-4 6-7@0:2,slow fast,if:then inner:x,t,5,2,slow,16\n"
        "b,1,2,3,,,,,,,,slow,0\n"
    )
    again = plan_of(parse_table(text), problem)
    assert (again.offsets, again.pools, again.heights) == (plan.offsets, plan.pools, plan.heights)
    assert check(problem, again) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,size\na,4\n", "q.csv:1: error: missing column 'offset'"),
        ("id,offset\na,0\n", "q.csv:1: error: buffer 'b' is missing"),
        ("id,offset\na,0\nz,0\n", "q.csv:3: error: unknown buffer 'z'"),
        ("id,offset\na,0\na,0\n", "q.csv:3: error: duplicate buffer 'a'"),
        ("id,offset\na,\nb,0\n", "q.csv:2: error: offset must be an integer, but is ''"),
        ("id,offset,pool\na,0,x\n", "q.csv:2: error: unknown pool 'x'"),
    ],
)
def test_malformed_plans_say_where(text: str, message: str):
    problem = parse_problem("id,lower,upper,size\na,0,1,4\nb,0,1,4\n")
    with pytest.raises(CsvError) as error:
        plan_of(parse_table(text, "q.csv"), problem)
    assert str(error.value) == message


PIECES = st.sampled_from(
    [
        *("id", "lower", "upper", "end", "size", "gaps", "offset", "arms", "a", "b", ",", ","),
        *("\n", "\n", "0", "1", "7", "-3", "99999999999999999999999", "1-2", "3-4@0:1", "x:y"),
        *('"', " ", "\x00", "é"),
    ]
)


CHARACTERS = st.sampled_from([*map(chr, range(128)), *"\x85\xa0éß٣½²\u2028\ufeff\uffff😀"])
"""Those that ASCII has, and what Unicode takes for digits, spaces and ends of lines."""


def problem_or_diagnostic(text: str, pools: tuple[Pool, ...] = ()) -> Problem | str:
    try:
        return parse_problem(text, "f.csv", pools)
    except CsvError as error:
        return str(error)


@given(st.text(CHARACTERS) | st.lists(PIECES, max_size=60).map("".join))
@exactly(200, 4)
@example("id,lower,upper,size\na,0,1,99999999999999999999999\n")
@example("id,lower,upper,size\na,0,1,٣\n")
def test_any_text_is_a_problem_or_a_diagnostic(text: str):
    found = problem_or_diagnostic(text)
    assert isinstance(found, Problem) or re.match(r"f.csv:\d+: error: .", found)


@given(st.data())
@exactly(300, 4)
def test_damaged_files_are_problems_or_diagnostics(data: st.DataObject):
    text = EVERYTHING
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, min(at + 5, len(text))))
        text = text[:at] + data.draw(st.lists(PIECES, max_size=2).map("".join)) + text[end:]
    found = problem_or_diagnostic(text, (Pool("fast"), Pool("slow")))
    if isinstance(found, str):
        assert re.match(r"f.csv:\d+: error: .", found)
    else:
        answer = solve(found, budget=100)
        assert not isinstance(answer, Plan) or check(found, answer) == []


def test_a_long_cell_is_cut_off_in_a_message():
    with pytest.raises(CsvError, match=r"but is '9{50}…' \(5000 characters\)$"):
        parse_problem(f"id,lower,upper,size\na,0,1,{'9' * 5000}\n")


@pytest.mark.parametrize(("column", "cell"), [("pools", "p q"), ("arms", "b:x"), ("gaps", "1-2")])
def test_too_many_pairs_are_an_error_before_they_fill_the_memory(column: str, cell: str):
    rows = [f"r{i},0,9,1,{cell}" for i in range(3000)]
    problem = parse_problem("\n".join([f"id,lower,upper,size,{column}", *rows]))
    with pytest.raises(
        ProblemError, match="pairs; with gaps, arms, ties, pools or offsets at most"
    ):
        solve(problem)


def test_too_many_fixed_offsets_at_one_time_are_an_error():
    rows = [f"r{i},0,9,1,{i}" for i in range(3000)]
    with pytest.raises(CsvError, match="overlap in 4498500 pairs, but at most 4000000"):
        parse_problem("\n".join(["id,lower,upper,size,offset", *rows]))


def test_many_gaps_and_arms_are_read_in_linear_time():
    gaps = " ".join(f"{2 * k}-{2 * k + 1}" for k in range(9000))
    arms = " ".join(f"b{k}:x" for k in range(9000))
    text = f"id,lower,upper,size,gaps,arms\na,0,18000,9,{gaps},\nb,0,9,4,,{arms}\n"
    text += f"c,0,9,4,,{arms.replace('b8999:x', 'b8999:y')}\n"
    began = time.process_time()
    problem = parse_problem(text)
    core = core_of(problem)
    assert len(core.body) == 9002
    assert lower_bound(core) == 13
    assert time.process_time() - began < 10  # quadratic: minutes
