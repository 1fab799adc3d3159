"""
Plan published networks in stripes of rows that add no work, and compare with the whole.

    python benchmarks/below_the_bound.py [--only vww,unet] [--native] [--work 1.0] [--table]

`whole` and `tiled` are planned bytes, results included; `model` is the peak that `choose-tiling`
computes. Instructions, calls of kernels and kernels are those of both programs. The error is that
of the tiled program, relative to the greatest number. With `--native` the layout is that for
compiled kernels (channels last); kernels are NumPy's in any case. With `--peak 2`, the limit is a
half of `whole`; with `--code 3`, the calls of kernels in a chain are at most three a step. Times
are those of a call, the least CPU time of all rounds, in turns.
"""

import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, cast

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
import onnx
from cpu_times import least
from helpers.onnx.onnx_models import light_network
from results import Facts, parser_of, write_results
from tiled_networks import NETWORKS, model

import xrelay
from xrelay.runtime.program.instructions import InvokePacked

SIZES = ("instructions", "calls", "kernels")
LIGHT = ("squeezenet", "resnet50", "vgg19", "inception_v1", "densenet121", "shufflenet")


def planned_by(program: xrelay.Executable | xrelay.NativeExecutable) -> int:
    return sum(device.planned["main"] or 0 for device in program.memory.devices.values())


def size_of(program: xrelay.Executable) -> tuple[int, int, int]:
    """Return how many instructions, calls of kernels and kernels a program has."""
    functions = program.program.functions
    instructions = [one for function in functions for one in function.instructions]
    calls = sum(isinstance(one, InvokePacked) for one in instructions)
    return len(instructions), calls, len(program.program.kernels)


def written(name: str, folder: Path) -> tuple[Path, Sequence[np.ndarray[Any, Any]]]:
    """Write a network to a file; return this, and inputs."""
    if name in NETWORKS:
        network = model(name)
        dims = [dim.dim_value for dim in network.graph.input[0].type.tensor_type.shape.dim]
        inputs = [np.random.default_rng(0).standard_normal(dims, np.float32)]
    else:
        light = light_network(name)
        network, inputs = light.model, [*light.feeds.values()]
    path = folder / f"{name}.onnx"
    cast(Any, onnx).save(network, path)
    return path, inputs


def measured(name: str, limits: str, part: int | None, native: bool, rounds: int) -> Facts:
    """Compile a network twice, and run both programs."""
    options = "kernels=native" if native else ""
    with TemporaryDirectory() as folder:
        path, inputs = written(name, Path(folder))
        whole = xrelay.compile(path, pipeline=f"vm{{{options}}}")
        started, remarks = process_time(), StringIO()
        with redirect_stderr(remarks):
            limits += f" peak={planned_by(whole) // part}" if part else ""
            tiled = xrelay.compile(path, pipeline=f"vm{{{options} {limits}}}")
        seconds = process_time() - started
    chosen = re.search(r"bytes from \d+ to (\d+), work (\S+) %, (\d+) chain", remarks.getvalue())
    expected, found = (np.asarray(result) for result in (whole(*inputs), tiled(*inputs)))
    error = np.abs(found - expected).max() / np.abs(expected).max()
    before, after = least([lambda: whole(*inputs), lambda: tiled(*inputs)], rounds)
    programs = whole, tiled
    planned = [*map(planned_by, programs)]
    return {
        "network": name,
        "whole": planned[0],
        "tiled": planned[1],
        "ratio": round(planned[0] / planned[1], 1),
        "model": int(chosen[1]) if chosen else "",
        "work": f"{chosen[2]} %" if chosen else "",
        "chains": int(chosen[3]) if chosen else "",
        **{what: f"{a} -> {b}" for what, a, b in zip(SIZES, *map(size_of, programs), strict=True)},
        "error": f"{error:.0e}",
        "time": round(after / before, 2),
        "compile, s": round(seconds, 1),
    }


def main() -> None:
    parser = parser_of(__doc__ or "", 3, [*NETWORKS, *LIGHT])
    parser.add_argument("--native", action="store_true", help="channels last")
    parser.add_argument("--work", type=float, default=1.0)
    parser.add_argument("--code", type=float)
    parser.add_argument("--peak", type=int, metavar="PART", help="the part of the whole plan")
    options = parser.parse_args()
    limits = f"work={options.work}" + (f" code={options.code}" if options.code else "")
    results: list[Facts] = []
    for name in options.only:
        print(name, file=sys.stderr, flush=True)
        results.append(measured(name, limits, options.peak, options.native, options.rounds))
    write_results(results, options.table)


if __name__ == "__main__":
    main()
