"""
Measure compile time against the number of operators: µs per operator, per pass and in total.

    python benchmarks/compile.py [--sizes 1000,10000,100000] [--programs chain,wide] > out.json
    python benchmarks/compile.py --sizes 500,1000,2000,3000 --programs nested
    python benchmarks/compile.py --sizes 10000 --programs chain --profile fuse-ops

The pipeline runs as in `xrelay-opt`, with its garbage-collector settings, once with
verification between passes and once without. The baseline is the time that xDSL's own parser
takes to read the same file in the same process: machines differ, the ratio hardly does. All
times are CPU times, the minimum of `--repeats` runs (of one run from 50,000 operators).

Progress goes to stderr, JSON to stdout; `--markdown FILE` converts that to the tables of
`benchmarks/README.md`.
"""

import argparse
import cProfile
import gc
import json
import pstats
import resource
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from compile_programs import PROGRAMS
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from xrelay.passes.support.changes import CompositePass, apply_pass
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.passes.support.verifier import verify
from xrelay.tools.api.plugins import load_universe
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.pipeline_steps import Step
from xrelay.tools.pass_run.process import settings
from xrelay.tools.registry import named_pipelines
from xrelay.tools.text.parser import LocatingParser
from xrelay.tools.text.printing import PrintOptions, module_text

UNIVERSE = load_universe(lambda text: print(text, file=sys.stderr))


def context() -> Context:
    """Return a context with all dialects, as the driver does."""
    ctx = ReportingContext()
    for name, factory in UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def steps_of(pipeline: str) -> list[Step]:
    """Return the passes of `pipeline`."""
    return build(pipeline, UNIVERSE.all_passes, named_pipelines)


def read(text: str) -> ModuleOp:
    """Parse with locations, as the driver does."""
    return LocatingParser(context(), text, "program.mlir", 0).parse_module()


class Timed(NamedTuple):
    """The CPU seconds of a call, and its result."""

    seconds: float
    result: Any


def timed(function: Callable[[], Any]) -> Timed:
    """Run `function` and measure its CPU time, which excludes other processes."""
    start = time.process_time()
    result = function()
    return Timed(time.process_time() - start, result)


def parts_of(step: Step) -> list[tuple[str, ModulePass]]:
    """Return the steps of a composite pass, or the pass itself, by name."""
    if not isinstance(step.run, CompositePass):
        return [(step.run.name, step.run)]
    return [(f"{step.run.name}: {part.name}", part) for part in step.run.steps()]


def run_pipeline(module: ModuleOp, steps: Sequence[Step], check: bool) -> dict[str, float]:
    """
    Run the passes on `module`; return the seconds of each, of "verify" and in total.

    Those of a step of a composite pass are in `pass: step`, and are not counted twice.
    """
    ctx = context()
    parts: dict[str, float] = {}
    seconds = dict.fromkeys(("verify", *(step.run.name for step in steps)), 0.0)
    if check:
        seconds["verify"] += timed(lambda: verify(module)).seconds
    for step in steps:
        changed = False
        for name, part in parts_of(step):
            spent, has_changed = timed(lambda part=part: apply_pass(part, ctx, module))
            changed |= has_changed
            seconds[step.run.name] += spent
            if name != step.run.name:
                parts[name] = parts.get(name, 0.0) + spent
        if check and changed:
            seconds["verify"] += timed(lambda: verify(module)).seconds
    seconds["all"] = sum(seconds.values())
    seconds |= parts
    seconds["print"] = timed(lambda: module_text(ctx, module, PrintOptions())).seconds
    return seconds


def warm_up(programs: Sequence[str], pipeline: str) -> None:
    """Trigger imports on first use, and fill caches."""
    for program in programs:
        text = PROGRAMS[program](8)
        Parser(context(), text).parse_module()
        run_pipeline(read(text), steps_of(pipeline), True)


def least(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the minimum of every row."""
    return {name: min(run[name] for run in runs) for name in runs[0]}


def measure(program: str, size: int, pipeline: str, repeats: int) -> dict[str, Any]:
    """Measure one program at one size: CPU seconds, and µs per operator."""
    text = PROGRAMS[program](size)
    ops = text.count(" = relay.")
    repeats = 1 if size >= 50_000 else repeats
    steps = steps_of(pipeline)

    def best(what: str, function: Callable[[], Any]) -> float:
        seconds = float("inf")
        for _ in range(repeats):
            gc.collect()
            seconds = min(seconds, timed(function).seconds)
        print(f"{program} {size}: {what}: {1e6 * seconds / ops:.1f} µs/op", file=sys.stderr)
        return seconds

    yardstick = best("xDSL's parser", lambda: Parser(context(), text).parse_module())
    ours = best("our parser", lambda: read(text))
    module = read(text)

    def run(check: bool) -> dict[str, float]:
        copy = module.clone()
        gc.collect()
        return run_pipeline(copy, steps, check)

    plain = least([run(False) for _ in range(repeats)])
    checked = least([run(True) for _ in range(repeats)])
    passes = {name: plain[name] for name in dict.fromkeys(s.run.name for s in steps)}
    figures: dict[str, Any] = {
        "program": program,
        "ops": ops,
        "seconds": {
            "xdsl parse": yardstick,
            "parse": ours,
            "pipeline": plain["all"],
            "pipeline, verified": checked["all"],
            "verify": checked["verify"],
            "print": plain["print"],
        },
        "us_per_op": {name: 1e6 * spent / ops for name, spent in passes.items()},
        "us_per_op_of_parts": {
            name: 1e6 * plain[name] / ops
            for step in steps
            for name, part in parts_of(step)
            if part is not step.run
        },
        "ratio": plain["all"] / yardstick,
        "ratio_verified": checked["all"] / yardstick,
        "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    for what, row, ratio in (
        ("pipeline", plain, figures["ratio"]),
        ("the same, verified", checked, figures["ratio_verified"]),
    ):
        spent = 1e6 * row["all"] / ops
        print(f"{program} {size}: {what}: {spent:.1f} µs/op, {ratio:.2f} x xDSL", file=sys.stderr)
    for name, spent in (figures["us_per_op"] | figures["us_per_op_of_parts"]).items():
        print(f"    {name:34} {spent:8.2f} µs/op", file=sys.stderr)
    return figures


@contextmanager
def profiled(top: int) -> Generator[None]:
    """Print the profile of the `with` block to stderr."""
    profile = cProfile.Profile()
    profile.enable()
    try:
        yield
    finally:
        profile.disable()
        stats = pstats.Stats(profile, stream=sys.stderr)
        stats.sort_stats("tottime").print_stats(top)
        stats.sort_stats("cumulative").print_stats(top)


def profile_pass(program: str, size: int, pipeline: str, name: str, top: int) -> None:
    """Run the pipeline, and profile the first run of pass `name`, which may be of a composite."""
    module, ctx = read(PROGRAMS[program](size)), context()
    for step in steps_of(pipeline):
        parts = [step.run] if step.run.name == name else [part for _, part in parts_of(step)]
        for part in parts:
            gc.collect()
            if part.name == name:
                with profiled(top):
                    part.apply(ctx, module)
                return
            part.apply(ctx, module)
    raise SystemExit(f"the pipeline has no pass '{name}'")


def markdown(results: Sequence[dict[str, Any]]) -> str:
    """Format the tables of `benchmarks/README.md`: totals, then µs/op of each pass."""
    columns = [f"{r['program']} {r['ops']:,}" for r in results]
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]

    def row(name: str, values: Sequence[str]) -> None:
        lines.append(f"| {name} | " + " | ".join(values) + " |")

    for name in results[0]["seconds"]:
        row(f"{name}, µs/op", [f"{1e6 * r['seconds'][name] / r['ops']:.1f}" for r in results])
    row("**pipeline : xDSL's parser**", [f"**{r['ratio']:.2f}**" for r in results])
    row("**the same, verified**", [f"**{r['ratio_verified']:.2f}**" for r in results])
    row("peak memory, MiB", [f"{r['peak_rss_mib']:.0f}" for r in results])
    for key in ("us_per_op", "us_per_op_of_parts"):
        for name in results[0][key]:
            row(f"`{name}`, µs/op", [f"{r[key][name]:.1f}" for r in results])
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser("compile", description="Measure compile time.")
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of operators")
    parser.add_argument("--programs", default="chain,wide", help=", ".join(PROGRAMS))
    parser.add_argument("--pipeline", default="vm", help="the pipeline to run (default: vm)")
    parser.add_argument("--repeats", type=int, default=3, help="number of runs; the fastest counts")
    parser.add_argument("--profile", metavar="PASS", help="profile one pass instead")
    parser.add_argument("--top", type=int, default=25, help="rows of the profile")
    parser.add_argument("--markdown", metavar="FILE", help="print the tables of a JSON file")
    args = parser.parse_args(argv)
    if args.markdown:
        print(markdown(json.loads(Path(args.markdown).read_text())["results"]), end="")
        return
    cases = [(p, int(s)) for p in args.programs.split(",") for s in args.sizes.split(",")]
    with settings():
        if args.profile:
            for program, size in cases:
                profile_pass(program, size, args.pipeline, args.profile, args.top)
            return
        warm_up(args.programs.split(","), args.pipeline)
        results = [measure(p, s, args.pipeline, args.repeats) for p, s in cases]
    json.dump({"pipeline": args.pipeline, "results": results}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
