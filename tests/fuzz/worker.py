"""
A process that checks inputs one after the other; an input may crash it.

Each input has limits of 4 GiB of address space and some seconds of CPU time (an uncaught alarm; ten
times as long in wall time), so that an expensive input kills this process, not the machine.
"""

import multiprocessing
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

MEMORY = 4 << 30
SECONDS = 10
"""Seconds of CPU time, so that a busy machine causes no findings."""


@dataclass(frozen=True)
class Verdict:
    """`outcome` is "accepted", "refused" or "finding"; `cause` identifies a finding."""

    outcome: str
    cause: str = ""
    detail: str = ""


class Worker:
    """A handle to the process: started on demand, restarted after it dies."""

    def __init__(self, target: Callable[[Connection], None] | None = None) -> None:
        self._target = target or serve
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None

    def check(self, kind: str, data: bytes) -> Verdict:
        """Check `data` as an input of `kind`."""
        if self._process is None or self._pipe is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=self._target, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        self._pipe.send((kind, data))
        try:
            return self._pipe.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode or 0
            self._process = self._pipe = None
            if code in (-signal.SIGPROF, -signal.SIGALRM):
                return Verdict("finding", f"more than {SECONDS} s")
            how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            return Verdict("finding", f"the process died: {how}")

    def close(self) -> None:
        """End the process."""
        if self._process is not None and self._pipe is not None:
            self._pipe.close()
            self._process.join()
            self._process = self._pipe = None


def serve(pipe: Connection) -> None:
    """Check the inputs received through `pipe` until it is closed."""
    from . import checks
    from .kinds import KINDS

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    checks.leave_streams_alone()
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    with tempfile.TemporaryDirectory(prefix="xrelay-fuzz-") as folder:
        os.chdir(folder)
        while True:
            try:
                name, data = pipe.recv()
            except EOFError:
                return
            kind = KINDS[name]
            path = Path(folder) / f"input.{kind.extension}"
            path.write_bytes(data)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            signal.alarm(10 * SECONDS)
            try:
                verdict = Verdict("accepted" if kind.check(path) else "refused")
            except checks.FindingError as finding:
                verdict = Verdict("finding", finding.cause, finding.detail[-4000:])
            except BaseException as error:
                found = checks.escaped(error)
                verdict = Verdict("finding", found.cause, found.detail[-4000:])
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
            pipe.send(verdict)


if sys.platform == "win32":
    raise ImportError("limits of memory and time need a POSIX system")
