"""
Measure the memory of planned networks: bytes over the lower bound, and allocations.

    python benchmarks/planning/networks.py                  # JSON
    python benchmarks/planning/networks.py --table          # Markdown
    python benchmarks/planning/networks.py --only encoder   # no other networks
    python benchmarks/planning/networks.py --plan 'plan-memory{verify=false}'

Each network is compiled with `vm{memory=none}` and with `vm`, and called in the machine with
kernels that compute nothing, which counts allocations and bytes all the same. Results are
allocated apart, so they are not in the arena; the lower bound is the peak of the live bytes of
all other tensors, each rounded up to its alignment. The encoder is a transformer of 12 layers,
with a static sequence and with a symbolic one: one module, called at every length. It needs the
tests' requirements (`onnx`).
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.pipelines import PLAN, VmPipeline
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.bind import Attrs, Thunk
from xrelay.runtime.machine.machine import Machine
from xrelay.tools.api.plugins import load_universe
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import named_pipelines

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")]

from helpers.memory.planned_memory import arena_bounds
from helpers.onnx.onnx_models import LIGHT_MODELS, Array, light_network
from helpers.programs.transformer import encoder
from results import write_results

Facts = dict[str, object]
LENGTHS = (1, 16, 64, 128, 256, 512, 2048)
LAYERS, HEADS, WIDTH = 12, 12, 768
UNIVERSE = load_universe(lambda text: print(text, file=sys.stderr))


def idle(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Bind a kernel that computes nothing."""
    return lambda: None


IDLE = {name: replace(kernel, bind=idle) for name, kernel in KERNELS.items()}
"""Kernels that check what they are bound to, and compute nothing."""


def compiled(model: ModelProto, pipeline: str) -> tuple[ModuleOp, dict[str, Array], float]:
    """Return a module after `pipeline`, its parameters, and the CPU seconds of plan-memory."""
    converted = convert_model(model, "model.onnx")
    ctx = ReportingContext(handler=lambda message: None)
    for name, factory in UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, factory)
    seconds = 0.0
    for step in build(pipeline, UNIVERSE.all_passes, named_pipelines):
        began = time.process_time()
        step.run.apply(ctx, converted.module)
        if step.run.name == "plan-memory":
            seconds = time.process_time() - began
    return converted.module, dict(converted.params), seconds


def measure(
    name: str, model: ModelProto, calls: Sequence[tuple[int, list[Array]]], plan: str
) -> list[Facts]:
    """
    Measure one module in calls at several lengths (0 if it has no symbol).

    The symbols of the encoder's sizes are `n`, and the minimum of it and the number of positions,
    which is not smaller.
    """
    plain, params, _ = compiled(model, VmPipeline("none").text)
    planned, _, seconds = compiled(model, VmPipeline().text.replace(PLAN, plan))
    before, after = assemble(plain), assemble(planned)
    results: list[Facts] = []
    lengths = [length for length, _ in calls]
    found = arena_bounds(convert_model(model, "model.onnx").module, lengths, plan)
    bounds = [sum(by_device.values()) for by_device in found]
    for (length, inputs), bound in zip(calls, bounds, strict=True):
        machines = [Machine(program, params, IDLE) for program in (before, after)]
        outputs = [machine.run("main", *inputs) for machine in machines][1]
        counted = [machine.counters for machine in machines]
        arenas = counted[1].allocated.total() - sum(y.nbytes for y in outputs)
        facts: Facts = {"name": name, "n": length or "", "buffers": counted[0].allocations.total()}
        facts |= {
            "sum of tensors": counted[0].allocated.total(),
            "lower bound": bound,
            "planned": arenas,
            "ratio": round(arenas / bound, 4),
            "allocations": counted[1].allocations.total(),
            "results": len(outputs),
            "peak of the machine": counted[1].peak[0],
            "peak without a plan": counted[0].peak[0],
        }
        if not results:
            facts["plan-memory, ms"] = round(1000 * seconds, 1)
        print(f"{name} {length}: {facts['ratio']}", file=sys.stderr)
        results.append(facts)
    return results


def networks(plan: str) -> list[Facts]:
    """Measure the nine networks of ONNX's tests."""
    results: list[Facts] = []
    for name in LIGHT_MODELS:
        network = light_network(name)
        results += measure(name, network.model, [(0, list(network.feeds.values()))], plan)
    return results


def encoders(layers: int, width: int, lengths: Sequence[int], plan: str) -> list[Facts]:
    """Measure the encoder with each length as a static dim, then one module with a symbol."""
    heads = HEADS if width % HEADS == 0 else 1

    def model(length: int | str) -> ModelProto:
        dims = (1, length)
        return encoder(layers, heads, width, None, positions=max(lengths), dims=dims)

    inputs = [(n, [np.zeros((1, n), np.int64)]) for n in lengths]
    results: list[Facts] = []
    for n, arrays in inputs:
        results += [
            facts | {"n": n} for facts in measure("encoder, static", model(n), [(0, arrays)], plan)
        ]
    return results + measure("encoder, symbolic", model("n"), inputs, plan)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1] if __doc__ else None)
    parser.add_argument("--only", choices=["networks", "encoder"])
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--lengths", default=",".join(map(str, LENGTHS)))
    parser.add_argument("--plan", default="plan-memory", help="plan-memory with its options")
    parser.add_argument("--table", action="store_true", help="Markdown instead of JSON")
    options = parser.parse_args()
    results: list[Facts] = []
    if options.only != "encoder":
        results += networks(options.plan)
    if options.only != "networks":
        lengths = [int(n) for n in options.lengths.split(",")]
        results += encoders(options.layers, options.width, lengths, options.plan)
    write_results(results, options.table, measured="networks")


if __name__ == "__main__":
    main()
