"""
A lit test format that runs our tools inside the lit worker.

A `RUN` line of our tools, `filecheck`, `diff` and `not`, with pipes and redirections, is run by
calling their `main` functions; starting a Python process for each would take most of the time of a
test suite. Any other line is run by lit's own shell. `lit.formats.ShTest()` has the same results as
`InProcess()`, but starts every process.
"""

import contextlib
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from importlib import import_module
from io import BufferedReader, BytesIO, TextIOWrapper
from types import FrameType
from typing import IO, Any

# lit has no type annotations.
_runner: Any = import_module("lit.TestRunner")
_commands: Any = import_module("lit.ShCommands")
_parser: Any = import_module("lit.ShUtil")
_test: Any = import_module("lit.Test")
_ShTest: Any = import_module("lit.formats").ShTest

TOOLS = {
    "diff": "lit.builtin_commands.diff:main",
    "filecheck": "filecheck.main:main",
    "mlir-opt": "xrelay.tools.testing.mlir_opt:main",
    "xrelay-objdump": "xrelay.tools.objdump:main",
    "xrelay-opt": "xrelay.tools.opt.opt:main",
    "xrelay-plan": "xrelay.tools.plan:main",
    "xrelay-run": "xrelay.tools.run.run:main",
}
"""The tools that can be called, each with its `main`."""


class TimeIsUp(BaseException):
    """Raised in a running test when its time is up."""


class NotOurs(Exception):
    """A RUN line needs a shell."""


@dataclass
class Outcome:
    """The result of a line: its status, and its unread output."""

    status: int = 0
    out: bytes = b""
    log: BytesIO = field(default_factory=BytesIO)


class InProcess(_ShTest):
    """
    Runs the lines of a test in this process, or all of them in a shell if one needs it.

    A test that takes more than `seconds` in this process is ended; 0 means no limit.
    """

    def __init__(self, seconds: float = 60):
        base: Any = super()
        base.__init__()
        self.seconds = seconds

    def execute(self, test: Any, lit_config: Any) -> Any:
        """Run one test; called by lit."""
        base: Any = super()
        try:
            lines = run_lines(test)
            pipelines = [parse(line, test.config.pipefail) for line in lines]
        except NotOurs:
            return base.execute(test, lit_config)
        try:
            with directory_of(test), _alarm(self.seconds):
                for line, pipeline in zip(lines, pipelines, strict=True):
                    done = run(pipeline)
                    if done.status:
                        return _test.Result(_test.FAIL, _report(line, done))
        except TimeIsUp:
            return _test.Result(_test.TIMEOUT, f"over {self.seconds} seconds")
        return _test.Result(_test.PASS, "")


def run_lines(test: Any) -> list[str]:
    """Return the RUN lines after substitution; `NotOurs` when lit does not run the test."""
    script: Any = None
    if not test.config.unsupported:
        script = _runner.parseIntegratedTestScript(test)
    if not isinstance(script, list):
        raise NotOurs
    folder, base = _runner.getTempPaths(test)
    lines: list[str] = _runner.applySubstitutions(
        script,
        _runner.getDefaultSubstitutions(test, folder, base),
        dict.fromkeys(test.config.available_features, True),
        recursion_limit=test.config.recursiveExpansionLimit,
    )
    matches = [re.fullmatch(_runner.kPdbgRegex, line) for line in lines]
    return [
        line if match is None else match[2].strip()
        for line, match in zip(lines, matches, strict=True)
    ]


@dataclass
class Call:
    """One tool, its arguments and redirections, and whether it must fail."""

    tool: str
    arguments: list[str]
    redirections: list[tuple[tuple[Any, ...], str]]
    negated: bool = False


@dataclass
class Pipeline:
    """Calls of which each reads the output of the one before."""

    calls: list[Call]
    negated: bool
    any_failure_fails: bool


def parse(line: str, pipefail: bool) -> Pipeline:
    """Parse one RUN line; `NotOurs` when it needs a shell."""
    if "$" in line or "%{" in line:
        raise NotOurs
    tree = _parser.ShParser(line, False, pipefail).parse()
    if not isinstance(tree, _commands.Pipeline):
        raise NotOurs
    calls = [_call(command) for command in tree.commands]
    return Pipeline(calls, tree.negate, pipefail)


def _call(command: Any) -> Call:
    arguments: list[object] = command.args
    words = [word for word in arguments if isinstance(word, str)]
    if len(words) != len(arguments):  # the others are globs
        raise NotOurs
    negated = words[0] == "not"
    words = words[1:] if negated else words
    if not words or words[0] not in TOOLS:
        raise NotOurs
    for kind, _ in command.redirects:
        if kind not in ((">",), ("<",), (">", 2), (">&", 2), (">>",)):
            raise NotOurs
    return Call(words[0], words[1:], command.redirects, negated)


def run(pipeline: Pipeline) -> Outcome:
    """Run the calls one after another."""
    outcome = Outcome()
    data = b""
    statuses: list[int] = []
    for call in pipeline.calls:
        status, data = _run_call(call, data, outcome.log)
        statuses.append((0 if status else 1) if call.negated else status)
    outcome.out = data
    failures = [status for status in statuses if status]
    outcome.status = statuses[-1]
    if pipeline.any_failure_fails and failures:
        outcome.status = failures[0]
    if pipeline.negated:
        outcome.status = 0 if outcome.status else 1
    return outcome


def _run_call(call: Call, data: bytes, log: BytesIO) -> tuple[int, bytes]:
    """Run one tool with `data` as its input; return its status and output."""
    out = BytesIO()
    with contextlib.ExitStack() as files:
        source: IO[bytes] = BufferedReader(BytesIO(data))  # its first bytes can be peeked at
        targets: dict[int, IO[bytes]] = {1: out, 2: log}
        for kind, to in call.redirections:
            if kind == ("<",):
                source = files.enter_context(open(to, "rb"))
            elif kind == (">&", 2):
                targets[2] = targets[int(to)]
            else:
                mode = "ab" if kind == (">>",) else "wb"
                target = files.enter_context(open(to, mode))
                targets[2 if kind == (">", 2) else 1] = target
        status = _call_main(call, source, targets[1], targets[2])
    return status, out.getvalue()


def _call_main(call: Call, source: IO[bytes], out: IO[bytes], err: IO[bytes]) -> int:
    def text(stream: IO[bytes]) -> TextIOWrapper:
        return TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)

    module, _, name = TOOLS[call.tool].partition(":")
    stdin, stdout = text(source), text(out)
    stderr = stdout if err is out else text(err)
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = stdin, stdout, stderr
    try:
        main: Callable[..., object] = getattr(import_module(module), name)
        takes_name = call.tool in ("diff", "filecheck")  # as sys.argv
        arguments = [call.tool, *call.arguments] if takes_name else call.arguments
        done = main(arguments)
        return done if isinstance(done, int) else 0
    except SystemExit as done:
        if isinstance(done.code, str):
            print(done.code, file=sys.stderr)
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for stream in {stdin, stdout, stderr}:
            with contextlib.suppress(ValueError):
                stream.detach()


def _report(line: str, done: Outcome) -> str:
    parts = [f"$ {line}", f"# exit status: {done.status}"]
    for name, data in (("stdout", done.out), ("stderr", done.log.getvalue())):
        if data:
            parts.append(f"# {name}:\n{data.decode(errors='replace')}")
    return "\n".join(parts)


@contextlib.contextmanager
def directory_of(test: Any) -> Generator[None]:
    """Work in the directory of `test`, and make one for its temporary files."""
    os.makedirs(os.path.dirname(_runner.getTempPaths(test)[1]), exist_ok=True)
    before = os.getcwd()
    os.chdir(os.path.dirname(test.getExecPath()))
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _alarm(seconds: float) -> Generator[None]:
    """Raise `TimeIsUp` after `seconds`; never for 0, or on a system without alarms."""
    if not seconds or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
