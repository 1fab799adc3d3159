"""The command `xrelay-opt`: its arguments, a run of the driver, and one report of an error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..commands import guarded
from ..errors import compiled, reported
from .opt_arguments import parse_arguments

if TYPE_CHECKING:
    from ..messages import Reporter

HINT = ", --crash-reproducer=FILE writes a reproducer"
"""A hint in internal errors."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `xrelay-opt` with `argv` (default: the process's); return the exit status."""
    given = sys.argv[1:] if argv is None else argv
    return guarded(lambda: reported(lambda: _run(given)))


def _run(argv: Sequence[str]) -> int:
    args = parse_arguments(argv)  # without the compiler

    def run(reporter: Reporter) -> int:
        from ..api.plugin_files import load_files
        from . import driver

        load_files(args.load)
        return driver.run(args, reporter)

    instead = "xrelay-run FILE.xrx and xrelay.load run compiled programs"
    return compiled(run, instead, traceback=args.traceback, hint=HINT)


if __name__ == "__main__":
    sys.exit(main())
