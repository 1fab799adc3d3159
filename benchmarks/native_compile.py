"""
The time to compile a program to a library, by tool, with an empty and with a full cache.

    python benchmarks/native_compile.py [FILE …]        by default examples/c/scores.relay

The time is that of the processor in milliseconds, of each tool and its children, and of Python for
all else but its start. Weights that are in no file are drawn at random. Markdown goes to stdout.
"""

import os
import resource
import sys
import time
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from xrelay.lowering.native.toolchain import linking, stages
from xrelay.tools.opt.opt import main

EXAMPLES = Path(__file__).parent.parent / "examples"
DEFAULT = [EXAMPLES / "c" / "scores.relay"]

SPENT: dict[str, float] = defaultdict(float)
RUN = stages.run
LOCK = Lock()


def timed(name: str, *args, **kwargs):
    """Run a tool, one at a time, and add the time that it takes."""
    with LOCK:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            return RUN(name, *args, **kwargs)
        finally:
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            SPENT[name] += used


TOOLS = ("mlir-opt", "mlir-translate", "opt", "llc", "the C compiler", "xrelay")


def compile_once(file: Path, folder: Path) -> int:
    """Compile a file into `folder`, which has the cache, too; return the bytes of the library."""
    SPENT.clear()
    start = time.process_time()
    target = f'native{{cache="{folder / "cache"}"}}'
    output = folder / "lib.so"
    options = ["-p", "aot", "-t", target, "--random-weights", "--overwrite", "-o", str(output)]
    status = main([str(file), *options])
    SPENT["xrelay"] = time.process_time() - start
    if status:
        sys.exit(status)
    return os.path.getsize(output)


def run(files: list[Path]) -> None:
    """Print a table with a row for each file and state of the cache."""
    stages.run = linking.run = timed
    with TemporaryDirectory() as folder:
        compile_once(files[0], Path(folder))  # loads the compiler
    print(f"| program | cache | {' | '.join(TOOLS)} | all | library, KiB |")
    print("|---" * (len(TOOLS) + 4) + "|")
    for file in files:
        with TemporaryDirectory() as folder:
            for cache in ("empty", "full"):
                size = compile_once(file, Path(folder))
                spent = [SPENT.get(tool, 0) for tool in TOOLS]
                row = " | ".join(f"{1000 * seconds:.0f}" for seconds in (*spent, sum(spent)))
                print(f"| {file.name} | {cache} | {row} | {size >> 10} |")


if __name__ == "__main__":
    run([Path(name) for name in sys.argv[1:]] or DEFAULT)
