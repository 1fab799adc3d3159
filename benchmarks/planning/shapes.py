"""
Measure plans for sizes that are not known: one orientation, at many shapes.

    python benchmarks/planning/shapes.py          # JSON
    python benchmarks/planning/shapes.py --table  # Markdown
    python benchmarks/planning/shapes.py --files DIR  # and pairs of shapes, as CSV

The program is a transformer encoder of 12 layers whose sequence length is symbolic. Ratios
are arenas over lower bounds, at lengths that were samples and at lengths that were not.
`check` validates the offsets at every length.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from synthetic import encoder

from xrelay.planning import Interval, Plan, Problem, check, solve
from xrelay.planning.csv_io import parse_problem
from xrelay.planning.offsets.bounds import lower_bound
from xrelay.planning.offsets.core import core_of
from xrelay.planning.unknown_sizes.choice import Choice, choose
from xrelay.planning.unknown_sizes.orientation import Orientation, orientation_of

sys.path.append(str(Path(__file__).parents[1]))

from results import write_results

LENGTHS = (1, 16, 64, 128, 256, 512, 2048)
SAMPLES = ((1, 128, 2048), (1, 2048), (64,), (2048,))
MORE_LENGTHS = (2, 3, 37, 100, 129, 200, 333, 1000)


def arena(orientation: Orientation, problem: Problem) -> int:
    """Return the arena at the problem's sizes; exit if the offsets overlap."""
    sizes = problem.columns.size.tolist()
    offsets = orientation.offsets(sizes)
    ends = [at + size for at, size in zip(offsets, sizes, strict=True) if size]
    plan = Plan(tuple(offsets), (0,) * len(offsets), (max(ends, default=0),))
    for fault in check(problem, plan):
        raise SystemExit(f"the plan is wrong: {fault}")
    return orientation.height(sizes)


def facts_of(choice: Choice, problems: Sequence[Problem]) -> dict[str, object]:
    """Return the ratios of taking the smallest arena at each of `problems`."""
    ratios = [
        min(arena(o, p) for o in choice.orientations) / lower_bound(core_of(p)) for p in problems
    ]
    n, first = len(problems[0].buffers), choice.orientations[0]
    return {
        "buffers": n,
        "conflicts": core_of(problems[0]).n_overlaps,
        "kept": len(choice.orientations),
        "operations per buffer": round(
            (sum(map(len, first.below)) + max(len(first.tops) - 1, 0)) / n, 2
        ),
        "ratios": [round(ratio, 4) for ratio in ratios],
        "worst": round(max(ratios), 4),
    }


def measure_encoder() -> list[dict[str, object]]:
    """Measure the encoder for several choices of samples."""
    at = encoder()
    results: list[dict[str, object]] = []
    for samples in SAMPLES:
        began = time.process_time()
        choice = choose([at(n) for n in samples])
        seconds = time.process_time() - began
        lengths = (*LENGTHS, *MORE_LENGTHS)
        facts = facts_of(choice, [at(n) for n in lengths])
        named = {"name": "encoder, n at " + ", ".join(map(str, samples)), "lengths": list(lengths)}
        results.append(named | facts | {"seconds": round(seconds, 3)})
    return results


def measure_files(folder: str) -> list[dict[str, object]]:
    """
    Measure each network of which the folder has two shapes with equal lifetimes.

    "one, at the other": the plan of the first shape at the second, and the reverse.
    """
    groups: defaultdict[str, list[Problem]] = defaultdict(list)
    for path in sorted(Path(folder).glob("*.csv")):
        problem = parse_problem(path.read_text(), path.name)
        rows = sorted(problem.buffers, key=lambda b: b.id)
        groups[path.name.split(".")[0]].append(Problem(tuple(rows)))
    results: list[dict[str, object]] = []
    for name, problems in groups.items():
        lives = [[(b.id, Interval(*b.lifetime)) for b in p.buffers] for p in problems]
        if len(problems) < 2 or any(other != lives[0] for other in lives[1:]):
            continue
        began = time.process_time()
        choice = choose(problems)
        seconds = time.process_time() - began
        crossed = [
            round(arena(_solved(a), b) / lower_bound(core_of(b)), 4)
            for a in problems
            for b in problems
            if a is not b
        ]
        facts = {"name": name} | facts_of(choice, problems)
        results.append(facts | {"one, at the other": crossed, "seconds": round(seconds, 3)})
    return results


def _solved(problem: Problem) -> Orientation:
    plan = solve(problem)
    assert isinstance(plan, Plan), "a problem without capacities has a plan"
    return orientation_of(problem, plan.offsets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1] if __doc__ else None)
    parser.add_argument("--files", metavar="DIR", help="also measure networks with two shapes")
    parser.add_argument("--table", action="store_true", help="Markdown instead of JSON")
    options = parser.parse_args()
    results = measure_encoder()
    if options.files is not None:
        results += measure_files(options.files)
    write_results(results, options.table, measured="shapes")


if __name__ == "__main__":
    main()
