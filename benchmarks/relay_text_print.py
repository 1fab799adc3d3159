"""
Measure the time to print Relay text: µs per op, on networks and programs of growing size.

    python benchmarks/relay_text_print.py [--sizes 1000,10000,100000] [FILE.relay …] > out.json

Without files, uses the networks of `tests/data/relay_text`. In a chain each op is a graph binding,
in a list of lets a variable. CPU times, the minimum of `--repeats` runs (of one run from 50,000
ops), with the driver's garbage-collector settings. TVM's C++ printer takes 30 to 60 µs per op on
these networks. Progress goes to stderr, JSON to stdout.
"""

import argparse
import gc
import json
import sys
import time
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func

from xrelay.dialects.relay import Relay
from xrelay.frontends.relay_text import parse_module
from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.tools.pass_run.process import settings

NETWORKS = Path(__file__).parent.parent / "tests" / "data" / "relay_text"


def read(text: str, name: str) -> ModuleOp:
    """Parse `text`."""
    context = Context()
    for dialect in (Builtin, Func, Relay):
        context.load_dialect(dialect)
    return parse_module(context, text, name)


def seconds(module: ModuleOp, repeats: int) -> float:
    """Return the minimum CPU time of printing `module`."""
    times: list[float] = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        module_text(module)
        times.append(time.process_time() - start)
    return min(times)


def measured(module: ModuleOp, repeats: int) -> dict[str, float]:
    """Return the number of ops and the µs per op."""
    ops = sum(1 for _ in module.walk())
    return {"ops": ops, "us_per_op": round(seconds(module, repeats) / ops * 1e6, 1)}


PROGRAMS = {"chain": "  %{0} = add({1}, %x);", "lets": "  let %a{0} = add(%x, %x);"}
"""A line of each program: every op uses the one before, or none is used (so it is a let)."""


def program(name: str, size: int) -> str:
    """Return a program of `size` operators."""
    lines = ['#[version = "0.0.5"]', "def @main(%x: Tensor[(4), float32]) {"]
    line = PROGRAMS[name]
    lines += [line.format(i, f"%{i - 1}" if i else "%x") for i in range(size)]
    last = f"%{size - 1}" if name == "chain" else f"%a{size - 1}"
    return "\n".join([*lines, f"  {last}", "}"])


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the time to print Relay text.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    with settings():
        for file in args.files or sorted(NETWORKS.glob("*.relay")):
            print(file.stem, file=sys.stderr)
            results[file.stem] = measured(read(file.read_text(), file.name), args.repeats)
        for size in map(int, args.sizes.split(",")):
            for name in PROGRAMS:
                print(name, size, file=sys.stderr)
                module = read(program(name, size), name)
                repeats = 1 if size >= 50_000 else args.repeats
                results[f"{name} {size}"] = measured(module, repeats)
    json.dump(results, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
