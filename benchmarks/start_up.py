"""
Measure start-up: the CPU time of `xrelay-opt` against `xdsl-opt` on the same small file.

    python benchmarks/start_up.py [--runs 10] > start_up.json

The minimum over runs of both, taken in turns; the target is a ratio of at most 1.3.
`tests/tools/test_process.py` ensures that nothing is imported before it is needed.
"""

import argparse
import json
import resource
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

PROGRAM = """
func.func @main(%a: i32, %b: i32) -> i32 {
  %c = arith.addi %a, %b : i32
  func.return %c : i32
}
"""


def cpu_time(tool: str, path: Path) -> float:
    """Return the CPU seconds of one run of `tool`."""
    command = [str(Path(sysconfig.get_path("scripts")) / tool), str(path)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.mlir"
        path.write_text(PROGRAM)
        times = [(cpu_time("xrelay-opt", path), cpu_time("xdsl-opt", path)) for _ in range(runs)]
    ours, stock = (min(each) for each in zip(*times, strict=True))
    print(f"xrelay-opt {ours:.3f} s, xdsl-opt {stock:.3f} s: {ours / stock:.2f}", file=sys.stderr)
    json.dump({"xrelay-opt": ours, "xdsl-opt": stock, "ratio": round(ours / stock, 3)}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
