"""Products of few rows, as a decoder has them for each token."""

import sys
from subprocess import run
from typing import Any

import numpy as np
import pytest

from xrelay.runtime.kernels.matmul import KERNELS

Array = np.ndarray[Any, Any]

SCRIPT = """
import os, sys, time
import numpy as np
from xrelay.runtime.kernels.matmul import KERNELS

def slices():
    "How often other threads of this process ran."
    tasks = [task for task in os.listdir("/proc/self/task") if int(task) != os.getpid()]
    return sum(int(open(f"/proc/self/task/{task}/schedstat").read().split()[2]) for task in tasks)

def ran(rows):
    x, w = np.ones((rows, 512), np.float32), np.ones((2048, 512), np.float32)
    kernel = KERNELS["relay.nn.dense"]({}, [x, w], [np.empty((rows, 2048), np.float32)])
    time.sleep(0.05)  # threads wait in loops for a while
    before = slices()
    for _ in range(5):
        kernel()
        time.sleep(0.01)
    return slices() - before

print(*map(ran, map(int, sys.argv[1:])))
"""


@pytest.mark.ci
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_threads_of_a_blas_do_not_run_for_few_rows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    out = run(
        [sys.executable, "-c", SCRIPT, "1", "3", "8", "64"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    *few, many = map(int, out.split())
    assert few == [0, 0, 0]
    assert many > 0, "the test sees threads"


@pytest.mark.parametrize(("rows", "units", "k"), [(1, 1030, 512), (5, 384, 640), (8, 1031, 300)])
def test_blocks_are_parts_of_the_product(rows: int, units: int, k: int):
    random = np.random.default_rng(rows)
    x, w = (random.standard_normal((n, k)).astype(np.float32) for n in (rows, units))
    y: Array = np.full((rows, units), np.nan, np.float32)
    KERNELS["relay.nn.dense"]({}, [x, w], [y])()
    np.testing.assert_allclose(y, x.astype(np.float64) @ w.T.astype(np.float64), 1e-4, 1e-4)
