"""
The cost of a new shape: CPU time of a call with sizes that were not seen, and of the next one.

    python benchmarks/new_shapes.py [--rounds 5]

A chain of operators, an encoder with open batch and length, and a decoder with a KV cache. Each
call follows one of onnxruntime, on one thread; times are the median of a round, the best round
counts. Then decoders generate 64 tokens, in turns; the tokens must be equal. The last one does so
100 times more: memory must not grow. xrelay has its default options: BLAS may use threads.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
import onnx
import onnxruntime
from decoder_model import build, empty_cache, generate
from helpers.programs import transformer
from onnx import TensorProto, helper

import xrelay

Inputs = dict[str, Any]
LAYERS, HEADS, WIDTH, VOCABULARY = 2, 4, 32, 64


def chain() -> onnx.ModelProto:
    """Return ten elementwise operators on rows of 16."""
    kinds = ["Relu", "Sigmoid", "Neg", "Tanh", "Abs"] * 2
    names = ["x", *(f"v{i}" for i in range(len(kinds) - 1)), "y"]
    nodes = [helper.make_node(kind, [names[i]], [names[i + 1]]) for i, kind in enumerate(kinds)]
    x, y = (helper.make_tensor_value_info(v, TensorProto.FLOAT, ["n", 16]) for v in "xy")
    graph = helper.make_graph(nodes, "chain", [x], [y])
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def cases() -> Iterator[tuple[str, onnx.ModelProto, Callable[[int], Inputs]]]:
    """Yield models, and the inputs that have a size of their own for each number."""
    yield "chain", chain(), lambda n: {"x": np.ones((n, 16), np.float32)}
    yield "encoder", transformer.encoder(), lambda n: {"ids": np.ones((2, 2 + n % 62), np.int64)}
    decoder = build(LAYERS, HEADS, WIDTH, VOCABULARY)
    tokens = {"tokens": np.array([[3]], np.int64)}
    yield "decoder", decoder, lambda n: {**tokens, **empty_cache(LAYERS, HEADS, WIDTH, n)}


def calls_of(path: str) -> list[Callable[[Inputs], Any]]:
    """Return what calls onnxruntime, and what calls xrelay."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    executable = xrelay.compile(path)
    return [lambda inputs: session.run(None, inputs), lambda inputs: executable(**inputs)]


def timed(calls: list[Callable[[Inputs], Any]], inputs: list[Inputs]) -> list[float]:
    """Return the median CPU times of calls with each of the inputs in turn."""
    times: list[list[float]] = [[] for _ in calls]
    for each in inputs:
        for call, found in zip(calls, times, strict=True):
            start = time.process_time()
            call(each)
            found.append(time.process_time() - start)
    return [sorted(found)[len(found) // 2] for found in times]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(
        "| ms | onnxruntime | xrelay, new | xrelay, repeated | new / repeated | new / onnxruntime |"
    )
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, model, inputs_of in cases():
            path = f"{folder}/{name}.onnx"
            onnx.save(model, path)
            calls = calls_of(path)
            for number in (3, 4):
                calls[1](inputs_of(number))
            found: list[list[float]] = []
            for number in range(rounds):
                first = 5 + 60 * number
                new = [inputs_of(n) for n in range(first, first + 60)]
                found.append(timed([*calls, *calls], new))  # the last two have a repeated size
            ort, new, _, same = (1e3 * min(column) for column in zip(*found, strict=True))
            ratios = f"{new / same:.2f} | {new / ort:.1f}"
            print(f"| {name} | {ort:.3f} | {new:.3f} | {same:.3f} | {ratios} |")
        print("\n| ms a token | onnxruntime | xrelay | ratio | compile, s |\n|---|---|---|---|---|")
        for sizes in ((2, 4, 32, 64), (6, 8, 512, 1000), (12, 4, 32, 64)):
            print(generation(sizes, f"{folder}/decoder.onnx", rounds), flush=True)


def generation(sizes: tuple[int, int, int, int], path: str, rounds: int) -> str:
    """Return a row: the least CPU time of a token of decoders of these sizes, in turns."""
    onnx.save(build(*sizes), path)
    times, tokens = [float("inf")] * 2, list[list[int]]()
    start = time.process_time()
    xrelay.compile(path)
    compilation = time.process_time() - start
    calls = calls_of(path)
    for _ in range(rounds):
        for number, call in enumerate(calls):
            start = time.process_time()
            tokens.append(generate(call, *sizes[:3], 64))
            times[number] = min(times[number], (time.process_time() - start) / 64 * 1e3)
    assert all(found == tokens[0] for found in tokens), "tokens differ"
    ort, ours = times
    numbers = f"{ort:.3f} | {ours:.3f} | {ours / ort:.2f} | {compilation:.2f}"
    row = f"| {sizes[0]} x {sizes[2]} | {numbers} |"
    if sizes[0] < 12:
        return row
    before = resident()
    for _ in range(100):
        generate(calls[1], *sizes[:3], 64)
    return f"{row}\n\nResident memory after 100 more loops: {resident() - before:+} KiB of {before}"


def resident() -> int:
    """Return the resident memory of this process in KiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


if __name__ == "__main__":
    main()
