"""
Measure the planner: heights over lower bounds, and CPU seconds.

    python benchmarks/planning/measure.py minimalloc DIR   # *.csv of google/minimalloc
    python benchmarks/planning/measure.py files DIR...     # any problems, as CSV
    python benchmarks/planning/measure.py nets [N...]      # synthetic networks of N buffers

Progress goes to stderr, one JSON object to stdout; `--table` prints Markdown instead.
Every problem is planned as given, with its rows shuffled, and with time reversed; `check`
validates all three plans. Each is timed twice, and the smaller CPU time is kept.
"""

import argparse
import random
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from synthetic import NETS

from xrelay.planning import Infeasible, Interval, Plan, Problem, check, solve
from xrelay.planning.buffers import BufferTable
from xrelay.planning.csv_io import parse_problem

sys.path.append(str(Path(__file__).parents[1]))

from results import write_results


def variants(problem: Problem) -> Iterator[tuple[str, Problem]]:
    """Yield the problem, a shuffled copy, and a copy with time reversed."""
    yield "", problem
    if isinstance(problem.buffers, BufferTable):
        lower, upper, size, alignment = problem.columns
        order = np.random.default_rng(0).permutation(len(size))
        yield "shuffled", Problem.of(lower[order], upper[order], size[order], alignment[order])
        yield "reversed", Problem.of(-upper, -lower, size, alignment)
        return
    rows = list(problem.buffers)
    random.Random(0).shuffle(rows)
    yield "shuffled", Problem(tuple(rows), problem.pools)
    turned = tuple(
        b._replace(lifetime=Interval(-b.lifetime.stop, -b.lifetime.start)) for b in problem.buffers
    )
    yield "reversed", Problem(turned, problem.pools)


def measure(name: str, problem: Problem, repeats: int = 2) -> dict[str, object]:
    """Plan every variant of a problem; return heights, ratio and seconds."""
    facts: dict[str, object] = {"name": name, "buffers": len(problem.buffers)}
    for variant, copy in variants(problem):
        answers = [solve(copy) for _ in range(repeats)]
        answer = answers[0]
        if any(other != answer for other in answers):
            raise SystemExit(f"{name}: two runs gave different plans")
        seconds = min(a.seconds for a in answers)
        prefix = f"{variant} " if variant else ""
        if isinstance(answer, Infeasible):
            facts[f"{prefix}shortfall"] = answer.shortfall
        else:
            faults = check(copy, answer)
            if faults:
                raise SystemExit(f"{name}: {faults[0]}")
            facts[f"{prefix}height"] = answer.height
            facts[f"{prefix}ratio"] = round(answer.ratio, 5)
        facts[f"{prefix}seconds"] = round(seconds, 4)
        if not variant:
            facts["bound"] = answer.lower_bound
            facts["proved"] = isinstance(answer, Plan) and answer.is_optimal
            facts["nodes"] = answer.nodes
            facts["us per buffer"] = round(seconds / max(len(problem.buffers), 1) * 1e6, 2)
        print(f"{name} {prefix}{seconds:.3f} s", file=sys.stderr)
    return facts


def minimalloc(folder: str) -> list[dict[str, object]]:
    """Measure the eleven instances twice: to fit their capacity, and to minimise the height."""
    results: list[dict[str, object]] = []
    for path in sorted(Path(folder).glob("?.*.csv")):
        problem = parse_problem(path.read_text(), path.name)
        capacity = int(path.name.split(".")[1])
        results.append(measure(f"{path.stem} fit", problem.with_capacity(capacity)))
        results.append(measure(f"{path.stem} smallest", problem))
    return results


def files(folders: list[str]) -> list[dict[str, object]]:
    """Measure every CSV file in `folders`."""
    paths = [path for folder in folders for path in sorted(Path(folder).glob("*.csv"))]
    # The first solve of a process includes imports that NumPy does on demand.
    solve(Problem.of([0], [1], [1]))
    return [measure(p.stem, parse_problem(p.read_text(), p.name)) for p in paths]


def nets(sizes: list[int]) -> list[dict[str, object]]:
    """Measure the synthetic networks at each size, with the peak memory of the process so far."""
    results: list[dict[str, object]] = []
    for n in sizes:
        for name, make in NETS.items():
            facts = measure(name, make(n, 0), repeats=2 if n <= 100_000 else 1)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            results.append(facts | {"peak MB so far": peak // 1024})
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1] if __doc__ else None)
    parser.add_argument("what", choices=["minimalloc", "files", "nets"])
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--table", action="store_true", help="Markdown instead of JSON")
    options = parser.parse_args()
    if options.what == "minimalloc":
        results = minimalloc(options.arguments[0])
    elif options.what == "files":
        results = files(options.arguments)
    else:
        results = nets([int(n) for n in options.arguments] or [10_000, 100_000, 1_000_000])
    write_results(results, options.table, measured=options.what)


if __name__ == "__main__":
    main()
