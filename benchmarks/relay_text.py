"""
Measure the time to read Relay text: µs per operator, on networks and programs of growing size.

    python benchmarks/relay_text.py [--sizes 1000,10000,100000] [--repeats 5] > out.json

The networks are those of `tests/data/relay_text`; an operator is a graph binding. The synthetic
programs are chains of graph bindings, of lets, of bindings through branches, and of bindings in a
closure whose parameter has no type. CPU times, the minimum of all runs, with the garbage-collector
settings of `xrelay-opt`. For comparison, TVM 0.10's C++ parser took 95 to 167 µs per operator on
the same networks, on a machine of this class.

Progress goes to stderr, JSON to stdout.
"""

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xrelay.dialects.relay import Relay
from xrelay.frontends.relay_text import parse_module
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.tools.pass_run.process import settings

DATA = Path(__file__).parent.parent / "tests" / "data" / "relay_text"
NETWORKS = ("squeezenet", "inception_v1", "resnet50")
VERSION = '#[version = "0.0.5"]\n'
PARAMS = "%x: Tensor[(4), float32], %y: Tensor[(4), float32], %c: bool"


def _main(lines: list[str]) -> str:
    return "\n".join([f"{VERSION}def @main({PARAMS}) {{", *lines, "}"])


def bindings(count: int) -> str:
    """Write a chain of graph bindings."""
    steps = [f"  %{i} = {'add' if i % 2 else 'multiply'}(%{i - 1}, %y);" for i in range(1, count)]
    return _main(["  %0 = add(%x, %y);", *steps, f"  %{count - 1}"])


def lets(count: int) -> str:
    """Write a chain of lets."""
    steps = [f"  let %v{i} = add(%v{i - 1}, %y);" for i in range(1, count)]
    return _main(["  let %v0 = add(%x, %y);", *steps, f"  %v{count - 1}"])


def branches(count: int) -> str:
    """Write a chain of bindings, each used in both branches of the next."""
    steps = [f"  %{i} = if (%c) {{ %{i - 1} }} else {{ tanh(%{i - 1}) }};" for i in range(1, count)]
    return _main(["  %0 = add(%x, %y);", *steps, f"  %{count - 1}"])


def inferred(count: int) -> str:
    """Write bindings in a closure whose parameter type is inferred from its call."""
    steps = [f"    %{i} = add(%{i - 1}, %a);" for i in range(1, count)]
    lines = ["  let %f = fn (%a) {", "    %0 = tanh(%a);", *steps, f"    %{count - 1}", "  };"]
    return _main([*lines, "  %f(%x)"])


PROGRAMS: dict[str, Callable[[int], str]] = {
    "bindings": bindings,
    "lets": lets,
    "branches": branches,
    "inferred": inferred,
}


def measure(text: str, count: int, repeats: int) -> float:
    """Return the µs per operator to read `text`, which has `count` operators."""
    best = float("inf")
    for _ in range(repeats):
        ctx = ReportingContext()
        ctx.register_dialect("relay", lambda: Relay)
        gc.collect()
        start = time.process_time()
        module = parse_module(ctx, text, "program.relay")
        best = min(best, time.process_time() - start)
        del module
    return 1e6 * best / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    sizes = [int(size) for size in args.sizes.split(",")]
    found: dict[str, Any] = {"networks": {}, "programs": {}}
    with settings():
        for name in NETWORKS:
            text = (DATA / f"{name}.relay").read_text()
            found["networks"][name] = measure(text, text.count(" = "), args.repeats)
            print(f"{name}: {found['networks'][name]:.1f} µs/op", file=sys.stderr)
        for name, make in PROGRAMS.items():
            curve = found["programs"].setdefault(name, {})
            for size in sizes:
                repeats = 1 if size >= 50_000 else args.repeats
                curve[size] = measure(make(size), size, repeats)
                print(f"{name} {size}: {curve[size]:.1f} µs/op", file=sys.stderr)
    json.dump(found, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
