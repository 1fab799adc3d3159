"""
Run a program with limits, and turn what it prints to stderr into errors at the user's source lines.

    model.relay:3:8: error: 'linalg.matmul' op inferred …      ->   Error at model.relay:3:8
    <stdin>:12:5: error: custom op 'x' is unknown              ->   Error with that line as a note

Limited are time, memory, and what it prints. The program gets a session of its own, which is killed
as a whole: at the time limit, and when this process is interrupted. A limit on processor time ends
it even if this process is killed.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.ir import Operation

from ....passes.support.diagnostics import location_of
from ....runtime.errors import Error, Location, Note
from ....runtime.plain_text import human

MEMORY = 8 << 30
"""Bytes of address space that a program may use."""

SECONDS = 120.0
"""The time limit of one call."""


class ProcessFailed(Error):
    """The first error that a program printed, or how it ended; `errors` is all that it printed."""

    errors = ""

    def at(self, op: Operation, what: str) -> ProcessFailed:
        """Return the error about `what`, at `op` if it has no place of its own."""
        place = location_of(op)
        where = self.location
        if where is None and place is not None:
            where = Location(place.filename.data, place.line.data, place.column.data)
        return ProcessFailed(f"{what}: {self.message}", where, self.notes)


class TimedOut(ProcessFailed):
    """A program that reached its time limit."""


@dataclass(frozen=True)
class Finished:
    """The output of a program that succeeded."""

    output: bytes
    errors: str


def run(
    name: str,
    command: Sequence[str],
    input: bytes = b"",
    *,
    folder: Path | None = None,
    seconds: float = SECONDS,
    called: str | None = None,
) -> Finished:
    """
    Run `command`, which reads `input`, in `folder`.

    Raises `ProcessFailed` if it fails or reaches a limit; the message names it `called`, by default
    `name`, and the place in the source that it printed.
    """
    called = called or name
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            start_new_session=True,
        )
    except OSError as error:
        raise ProcessFailed(f"{called} cannot be run: {error.strerror}") from None
    memory = MEMORY
    try:
        memory = _limit(process.pid, seconds)
        output, errors = process.communicate(input, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise TimedOut(f"{called} did not finish within {seconds:g} seconds") from None
    finally:
        _kill(process)
    text = errors.decode(errors="replace")
    if process.returncode:
        reason = _reason(process.returncode, text, memory)
        raise _error(called, reason, text, input.decode(errors="replace"))
    return Finished(output, text)


def _limit(pid: int, seconds: float) -> int:
    """
    Limit a process that has started, and return the limit on its memory.

    Without `prlimit`, only time is limited.
    """
    memory = MEMORY
    prlimit = getattr(resource, "prlimit", None)
    if prlimit is not None:
        processor = int(seconds * (os.cpu_count() or 1)) + 1
        with contextlib.suppress(ProcessLookupError):
            memory = _lowered(pid, resource.RLIMIT_AS, MEMORY)
            _lowered(pid, resource.RLIMIT_CPU, processor)
    return memory


def _lowered(pid: int, kind: int, limit: int) -> int:
    """Lower a limit of a process, which it may have inherited, to `limit`; return what it is."""
    own = [bound for bound in resource.prlimit(pid, kind) if bound != resource.RLIM_INFINITY]
    least = min([limit, *own])
    resource.prlimit(pid, kind, (least, least))
    return least


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of a process and its children, and close its pipes."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def _reason(status: int, errors: str, memory: int) -> str:
    if "bad_alloc" in errors or "out of memory" in errors.lower():
        return f"needs more than {human(memory)} of memory"
    if status == -signal.SIGXCPU:
        return "used too much processor time"
    if status < 0:
        return f"crashed: {signal.strsignal(-status)}"
    return f"failed with exit status {status}"


MESSAGE = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<kind>error|note): ")
NOT_FILES = ("<stdin>", "<unknown>", "-")
"""The names of files in messages about text that the tools get from us."""

LONGEST = 2000
"""Characters of stderr that an error without any known message quotes."""

BORING = ("see current operation", "called from")


def _error(called: str, reason: str, errors: str, text: str) -> ProcessFailed:
    """Return the first error among those that a program printed about its input, and its notes."""
    lines = errors.splitlines()
    messages = [(at, m) for at, line in enumerate(lines) if (m := MESSAGE.match(line))]
    first = next((i for i, (_, m) in enumerate(messages) if m["kind"] == "error"), None)
    if first is None:
        printed = errors.strip()
        shown = printed if len(printed) <= LONGEST else f"{printed[:LONGEST]} …"
        error = ProcessFailed(f"{called} {reason}: {shown}" if shown else f"{called} {reason}")
    else:
        at, match = messages[first]
        of_input = match["file"] in NOT_FILES
        quoted = _quoted(match, text) if of_input else ()
        notes = [*quoted, *_notes(lines, messages[first + 1 :])]
        message = f"{called}: {lines[at][match.end() :]}"
        error = ProcessFailed(message, None if of_input else _location(match), notes)
    error.errors = errors
    return error


def _notes(lines: Sequence[str], found: Iterable[tuple[int, re.Match[str]]]) -> Iterable[Note]:
    for at, match in found:
        if match["kind"] == "error":
            return
        text = lines[at][match.end() :]
        if text.startswith(BORING) or match["file"] in NOT_FILES:
            continue
        yield Note(text, _location(match))


def _quoted(match: re.Match[str], text: str) -> Iterable[Note]:
    lines, number = text.split("\n"), int(match["line"])
    if 0 < number <= len(lines) and lines[number - 1].strip():
        yield Note(f"in: {lines[number - 1].strip()[:LONGEST]}")


def _location(match: re.Match[str]) -> Location:
    return Location(match["file"], int(match["line"]), int(match["column"] or 1))
