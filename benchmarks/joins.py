"""
Compare programs whose concatenations are views with those whose concatenations are copies.

    python benchmarks/joins.py [--only squeezenet,head] [--native] [--rounds 10] [--table]

`join-tensors` is left out of the pipeline for the second. Planned bytes include results in `vm`.
Times are the least CPU time of all rounds, in turns. `head` has the last steps of a YOLO network;
the encoder has a length of 128.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
from cpu_times import least
from helpers.onnx.onnx_models import light_network
from helpers.onnx.open_models import OPEN_MODELS
from helpers.programs.programs import parse
from results import Facts, parser_of, write_results

import xrelay
from xrelay.lowering.pipelines import AotPipeline, VmPipeline

NETWORKS = ("densenet121", "inception_v1", "squeezenet", "head", "encoder")
SIDES = (52, 26, 13)


def head() -> str:
    """Return the text of a program that joins the boxes of three images."""
    lines: list[str] = []
    parts = [f"tensor<1x{3 * side * side}x85xf32>" for side in SIDES]
    images = [f"tensor<1x{side}x{side}x255xf32>" for side in SIDES]
    for i, (image, part) in enumerate(zip(images, parts, strict=True)):
        shape = part.removeprefix("tensor<").removesuffix("xf32>").replace("x", ", ")
        attributes = f"{{newshape = array<i64: {shape}>}}"
        lines.append(f"%r{i} = relay.reshape %x{i} {attributes} : ({image}) -> {part}")
        lines.append(f"%s{i} = relay.nn.softmax %r{i} : ({part}) -> {part}")
    whole = f"tensor<1x{sum(3 * side * side for side in SIDES)}x85xf32>"
    lines.append(
        f"%j = relay.concatenate %s0, %s1, %s2 {{axis = 1}} : ({', '.join(parts)}) -> {whole}"
    )
    lines.append(f"%y = relay.nn.softmax %j {{axis = 1}} : ({whole}) -> {whole}")
    arguments = ", ".join(f"%x{i}: {image}" for i, image in enumerate(images))
    body = "\n".join(lines)
    return f"func.func @main({arguments}) -> {whole} {{\n{body}\nfunc.return %y : {whole}\n}}"


def measured(name: str, native: bool, rounds: int) -> Facts:
    """Compile a network twice, and run both programs."""
    dims: dict[str, int] = {}
    if name == "head":
        rng = np.random.default_rng(0)
        inputs = [rng.standard_normal((1, side, side, 255), np.float32) for side in SIDES]
        model = parse(head())
    elif name == "encoder":
        rng = np.random.default_rng(0)
        model, inputs = OPEN_MODELS[name](), [rng.standard_normal((1, 128, 128), np.float32)]
        dims = {"batch": 1, "length": 128}
    else:
        network = light_network(name)
        model, inputs = network.model, [*network.feeds.values()]
    passes = (AotPipeline() if native else VmPipeline()).text.split(",")
    copying = [step for step in passes if not step.startswith("join-tensors")]
    target = "native{cpu=native}" if native else "machine"
    programs = [
        xrelay.compile(model, dims=dims, target=target, pipeline=",".join(steps))
        for steps in (copying, passes)
    ]
    copied, joined = (program(*inputs) for program in programs)
    before, after = least([lambda p=p: p(*inputs) for p in programs], rounds)
    planned = [next(iter(p.memory.devices.values())).planned["main"] for p in programs]
    return {
        "network": name,
        "bytes, copies": planned[0],
        "bytes, views": planned[1],
        "copies, ms": round(before, 2),
        "views, ms": round(after, 2),
        "ratio": round(after / before, 3),
        "equal": np.array_equal(np.asarray(copied), np.asarray(joined)),
    }


def main() -> None:
    parser = parser_of("Concatenations as views.", 10, NETWORKS)
    parser.add_argument("--native", action="store_true", help="compiled by `aot`")
    options = parser.parse_args()
    results = [measured(name, options.native, options.rounds) for name in options.only]
    write_results(results, options.table, rounds=options.rounds)


if __name__ == "__main__":
    main()
