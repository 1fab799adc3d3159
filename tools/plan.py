"""
The command `xrelay-plan`, with the fastest start that NumPy allows.

Starting BLAS threads takes a third of NumPy's import, and the planner does not use them.
"""

import os

from .commands import guarded


def main() -> int:
    """Run `xrelay-plan` with the arguments of the process; return the exit status."""
    return guarded("xrelay-plan", _start)


def _start() -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from ..passes.planning.command import main

    return main()
