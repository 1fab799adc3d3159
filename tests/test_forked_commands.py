"""Commands that are forked do what those do that are started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.documents import SCRIPTS
from helpers.processes.forked_commands import with_commands

CODE = "import os, sys; print(sys.argv, os.getcwd(), input()); sys.exit(os.environ['MESSAGE'])"
ROWS = "id,lower,upper,size\na,0,2,64\nb,1,3,64\n"


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (f'python -c "{CODE}" a "b c" <rows.csv', 1),
        ("python print.py a <rows.csv | cat", 0),
        ("xrelay-plan rows.csv | cut -d, -f1-3", 0),
        ("xrelay-plan none.csv", 1),
        ("xrelay-plan --none", 2),
        ("(python -c 'import os; os.kill(os.getpid(), 11)'; exit $?) 2>/dev/null", 139),
    ],
)
def test_status_and_streams(command: str, status: int, tmp_path: Path):
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "print.py").write_text("import sys; print(__name__, sys.argv, sys.stdin.read())")
    path = os.pathsep.join((str(Path(sys.executable).parent), SCRIPTS, os.environ["PATH"]))
    outcomes = [
        (done.returncode, done.stdout, done.stderr)
        for environment in ({**os.environ, "PATH": path}, with_commands(os.environ))
        for done in [
            subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path, env={**environment, "MESSAGE": "enough"},
                capture_output=True, text=True, timeout=60, check=False,
            )
        ]
    ]  # fmt: skip
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == status
