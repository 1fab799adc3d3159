"""
Measure what less memory costs: networks as machine code, under lower and lower peaks.

    python benchmarks/peak_against_time.py [--only vww,unet] [--folder …] [--rounds 10] [--table]

`whole` is not tiled; `direct` is not either, but without the algorithm of Winograd, as with any
limit of work. A fraction is `peak=` that part of the whole plan, and `least` is `work=1.0`.
`planned` are the bytes of the plan, with results. A time is the least CPU time of all rounds, in
turns, on one thread; both ratios are of it, and the error is relative to the greatest number of the
whole. What is compiled stays in `--folder`, so that another run only measures.
"""

import sys
from collections.abc import Mapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
from below_the_bound import planned_by, written
from cpu_times import least
from results import Facts, parser_of, write_results

import xrelay

NETWORKS = ("vww", "squeezenet", "mobilenet_v2", "resnet50", "vgg19", "unet")
PARTS = {"1/2": 2, "1/4": 4, "1/8": 8}


Program: TypeAlias = xrelay.Executable | xrelay.NativeExecutable


def limits(whole: int) -> Mapping[str, str]:
    """Return the pipelines to compare with that of the whole, by name."""
    parts = {name: f"aot{{peak={whole // part}}}" for name, part in PARTS.items()}
    return {"direct": "aot{peak=1024GiB work=1.0}", **parts, "least": "aot{work=1.0}"}


def compiled(path: Path, pipeline: str, file: Path) -> Program | None:
    """Return a network that is compiled, or was before; None if its peak is not reached."""
    refusal = file.with_suffix(".txt")
    if not file.exists() and not refusal.exists():
        try:
            with redirect_stderr(StringIO()):
                program = xrelay.compile(path, target="native", pipeline=pipeline)
        except xrelay.Error as error:
            if "is not reached" not in str(error):
                raise
            refusal.write_text(str(error), encoding="utf-8")
        else:
            program.save(file)
    return xrelay.load(file, threads=1) if file.exists() else None


def measured(name: str, folder: Path, rounds: int) -> list[Facts]:
    """Compile a network under all limits, and run all programs in turns."""
    path, inputs = written(name, folder)
    whole = compiled(path, "aot", folder / f"{name}-whole.so")
    assert whole is not None, "it has no limit"
    programs = {"whole": whole}
    for limit, pipeline in limits(planned_by(whole)).items():
        program = compiled(path, pipeline, folder / f"{name}-{limit.replace('/', '_')}.so")
        if program is not None:
            programs[limit] = program
    calls = [lambda program=program: program(*inputs) for program in programs.values()]
    times = dict(zip(programs, least(calls, rounds), strict=True))
    results: Any = [np.asarray(call()) for call in calls]
    scale = np.abs(results[0]).max()
    rows: list[Facts] = [
        {
            "network": name,
            "limit": limit,
            "planned": planned_by(program),
            "ms": round(times[limit], 2),
            "of whole": round(times[limit] / times["whole"], 2),
            "of direct": round(times[limit] / times["direct"], 2),
            "error": f"{np.abs(result - results[0]).max() / scale:.0e}",
        }
        for (limit, program), result in zip(programs.items(), results, strict=True)
    ]
    return rows


def main() -> None:
    parser = parser_of(__doc__ or "", 10, NETWORKS)
    parser.add_argument("--folder", type=Path, help="where compiled networks are, and stay")
    options = parser.parse_args()
    rows: list[Facts] = []
    with TemporaryDirectory() as temporary:
        folder: Path = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        for name in options.only:
            print(name, file=sys.stderr, flush=True)
            rows += measured(name, folder, options.rounds)
    write_results(rows, options.table)


if __name__ == "__main__":
    main()
