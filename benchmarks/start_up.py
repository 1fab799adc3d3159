"""
Measure start-up: the CPU time of our commands against that of xDSL's, and of importing NumPy.

    python benchmarks/start_up.py [--runs 10] > start_up.json

Commands run in turns, with bytecode caches; a figure is the minimum of all runs. `m.xrx` is an
addition. The target is a ratio of at most 1.2, and of 1.0 for `--help`.
`tests/tools/test_process.py` ensures that nothing is imported before it is needed.
"""

import argparse
import json
import os
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
MODEL = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""
SCRIPTS = Path(sysconfig.get_path("scripts"))
INPUTS = "import numpy; numpy.savez('x.npz', x=numpy.ones(4, 'float32'))"
COMMANDS = {
    "xdsl-opt program.mlir": [str(SCRIPTS / "xdsl-opt"), "program.mlir"],
    "xdsl-opt --help": [str(SCRIPTS / "xdsl-opt"), "--help"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "xrelay-opt program.mlir": [str(SCRIPTS / "xrelay-opt"), "program.mlir"],
    "xrelay-opt m.mlir": [str(SCRIPTS / "xrelay-opt"), "m.mlir"],
    "xrelay-opt m.mlir -p vm": [str(SCRIPTS / "xrelay-opt"), "m.mlir", "-p", "vm"],
    "xrelay-opt --help": [str(SCRIPTS / "xrelay-opt"), "--help"],
    "xrelay-plan --help": [str(SCRIPTS / "xrelay-plan"), "--help"],
    "import xrelay": [sys.executable, "-c", "import xrelay"],
    "xrelay.load": [sys.executable, "-c", "import xrelay; xrelay.load('m.xrx')"],
    "xrelay.compile": [sys.executable, "-c", "import xrelay; xrelay.compile('m.mlir')"],
    "xrelay-run --help": [str(SCRIPTS / "xrelay-run"), "--help"],
    "xrelay-run m.xrx": [str(SCRIPTS / "xrelay-run"), "m.xrx", "--inputs", "x.npz"],
    "xrelay-run m.xrx --random-seed": [str(SCRIPTS / "xrelay-run"), "m.xrx", "--random-seed", "0"],
    "xrelay-objdump m.xrx": [str(SCRIPTS / "xrelay-objdump"), "m.xrx"],
}
BASELINES = {
    "xrelay-opt program.mlir": "xdsl-opt program.mlir",
    "xrelay-opt m.mlir": "xdsl-opt program.mlir",
    "xrelay-opt m.mlir -p vm": "xdsl-opt program.mlir",
    "xrelay.compile": "xdsl-opt program.mlir",
    "xrelay-opt --help": "xdsl-opt --help",
    "xrelay-plan --help": "xdsl-opt --help",
    "xrelay-run --help": "xdsl-opt --help",
}
"""The command that each is compared with; all others with `import numpy`."""


def cpu_time(command: list[str], folder: Path) -> float:
    """Return the CPU seconds of one run of `command` in `folder`, with bytecode caches there."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "caches")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.mlir").write_text(PROGRAM)
        (folder / "m.mlir").write_text(MODEL)
        compile = [str(SCRIPTS / "xrelay-opt"), "m.mlir", "-p", "vm", "-t", "executable"]
        for command in ([*compile, "-o", "m.xrx"], [sys.executable, "-c", INPUTS]):
            cpu_time(command, folder)
        for command in COMMANDS.values():  # writes the caches
            cpu_time(command, folder)
        turns = [[cpu_time(each, folder) for each in COMMANDS.values()] for _ in range(runs)]
    times = dict(zip(COMMANDS, map(min, zip(*turns, strict=True)), strict=True))
    found: dict[str, dict[str, float | str]] = {}
    for name, seconds in times.items():
        against = BASELINES.get(name, "import numpy")
        if "xrelay" not in name:
            continue
        ratio = round(seconds / times[against], 3)
        found[name] = {"s": round(seconds, 4), "against": against, "ratio": ratio}
        print(
            f"{name}: {seconds:.3f} s, {against} {times[against]:.3f} s: {ratio:.2f}",
            file=sys.stderr,
        )
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
