"""As processes, the commands exit properly, with any streams and when interrupted."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from itertools import cycle
from pathlib import Path

import pytest
from helpers.programs.random_settings import ROUNDS, share

from xrelay.tools.opt import opt

pytestmark = pytest.mark.ci  # real processes

START = {
    "xrelay-opt": "from xrelay.tools.start import opt as main",
    "xrelay-run": "from xrelay.tools.start import run as main",
    "xrelay-plan": "from xrelay.tools.start import plan as main",
}
INPUTS = {
    "xrelay-opt": ("in.mlir", "func.func @main() {\n  func.return\n}\n"),
    "xrelay-run": ("in.mlir", "func.func @main() {\n  func.return\n}\n"),
    "xrelay-plan": ("in.csv", "id,lower,upper,size\na,0,2,8\n"),
}
STATS = {"xrelay-run": ["--stats"]}
"""Options that make a command write to stdout even if its program returns nothing."""

every_command = pytest.mark.parametrize("command", list(START))
IN_TURN = cycle(START)


def one_command(test: Callable[..., None]) -> Callable[..., None]:
    """Run `test` with a command, another one each time; all by `XRELAY_ROUNDS=4`, as in CI."""
    commands = [*START] if ROUNDS >= 4 else [next(IN_TURN)]
    return pytest.mark.parametrize("command", commands)(test)


def start(command: str, *arguments: str, before: str = "") -> list[str]:
    """The command line of a process that executes the statements `before`, then `command`."""
    code = f"import sys\n{before}\n{START[command]}\nsys.exit(main())"
    return [sys.executable, "-c", code, *arguments]


def ran(line: list[str], redirected: str = "") -> tuple[int, str]:
    """The exit status and stderr of a process whose streams the shell redirects."""
    shell = ["sh", "-c", f'"$@" {redirected}', "sh", *line]
    done = subprocess.run(shell, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.fixture
def line(command: str, tmp_path: Path) -> list[str]:
    """A run of `command` that writes to stdout."""
    name, text = INPUTS[command]
    path = tmp_path / name
    path.write_text(text)
    if command == "xrelay-run":  # an executable is read sooner than a program is compiled
        exe = path.with_suffix(".xrx")
        assert opt.main([str(path), "-p", "vm", "-t", "executable", "-o", str(exe)]) == 0
        path = exe
    return start(command, str(path), *STATS.get(command, []))


@pytest.fixture(autouse=True)
def interruptible() -> Generator[None]:
    """Let the processes of a test be interrupted, also where the tests run in the background."""
    reaction = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, reaction)


@every_command
def test_a_full_stdout(command: str, line: list[str]):
    said = "error: cannot write '<stdout>': No space left on device\n"
    assert ran(line, ">/dev/full") == (1, said)


@one_command
def test_a_closed_stdout(command: str, line: list[str]):
    said = "error: cannot write '<stdout>': it is closed\n"
    assert ran(line, ">&-") == (1, said)


@one_command
def test_a_closed_stdin(command: str):
    status, said = ran(start(command, "-"), "<&-")
    assert status == 1
    assert "error: cannot" in said
    assert said.endswith("it is closed\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize("command", ["xrelay-opt"])
def test_a_closed_stderr(command: str, line: list[str]):
    assert ran(line, ">/dev/full 2>&-") == (1, "")


@one_command
def test_a_reader_that_has_seen_enough(command: str, line: list[str]):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(line, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@one_command
def test_wrong_usage(command: str):
    status, said = ran(start(command, "--no-such-option"))
    assert status == 2
    assert "error: " in said
    assert "Traceback" not in said


INTERRUPT = """
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy" or name == "xrelay.tools.opt.driver":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
"""


@one_command
def test_interrupted_while_importing(command: str):
    assert ran(start(command, "-", before=INTERRUPT)) == (130, "")


AT_IMPORT = """
import os, signal
sys.argv[0] = {command!r}
class Observer:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            {action}
sys.meta_path.insert(0, Observer())
"""
KILL = "os.kill(os.getpid(), signal.SIGINT)"
TELL = "os.write(1, b'.')"
MODULES = {
    "xrelay-opt": ("xrelay.runtime", "xrelay.tools.opt.driver", "xdsl.universe"),
    "xrelay-run": ("numpy", "xrelay.tools.start", "xrelay.tools.run.run_options"),
    "xrelay-plan": ("xrelay.tools.commands", "xrelay.tools.plan", "numpy"),
}
"""Modules that a command imports while it starts."""


@pytest.mark.parametrize(
    ("command", "module"),
    share([(command, module) for command, own in MODULES.items() for module in own], 2),
)
def test_interrupted_in_an_import(command: str, module: str, line: list[str]):
    before = AT_IMPORT.format(command=command, module=module, action=KILL)
    interrupted = [*start(command, before=before), *line[3:]]
    assert ran(["sh", "-c", '"$@"; exit $?', "sh", *interrupted]) == (130, "")


@one_command
def test_interrupted_at_any_time(command: str, line: list[str]):
    before = AT_IMPORT.format(command=command, module="xrelay.runtime", action=TELL)
    statuses = set[int]()
    for delay in share(range(0, 400, 40)):
        process = subprocess.Popen(
            [*start(command, before=before), *line[3:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with process:
            assert process.stdout is not None
            assert process.stdout.read(1) == b"."
            time.sleep(delay / 1000)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        assert said == b""
        statuses.add(process.returncode)
    assert statuses <= {-signal.SIGINT, 130, 0}
    assert -signal.SIGINT in statuses


def test_an_interrupt_where_python_ignores_exceptions():
    """It would be printed and lost."""
    code = (
        "import os, signal, time\n"
        "from xrelay.tools.start import interrupts_raised\n"
        "class Dying:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(1)\n"
        "with interrupts_raised():\n"
        "    Dying()\n"
        "    time.sleep(30)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=20)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_a_command_that_ignores_interrupts():
    before = "import os, signal; sys.argv[0] = 'xrelay-plan'\n"
    before += "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    before += "import xrelay; os.kill(os.getpid(), signal.SIGINT)"
    assert ran(start("xrelay-plan", "--help", before=before), ">/dev/null") == (0, "")


FULL = (
    "import resource; sys.dont_write_bytecode = True; "
    "resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))"
)
"""As at the end of a disk: no file can have more than so many bytes. Bytecode would be cut, too."""


@pytest.mark.parametrize(
    ("command", "buffering"), share([("xrelay-opt", ""), *((c, "1") for c in START)], 2)
)
def test_a_stdout_that_is_cut_short(
    command: str, buffering: str, line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A stream that is not buffered would lose the end of a text, and report success."""
    monkeypatch.setenv("PYTHONUNBUFFERED", buffering)
    cut = [*start(command, before=FULL.format(8)), *line[3:]]
    status, said = ran(cut, f">{tmp_path / 'out'}")
    assert (status, said) == (1, "error: cannot write '<stdout>': File too large\n")


def test_an_output_file_that_is_cut_short_is_named(tmp_path: Path):
    path = tmp_path / "in.mlir"
    path.write_text(INPUTS["xrelay-opt"][1])
    out = tmp_path / "out.mlir"
    line = start("xrelay-opt", str(path), "-o", str(out), before=FULL.format(8))
    assert ran(line) == (1, f"error: cannot write '{out}': File too large\n")
    assert [file.name for file in tmp_path.iterdir()] == ["in.mlir"]
