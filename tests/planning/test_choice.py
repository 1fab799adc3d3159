"""Choosing orientations from sample sizes."""

import json
import os
import random
import subprocess
from itertools import permutations
from pathlib import Path

import pytest
from helpers.processes.forked_commands import with_commands
from helpers.programs.random_settings import rounds
from planning.test_orientation import conflicts

from xrelay.planning import (
    Arm,
    Buffer,
    Gap,
    Interval,
    Plan,
    Pool,
    Problem,
    ProblemError,
    solve,
)
from xrelay.planning.unknown_sizes import Choice, choose, orientation_of
from xrelay.planning.unknown_sizes import choice as choice_module
from xrelay.planning.unknown_sizes.choice import GOOD_ENOUGH

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "planning" / "shapes.py"


def samples_of(rng: random.Random, n: int, count: int) -> list[Problem]:
    """One set of lifetimes and alignments with `count` vectors of sizes."""
    lives = [(start := rng.randint(0, 8), start + rng.randint(1, 5)) for _ in range(n)]
    alignment = [rng.choice([1, 1, 4]) for _ in range(n)]
    arms = [(Arm("if", rng.choice("xy")),) if rng.random() < 0.2 else () for _ in range(n)]
    return [
        Problem(
            tuple(
                Buffer(str(i), Interval(*lives[i]), rng.randint(0, 20), alignment[i], arms=arms[i])
                for i in range(n)
            )
        )
        for _ in range(count)
    ]


def arena(choice: Choice, k: int, problem: Problem) -> int:
    return choice.orientations[k].height([b.size for b in problem.buffers])


def worst_alone(choice: Choice, k: int) -> float:
    """The largest ratio of orientation k to the lower bound."""
    return max(Choice(choice.orientations[k:][:1], choice.bounds, choice.heights[k:][:1]).ratios)


@pytest.mark.ci
def test_the_ratios_are_those_of_the_smallest_arena_at_each_sample():
    rng = random.Random(1)
    kept = [0, 0, 0, 0]
    for _ in range(rounds(40, 4)):
        problems = samples_of(rng, 10, 3)
        choice = choose(problems, budget=100)
        kept[len(choice.orientations)] += 1
        assert len(choice.heights) == len(choice.orientations)
        for s, problem in enumerate(problems):
            arenas = [arena(choice, k, problem) for k in range(len(choice.orientations))]
            assert [heights[s] for heights in choice.heights] == arenas
            assert choice.bounds[s] <= min(arenas)
            assert choice.ratios[s] == min(arenas) / (choice.bounds[s] or 1) or not choice.bounds[s]
        worst = [worst_alone(choice, k) for k in range(len(choice.orientations))]
        if len(worst) > 1:
            # More than one is kept only where one is not enough, and only if that helps.
            assert min(worst) > GOOD_ENOUGH
            assert max(choice.ratios) <= min(worst)
    assert min(kept[1:]) > 0


def test_one_orientation_is_never_worse_than_the_plan_of_a_sample():
    rng = random.Random(2)
    better = 0
    for _ in range(rounds(40, 4)):
        problems = samples_of(rng, 10, 2)
        choice = choose(problems, budget=100)
        alone = min(worst_alone(choice, k) for k in range(len(choice.orientations)))
        for problem in problems:
            plan = solve(problem, budget=100)
            assert isinstance(plan, Plan)
            found = orientation_of(problem, plan.offsets)
            heights = [found.height([b.size for b in p.buffers]) for p in problems]
            worst = max(h / b if b else 1.0 for h, b in zip(heights, choice.bounds, strict=True))
            assert max(choice.ratios) <= worst
            better += alone < worst
    assert better > rounds(20, 4)


def test_small_problems_come_near_the_best_of_all_orders():
    rng = random.Random(3)
    missed = 0
    for _ in range(rounds(40, 4)):
        problems = samples_of(rng, 5, 2)
        choice = choose(problems)
        best = min(
            max(
                orientation_of(problems[0], order).height([b.size for b in p.buffers])
                / (bound or 1)
                for p, bound in zip(problems, choice.bounds, strict=True)
            )
            for order in permutations(range(5))
        )
        one = min(worst_alone(choice, k) for k in range(len(choice.orientations)))
        missed += one > max(best, GOOD_ENOUGH)
    assert missed <= 3


def test_equal_samples_give_equal_choices():
    problems = samples_of(random.Random(4), 12, 3)
    assert choose(problems) == choose(problems)


def test_a_capacity_does_not_limit_the_choice():
    rows = tuple(Buffer(name, Interval(0, 1), 8) for name in "ab")
    choice = choose([Problem(rows, (Pool("arena", 4),))])
    assert choice.heights == ((16,),)
    assert max(choice.ratios) == 1.0


def test_samples_without_bytes_have_ratio_1():
    rows = tuple(Buffer(name, Interval(0, 1), 0) for name in "ab")
    assert choose([Problem(rows)]).ratios == (1.0,)
    assert choose([Problem(())]).ratios == (1.0,)


def test_huge_sizes_are_weighed_without_overflow():
    rows = [Buffer(str(i), Interval(i, i + 3), 1 << (40 + i % 5)) for i in range(9)]
    small = [b._replace(size=1 + i % 3) for i, b in enumerate(rows)]
    choice = choose([Problem(tuple(rows)), Problem(tuple(small))])
    assert max(choice.ratios) < 1.5


def test_gaps_and_several_pools_are_an_error():
    gaps = Buffer("x", Interval(0, 2), 8, gaps=(Gap(0, 1, 4),))
    for problem in (Problem((gaps,)), Problem((), (Pool("fast"), Pool("slow")))):
        with pytest.raises(ProblemError, match="an orientation is of one pool, without gaps"):
            choose([problem])


def test_one_plan_of_an_encoder_is_at_the_bound_at_every_length():
    done = subprocess.run(
        ["python", str(BENCHMARK)],
        env=with_commands(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    by_name = {facts["name"]: facts for facts in json.loads(done.stdout)["results"]}
    both = by_name["encoder, n at 1, 2048"]
    assert both["kept"] == 1
    assert set(both["ratios"]) == {1.0}
    assert {1, 16, 64, 128, 256, 512, 2048} <= set(both["lengths"])
    assert both["buffers"] == 205
    assert both["operations per buffer"] < 1.5
    # A plan of one length only is not enough.
    assert by_name["encoder, n at 64"]["worst"] == 1.1


def test_bytes_that_alignment_costs_are_in_the_bound():
    rows = [Buffer(str(i), Interval(0, 1), size, 64) for i, size in enumerate((4, 4, 100))]
    choice = choose([Problem(tuple(rows))])
    assert choice.heights == ((128 + 64 + 4,),)
    assert max(choice.ratios) == 1.0


@pytest.mark.ci
def test_more_orders_are_not_kept_to_save_the_slack():
    rng = random.Random(1)
    fewer = 0
    for _ in range(rounds(40, 4)):
        problems = samples_of(rng, 10, 3)
        one = choose(problems, budget=100, slack=1000)
        assert len(one.orientations) == 1
        assert all(h <= b + 1000 for h, b in zip(one.heights[0], one.bounds, strict=True))
        fewer += len(choose(problems, budget=100).orientations) > 1
    assert fewer > rounds(20, 4)


@pytest.mark.ci
def test_each_orientation_kept_is_right_at_all_sizes():
    rng = random.Random(8)
    several = 0
    for _ in range(rounds(150)):
        problems = samples_of(rng, 9, 3)
        rows = problems[0].buffers
        pairs = list(conflicts(rows))
        choice = choose(problems, budget=50)
        several += len(choice.orientations) > 1
        for orientation in choice.orientations:
            for _ in range(5):
                sizes = [rng.choice([0, 1, 7, 64, 10**6]) for _ in rows]
                at = orientation.offsets(sizes)
                assert all(offset % b.alignment == 0 for offset, b in zip(at, rows, strict=True))
                for i, j in pairs:
                    assert at[i] + sizes[i] <= at[j] or at[j] + sizes[j] <= at[i]
    assert several > rounds(10)


def test_many_buffers_take_few_plans(monkeypatch: pytest.MonkeyPatch):
    rng = random.Random(4)
    lives = [(start := rng.randint(0, 40), start + rng.randint(1, 9)) for _ in range(60)]
    lower, upper = [a for a, _ in lives], [b for _, b in lives]
    problems = [Problem.of(lower, upper, [rng.randint(1, 99) for _ in lives]) for _ in range(4)]
    solved: list[int | None] = []

    def counted(problem: Problem, budget: int | None = None) -> object:
        solved.append(budget)
        return solve(problem, budget=budget)

    monkeypatch.setattr(choice_module, "solve", counted)
    monkeypatch.setattr(choice_module, "_LARGE", 50)
    monkeypatch.setattr(choice_module, "_MAX_BUFFERS", 300)
    choose(problems)
    assert solved == [0] * (4 + 5)
