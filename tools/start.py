"""
The entry points of the commands.

Nothing else of ours is imported before the command is guarded, so that Ctrl-C is quiet.
"""

import os
import sys

from .commands import guarded


def opt() -> int:
    """Run `xrelay-opt`."""

    def start() -> int:
        from .arguments import print_information

        print_information(sys.argv[1:])
        from .opt import main

        return main()

    return guarded("xrelay-opt", start)


def run() -> int:
    """Run `xrelay-run`."""

    def start() -> int:
        from .run import main

        return main()

    return guarded("xrelay-run", start)


def objdump() -> int:
    """Run `xrelay-objdump`."""

    def start() -> int:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as for `plan`
        from .objdump import main

        return main()

    return guarded("xrelay-objdump", start)


def plan() -> int:
    """Run `xrelay-plan`."""

    def start() -> int:
        # A third of NumPy's import time is spent starting BLAS threads, which go unused here.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from .plan import main

        return main()

    return guarded("xrelay-plan", start)
