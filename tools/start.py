"""
The entry points of the commands.

Ctrl-C is an exception while a command works, and the end of the process before and after.
`quiet_start` restores the system's reaction, a quiet end, when a command imports the package. An
exception would be printed with a traceback there, and libraries in C that are being imported turn
it into other errors.
"""

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import NoReturn

from .commands import collected_rarely, end, guarded

IMPORTS = "<frozen importlib._bootstrap>"
"""The file name of Python's code that imports modules."""


@contextmanager
def interrupts_raised() -> Generator[None]:
    """
    Raise `KeyboardInterrupt` on Ctrl-C in the `with` block, in a process that it belongs to.

    Where that would be lost, in imports and where Python ignores exceptions, the process ends. A
    process that was started to ignore Ctrl-C does.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    ignored = sys.unraisablehook

    def ignore(what: "sys.UnraisableHookArgs") -> None:
        if issubclass(what.exc_type, KeyboardInterrupt):
            _end()
        ignored(what)

    sys.unraisablehook = ignore
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.unraisablehook = ignored


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    while frame is not None:
        if frame.f_code.co_filename == IMPORTS:
            _end()
        frame = frame.f_back
    raise KeyboardInterrupt


def _end() -> NoReturn:
    """End the process as Ctrl-C ends those that do nothing about it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    raise KeyboardInterrupt  # where the system sends no signal


def _run(module: str) -> int:
    """Run the command whose `main` is in a module, and to which the whole process belongs."""

    def interruptible() -> int:
        with interrupts_raised():
            return import_module(module, __package__).main()

    with collected_rarely():
        status = guarded(interruptible)
    end()
    return status


def _without_blas() -> None:
    """Start no threads of BLAS, which take a third of NumPy's import time and go unused."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def opt() -> int:
    """Run `xrelay-opt`."""
    return _run(".opt.opt")


def run() -> int:
    """Run `xrelay-run`."""
    return _run(".run.run")


def objdump() -> int:
    """Run `xrelay-objdump`."""
    _without_blas()
    return _run(".objdump")


def plan() -> int:
    """Run `xrelay-plan`."""
    _without_blas()
    return _run(".plan")
