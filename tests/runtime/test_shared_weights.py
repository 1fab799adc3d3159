"""Processes that run the same program share the pages of the weights beside it (Linux)."""

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from xrelay.runtime.weights.tensor_file import write_tensors
from xrelay.tools.opt.opt import main

N = 1024
SIZE = 4 * N * N
PROGRAM = f"""
builtin.module attributes {{relay.params = "m.safetensors"}} {{
  func.func @main(%x: tensor<1x{N}xf32>) -> tensor<1x{N}xf32> {{
    %w = relay.param "w" : tensor<{N}x{N}xf32>
    %y = relay.nn.dense %x, %w
        : (tensor<1x{N}xf32>, tensor<{N}x{N}xf32>) -> tensor<1x{N}xf32>
    func.return %y : tensor<1x{N}xf32>
  }}
}}
"""
COMMANDS = {
    ("m.xrx", "m.safetensors"): ["-p", "vm", "-t", "executable"],
    ("libm.so", "libm.weights"): ["-p", "aot", "-t", "native{weights=file}"],
}

CALL = f"""
import sys
import numpy as np, xrelay
exe = xrelay.load(sys.argv[1])
y = exe(np.ones((1, {N}), np.float32))
print(float(y.sum()), flush=True)
sys.stdin.read()
"""


def pages(process: int, file: Path) -> dict[str, int]:
    """Return the bytes of a process's map of `file`, by kind: `Rss`, `Pss` …"""
    maps = Path(f"/proc/{process}/smaps").read_text()
    (found,) = re.findall(rf"{re.escape(str(file))}\n((?:\w+: .*\n)+)", maps)
    return {kind: int(size) << 10 for kind, size in re.findall(r"(\w+): +(\d+) kB", found)}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("program", "weights"), COMMANDS)
@pytest.mark.ci
def test_pages_are_shared(program: str, weights: str, tmp_path: Path):
    w = np.random.default_rng(0).random((N, N), np.float32)
    write_tensors(tmp_path / "m.safetensors", {"w": w})
    (tmp_path / "m.mlir").write_text(PROGRAM)
    output = str(tmp_path / program)
    command = COMMANDS[program, weights]
    assert main([str(tmp_path / "m.mlir"), *command, "-o", output, "--overwrite"]) == 0
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", CALL, output],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(2)
        ]
        for process in processes:
            assert process.stdout is not None
            assert float(process.stdout.readline()) == pytest.approx(w.sum(dtype=float), rel=1e-4)
        found = [pages(process.pid, tmp_path / weights) for process in processes]
        for process in processes:
            process.communicate(timeout=60)
    for kinds in found:
        assert kinds["Rss"] >= SIZE
        assert kinds["Private_Clean"] + kinds["Private_Dirty"] + kinds["Anonymous"] == 0
