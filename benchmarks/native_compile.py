"""
The time to compile a program to a library, by tool, with an empty and with a full cache.

    python benchmarks/native_compile.py [FILE …]        by default examples/c/scores.relay

The time is that of the processor, of each tool and its children, and of Python for all else.
"""

import os
import resource
import sys
import time
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from xrelay.lowering.native import linking, stages
from xrelay.tools.opt import main

EXAMPLES = Path(__file__).parent.parent / "examples"
DEFAULT = [EXAMPLES / "c" / "scores.relay"]

SPENT: dict[str, float] = defaultdict(float)
CALLS: dict[str, int] = defaultdict(int)
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
            CALLS[name] += 1


def compile_once(file: Path, folder: Path) -> None:
    """Compile a file and print a row for each tool."""
    SPENT.clear()
    CALLS.clear()
    start = time.process_time()
    target = f'native{{cache="{folder / "cache"}"}}'
    status = main([str(file), "-p", "aot", "-t", target, "-o", str(folder / "lib.so")])
    SPENT["xrelay"] = time.process_time() - start
    if status:
        sys.exit(status)
    for name, seconds in SPENT.items():
        print(f"| {name} | {CALLS[name] or ''} | {1000 * seconds:.0f} |")
    size = os.path.getsize(folder / "lib.so")
    print(f"| all | | {1000 * sum(SPENT.values()):.0f} |\n\n{size} bytes\n")


def run(files: list[Path]) -> None:
    """Print a table for each file and state of the cache."""
    stages.run = linking.run = timed
    for file in files:
        with TemporaryDirectory() as folder:
            for cache in ("empty", "full"):
                print(f"{file.name}, cache {cache}\n\n| tool | calls | ms |\n|---|---|---|")
                compile_once(file, Path(folder))


if __name__ == "__main__":
    run([Path(name) for name in sys.argv[1:]] or DEFAULT)
