"""
Measure compiled networks with open dims against onnxruntime, on one thread.

    python benchmarks/native_shapes.py [--only encoder,residual] [--cpu native]

The networks are those of `tests/helpers/onnx/open_models.py`. All levels of a library (`v1`, `v3`,
`v4`; or one processor, with `--cpu`) and onnxruntime run in turns in one process; a figure is the
least CPU time of all calls, from Python. Each run has an empty cache of kernels. The error is the
largest difference of any level, relative to the largest result. *Generating* is the median time of
a token, each with the keys and values that the one before returned; *in buffers*, these are lent
(`aot{caches=…}`). The tokens must be equal. JSON (or Markdown with `--table`) goes to stdout.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
from cpu_times import least
from helpers.onnx.onnx_models import onnxruntime_session
from helpers.onnx.open_models import OPEN_MODELS
from levels import as_list, by_level, cells
from results import Facts, parser_of, write_results

import xrelay

RNG = np.random.default_rng(0)
STEPS = 64
"""The tokens that are generated."""
ROWS = 128
"""The rows of a buffer of keys or values."""

DECODERS = {"decoder2x32": (2, 4, 8), "decoder6x512": (6, 8, 64)}
"""By decoder, its layers, heads, and the features of a head."""

Array = np.ndarray[Any, np.dtype[Any]]
Call = Callable[[Mapping[str, Array]], Any]


def normal(*shape: int) -> Array:
    """Return random f32."""
    return RNG.standard_normal(shape).astype(np.float32)


def cases(name: str) -> Iterator[tuple[str, dict[str, Array]]]:
    """Yield what each call is named, and its arguments."""
    if name in DECODERS:
        layers, heads, each = DECODERS[name]
        for t, past in ((3, 0), (1, 20), (1, 200), (64, 0), (64, 64)):
            feeds = {"tokens": RNG.integers(0, 64, (1, t))}
            for layer in range(layers):
                feeds |= {f"past_{x}{layer}": normal(1, heads, past, each) for x in "kv"}
            yield f"{t} tokens after {past}", feeds
    elif name == "residual":
        for x, y in ((64, 64), (17, 17), (64, 1), (1, 64)):
            yield f"{x} and {y} rows", {"x": normal(x, 256), "y": normal(y, 256)}
    else:
        for n in (1, 3, 17, 128, 512):
            yield f"length {n}", {"x": normal(1, n, 128)}


def generate(call: Call, name: str, lent: bool = False) -> tuple[list[int], float]:
    """Return the likeliest tokens, and the median CPU time in ms of one."""
    layers, heads, each = DECODERS[name]
    names = ["tokens", *(f"past_{x}{layer}" for layer in range(layers) for x in "kv")]
    state: list[Array] = [np.array([[1, 2, 3]])]
    if lent:
        state += [np.empty((ROWS, 1, heads, each), np.float32)[:0] for _ in names[1:]]
    else:
        state += [np.zeros((1, heads, 0, each), np.float32)] * (2 * layers)
    tokens: list[int] = []
    times: list[float] = []
    for _ in range(STEPS):
        start = process_time()
        logits, *kept = call(dict(zip(names, state, strict=True)))
        times.append(1000 * (process_time() - start))
        tokens.append(int(np.argmax(logits[0, -1])))
        state = [np.array([[tokens[-1]]]), *(kept if lent else map(np.ascontiguousarray, kept))]
    return tokens, sorted(times)[STEPS // 2]


def compiled(source: Path, cpu: str, pipeline: str = "aot") -> dict[str, Any]:
    """Return the library of a model, by level."""
    library = source.with_name(f"lib{source.stem}{len(pipeline)}.so")
    target = f"native{{cpu={cpu}}}"
    command = ["xrelay-opt", str(source), "-p", pipeline, "-t", target, "-o", str(library)]
    subprocess.run([str(Path(sys.executable).with_name(command[0])), *command[1:]], check=True)
    return by_level(library, cpu, lambda path: xrelay.load(str(path), threads=1))


def measure(name: str, cpu: str, rounds: int, folder: Path) -> Iterator[Facts]:
    """Yield the rows of a network."""
    model = OPEN_MODELS[name]()
    source = folder / f"{name}.onnx"
    source.write_bytes(model.SerializeToString())
    session, levels = onnxruntime_session(model, threads=1), compiled(source, cpu)

    def theirs(feeds: Mapping[str, Array]) -> list[Array]:
        return session.run(None, feeds)

    for case, feeds in cases(name):
        expected, errors = theirs(feeds), list[float]()
        for level, exe in levels.items():
            pairs = zip(as_list(exe(**feeds)), expected, strict=True)
            errors.append(max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs))
            assert errors[-1] < 1e-5, f"{name}, {case}, {level}: the error is {errors[-1]}"
        calls = [*(partial(exe, **feeds) for exe in levels.values()), partial(theirs, feeds)]
        first = least(calls, 3)
        *ours, other = least(calls, max(rounds, min(2000, int(500 / max(first)))))
        row = {"network": name, "case": case, **cells(levels, ours, other)}
        yield {**row, "error": f"{max(errors):.0e}"}
    if name in DECODERS:
        lent = compiled(source, cpu, f'aot{{caches="past_*={ROWS}"}}')
        for case, exes in (("generating", levels), ("in buffers", lent)):
            expected, other = generate(theirs, name)
            times: list[float] = []
            for level, exe in exes.items():
                tokens, ms = generate(
                    lambda feeds, exe=exe: as_list(exe(**feeds)), name, exes is lent
                )
                assert tokens == expected, f"{name}, {case}, {level}: other tokens"
                times.append(ms)
            row = {"network": name, "case": case, **cells(exes, times, other)}
            yield {**row, "error": "equal tokens"}


def main() -> None:
    """Measure the networks."""
    options = parser_of("Compiled networks with open dims against onnxruntime.", 20, OPEN_MODELS)
    options.add_argument("--cpu", default="levels", help="the processor to compile for")
    args = options.parse_args()
    rows: list[Facts] = []
    with TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for name in args.only:
            for row in measure(name, args.cpu, args.rounds, Path(folder)):
                print(*row.values(), file=sys.stderr, flush=True)
                rows.append(row)
    write_results(rows, args.table, cpu=args.cpu)


if __name__ == "__main__":
    main()
