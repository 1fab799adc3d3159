"""
Measure the latency of the nine networks of ONNX's tests against onnxruntime, on one thread.

    python benchmarks/networks.py [--only resnet50,shufflenet] [--rounds 10] [--table | --operators]

Both run the same model (`tests/onnx_models.py`) in turns; a figure is the least CPU time of all
rounds. With `--operators`, the machine runs alone, and the time is broken down by operator, that of
conv2d also by its kind. Progress goes to stderr, JSON (or Markdown with `--table`) to stdout.
"""

import argparse
import importlib
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any, TypeAlias

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
from in_machine import run_passes
from onnx_models import LIGHT_MODELS, Network, light_network

from xrelay.frontends.onnx.importer import convert_model
from xrelay.lowering.assemble import assemble
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.bind import Array, Attrs, Bind, Thunk, integer, pair, word
from xrelay.runtime.machine import Machine

Facts: TypeAlias = dict[str, Any]


def machine_of(network: Network, kernels: Mapping[str, Bind]) -> Machine:
    """Compile `network` with the pipeline `vm`."""
    conversion = convert_model(network.model, f"{network.name}.onnx")
    run_passes(conversion.module, "vm")
    return Machine(assemble(conversion.module), conversion.params, kernels=kernels)


def session_of(network: Network) -> Callable[[], object]:
    """Return a call of `network` in onnxruntime on one thread."""
    ort: Any = importlib.import_module("onnxruntime")  # it has no type stubs
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(
        network.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, network.feeds)


def least(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Return the least CPU time in ms of each of `calls`, made in turns."""
    best = [float("inf")] * len(calls)
    for turn in range(rounds + 1):
        for i, call in enumerate(calls):
            start = process_time()
            call()
            if turn:  # the first one prepares
                best[i] = min(best[i], 1000 * (process_time() - start))
    return best


def latency(name: str, rounds: int) -> Facts:
    """Measure one network in the machine and in onnxruntime."""
    network = light_network(name)
    machine, inputs = machine_of(network, KERNELS), list(network.feeds.values())
    ours, theirs = least([lambda: machine.run("main", *inputs), session_of(network)], rounds)
    facts: Facts = {"network": name, "machine, ms": round(ours, 2)}
    facts |= {"onnxruntime, ms": round(theirs, 2), "ratio": round(ours / theirs, 2)}
    print(f"{name}: {facts['ratio']}", file=sys.stderr)
    return facts


def kind(op: str, attrs: Attrs, ins: Sequence[Array]) -> str:
    """Return the name of an operator; convolutions are told apart by what decides their speed."""
    if op != "relay.nn.conv2d":
        return op.removeprefix("relay.")
    rows, columns = ins[1].shape[:2] if word(attrs, "kernel_layout") == "HWIO" else ins[1].shape[2:]
    groups, stride = integer(attrs, "groups"), pair(attrs, "strides")[0]
    channels = ins[0].shape[1 if word(attrs, "data_layout") == "NCHW" else 3]
    size = f"{rows}x{columns}" + (f"/{stride}" if stride > 1 else "")
    shared = "" if groups == 1 else " depthwise" if groups == channels else " grouped"
    return f"conv2d {size}{shared}" + (" of image" if channels <= 4 else "")


def timed(kernel: Bind, op: str, spent: defaultdict[str, float]) -> Bind:
    """Return `kernel` that adds the seconds it runs to its kind in `spent`."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        run, name = kernel(attrs, ins, outs), kind(op, attrs, ins)

        def measured() -> None:
            start = process_time()
            run()
            spent[name] += process_time() - start

        return measured

    return bind


def operators(name: str, rounds: int) -> Facts:
    """Measure the ms that one network takes in each kind of operator."""
    network, spent = light_network(name), defaultdict[str, float](float)
    kernels: dict[str, Bind] = {
        op: replace(kernel, bind=timed(kernel.bind, op, spent)) for op, kernel in KERNELS.items()
    }
    machine, inputs = machine_of(network, kernels), list(network.feeds.values())
    machine.run("main", *inputs)
    best: dict[str, float] = {}
    for _ in range(rounds):
        spent.clear()
        machine.run("main", *inputs)
        best = {kind: min(best.get(kind, time), time) for kind, time in spent.items()}
    shares = sorted(best.items(), key=lambda item: -item[1])
    return {"network": name, **{kind: round(1000 * time, 3) for kind, time in shares}}


def table(results: Sequence[Facts]) -> str:
    """Format the results as Markdown: a row per network, or per operator and network."""
    rows = results
    if "ratio" not in results[0]:
        rows = [
            {"network": one["network"], "operator": kind, "ms": ms}
            for one in results
            for kind, ms in one.items()
            if kind != "network"
        ]
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row.values())) + " |" for row in rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description="The nine networks against onnxruntime.")
    parser.add_argument("--only", default=",".join(LIGHT_MODELS), help="names, with commas")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--operators", action="store_true", help="the time by kind of operator")
    parser.add_argument("--table", action="store_true", help="Markdown instead of JSON")
    options = parser.parse_args()
    measure = operators if options.operators else latency
    results = [measure(name, options.rounds) for name in options.only.split(",")]
    if options.table:
        print(table(results))
    else:
        json.dump({"numpy": np.__version__, "results": results}, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
