"""The benchmark of the machine's overhead runs; what it measures is judged by its readers."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers.processes.forked_commands import with_commands

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "vm_overhead.py"


@pytest.mark.ci
def test_the_benchmark_measures_every_kernel(tmp_path: Path):
    output = tmp_path / "out.json"
    argv = ["python", str(SCRIPT), "--rounds", "2", "-o", str(output)]
    environment = with_commands(os.environ)
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    rows: list[dict[str, Any]] = json.loads(output.read_text())["rows"]
    assert len(done.stderr.splitlines()) == len(rows) > 10
    for row in rows:
        assert row["machine_us"] > 0, row
        assert row["numpy_us"] > 0, row
