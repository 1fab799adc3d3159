"""
Measure the latency of the nine networks of ONNX's tests against onnxruntime, on one thread.

    python benchmarks/networks.py [--only resnet50,shufflenet] [--rounds 10] [--table | --operators]

Both run the same model (`tests/helpers/onnx/onnx_models.py`) in turns; a figure is the least CPU
time of all rounds. With `--operators`, the machine runs alone, and the time is broken down by
operator, that of conv2d also by its kind. Progress goes to stderr, JSON (or Markdown with
`--table`) to stdout.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
from cpu_times import least
from helpers.machine.in_machine import run_passes
from helpers.onnx.onnx_models import LIGHT_MODELS, Network, light_network, onnxruntime_session
from results import Facts, parser_of, write_results

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.bind import Array, Attrs, Bind, Thunk, integer, pair, word
from xrelay.runtime.machine.machine import Machine


def machine_of(network: Network, kernels: Mapping[str, Bind]) -> Machine:
    """Compile `network` with the pipeline `vm`."""
    conversion = convert_model(network.model, f"{network.name}.onnx")
    run_passes(conversion.module, "vm")
    return Machine(assemble(conversion.module), conversion.params, kernels=kernels)


def latency(name: str, rounds: int) -> list[Facts]:
    """Measure one network in the machine and in onnxruntime."""
    network = light_network(name)
    machine, inputs = machine_of(network, KERNELS), list(network.feeds.values())
    session = onnxruntime_session(network.model, threads=1)
    calls = (lambda: machine.run("main", *inputs), lambda: session.run(None, network.feeds))
    ours, theirs = least(calls, rounds)
    ratio = round(ours / theirs, 2)
    print(f"{name}: {ratio}", file=sys.stderr)
    times = {"machine, ms": round(ours, 2), "onnxruntime, ms": round(theirs, 2)}
    return [{"network": name, **times, "ratio": ratio}]


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


def operators(name: str, rounds: int) -> list[Facts]:
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
    return [
        {"network": name, "operator": kind, "ms": round(1000 * time, 3)} for kind, time in shares
    ]


def main() -> None:
    parser = parser_of("The nine networks against onnxruntime.", 10, LIGHT_MODELS)
    parser.add_argument("--operators", action="store_true", help="the time by kind of operator")
    options = parser.parse_args()
    measure = operators if options.operators else latency
    results = [facts for name in options.only for facts in measure(name, options.rounds)]
    write_results(results, options.table, numpy=np.__version__)


if __name__ == "__main__":
    main()
