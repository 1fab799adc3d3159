"""
Measure `verify-memory-plan` on plans of unknown sizes: seconds by the number of slices.

    python benchmarks/planning/plan_check.py                        # JSON
    python benchmarks/planning/plan_check.py --table                # Markdown
    python benchmarks/planning/plan_check.py --sizes 1000,10000 --alive 16

A program writes one tensor after the other, and a number of them are alive at a time, each in a
slice of its own of one ordered pack; with one order, and with two. `pack` is the time of
`coalesce-storage`, which makes such a pack of storages of their own.
"""

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

from xrelay.passes.coalesce_storage import CoalesceStoragePass
from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")]

from helpers.programs.programs import context, parse
from results import write_results

Facts = dict[str, object]

HEAD = """func.func @f(%x: tensor<?xf32>) {
%i0 = arith.constant 0 : index
%c4 = arith.constant 4 : i64
%d = vm.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
%n = tensor.extract %d[%i0] : tensor<1xi64>
%b = arith.muli %n, %c4 : i64"""


def slices(count: int, alive: int, orders: int) -> Iterator[str]:
    """Yield a pack of layers: slice i lies on those of the layer below that it meets."""
    kind = "ordered" if orders == 1 else f"smallest of {orders}"
    yield f"%p = memory.pack {kind} align 64 : !memory.pack"
    layers = [range(layer, count, alive) for layer in range(min(alive, count))]
    number = {i: n for n, i in enumerate(i for layer in layers for i in layer)}
    for i in number:
        below = [j for j in (i - 1, i + alive - 1) if i % alive and j < count]
        on = f"({', '.join(f'%s{j}' if orders == 1 else str(number[j]) for j in below)})"
        on = f" on {' or '.join([on] * orders)}" if below else ""
        yield f"%s{i} = memory.slice %p [{i}, {i + alive}) %b{on}"
    yield "%t = memory.total %p"
    yield "%a = memory.alloc_storage %t align 64 : !memory.storage"


def program(count: int, alive: int, orders: int) -> str:
    """Return a program with a plan of `count` slices; without orders, of storages."""
    lines = [HEAD, *(slices(count, alive, orders) if orders else ())]
    for i in range(count):
        if not orders:
            lines.append(f"%a{i} = memory.alloc_storage %b align 64 : !memory.storage")
        place = f"%a[%s{i}]" if orders else f"%a{i}[0]"
        lines.append(
            f"%t{i} = memory.alloc_tensor {place} shape %d : tensor<1xi64> -> tensor<?xf32>"
        )
        lines.append(
            f"%v{i} = memory.copy ins(%x : tensor<?xf32>) outs(%t{i} : tensor<?xf32>) "
            "-> tensor<?xf32>"
        )
        if i >= alive - 1:
            lines.append(f"memory.kill %v{i - alive + 1} : tensor<?xf32>")
    return "\n".join([*lines, "func.return", "}"])


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return round(time.process_time() - start, 3)


def measure(count: int, alive: int) -> Facts:
    facts: Facts = {"slices": count, "alive together": alive}
    for orders in (1, 2):
        module = parse(program(count, alive, orders))
        check = VerifyMemoryPlanPass()
        facts[f"{orders} orders"] = seconds(lambda: check.apply(context(), module))
    tracemalloc.start()
    check.apply(context(), module)
    facts["MiB"] = round(tracemalloc.get_traced_memory()[1] / 2**20, 1)
    tracemalloc.stop()
    module = parse(program(count, alive, 0))
    facts["pack"] = seconds(lambda: CoalesceStoragePass().apply(context(), module))
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of slices")
    parser.add_argument("--alive", type=int, default=16, help="slices alive together")
    parser.add_argument("--table", action="store_true", help="Markdown")
    args = parser.parse_args()
    results = [measure(int(size), args.alive) for size in args.sizes.split(",")]
    write_results(results, args.table)


if __name__ == "__main__":
    main()
