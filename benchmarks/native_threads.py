"""
Measure compiled networks with one thread and with several, beside onnxruntime with as many.

    python benchmarks/native_threads.py [--only resnet50,encoder] [--threads 2] [--rounds 20]

The networks are those of ONNX's tests, and an encoder and a decoder with open dims. All take turns,
in one process; onnxruntime's threads do not spin, as they would take the processors of ours. A time
is the least wall time in ms. A gain or a ratio is the median, over all rounds, of that of two calls
of one round: virtual processors change their speed from second to second, and the least time with
one thread needs one fast processor, that with two threads both. Results with one thread and with
several must be the same bits. JSON (or Markdown with `--table`) goes to stdout.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
from helpers.onnx.onnx_models import LIGHT_MODELS, light_network, onnxruntime_session
from helpers.onnx.open_models import OPEN_MODELS
from onnx import ModelProto
from results import Facts, parser_of, write_results

import xrelay

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(0)
OPEN = {
    "encoder": "encoder, length 128",
    "decoder6x512": "decoder 6 x 512, 64 tokens",
    "token6x512": "decoder 6 x 512, a token after 200",
}


def network(name: str) -> tuple[str, ModelProto, Mapping[str, Array]]:
    """Return the title, the model and the inputs of a network."""
    if name not in OPEN:
        light = light_network(name)
        return name, light.model, light.feeds
    if name == "encoder":
        return OPEN[name], OPEN_MODELS[name](), {"x": normal(1, 128, 128)}
    count, past = (1, 200) if name == "token6x512" else (64, 0)
    feeds = {"tokens": RNG.integers(0, 64, (1, count))}
    feeds |= {f"past_{x}{layer}": normal(1, 8, past, 64) for layer in range(6) for x in "kv"}
    return OPEN[name], OPEN_MODELS["decoder6x512"](), feeds


def normal(*shape: int) -> Array:
    """Return random f32."""
    return RNG.standard_normal(shape).astype(np.float32)


def measure(name: str, threads: int, rounds: int, target: str, folder: Path) -> Facts:
    """Return the row of a network."""
    title, model, feeds = network(name)
    source, library = folder / f"{name}.onnx", folder / f"lib{name}.so"
    source.write_bytes(model.SerializeToString())
    command = ["xrelay-opt", str(source), "-t", target, "-o", str(library)]
    subprocess.run([str(Path(sys.executable).with_name(command[0])), *command[1:]], check=True)
    # Two files: a library has one number of threads.
    other = folder / f"lib{name}_threads.so"
    other.write_bytes(library.read_bytes())
    one, several = xrelay.load(library, threads=1), xrelay.load(other, threads=threads)
    sessions = [onnxruntime_session(model, n, spins=False) for n in (1, threads)]
    results = [exe(**feeds) for exe in (one, several)]
    for a, b in zip(*map(arrays, results), strict=True):
        assert np.array_equal(a, b), f"{name}: other bits with {threads} threads"
    calls = [lambda exe=exe: exe(**feeds) for exe in (one, several)]
    calls += [lambda session=session: session.run(None, feeds) for session in sessions]
    times = np.empty((rounds, len(calls)))
    for i, j in np.ndindex(*times.shape):
        start = perf_counter()
        calls[j]()
        times[i, j] = 1000 * (perf_counter() - start)
    alone, together, theirs, theirs_together = times.min(axis=0)
    gain, ratio = np.median(times[:, [0, 1]] / times[:, [1, 3]], axis=0)
    return {
        "network": title,
        "1 thread, ms": round(float(alone), 2),
        f"{threads} threads, ms": round(float(together), 2),
        "gain": round(float(gain), 2),
        "onnxruntime, 1, ms": round(float(theirs), 2),
        f"onnxruntime, {threads}, ms": round(float(theirs_together), 2),
        "ratio": round(float(ratio), 2),
    }


def arrays(result: object) -> Iterator[Array]:
    """Yield the arrays of a result."""
    if isinstance(result, tuple):
        for part in result:  # pyright: ignore[reportUnknownVariableType]
            yield np.asarray(part)
    else:
        yield np.asarray(result)


def main() -> None:
    """Measure the networks."""
    options = parser_of("Compiled networks on several threads.", rounds=20)
    options.add_argument("--only", default=",".join([*LIGHT_MODELS, *OPEN]), help="with commas")
    options.add_argument("--target", default="native", help="the target, with its options")
    options.add_argument("--threads", type=int, default=2)
    args = options.parse_args()
    rows: list[Facts] = []
    with TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for name in args.only.split(","):
            row = measure(name, args.threads, args.rounds, args.target, Path(folder))
            print(*row.values(), file=sys.stderr, flush=True)
            rows.append(row)
    write_results(rows, args.table, target=args.target)


main()
