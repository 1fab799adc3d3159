"""
Compare arenas of `plan-memref` with those of other planners, on lifetimes and on programs.

    python benchmarks/memref.py densenet121 resnet50.csv a.mlir [--iree-opt PATH] [--allocations N]

A CSV file, as `xrelay-plan` reads it, or the tensors that `-p vm` plans for a light network of ONNX
become a function that allocates, writes, reads and frees buffers in order of time. The columns are
the bytes of the arena over the most bytes that are live together: of `plan-memref`, of the same
with first fit, of upstream MLIR's `static-memory-planner-analysis` (best fit), if an `iree-opt`
that has it is named, and of `plan-memref` if every size is a multiple of a dim of an argument: the
worst of 1, 7 and 64. Of a program, the columns are the bytes that it allocates after each of the
first three. `--allocations` plans a function of that many instead, and prints the CPU seconds.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from time import process_time

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from xrelay.dialects.memrefs import as_memref, buffer_size
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.native.toolchain.tool_paths import tool
from xrelay.passes.layout_slices import Strategy
from xrelay.passes.memory_report.read import read_memory
from xrelay.passes.memory_report.report import report_of
from xrelay.passes.plan_memref import PlanMemrefPass
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.planning.csv_io import parse_problem
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.process import settings
from xrelay.tools.registry import UNIVERSE, named_pipelines
from xrelay.tools.text.parser import LocatingParser
from xrelay.tools.text.resources import with_own_resources

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from helpers.onnx.onnx_models import light_network

UPSTREAM = "builtin.module(func.func(static-memory-planner-analysis{algorithm=best-fit}))"

Row = tuple[int, int, int]
"""The start, end and bytes of a buffer."""


def lines_of(rows: Sequence[Row], dynamic: bool = False) -> Iterator[str]:
    """Yield the lines of a function that uses buffers at the times of `rows`."""
    starts: defaultdict[int, list[int]] = defaultdict(list)
    ends: defaultdict[int, list[int]] = defaultdict(list)
    for i, (start, stop, _) in enumerate(rows):
        starts[start].append(i)
        ends[stop - 1].append(i)
    yield "func.func @f(%v: i8, %x: memref<?xi8>) {"
    yield "%c0 = arith.constant 0 : index"
    yield "%n = memref.dim %x, %c0 : memref<?xi8>"
    dim, index, sizes = ("?x", "%c0, %c0", "%n") if dynamic else ("", "%c0", "")
    types = [f"memref<{dim}{size}xi8>" for _, _, size in rows]
    for time in sorted({*starts, *ends}):
        for i in starts[time]:
            yield f"%b{i} = memref.alloc({sizes}) : {types[i]}"
        for i in starts[time]:
            yield f"memref.store %v, %b{i}[{index}] : {types[i]}"
        for i in ends[time]:
            yield f"%v{i} = memref.load %b{i}[{index}] : {types[i]}"
        for i in ends[time]:
            yield f"memref.dealloc %b{i} : {types[i]}"
    yield "func.return\n}"


def context() -> Context:
    ctx = Context()
    for name, factory in UNIVERSE.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, with_own_resources(factory))
    return ctx


def parsed(text: str) -> ModuleOp:
    return LocatingParser(context(), text, "lifetimes.mlir", 0).parse_module()


def arena(text: str, strategy: Strategy, dims: Mapping[str, int]) -> int:
    """Return the bytes that a program allocates when it is planned; dims are 128 by default."""
    module = parsed(text)
    for step in PlanMemrefPass(strategy=strategy).steps()[:2]:
        step.apply(Context(), module)
    allocs = (op.memref.type for op in module.walk() if isinstance(op, memref.AllocOp))
    left = sum(buffer_size(type) or 0 for type in map(as_memref, allocs) if type is not None)
    return left + sum(r.planned.example for r in report_of(read_memory(module), dims))


def rows_of_network(name: str) -> list[Row]:
    """Return the lifetimes and sizes of the tensors that `-p vm` plans for a light network."""
    converted = convert_model(light_network(name).model, name)
    ctx = ReportingContext(handler=lambda message: None)
    for dialect, factory in UNIVERSE.get_multiverse().all_dialects.items():
        ctx.register_dialect(dialect, factory)
    for step in build("vm", UNIVERSE.all_passes, named_pipelines):
        if step.run.name == "lower-to-bytecode":
            break
        step.run.apply(ctx, converted.module)
    memory = read_memory(converted.module)
    (use,) = (use for use in memory.functions if use.storages)
    return [
        (
            tensor.spans[0].start,
            tensor.spans[-1].stop,
            use.formulas.polynomials[tensor.size].constant or 0,
        )
        for tensor in use.tensors
        if not tensor.outlives
    ]


def compare_program(path: Path, iree_opt: str | None) -> None:
    """Print the bytes that a program allocates if it is planned."""
    text = path.read_text()
    ours, first = arena(text, "auto", {}), arena(text, "first-fit", {})
    upstream = ""
    if iree_opt:
        try:
            upstream = f"{upstream_arena(text, iree_opt):12,}"
        except subprocess.CalledProcessError as error:
            upstream = "  refused: " + re.sub(r".*error: ", "", error.stderr.split("\n")[0])
    print(f"{path.stem:32}{ours:12,}{first:12,}{upstream}")


def upstream_arena(text: str, iree_opt: str) -> int:
    """Return the bytes of static size that a program allocates after upstream's pass."""
    free = ("--optimize-allocation-liveness",)
    if "memref.dealloc" not in text:
        free = ("--buffer-deallocation-pipeline", *free)
    for command in (
        (tool("mlir-opt"), "-", "--mlir-print-op-generic", *free),
        (iree_opt, "-", f"--pass-pipeline={UPSTREAM}"),
    ):
        text = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True
        ).stdout
    types = re.findall(r"memref\.alloc\(\).*: (memref<.*>)", text)
    parsed_types = [as_memref(Parser(context(), type).parse_type()) for type in types]
    return sum(buffer_size(type) or 0 for type in parsed_types if type is not None)


def live_bytes(rows: Sequence[Row]) -> int:
    """Return the most bytes that are live together."""
    times = {start for start, _, _ in rows}
    return max(sum(size for a, b, size in rows if a <= time < b) for time in times)


@settings()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", type=Path)
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
    for path in args.programs:
        if path.suffix == ".mlir":
            compare_program(path, args.iree_opt)
            continue
        if path.suffix:
            problem = parse_problem(path.read_text(), str(path))
            rows = [(b.lifetime.start, b.lifetime.stop, b.size) for b in problem.buffers]
        else:
            rows = rows_of_network(path.name)
        text, bound = "\n".join(lines_of(rows)), live_bytes(rows)
        ours, first = arena(text, "auto", {}), arena(text, "first-fit", {})
        other = upstream_arena(text, args.iree_opt) if args.iree_opt else None
        upstream = "" if other is None else f"{other / bound:8.3f}"
        text = "\n".join(lines_of(rows, dynamic=True))
        worst = max(arena(text, "auto", {"x_dim0": n}) / (n * bound) for n in (1, 7, 64))
        ratios = f"{ours / bound:8.3f}{first / bound:8.3f}{upstream}{worst:8.3f}"
        print(f"{path.stem:32}{len(rows):6}{ratios}")


if __name__ == "__main__":
    main()
