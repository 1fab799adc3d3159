"""
Compare arenas of `plan-memref` with those of other planners, on the lifetimes of CSV files.

    python benchmarks/memref.py resnet50.csv shufflenet.csv [--iree-opt PATH] [--allocations 10000]

Each file, as `xrelay-plan` reads it, becomes a function that allocates, writes, reads and frees its
buffers in order of time. The columns are the bytes of the arena over the most bytes that are live
together: of `plan-memref`, of the same with first fit, and of upstream MLIR's
`static-memory-planner-analysis` (best fit), if an `iree-opt` that has it is named. `--allocations`
plans a function of that many instead, and prints the CPU seconds.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from time import process_time

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.memrefs import as_memref
from xrelay.passes.layout_slices import Strategy
from xrelay.passes.plan_memref import PlanMemrefPass
from xrelay.planning.csv_io import parse_problem
from xrelay.tools.registry import UNIVERSE
from xrelay.tools.text.parser import LocatingParser
from xrelay.tools.text.resources import with_own_resources

UPSTREAM = "builtin.module(func.func(static-memory-planner-analysis{algorithm=best-fit}))"

Row = tuple[int, int, int]
"""The start, end and bytes of a buffer."""


def lines_of(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a function that uses buffers at the times of `rows`."""
    starts: defaultdict[int, list[int]] = defaultdict(list)
    ends: defaultdict[int, list[int]] = defaultdict(list)
    for i, (start, stop, _) in enumerate(rows):
        starts[start].append(i)
        ends[stop - 1].append(i)
    yield "func.func @f(%v: i8) {"
    yield "%c0 = arith.constant 0 : index"
    types = [f"memref<{size}xi8>" for _, _, size in rows]
    for time in sorted({*starts, *ends}):
        for i in starts[time]:
            yield f"%b{i} = memref.alloc() : {types[i]}"
        for i in starts[time]:
            yield f"memref.store %v, %b{i}[%c0] : {types[i]}"
        for i in ends[time]:
            yield f"%v{i} = memref.load %b{i}[%c0] : {types[i]}"
        for i in ends[time]:
            yield f"memref.dealloc %b{i} : {types[i]}"
    yield "func.return\n}"


def parsed(text: str) -> ModuleOp:
    ctx = Context()
    for name, factory in UNIVERSE.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, with_own_resources(factory))
    return LocatingParser(ctx, text, "lifetimes.mlir", 0).parse_module()


def arena(text: str, strategy: Strategy) -> int:
    """Return the bytes that a function allocates when it is planned."""
    module = parsed(text)
    PlanMemrefPass(strategy).apply(Context(), module)
    types = [as_memref(op.memref.type) for op in module.walk() if isinstance(op, memref.AllocOp)]
    return sum(type.get_shape()[0] for type in types if type is not None)


def upstream_arena(text: str, iree_opt: str) -> int:
    """Return the bytes that a function allocates after upstream's pass."""
    command = [iree_opt, "-", f"--pass-pipeline={UPSTREAM}"]
    found = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return sum(map(int, re.findall(r"memref\.alloc\(.*: memref<(\d+)xi8>", found.stdout)))


def live_bytes(rows: Sequence[Row]) -> int:
    """Return the most bytes that are live together."""
    times = {start for start, _, _ in rows}
    return max(sum(size for a, b, size in rows if a <= time < b) for time in times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--iree-opt")
    parser.add_argument("--allocations", type=int)
    args = parser.parse_args()
    if args.allocations:
        rng, rows = Random(1), list[Row]()
        for i in range(args.allocations):
            rows.append((i, i + rng.randint(1, 6), rng.choice([64, 128, 256, 1024])))
        module = parsed("\n".join(lines_of(rows)))
        start = process_time()
        PlanMemrefPass().apply(Context(), module)
        print(f"{args.allocations} allocations: {process_time() - start:.1f} s")
    for path in args.files:
        problem = parse_problem(path.read_text(), str(path))
        rows = [(b.lifetime.start, b.lifetime.stop, b.size) for b in problem.buffers]
        text, bound = "\n".join(lines_of(rows)), live_bytes(rows)
        ours, first = arena(text, "auto"), arena(text, "first-fit")
        other = upstream_arena(text, args.iree_opt) if args.iree_opt else None
        upstream = "" if other is None else f"{other / bound:8.3f}"
        print(f"{path.stem:32}{len(rows):6}{ours / bound:8.3f}{first / bound:8.3f}{upstream}")


if __name__ == "__main__":
    main()
