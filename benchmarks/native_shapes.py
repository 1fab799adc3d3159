"""
Measure compiled networks with open dims against onnxruntime, on one thread.

    python benchmarks/native_shapes.py [--only encoder,residual] [--target 'native{cpu=native}']

The networks are those of `tests/helpers/onnx/open_models.py`. Both run in turns in one process; a
figure is the least CPU time of all calls, from Python. Each run has an empty cache of kernels. The
error is the largest difference, relative to the largest result. *Generating* is the median time of
a token, each with the keys and values that the one before returned; *in buffers*, these are lent
(`aot{caches=…}`). The tokens must be equal. JSON (or Markdown with `--table`) goes to stdout.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
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


def compiled(source: Path, target: str, pipeline: str = "aot") -> Any:
    """Return the library of a model."""
    library = source.with_name(f"lib{source.stem}{len(pipeline)}.so")
    command = ["xrelay-opt", str(source), "-p", pipeline, "-t", target, "-o", str(library)]
    subprocess.run([str(Path(sys.executable).with_name(command[0])), *command[1:]], check=True)
    return xrelay.load(str(library), threads=1)


def measure(name: str, target: str, rounds: int, folder: Path) -> Iterator[Facts]:
    """Yield the rows of a network."""
    model = OPEN_MODELS[name]()
    source = folder / f"{name}.onnx"
    source.write_bytes(model.SerializeToString())
    session, exe = onnxruntime_session(model, threads=1), compiled(source, target)

    def ours(feeds: Mapping[str, Array]) -> list[Array]:
        result: Array | tuple[Array, ...] = exe(**feeds)
        return list(result) if isinstance(result, tuple) else [result]

    def theirs(feeds: Mapping[str, Array]) -> list[Array]:
        return session.run(None, feeds)

    for case, feeds in cases(name):
        pairs = zip(ours(feeds), theirs(feeds), strict=True)
        error = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)
        assert error < 1e-5, f"{name}, {case}: the error is {error}"
        calls = [lambda: exe(**feeds), lambda: session.run(None, feeds)]
        first = least(calls, 3)
        times = least(calls, max(rounds, min(2000, int(500 / max(first)))))
        yield _row(name, case, times, f"{error:.0e}")
    if name in DECODERS:
        lent = compiled(source, target, f'aot{{caches="past_*={ROWS}"}}')

        def in_buffers(feeds: Mapping[str, Array]) -> Any:
            return lent(**feeds)

        cases_of: dict[str, Call] = {"generating": ours, "in buffers": in_buffers}
        for case, call in cases_of.items():
            found, expected = generate(call, name, call is not ours), generate(theirs, name)
            assert found[0] == expected[0], f"{name}: other tokens"
            yield _row(name, case, [found[1], expected[1]], "equal tokens")


def _row(name: str, case: str, times: list[float], error: str) -> Facts:
    return {
        "network": name,
        "case": case,
        "native, ms": round(times[0], 4),
        "onnxruntime, ms": round(times[1], 4),
        "ratio": round(times[0] / times[1], 2),
        "error": error,
    }


def main() -> None:
    """Measure the networks."""
    options = parser_of("Compiled networks with open dims against onnxruntime.", rounds=20)
    options.add_argument("--only", default=",".join(OPEN_MODELS), help="names, with commas")
    options.add_argument("--target", default="native", help="the target, with its options")
    args = options.parse_args()
    rows: list[Facts] = []
    with TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for name in args.only.split(","):
            for row in measure(name, args.target, args.rounds, Path(folder)):
                print(*row.values(), file=sys.stderr, flush=True)
                rows.append(row)
    write_results(rows, args.table, target=args.target)


main()
