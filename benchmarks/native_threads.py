"""
Measure compiled networks with one thread and with several, beside onnxruntime with as many.

    python benchmarks/native_threads.py [--only resnet50,encoder] [--threads 2] [--rounds 20]
        [--processes]

The networks are those of ONNX's tests, and an encoder and a decoder with open dims. All take turns,
in one process; onnxruntime's threads do not spin, as they would take the processors of ours. A turn
is 20 ms of calls in a row, or one longer call, and its time their median: a processor that slept in
the turns of one thread needs longer for the first call. Times are the least of all turns, in ms. A
gain or a ratio is the median, over all rounds, of that of two turns of one round: virtual
processors change their speed from second to second, and the least time with
one thread needs one fast processor, that with two threads both. Results with one thread and with
several must be the same bits. `--processes` adds the most that the machine has to give: the gain of
as many processes, each with one thread on a processor of its own, over one of them alone. JSON (or
Markdown with `--table`) goes to stdout.
"""

import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
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
CHILD = "--child"
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


def processes(library: Path, feeds: Mapping[str, Array], count: int, rounds: int) -> float:
    """Return the gain of `count` processes with one thread each over one: the median of rounds."""
    file = library.with_suffix(".npz")
    np.savez(file, **feeds)  # pyright: ignore[reportArgumentType]
    command = [sys.executable, __file__, CHILD, str(library), str(file)]
    cpus = sorted(os.sched_getaffinity(0))[:count]
    children = [
        subprocess.Popen(
            [*command, str(cpu)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for cpu in cpus
    ]

    def times(*some: subprocess.Popen[str]) -> list[float]:
        for child in some:
            assert child.stdin is not None, "it is a pipe"
            child.stdin.write("\n")
            child.stdin.flush()
        return [float(child.stdout.readline()) for child in some if child.stdout is not None]

    gains: list[float] = []
    for _ in range(rounds + 1):  # the first is longer
        alone = [time for child in children for time in times(child)]
        gains.append(sum(1 / t for t in times(*children)) / sum(1 / t for t in alone) * len(cpus))
    for child in children:
        child.communicate()
    return float(np.median(gains[1:]))


def child(library: str, feeds: str, cpu: str) -> None:
    """Print, for each line, the time of a call on `cpu`."""
    os.sched_setaffinity(0, {int(cpu)})
    exe, inputs = xrelay.load(library, threads=1), dict(np.load(feeds))
    for _ in sys.stdin:
        print(turn(lambda: exe(**inputs)), flush=True)


def turn(call: Callable[[], object]) -> float:
    """Return the median time of calls in a row, in s, which take 20 ms or more."""
    times: list[float] = []
    while sum(times) < 0.02:
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return float(np.median(times))


def measure(name: str, args: Namespace, folder: Path) -> Facts:
    """Return the row of a network."""
    threads, rounds = args.threads, args.rounds
    title, model, feeds = network(name)
    source, library = folder / f"{name}.onnx", folder / f"lib{name}.so"
    source.write_bytes(model.SerializeToString())
    command = ["xrelay-opt", str(source), "-t", args.target, "-o", str(library)]
    subprocess.run([str(Path(sys.executable).with_name(command[0])), *command[1:]], check=True)
    # Two files: a library has one number of threads.
    other = folder / f"lib{name}_threads.so"
    other.write_bytes(library.read_bytes())
    one, several = xrelay.load(library, threads=1), xrelay.load(other, threads=threads)
    sessions = [onnxruntime_session(model, n, spins=False) for n in (1, threads)]
    results = [exe(**feeds) for exe in (one, several)]
    for a, b in zip(*map(arrays, results), strict=True):
        assert np.array_equal(a, b), f"{name}: other bits with {threads} threads"
    calls: list[Callable[[], object]] = [lambda exe=exe: exe(**feeds) for exe in (one, several)]
    calls += [lambda session=session: session.run(None, feeds) for session in sessions]
    times = np.empty((rounds, len(calls)))
    for i, j in np.ndindex(*times.shape):
        times[i, j] = 1000 * turn(calls[j])
    alone, together, theirs, theirs_together = times.min(axis=0)
    gain, ratio = np.median(times[:, [0, 1]] / times[:, [1, 3]], axis=0)
    most = {"processes": processes(library, feeds, threads, rounds)} if args.processes else {}
    return {
        "network": title,
        "1 thread, ms": round(float(alone), 2),
        f"{threads} threads, ms": round(float(together), 2),
        "gain": round(float(gain), 2),
        **{name: round(number, 2) for name, number in most.items()},
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
    options = parser_of("Compiled networks on several threads.", 20, [*LIGHT_MODELS, *OPEN])
    options.add_argument("--target", default="native", help="the target, with its options")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--processes", action="store_true", help="measure independent ones, too")
    args = options.parse_args()
    rows: list[Facts] = []
    with TemporaryDirectory() as folder:
        os.environ.setdefault("XDG_CACHE_HOME", folder)
        for name in args.only:
            row = measure(name, args, Path(folder))
            print(*row.values(), file=sys.stderr, flush=True)
            rows.append(row)
    write_results(rows, args.table, target=args.target)


if __name__ == "__main__":
    if sys.argv[1:2] == [CHILD]:
        child(*sys.argv[2:])
    else:
        main()
