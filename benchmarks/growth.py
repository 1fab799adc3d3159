"""
Measure how compile time grows with nesting, and with what is alive together.

    python benchmarks/growth.py                       # Markdown
    python benchmarks/growth.py --programs ifs --sizes 125,250,500

Verified runs of the pipeline `vm`, in CPU time. The programs: `ifs` are nested, each with a tensor
that is used in the innermost branch or in the other one; `tuples` are nested in each other and
returned; `swaps` are `relay.if` ops that yield two values, in one branch in the other order;
`open` is a chain with as many tensors of open size alive at once as it has ops; `equal` are
convolutions of one size, of which stripes lower the peak of no part, and `halved` have all but two
of them after one of stride 2. These are compiled with `work=1.0`.
"""

import argparse
import sys
import time
from collections.abc import Callable

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects import relay
from xrelay.lowering.pipelines import VmPipeline
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.passes.support.verifier import verify
from xrelay.tools.api.plugins import load_universe
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.process import settings
from xrelay.tools.registry import named_pipelines
from xrelay.tools.text.parser import LocatingParser

UNIVERSE = load_universe(lambda text: print(text, file=sys.stderr))
T = "tensor<4xf32>"
OPEN = "tensor<?x4xf32>"


def parsed(text: str) -> ModuleOp:
    return LocatingParser(context(), text, "growth.mlir").parse_module()


def context() -> ReportingContext:
    ctx = ReportingContext(handler=lambda message: None)
    for name, factory in UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def ifs(size: int) -> ModuleOp:
    lines = [f"func.func @main(%c: tensor<i1>, %v0: {T}) -> {T} {{"]
    lines += [f"%v{i + 1} = relay.tanh %v{i} : ({T}) -> {T}" for i in range(size)]
    lines += [f"%r{i} = relay.if %c : tensor<i1> -> ({T}) {{" for i in range(size)]
    for i in reversed(range(size)):
        inner = f"r{i + 1}" if i + 1 < size else "v0"
        lines.append(f"relay.yield %{inner} : {T} }} else {{")
        lines.append(f"%e{i} = relay.exp %v{i + 1} : ({T}) -> {T} relay.yield %e{i} : {T} }}")
    return parsed("\n".join([*lines, f"func.return %r0 : {T} }}"]))


def tuples(size: int) -> ModuleOp:
    block = Block(arg_types=[TensorType(f32, [4])])
    value: SSAValue = block.args[0]
    for _ in range(size):
        op = relay.TupleOp([value, block.args[0]])
        block.add_op(op)
        value = op.result
    block.add_op(func.ReturnOp(value))
    type = FunctionType.from_lists(block.arg_types, [value.type])
    return ModuleOp([func.FuncOp("main", type, Region(block))])


def swaps(size: int) -> ModuleOp:
    lines = [f"func.func @main(%c: tensor<i1>, %x: {T}) -> ({T}, {T}) {{"]
    lines += [f"%a0 = relay.tanh %x : ({T}) -> {T}", f"%b0 = relay.exp %x : ({T}) -> {T}"]
    for i in range(size):
        lines.append(f"%a{i + 1}, %b{i + 1} = relay.if %c : tensor<i1> -> ({T}, {T}) {{")
        lines.append(f"relay.yield %b{i}, %a{i} : {T}, {T} }} else {{")
        lines.append(f"relay.yield %a{i}, %b{i} : {T}, {T} }}")
    return parsed("\n".join([*lines, f"func.return %a{size}, %b{size} : {T}, {T} }}"]))


def alive(size: int) -> ModuleOp:
    lines = [f"func.func @main(%v0: {OPEN}, %w: tensor<4x4xf32>) -> {OPEN} {{"]
    for i in range(size):
        lines.append(f"%v{i + 1} = relay.nn.softmax %v{i} {{axis = 1 : i64}} : ({OPEN}) -> {OPEN}")
    for i in range(size):
        before = f"q{i}" if i else "v0"
        lines.append(
            f"%s{i} = relay.nn.dense %v{i + 1}, %w : ({OPEN}, tensor<4x4xf32>) -> {OPEN}\n"
            f"%q{i + 1} = relay.add %{before}, %s{i} : ({OPEN}, {OPEN}) -> {OPEN}"
        )
    return parsed("\n".join([*lines, f"func.return %q{size} : {OPEN} }}"]))


def equal(size: int, after: int = 0) -> ModuleOp:
    """`size` convolutions, of which that of number `after` has stride 2."""
    kernel, lines, rows = "tensor<8x8x3x3xf32>", list[str](), 64
    for i in range(size):
        image, stride = f"tensor<1x8x{rows}x{rows}xf32>", 2 if after and i == after else 1
        rows //= stride
        lines.append(
            f"%v{i + 1} = relay.nn.conv2d %v{i}, %w {{padding = array<i64: 1, 1, 1, 1>, strides = "
            f"array<i64: {stride}, {stride}>}} : ({image}, {kernel}) -> "
            f"tensor<1x8x{rows}x{rows}xf32>"
        )
    result = f"tensor<1x8x{rows}x{rows}xf32>"
    head = f"func.func @main(%v0: tensor<1x8x64x64xf32>, %w: {kernel}) -> {result} {{"
    return parsed("\n".join([head, *lines, f"func.return %v{size} : {result} }}"]))


def halved(size: int) -> ModuleOp:
    return equal(size, after=2)


PROGRAMS: dict[str, Callable[[int], ModuleOp]] = {
    "ifs": ifs,
    "tuples": tuples,
    "swaps": swaps,
    "open": alive,
    "equal": equal,
    "halved": halved,
}


def compiled(module: ModuleOp, work: float | None = None) -> tuple[float, int]:
    """Return the CPU seconds of a compilation, and the number of ops that it makes."""
    ctx = context()
    started = time.process_time()
    verify(module)
    for step in build(VmPipeline(work=work).text, UNIVERSE.all_passes, named_pipelines):
        step.run.apply(ctx, module)
        verify(module)
    return time.process_time() - started, sum(1 for _ in module.walk())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--sizes", default="50,100,200,400")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    print(f"| program | {' | '.join(f'{size:,}' for size in sizes)} |")
    print("|---|" + "---|" * len(sizes))
    with settings():
        compiled(ifs(2))
        for name in options.programs.split(","):
            cells: list[str] = []
            for size in sizes:
                work = 1.0 if name in ("equal", "halved") else None
                seconds, ops = compiled(PROGRAMS[name](size), work)
                cells.append(f"{1e6 * seconds / size:,.0f} µs, {ops / size:.1f} ops")
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
