"""Problems of programs in stripes: their plans are found, or proved to need more than is alive."""

import pytest

from xrelay.planning import Buffer, Gap, Interval, Plan, Problem, check, solve
from xrelay.planning.offsets.bounds import lower_bound
from xrelay.planning.offsets.core import core_of
from xrelay.planning.offsets.exact import next_height

# Chains of `benchmarks/random_chains.py`, in the machine. Size, birth, death; from birth on a gap
# until a time, and the bytes that it keeps. Heights are optimal by CP-SAT of OR-tools.
CHAIN_94 = """
80 0 2; 160 1 6; 24 3 10; 60 4 8; 200 5 16 7 80; 48 9 13 11 24; 32 12 20; 60 14 18;
200 15 23 17 80; 56 19 25 21 32; 80 22 28; 32 24 32; 60 26 30; 200 27 36 29 80; 56
31 40 33 32; 40 34 38; 160 35 42 37 80; 56 39 43 41 32
"""

CHAIN_11 = """
32 0 2; 128 1 5; 32 3 7; 256 4 10 6 128; 32 8 12; 384 9 15 11 256; 64 13 17; 256 14
20; 32 16 18; 256 19 43 36 0; 384 24 32 26 256; 512 31 37 33 384; 32 21 23; 32 22
27; 32 28 30; 32 29 34; 64 35 39; 32 38 40; 32 41 45; 384 42 48 44 256; 32 46 50;
512 47 52 49 384; 64 51 54; 32 53 55
"""

CHAIN_89 = """
16 0 2; 32 1 6 3 16; 16 4 9; 48 5 12 7 32; 32 8 15 10 16; 64 11 22 13 48; 48 14 25
16 32; 4 17 19; 4 18 20; 80 21 28 23 64; 64 24 31 26 48; 80 27 38 29 64; 80 30 41 32
64; 4 33 35; 4 34 36; 80 37 44 39 64; 64 40 47 42 48; 80 43 54 45 64; 80 46 57 48
64; 4 49 51; 4 50 52; 80 53 60 55 64; 64 56 63 58 48; 80 59 70 61 64; 80 62 73 64
64; 4 65 67; 4 66 68; 80 69 83 71 64; 64 72 76 74 48; 80 75 85 77 64; 4 78 80; 4 79
81; 48 82 89; 48 84 87; 64 86 91 88 48; 4 90 93; 4 92 94
"""


def problem_of(text: str, alignment: int) -> Problem:
    buffers: list[Buffer] = []
    for row in text.replace("\n", " ").split(";"):
        size, birth, death, *gap = map(int, row.split())
        gaps = (Gap(birth, *gap),) if gap else ()
        name = str(len(buffers))
        buffers.append(Buffer(name, Interval(birth, death), size, alignment, gaps))
    return Problem(tuple(buffers))


@pytest.mark.parametrize(
    ("text", "alignment", "alive", "least"),
    [(CHAIN_94, 64, 456, 480), (CHAIN_11, 64, 832, 896), (CHAIN_89, 64, 324, 324)],
)
def test_plans_with_gaps_are_proved_in_few_nodes(text: str, alignment: int, alive: int, least: int):
    problem = problem_of(text, alignment)
    assert lower_bound(core_of(problem)) == alive
    plan = solve(problem)
    assert isinstance(plan, Plan)
    assert check(problem, plan) == []
    assert (plan.height, plan.lower_bound) == (least, least)
    assert plan.nodes < 20_000


def test_the_next_height_is_one_at_which_a_body_can_end():
    core = core_of(problem_of("200 0 2; 80 1 3", 64))
    assert [next_height(core, at) for at in (0, 80, 143, 144, 199, 200)] == [
        80,
        144,
        144,
        200,
        200,
        208,
    ]
