"""Problems of programs in stripes: their plans are found, or proved to need more than is alive."""

import pytest

from xrelay.planning import Buffer, Gap, Interval, Plan, Problem, check, solve
from xrelay.planning.meter import Meter
from xrelay.planning.offsets.bounds import lower_bound
from xrelay.planning.offsets.core import core_of
from xrelay.planning.offsets.exact import next_height
from xrelay.planning.offsets.search import Tables
from xrelay.planning.offsets.weighted_moves import WeightedMoves, fitted

# Chains of `benchmarks/random_chains.py`, in the machine. Size, birth, death; start and stop of a
# gap, and the bytes that it keeps. Heights are optimal by CP-SAT of OR-tools.
CHAIN_94 = """
80 0 2; 160 1 6; 24 3 10; 60 4 8; 200 5 16 5 7 80; 48 9 13 9 11 24; 32 12 20; 60 14
18; 200 15 23 15 17 80; 56 19 25 19 21 32; 80 22 28; 32 24 32; 60 26 30; 200 27 36
27 29 80; 56 31 40 31 33 32; 40 34 38; 160 35 42 35 37 80; 56 39 43 39 41 32
"""

CHAIN_11 = """
32 0 2; 128 1 5; 32 3 7; 256 4 10 4 6 128; 32 8 12; 384 9 15 9 11 256; 64 13 17; 256
14 20; 32 16 18; 256 19 43 25 36 0; 384 24 32 24 26 256; 512 31 37 31 33 384; 32 21
23; 32 22 27; 32 28 30; 32 29 34; 64 35 39; 32 38 40; 32 41 45; 384 42 48 42 44 256;
32 46 50; 512 47 52 47 49 384; 64 51 54; 32 53 55
"""

CHAIN_89 = """
16 0 2; 32 1 6 1 3 16; 16 4 9; 48 5 12 5 7 32; 32 8 15 8 10 16; 64 11 22 11 13 48;
48 14 25 14 16 32; 4 17 19; 4 18 20; 80 21 28 21 23 64; 64 24 31 24 26 48; 80 27 38
27 29 64; 80 30 41 30 32 64; 4 33 35; 4 34 36; 80 37 44 37 39 64; 64 40 47 40 42 48;
80 43 54 43 45 64; 80 46 57 46 48 64; 4 49 51; 4 50 52; 80 53 60 53 55 64; 64 56 63
56 58 48; 80 59 70 59 61 64; 80 62 73 62 64 64; 4 65 67; 4 66 68; 80 69 83 69 71 64;
64 72 76 72 74 48; 80 75 85 75 77 64; 4 78 80; 4 79 81; 48 82 89; 48 84 87; 64 86 91
86 88 48; 4 90 93; 4 92 94
"""

CHAIN_136 = """
44 0 72; 4 1 3; 4 2 6; 4 4 8; 8 5 11 5 7 4; 4 9 13; 12 10 16 10 12 8; 4 14 18; 16 15
21 15 17 12; 4 19 23; 20 20 26 20 22 16; 4 24 28; 24 25 31 25 27 20; 4 29 33; 28 30
39 30 32 24; 4 34 36; 12 35 37; 28 38 58 42 51 0; 32 41 47 41 43 28; 36 46 52 46 48
32; 4 40 44; 4 45 49; 4 50 54; 4 53 55; 4 56 60; 32 57 63 57 59 28; 4 61 65; 24 62
68; 4 64 66; 4 67 70; 4 69 71
"""

# Of 8 bytes from 13 on, 16 from 26 and 24 from 51, each must be on top of all that is alive later.
CHAIN_141 = """
192 0 2; 48 1 4; 48 3 9; 192 5 7; 48 6 9; 96 8 12; 8 10 14; 48 11 22; 8 13 27; 192 15
17; 48 16 22; 192 18 20; 48 19 22; 144 21 25; 8 23 29; 48 24 47; 16 26 52 26 28 8; 4
30 32; 12 31 38; 4 33 34; 4 35 36; 4 37 39; 192 40 42; 48 41 47; 192 43 45; 48 44 47;
144 46 50; 8 48 54; 48 49 68; 24 51 72 51 53 16; 4 55 57; 4 56 59; 4 58 60; 192 61 63;
48 62 68; 192 64 66; 48 65 68; 144 67 70; 8 69 74; 32 71 94 71 73 24; 4 75 77; 4 76
79; 4 78 80; 4 81 83; 4 82 85; 4 84 86; 4 87 89; 4 88 91; 4 90 92; 4 93 96; 8 95 100;
4 97 98; 4 99 101
"""


def problem_of(text: str, alignment: int) -> Problem:
    buffers: list[Buffer] = []
    for row in text.replace("\n", " ").split(";"):
        size, birth, death, *gap = map(int, row.split())
        gaps = (Gap(*gap),) if gap else ()
        name = str(len(buffers))
        buffers.append(Buffer(name, Interval(birth, death), size, alignment, gaps))
    return Problem(tuple(buffers))


@pytest.mark.parametrize(
    ("text", "alignment", "alive", "least"),
    [
        (CHAIN_94, 64, 456, 480),
        (CHAIN_11, 64, 832, 896),
        (CHAIN_89, 64, 324, 324),
        (CHAIN_136, 64, 196, 220),
        (CHAIN_141, 64, 408, 432),
    ],
)
def test_plans_with_gaps_are_proved_in_few_nodes(text: str, alignment: int, alive: int, least: int):
    problem = problem_of(text, alignment)
    assert lower_bound(core_of(problem)) == alive
    plan = solve(problem)
    assert isinstance(plan, Plan)
    assert check(problem, plan) == []
    assert (plan.height, plan.lower_bound) == (least, least)
    assert plan.nodes < 20_000


def test_moves_plan_bodies_with_gaps_and_go_on_below():
    problem = problem_of(CHAIN_94, 64)
    core = core_of(problem)
    moves, size = WeightedMoves(Tables(core)), core.body_size
    for height in (600, 480):
        assert moves.run(height, Meter(20_000)) is True
        assert (moves.offsets % 64 == 0).all()
        assert int((moves.offsets + size).max()) <= height
        for k, near in enumerate(core.conflicts):
            for other, mine, its in near:
                at, place = moves.offsets[k], moves.offsets[other]
                assert at + mine <= place or place + its <= at
    assert moves.run(479, Meter(2000)) is None  # 480 bytes are the least


def test_a_plan_is_fitted_in_a_height_that_it_exceeds():
    problem = problem_of(CHAIN_94, 64)
    plan = solve(problem, "greedy-by-size")
    assert isinstance(plan, Plan)
    assert plan.height > 480
    fit = fitted(problem, plan, 480)
    assert check(problem, fit) == []
    assert (fit.height, fit.is_optimal) == (480, False)
    for height in (455, 479, plan.height):  # below all that is alive, below the least, and reached
        assert fitted(problem, plan, height) is plan


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
