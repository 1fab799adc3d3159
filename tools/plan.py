"""
`xrelay-plan`: the command of `passes.planning`, started as fast as NumPy allows.

Starting BLAS threads takes a third of NumPy's import, and the planner has no use for them.
"""

import os

from .commands import guarded


def main() -> int:
    """Run the command on the arguments of the process; its exit status."""
    return guarded("xrelay-plan", _start)


def _start() -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from ..passes.planning.command import main

    return main()
