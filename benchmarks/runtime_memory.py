"""
Measure the memory of calls whose shapes are new almost every time.

    python benchmarks/runtime_memory.py [--calls 10000] [--ops 100] [--markdown] > memory.json

The programs are `dynamic-chain` and `dynamic-wide` of `compile_programs.py`, compiled to a file and
run by a process without a compiler, on random numbers of rows of 16 (1 to `--rows`). The *largest
call* is one with the most rows, in a process of its own.

- *Peak*: the most resident memory of a process, in MiB, and its ratio to that of the largest call.
- *Curve*: the resident memory after each tenth of the calls.
- *Charged*: the MiB that the machine charges to its memory limit at the end, and after the
  largest call.
"""

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from compile_programs import ROWS, chain, wide

from xrelay.runtime.executable import executable_of, read_executable, write_executable
from xrelay.runtime.machine.machine import Machine

MIB = 1 << 20
PROGRAMS: dict[str, Callable[[int, str], str]] = {"chain": chain, "wide": wide}


def resident() -> float:
    """Return the resident memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / MIB


def child(path: str, calls: int, rows: int) -> dict[str, object]:
    """Call the program in the file with `rows` rows, then `calls` times with random ones."""
    machine = Machine(read_executable(path).program)
    random = np.random.default_rng(0)
    weight = random.standard_normal((16, 16), np.float32) / 8
    bias = random.standard_normal(16, np.float32)
    x = random.standard_normal((rows, 16), np.float32)
    if not calls:
        machine.run("main", x, weight, bias)
    curve: list[float] = []
    for call in range(calls):
        machine.run("main", x[: random.integers(1, rows + 1)], weight, bias)
        if (call + 1) % max(1, calls // 10) == 0:
            curve.append(round(resident(), 1))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"peak": round(peak, 1), "curve": curve, "charged": round(machine.memory.used / MIB, 1)}


def measure(program: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measure one program."""
    from compile import context, read, steps_of

    from xrelay.lowering.bytecode.assemble import assemble

    module, ctx = read(PROGRAMS[program](options.ops, ROWS)), context()
    for step in steps_of("vm"):
        step.run.apply(ctx, module)
    with TemporaryDirectory() as folder:
        path = f"{folder}/program.xrx"
        write_executable(path, executable_of(assemble(module)))

        def run(calls: int) -> dict[str, Any]:
            argv = [sys.executable, __file__, "--child", path, "--rows", str(options.rows)]
            argv += ["--calls", str(calls)]
            return json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)

        largest, many = run(0), run(options.calls)
    return {
        "program": program,
        "peak_of_largest": largest["peak"],
        "peak": many["peak"],
        "ratio": round(many["peak"] / largest["peak"], 3),
        "charged_by_largest": largest["charged"],
        "charged": many["charged"],
        "curve": many["curve"],
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    """Format the table of `benchmarks/README.md`."""
    lines = ["| | " + " | ".join(row["program"] for row in rows) + " |", "|---" * (len(rows) + 1)]
    lines[-1] += "|"
    for name, key in (
        ("peak of the largest call, MiB", "peak_of_largest"),
        ("peak of all calls, MiB", "peak"),
        ("ratio", "ratio"),
        ("charged by the machine after the largest call, MiB", "charged_by_largest"),
        ("charged after all calls, MiB", "charged"),
    ):
        lines.append(f"| {name} | " + " | ".join(f"{row[key]}" for row in rows) + " |")
    curves = (" ".join(f"{size:.0f}" for size in row["curve"]) for row in rows)
    lines.append("| resident after each tenth of the calls, MiB | " + " | ".join(curves) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Measure the memory of calls of many shapes.")
    parser.add_argument("--ops", type=int, default=100, help="number of operators")
    parser.add_argument("--rows", type=int, default=20_000, help="greatest number of rows")
    parser.add_argument("--calls", type=int, default=10_000, help="number of calls")
    parser.add_argument("--markdown", action="store_true", help="print a table, not JSON")
    parser.add_argument("--child", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        print(json.dumps(child(options.child, options.calls, options.rows)))
        return
    rows: list[dict[str, Any]] = []
    for program in PROGRAMS:
        rows.append(measure(program, options))
        print(rows[-1], file=sys.stderr)
    print(markdown(rows) if options.markdown else json.dumps(rows, indent=1), end="")


if __name__ == "__main__":
    main()
