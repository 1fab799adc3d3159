"""
Measure what reordering gains: the peak of live bytes before and after `reorder-for-memory`.

    python benchmarks/planning/reorder.py                  # JSON
    python benchmarks/planning/reorder.py --table          # Markdown
    python benchmarks/planning/reorder.py --only graphs    # random graphs, no networks

Networks are lowered up to `plan-memory`; peaks are those of the pass's remark, in bytes rounded up
to alignments. The graphs are random: each step has one to three predecessors among the last
`width` steps, and a result of 64 to 4,096 bytes that is held until its last user is done. It needs
the tests' requirements (`onnx`).
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from onnx import ModelProto

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.pipelines import VmPipeline
from xrelay.passes.bytes.aliases import bodies_of
from xrelay.passes.bytes.live_bytes import peaks_of, rows_of, storages_in
from xrelay.passes.reorder_for_memory import ReorderForMemoryPass
from xrelay.passes.sizes.reader import Sizes
from xrelay.passes.support.diagnostics import Message, ReportingContext
from xrelay.planning.order.schedule import NODES, Held, StepGraph, schedule
from xrelay.tools.api.plugins import load_universe
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import named_pipelines

sys.path.append(str(Path(__file__).parents[2] / "tests"))

from helpers.onnx.onnx_models import LIGHT_MODELS, light_network
from helpers.programs.transformer import encoder

TO_MANIFEST = VmPipeline().text.partition(",plan-memory")[0]
UNIVERSE = load_universe(lambda text: print(text, file=sys.stderr))
GRAPHS = ((30, 5), (30, 20), (100, 20), (100, 100), (300, 20), (1_000, 20), (1_000, 100))
LARGE = ((10_000, 20), (100_000, 20))


class Row(NamedTuple):
    """A line of the table; peaks in bytes, one for each sample of dynamic sizes."""

    program: str
    steps: int
    before: list[int]
    after: list[int]
    optimal: bool
    seconds: float


def network(name: str, model: ModelProto) -> Row:
    """Reorder `main` of a network."""
    module = convert_model(model, f"{name}.onnx").module
    messages: list[Message] = []
    ctx = ReportingContext(handler=messages.append)
    for dialect, factory in UNIVERSE.all_dialects.items():
        ctx.register_dialect(dialect, factory)
    for step in build(TO_MANIFEST, UNIVERSE.all_passes, named_pipelines):
        step.run.apply(ctx, module)
    messages.clear()
    sizes = Sizes()
    sizes.read(module)
    (classes,) = bodies_of(module, separate=False)
    rows = rows_of(storages_in(classes), sizes)
    before = peaks_of(classes, rows)
    began = time.process_time()
    ReorderForMemoryPass().apply(ctx, module)
    seconds = time.process_time() - began
    (classes,) = bodies_of(module, separate=False)
    after = peaks_of(classes, rows)
    optimal = messages[-1].message.endswith("the least of any order")
    return Row(name, len(rows.of), before, after, optimal, round(seconds, 3))


def random_graph(count: int, width: int) -> tuple[StepGraph, list[int]]:
    rng = Random(1)
    before: list[list[int]] = []
    users: list[list[int]] = [[] for _ in range(count)]
    for step in range(count):
        low = max(0, step - width)
        before.append(
            sorted(rng.sample(range(low, step), min(step - low, rng.choice([1, 1, 2, 3]))))
        )
        for other in before[-1]:
            users[other].append(step)
    held = [Held((step,), (step, *users[step])) for step in range(count)]
    return StepGraph(before, held), [rng.choice([64, 128, 256, 1024, 4096]) for _ in range(count)]


def graph(count: int, width: int, nodes: int) -> Row:
    """Order a random graph."""
    steps, sizes = random_graph(count, width)
    began = time.process_time()
    order = schedule(steps, [sizes], nodes)
    seconds = round(time.process_time() - began, 3)
    before, after = list(order.before), list(order.after)
    return Row(f"random, width {width}", count, before, after, order.is_optimal, seconds)


def measured(only: str | None, large: bool, nodes: int) -> Iterator[Row]:
    if only in (None, "networks"):
        for name in LIGHT_MODELS:
            yield network(name, light_network(name).model)
    if only in (None, "encoder"):
        yield network("encoder, open dims", encoder(12, 12, 768))
    if only in (None, "graphs"):
        for count, width in (*GRAPHS, *(LARGE if large else ())):
            yield graph(count, width, nodes)


def table(rows: list[Row]) -> str:
    """Return a Markdown table."""
    lines = [
        "| program | steps | peak before | after | ratio | optimal | s |",
        "|---|--:|--:|--:|--:|---|--:|",
    ]
    for row in rows:
        ratios = [now / was for was, now in zip(row.before, row.after, strict=True) if was]
        shown = (
            f"{max(ratios):.3f}"
            if len(set(ratios)) < 2
            else f"{min(ratios):.3f} - {max(ratios):.3f}"
        )
        lines.append(
            f"| {row.program} | {row.steps:,} | {max(row.before):,} | {max(row.after):,} | {shown} "
            f"| {'yes' if row.optimal else 'not known'} | {row.seconds} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--large", action="store_true", help="graphs of up to 100,000 steps too")
    parser.add_argument("--only", choices=["networks", "encoder", "graphs"])
    parser.add_argument("--nodes", type=int, default=NODES, help="the limit of a search in graphs")
    options = parser.parse_args()
    rows: list[Row] = []
    for row in measured(options.only, options.large, options.nodes):
        rows.append(row)
        print(row.program, file=sys.stderr)
    print(table(rows) if options.table else json.dumps([row._asdict() for row in rows], indent=1))


if __name__ == "__main__":
    main()
