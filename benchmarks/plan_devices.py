"""
Measure device-planning time: µs per operator, with a hint at every tenth operator.

    python benchmarks/plan_devices.py [--sizes 1000,10000,100000] > plan_devices.json

A chain of additions; after every tenth, a hint places the preceding ones on the other of two
devices. Planned as by `plan-devices`, keeping the reasons of all constraints, with the driver's
garbage-collector settings; the minimum of `--repeats` runs. `repair` is the same chain with
conflicting hints on both sides of an operand of every tenth addition.
"""

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from xrelay.dialects.relay import Relay
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.tools.pass_run.process import settings

T = "tensor<16x16xf32>"
HINT = f"relay.on_device %{{}}, #relay.device<{{}}> {{}}: ({T}) -> {T}"


def context() -> Context:
    ctx = ReportingContext(handler=lambda message: None)
    for dialect in (Builtin, Func, Relay):
        ctx.load_dialect(dialect)
    return ctx


def hinted(size: int) -> Iterator[str]:
    """Write a hint after every tenth operator, which places the last ten on one device."""
    value = "x"
    for i in range(size):
        yield f"%a{i} = relay.add %{value}, %{value} : ({T}, {T}) -> {T}"
        value = f"a{i}"
        if i % 10 == 9:
            yield f"%h{i} = " + HINT.format(value, ("cpu:0", "cuda:0")[i // 10 % 2], "")
            value = f"h{i}"
    yield f"func.return %{value} : {T}"


def contradicting(size: int) -> Iterator[str]:
    """Write, as every tenth operator, an addition of values that hints place on two devices."""
    value = "x"
    for i in range(size):
        other = value
        if i % 10 == 9:
            fixed = "{constrain_result = true} "
            yield f"%g{i} = " + HINT.format(value, "cpu:0", fixed)
            yield f"%h{i} = " + HINT.format(value, "cuda:0", fixed)
            value, other = f"g{i}", f"h{i}"
        yield f"%a{i} = relay.add %{value}, %{other} : ({T}, {T}) -> {T}"
        value = f"a{i}"
    yield f"func.return %{value} : {T}"


def program(lines: Iterator[str]) -> str:
    """Return the function with `lines` as its body."""
    body = "\n".join(lines)
    return f"func.func @main(%x: {T}) -> {T} {{\n{body}\n}}"


def seconds(plan: PlanDevicesPass, text: str, repeats: int) -> float:
    """Return the minimum time of `plan` on the program `text`."""

    def once() -> float:
        ctx = context()
        module: ModuleOp = Parser(ctx, text).parse_module()
        gc.collect()
        start = time.process_time()
        plan.apply(ctx, module)
        return time.process_time() - start

    return min(once() for _ in range(repeats))


CASES: dict[str, tuple[Callable[[int], Iterator[str]], PlanDevicesPass]] = {
    "hints": (hinted, PlanDevicesPass()),
    "repair": (contradicting, PlanDevicesPass(repair=True)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--cases", default="hints,repair")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    found: dict[str, dict[int, float]] = {}
    with settings():
        for case in args.cases.split(","):
            lines, plan = CASES[case]
            for size in map(int, args.sizes.split(",")):
                repeats = args.repeats if size < 50_000 else 1
                each = seconds(plan, program(lines(size)), repeats) / size * 1e6
                found.setdefault(case, {})[size] = round(each, 1)
                print(f"{case:7} {size:7} operators: {each:6.1f} us/op", file=sys.stderr)
    json.dump(found, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
