"""
The entry points of the commands.

Ctrl-C is quiet from the first line of the package on: see `interrupts`.
"""

import os
from importlib import import_module

from .commands import guarded
from .interrupts import interrupts_raised
from .pass_run.collector import collected_rarely, end


def _run(name: str, module: str) -> int:
    """Run the command whose `main` is in a module, and to which the whole process belongs."""

    def interruptible() -> int:
        with interrupts_raised():
            return import_module(module, __package__).main()

    with collected_rarely():
        status = guarded(name, interruptible)
    end()
    return status


def _without_blas() -> None:
    """Start no threads of BLAS, which take a third of NumPy's import time and go unused."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def opt() -> int:
    """Run `xrelay-opt`."""
    return _run("xrelay-opt", ".opt.opt")


def run() -> int:
    """Run `xrelay-run`."""
    return _run("xrelay-run", ".run.run")


def objdump() -> int:
    """Run `xrelay-objdump`."""
    _without_blas()
    return _run("xrelay-objdump", ".objdump")


def plan() -> int:
    """Run `xrelay-plan`."""
    _without_blas()
    return _run("xrelay-plan", ".plan")
