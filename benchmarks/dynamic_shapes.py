"""
Measure programs of dynamic shape: the ops that compute shapes, first and later calls of a shape.

    python benchmarks/dynamic_shapes.py [--ops 1000] [--markdown] > dynamic_shapes.json

The programs are `dynamic-chain` and `dynamic-wide` of `compile_programs.py`, on 8 to 15 rows of 16.

- *Ops per kernel*: how many ops there are in the function for each kernel call, besides it and its
  allocation (a storage and a tensor), after `manifest-alloc` and after `simplify-shapes`.
- *First call*: with a number of rows that is new to the machine; it computes the shapes, prepares
  the kernels and runs them. *Static* is the first call of the same program with known rows.
- *Later call*: with a number of rows that it has seen. *Static* is the same, with known rows.

Times are CPU times, the minimum of many calls; the calls of both programs alternate.
"""

import argparse
import gc
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import process_time

import numpy as np
from compile import context, read, steps_of
from compile_programs import ROWS, chain, wide
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects import memory, vm
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.runtime.machine.machine import Machine
from xrelay.tools.pass_run.process import settings

SHAPES = range(8, 16)
"""The numbers of rows."""
PROGRAMS: dict[str, Callable[[int, str], str]] = {"chain": chain, "wide": wide}


@dataclass(frozen=True)
class Figures:
    """The row of a program."""

    program: str
    ops: int
    kernels: int
    shape_ops_before: float
    """Ops per kernel call after manifest-alloc."""
    shape_ops_after: float
    """Ops per kernel call after simplify-shapes."""
    first_us: float
    first_static_us: float
    later_us: float
    later_static_us: float


def shape_ops(module: ModuleOp) -> float:
    """Return the number of ops for each kernel call, besides it and its allocation."""
    function = next(op for op in module.ops if isinstance(op, func.FuncOp))
    ops = list(walk(function.body))
    calls = sum(isinstance(op, vm.InvokeTvmOp) for op in ops)
    writes = {out.owner for op in ops if isinstance(op, vm.InvokeTvmOp) for out in op.outs}
    storages = {t.storage.owner for t in writes if isinstance(t, memory.AllocTensorOp)}
    return (len(ops) - 1 - calls - len(writes) - len(storages)) / calls


def compiled(text: str) -> tuple[Machine, int, dict[str, float]]:
    """Compile `text`; return its machine, its kernel calls and the shape ops after each pass."""
    module, ctx, counts = read(text), context(), dict[str, float]()
    kernels = 0
    for step in steps_of("vm"):
        step.run.apply(ctx, module)
        if step.run.name in ("manifest-alloc", "simplify-shapes"):
            counts[step.run.name] = shape_ops(module)
            kernels = sum(isinstance(op, vm.InvokeTvmOp) for op in walk(module))
    return Machine(assemble(module)), kernels, counts


def arguments(rows: int) -> list[np.ndarray]:
    """Return the arguments of both programs."""
    random = np.random.default_rng(rows)
    shapes = ((rows, 16), (16, 16), (16,))
    return [random.standard_normal(shape).astype(np.float32) / 8 for shape in shapes]


def seconds(machine: Machine, args: list[np.ndarray]) -> float:
    """Return the CPU time of a call."""
    gc.collect()
    start = process_time()
    machine.run("main", *args)
    return process_time() - start


def measure(program: str, size: int, rounds: int) -> Figures:
    """Measure one program."""
    text = PROGRAMS[program](size, ROWS)
    ops = text.count(" = relay.")
    dynamic, kernels, counts = compiled(text)
    first: list[float] = []
    first_static: list[float] = []
    later: list[float] = []
    later_static: list[float] = []
    for rows in SHAPES:
        static, _, _ = compiled(PROGRAMS[program](size, f"tensor<{rows}x16xf32>"))
        args = arguments(rows)
        first.append(seconds(dynamic, args))
        first_static.append(seconds(static, args))
        for _ in range(rounds):
            later.append(seconds(dynamic, args))
            later_static.append(seconds(static, args))
    return Figures(
        program,
        ops,
        kernels,
        round(counts["manifest-alloc"], 2),
        round(counts["simplify-shapes"], 2),
        *(round(1e6 * min(s) / ops, 2) for s in (first, first_static, later, later_static)),
    )


def markdown(figures: list[Figures]) -> str:
    """Format the table of `benchmarks/README.md`."""
    lines = ["| | " + " | ".join(f"{f.program} {f.ops:,}" for f in figures) + " |"]
    lines.append("|---" * (len(figures) + 1) + "|")
    for name, field in (
        ("kernel calls", "kernels"),
        ("ops per kernel call after `manifest-alloc`", "shape_ops_before"),
        ("ops per kernel call after `simplify-shapes`", "shape_ops_after"),
        ("first call, µs/op", "first_us"),
        ("first call, static, µs/op", "first_static_us"),
        ("later call, µs/op", "later_us"),
        ("later call, static, µs/op", "later_static_us"),
    ):
        values = [asdict(f)[field] for f in figures]
        lines.append(f"| {name} | " + " | ".join(map(str, values)) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Measure programs of dynamic shape.")
    parser.add_argument("--ops", type=int, default=1000, help="number of operators")
    parser.add_argument("--rounds", type=int, default=10, help="later calls of each shape")
    parser.add_argument("--markdown", action="store_true", help="print a table, not JSON")
    args = parser.parse_args()
    figures: list[Figures] = []
    with settings():
        for program in PROGRAMS:
            figures.append(measure(program, args.ops, args.rounds))
            print(figures[-1], file=sys.stderr)
    if args.markdown:
        print(markdown(figures), end="")
    else:
        print(json.dumps([asdict(f) for f in figures], indent=1))


if __name__ == "__main__":
    main()
