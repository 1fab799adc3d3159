"""
Run a program with limits: on time, on memory, and on what it prints.

The program gets a session of its own, which is killed as a whole: at the time limit, and when
this process is interrupted. A limit on processor time ends it even if this process is killed.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ....runtime.errors import Error
from ....runtime.plain_text import human

MEMORY = 8 << 30
"""Bytes of address space that a program may use."""

SECONDS = 120.0
"""The time limit of one call."""


class ProcessFailed(Error):
    """A program that failed: `errors` is what it printed to stderr."""

    def __init__(self, name: str, reason: str, errors: str) -> None:
        super().__init__(f"{name} {reason}")
        self.name = name
        self.reason = reason
        self.errors = errors


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
    `name`.
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
        raise ProcessFailed(called, f"cannot be run: {error.strerror}", "") from None
    memory = MEMORY
    try:
        memory = _limit(process.pid, seconds)
        output, errors = process.communicate(input, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise TimedOut(called, f"did not finish within {seconds:g} seconds", "") from None
    finally:
        _kill(process)
    text = errors.decode(errors="replace")
    if process.returncode:
        raise ProcessFailed(called, _reason(process.returncode, text, memory), text)
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
