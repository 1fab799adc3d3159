"""
The command `xrelay-plan`: plan the buffers in a CSV file, or check a plan.

    xrelay-plan problem.csv -o plan.csv --svg plan.svg
    xrelay-plan --check problem.csv plan.csv

Exit status 0: planned, or the plan is valid; 1: a capacity cannot be met, the plan has
faults, or a file cannot be used; 2: wrong usage.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Annotated

from ..planning import (
    OBJECTIVES,
    STRATEGIES,
    Infeasible,
    Plan,
    Pool,
    Problem,
    ProblemError,
    check,
    parse_pools,
    solve,
)
from ..planning.csv_io import CsvError, Table, format_plan, parse_table, plan_of, problem_of
from ..planning.shortage import shortage_text
from ..runtime.errors import MachineError
from ..runtime.files import contents, limit_input
from .commands import read_stdin
from .errors import FileError, UsageError, reported
from .option_types import Common, Parser, count, non_negative, size
from .output_files import OutputFiles


def _pools(text: str) -> Sequence[Pool]:
    try:
        return parse_pools(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


class Options(Common, argparse.Namespace):
    """The command line."""

    problem: Annotated[
        str, "problem  CSV with columns id,lower,upper,size[,alignment,gaps,offset,…]; - is stdin"
    ]
    plan: Annotated[str | None, "plan?  with --check: CSV with id and offset columns"]
    check: Annotated[bool, "check a plan instead of making one"]
    strategy: Annotated[str, "planning strategy (default: auto)", (*STRATEGIES,)] = "auto"
    capacity: Annotated[int | None, "SIZE  the capacity of the arena: bytes, or 500K, 4MiB", size]
    nodes: Annotated[int | None, "N  search nodes for exact and auto", count]
    timeout: Annotated[
        float | None, "S  seconds after which exact and auto return their best plan", non_negative
    ]
    pool: Annotated[
        list[Sequence[Pool]],
        "POOLS  declare pools: NAME=[CAPACITY][:COST[:ALIGNMENT]], separated by commas, such as "
        "dtcm=64KiB:1,psram=:10; may be repeated",
        _pools,
    ]
    minimize: Annotated[
        str,
        "what is minimized: the sum of heights (default), or the cost of reads and writes",
        (*OBJECTIVES,),
    ] = "heights"
    ignore_offsets: Annotated[bool, "ignore the offset column instead of fixing buffers there"]
    output: Annotated[
        str | None, "-o --output FILE  write the rows with their offsets; - is stdout"
    ]
    svg: Annotated[str | None, "FILE  draw the plan as SVG"]
    overwrite: Annotated[bool, "let outputs replace the problem, and files of another kind"]
    json: Annotated[bool, "print the summary as JSON"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command on `argv` (without the program's name) and return the exit status."""
    return reported(lambda: _main(argv))


def _main(argv: Sequence[str] | None) -> int:
    about = "Assign an offset to every buffer such that the arena is as small as possible."
    parser = Parser("xrelay-plan", about)
    parser.declare("", Options, Common)
    options = parser.parse(argv, Options(), intermixed=True)
    if options.check and options.plan is None:
        parser.error("--check needs a problem and a plan: --check problem.csv plan.csv")
    if options.plan is not None and not options.check:
        parser.error(f"unexpected argument '{options.plan}' (--check takes two files)")
    limit_input(options.max_input)
    return reported(lambda: _run(options), options.problem, traceback=options.traceback)


def _run(options: Options) -> int:
    try:
        return _plan(options) if options.plan is None else _check(options, options.plan)
    except CsvError as error:
        print(error, file=sys.stderr)
        return 1
    except ProblemError as error:
        raise FileError(options.problem, error.message) from None


def _read(name: str) -> Table:
    try:
        data = read_stdin() if name == "-" else contents(name)
    except MachineError as error:
        raise FileError(name, error.message) from None
    try:
        text = str(data, "utf-8-sig")
    except UnicodeDecodeError as error:
        line = bytes(data[: error.start]).count(b"\n") + 1
        raise CsvError(name, line, f"byte 0x{data[error.start]:02x} is not valid UTF-8") from None
    return parse_table(text, name)


def _write(name: str, text: str, files: OutputFiles) -> None:
    if name == "-":
        sys.stdout.write(text)
        return
    try:
        files.write(name, text)
    except UsageError as error:
        raise FileError(name, error.message) from None


def _problem(options: Options, table: Table) -> Problem:
    pools = [pool for given in options.pool for pool in given]
    problem = problem_of(table, pools, fixed=not options.ignore_offsets)
    return problem.with_capacity(options.capacity)


def _plan(options: Options) -> int:
    table = _read(options.problem)
    problem = _problem(options, table)
    answer = solve(problem, options.strategy, options.nodes, options.timeout, options.minimize)
    # With the plan on stdout, the summary must go elsewhere.
    stream = sys.stderr if options.output == "-" else sys.stdout
    if options.json:
        import json  # imported on demand, for fast start-up

        print(json.dumps(_facts(problem, answer), indent=2), file=stream)
    else:
        print(_summary(options, problem, answer), file=stream)
    if isinstance(answer, Infeasible):
        return 1
    files = OutputFiles([options.problem], options.overwrite)
    if options.output is not None:
        _write(options.output, format_plan(table, problem, answer), files)
    if options.svg is not None:
        from .plan_pictures.problem_panels import draw

        _write(options.svg, draw(problem, answer), files)
    return 0


def _summary(options: Options, problem: Problem, answer: Plan | Infeasible) -> str:
    work = f"{answer.strategy}, {answer.nodes} nodes, {answer.seconds:.3f} s CPU"
    if isinstance(answer, Infeasible):
        proof = "proved impossible" if answer.proved else "not proved impossible"
        return (
            f"{options.problem}: does not fit: {answer.shortfall} bytes short "
            f"(best height {answer.height}, bound {answer.lower_bound}), {proof}; {work}\n"
            f"{shortage_text(problem, answer)}"
        )
    proof = "proved smallest" if answer.is_optimal else f"not proved, gap {answer.gap}"
    heights = ""
    if len(problem.pools) > 1:
        pairs = zip(problem.pools, answer.heights, strict=True)
        heights = " (" + ", ".join(f"{pool.name} {height}" for pool, height in pairs) + ")"
    cost = "" if answer.cost is None else f"cost {answer.cost}, "
    return (
        f"{options.problem}: {len(problem.buffers)} buffers, height {answer.height}{heights}, "
        f"{cost}bound {answer.lower_bound}, ratio {answer.ratio:.4f}, {proof}; {work}"
    )


def _facts(problem: Problem, answer: Plan | Infeasible) -> dict[str, object]:
    facts: dict[str, object] = {
        "fits": isinstance(answer, Plan),
        "buffers": len(problem.buffers),
        "height": answer.height,
        "lower_bound": answer.lower_bound,
        "strategy": answer.strategy,
        "nodes": answer.nodes,
        "seconds": round(answer.seconds, 6),
    }
    if isinstance(answer, Plan):
        names = [pool.name for pool in problem.pools]
        facts |= {
            "gap": answer.gap,
            "ratio": round(answer.ratio, 6),
            "proved": answer.is_optimal,
            "heights": dict(zip(names, answer.heights, strict=True)),
        }
        if answer.cost is not None:
            facts["cost"] = answer.cost
    else:
        facts |= {
            "proved": answer.proved,
            "shortfall": answer.shortfall,
            "moment": answer.moment,
            "alive": [problem.buffers[row].id for row in answer.rows],
            "enough": [str(pool) for pool in answer.enough],
        }
    return facts


def _check(options: Options, name: str) -> int:
    problem = _problem(options, _read(options.problem))
    plan = plan_of(_read(name), problem)
    faults = check(problem, plan)
    for fault in faults:
        print(f"{name}: {fault}")
    if not faults:
        total = f"height {plan.height}"
        print(f"{name}: valid: {len(problem.buffers)} buffers, {total}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
