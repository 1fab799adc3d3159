"""
Compile linalg by IREE, and compare results and latency with onnxruntime, on one thread.

    python -m venv iree && iree/bin/pip install iree-base-compiler iree-base-runtime
    python benchmarks/iree.py iree/bin [--only squeezenet,transformer] [--rounds 20] [--table]

IREE (https://iree.dev) lives in an environment of its own: xrelay does not need it. Each program is
written by `xrelay-opt -t linalg`, with its weights, compiled by `iree-compile` for this CPU, and
run by `iree-run-module` and `iree-benchmark-module`. Results must agree to 1e-4 of the largest;
times are IREE's own, and the least of so many rounds of onnxruntime.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
import onnx
from cpu_times import least
from helpers.onnx.onnx_models import light_network, onnxruntime_session
from helpers.programs.transformer import VOCABULARY, encoder
from results import Facts, parser_of, write_results

from xrelay.tools.opt.opt import main as xrelay_opt

Feeds = Mapping[str, Any]


def squeezenet() -> tuple[onnx.ModelProto, Feeds]:
    network = light_network("squeezenet")
    return network.model, network.feeds


def transformer() -> tuple[onnx.ModelProto, Feeds]:
    """Return an encoder of 2 layers of 256 features for 64 tokens."""
    ids = np.random.default_rng(1).integers(0, VOCABULARY, (1, 64))
    return encoder(layers=2, heads=4, width=256, dims=(1, 64)), {"ids": ids}


MODELS: dict[str, Callable[[], tuple[onnx.ModelProto, Feeds]]] = {
    "squeezenet": squeezenet,
    "transformer": transformer,
}


def compiled(model: Path, tools: Path) -> tuple[Path, float]:
    """Compile an ONNX model through linalg; return IREE's module and the seconds it took."""
    text, module = model.with_suffix(".mlir"), model.with_suffix(".vmfb")
    if xrelay_opt([str(model), "-t", "linalg", "-o", str(text)]):
        sys.exit(f"xrelay-opt failed on {model.name}")
    start = perf_counter()
    target = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    options = [*target, "--iree-llvmcpu-target-cpu=host"]
    subprocess.run([tools / "iree-compile", text, *options, "-o", module], check=True)
    return module, perf_counter() - start


def measured(name: str, tools: Path, rounds: int, folder: Path) -> Facts:
    """Compile, run, compare and time one model."""
    model, feeds = MODELS[name]()
    path = folder / f"{name}.onnx"
    path.write_bytes(model.SerializeToString())
    module, seconds = compiled(path, tools)
    session = onnxruntime_session(model, threads=1)
    expected = session.run(None, dict(feeds))
    call = [f"--module={module}", "--function=main", "--device=local-sync"]
    for i, array in enumerate(feeds.values()):
        np.save(folder / f"input{i}.npy", array)
        call.append(f"--input=@{folder}/input{i}.npy")
    outputs = [f"--output=@{folder}/output{i}.npy" for i in range(len(expected))]
    subprocess.run([tools / "iree-run-module", *call, *outputs], check=True)
    found = [np.load(folder / f"output{i}.npy") for i in range(len(expected))]
    worst = max(
        float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(found, expected, strict=True)
    )
    if not worst < 1e-4:
        sys.exit(f"{name}: the results differ by {worst:.1e} of the largest")
    bench = [tools / "iree-benchmark-module", *call, "--benchmark_format=json"]
    run = subprocess.run(bench, check=True, capture_output=True, text=True)
    times = json.loads(run.stdout[run.stdout.index("{") :])["benchmarks"]
    (theirs,) = least([lambda: session.run(None, dict(feeds))], rounds)
    ours = min(float(entry["cpu_time"]) for entry in times)
    return {
        "program": name,
        "difference": f"{worst:.0e}",
        "compile, s": round(seconds, 1),
        "IREE, ms": round(ours, 2),
        "onnxruntime, ms": round(theirs, 2),
        "ratio": round(ours / theirs, 2),
    }


def main() -> None:
    parser = parser_of("Programs compiled by IREE, from linalg.", 20, MODELS)
    parser.add_argument("tools", type=Path, help="the folder of iree-compile")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        results = [
            measured(name, options.tools.resolve(), options.rounds, Path(folder))
            for name in options.only
        ]
    write_results(results, options.table, numpy=np.__version__)


if __name__ == "__main__":
    main()
