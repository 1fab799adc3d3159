"""
The entry points of the commands.

Ctrl-C is quiet from the first line of the package on: see `interrupts`.
"""

import os
from collections.abc import Callable

from .commands import guarded
from .interrupts import interrupts_raised
from .pass_run.collector import collected_rarely, end


def _run(name: str, start: Callable[[], int]) -> int:
    """Run a command, to which the whole process belongs."""

    def interruptible() -> int:
        with interrupts_raised():
            return start()

    with collected_rarely():
        status = guarded(name, interruptible)
    end()
    return status


def opt() -> int:
    """Run `xrelay-opt`."""

    def start() -> int:
        from .opt.opt import main

        return main()

    return _run("xrelay-opt", start)


def run() -> int:
    """Run `xrelay-run`."""

    def start() -> int:
        from .run.run import main

        return main()

    return _run("xrelay-run", start)


def objdump() -> int:
    """Run `xrelay-objdump`."""

    def start() -> int:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as for `plan`
        from .objdump import main

        return main()

    return _run("xrelay-objdump", start)


def plan() -> int:
    """Run `xrelay-plan`."""

    def start() -> int:
        # A third of NumPy's import time is spent starting BLAS threads, which go unused here.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from .plan import main

        return main()

    return _run("xrelay-plan", start)
