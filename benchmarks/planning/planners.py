"""
Compare plans over several pools with the exact optimum, by CP-SAT of `ortools`.

    python benchmarks/planning/planners.py [--table] [--timeout 60] FILE...

Each file has the lifetimes of a network's tensors, as CSV. The rule for the rest: a tensor is
written once and read 1 to 4 times, drawn by a seed; pools have 25 % and 50 % of the lower bound of
one arena, and no bound; a byte costs 1, 3 and 10. Where CP-SAT proves no optimum within the
timeout, its bound is what plans are compared with. `check` validates every plan.

    python benchmarks/planning/planners.py --synthetic 1000

Time plans of synthetic networks of so many buffers, of every family and three seeds.
"""

import argparse
import random
import statistics
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from ortools.sat.python import cp_model

from xrelay.planning import Infeasible, Plan, Pool, Problem, check, solve
from xrelay.planning.csv_io import parse_problem

sys.path.append(str(Path(__file__).parents[1]))

from results import Facts, write_results
from synthetic import NETS


def with_pools(problem: Problem, seed: int = 0) -> Problem:
    """Return `problem` with reads, writes and three pools by the rule."""
    random_reads = random.Random(seed)
    rows = tuple(b._replace(reads=random_reads.randint(1, 4), writes=1) for b in problem.buffers)
    alone = solve(Problem(rows))
    assert isinstance(alone, Plan), "an arena without a capacity"
    bound = alone.lower_bound
    pools = Pool("fast", bound // 4, 1), Pool("middle", bound // 2, 3), Pool("slow", None, 10)
    return Problem(rows, pools)


class Optimum(NamedTuple):
    """The least cost, or, unless it is proved, a lower bound on it; and CPU seconds."""

    bound: int
    is_proved: bool


def optimum(problem: Problem, timeout: float, hint: Plan | None = None) -> Optimum:
    """Return the least cost of a plan: tensors are rectangles, each in one of the pools."""
    model: Any = cp_model.CpModel()
    terms: list[Any] = []
    chosen: list[list[Any]] = []
    rectangles: list[tuple[list[Any], list[Any]]] = [([], []) for _ in problem.pools]
    loads: list[list[int]] = [[] for _ in problem.pools]
    for row, buffer in enumerate(problem.buffers):
        start, stop = buffer.lifetime
        literals: list[Any] = []
        for number, pool in enumerate(problem.pools):
            literal = model.new_bool_var("")
            literals.append(literal)
            terms.append(literal * (buffer.traffic * pool.cost))
            if hint is not None:
                model.add_hint(literal, int(hint.pools[row] == number))
            if pool.capacity is None or not buffer.size or start == stop:
                continue
            if buffer.size > pool.capacity:
                model.add(literal == 0)
                continue
            at = model.new_int_var(0, pool.capacity - buffer.size, "")
            if hint is not None and hint.pools[row] == number:
                model.add_hint(at, hint.offsets[row])
            life, size = stop - start, buffer.size
            rectangles[number][0].append(
                model.new_optional_fixed_size_interval_var(start, life, literal, "")
            )
            rectangles[number][1].append(
                model.new_optional_fixed_size_interval_var(at, size, literal, "")
            )
            loads[number].append(size)
        model.add_exactly_one(literals)
        chosen.append(literals)
    for pool, (times, bytes_), sizes in zip(problem.pools, rectangles, loads, strict=True):
        if times:
            model.add_no_overlap_2d(times, bytes_)
            model.add_cumulative(times, sizes, pool.capacity)
    model.minimize(sum(terms))
    solver: Any = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = timeout
    solver.parameters.num_workers = 8
    status = solver.solve(model)
    return Optimum(int(-(-solver.best_objective_bound // 1)), status == cp_model.OPTIMAL)


def measure(path: Path, timeout: float) -> Facts:
    """Plan one file for the least cost, and compare."""
    problem = with_pools(parse_problem(path.read_text(), str(path)))
    plan = solve(problem, minimize="cost")
    assert not isinstance(plan, Infeasible), f"{path}: the last pool has no bound"
    assert plan.cost is not None
    faults = check(problem, plan)
    if faults:
        raise SystemExit(f"{path}: {faults[0]}")
    best = optimum(problem, timeout, plan)
    if plan.lower_bound > best.bound and best.is_proved:
        raise SystemExit(f"{path}: the bound {plan.lower_bound} is above the optimum {best.bound}")
    return {
        "network": path.stem,
        "buffers": len(problem.buffers),
        "cost": plan.cost,
        "optimum or bound": best.bound,
        "proved": best.is_proved,
        "proved by xrelay": plan.is_optimal,
        "ratio": round(plan.cost / best.bound, 4),
        "CPU s": round(plan.seconds, 2),
    }


def measure_synthetic(family: str, buffers: int, seed: int) -> Facts:
    """Plan a synthetic network for the least cost."""
    problem = with_pools(NETS[family](buffers, seed))
    started = time.process_time()
    plan = solve(problem, minimize="cost")
    seconds = time.process_time() - started
    if isinstance(plan, Infeasible) or check(problem, plan):
        raise SystemExit(f"{family}: the plan is not valid")
    return {"family": family, "seed": seed, "buffers": buffers, "CPU s": round(seconds, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Plans over pools against the exact optimum.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--synthetic", type=int, metavar="N", help="networks of N buffers instead")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds of CP-SAT for a file")
    parser.add_argument("--table", action="store_true", help="Markdown instead of JSON")
    options = parser.parse_args()
    if options.synthetic:
        cases = product(NETS, range(3))
        rows = [measure_synthetic(family, options.synthetic, seed) for family, seed in cases]
        return write_results(rows, options.table)
    if not options.files:
        parser.error("expected files, or --synthetic")
    found: list[Facts] = []
    for path in options.files:
        found.append(measure(path, options.timeout))
        print(found[-1], file=sys.stderr, flush=True)
    ratios = [facts["ratio"] for facts in found]
    summary = {"median": statistics.median(ratios), "worst": max(ratios)}
    write_results(found, options.table, **summary)
    print(summary, file=sys.stderr)


if __name__ == "__main__":
    main()
