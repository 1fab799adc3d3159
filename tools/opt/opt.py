"""
The command `xrelay-opt`: its arguments, a run of the driver, and one report of an error.
"""

import sys
from collections.abc import Sequence

from ..commands import guarded
from ..error_report import reported
from ..errors import require_compiler
from .opt_arguments import parse_arguments

HINT = ", --crash-reproducer=FILE writes a reproducer"
"""A hint in internal errors."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `xrelay-opt` with `argv` (default: the process's); return the exit status."""
    given = sys.argv[1:] if argv is None else argv
    return guarded("xrelay-opt", lambda: reported(lambda: _run(given)))


def _run(argv: Sequence[str]) -> int:
    args = parse_arguments(argv)  # without the compiler
    require_compiler("xrelay-run FILE.xrx and xrelay.load run compiled programs")
    from ..messages import Reporter, warnings_shown
    from ..pass_run.process import settings
    from ..progress import Progress

    reporter = Reporter(progress=Progress())

    def run() -> int:
        from .driver import run

        with warnings_shown(reporter):
            return run(args, reporter)

    with settings():
        return reported(run, "", reporter, traceback=args.traceback, hint=HINT)


if __name__ == "__main__":
    sys.exit(main())
