"""
The command `xrelay-opt`: run the driver, and report errors by messages and the exit status.
"""

import sys
from collections.abc import Sequence

from ...passes.support.diagnostics import Message, Severity
from ..commands import FAULT, describe, guarded
from ..errors import FileError, exit_status
from ..messages import Reporter, message_of, warnings_shown
from ..pass_run.process import settings
from ..pass_run.runner import InternalError
from ..plugin_faults import SHOWN, blame
from ..progress import Progress
from .driver import XRelayOpt


def main(argv: Sequence[str] | None = None) -> int:
    """Run `xrelay-opt` with `argv` (default: the process's); return the exit status."""
    with settings():
        return guarded("xrelay-opt", lambda: _run(sys.argv[1:] if argv is None else argv))


def _run(argv: Sequence[str]) -> int:
    reporter = Reporter(progress=Progress())
    try:
        with warnings_shown(reporter):
            return XRelayOpt(argv, reporter).execute()
    except OSError:
        raise
    except FileError as error:
        print(f"{error.file}: error: {error.message}", file=sys.stderr)
        return exit_status(error)
    except Exception as error:
        if "--traceback" in argv:
            import traceback

            traceback.print_exception(error)
        found = message_of(error)
        if found is not None:
            reporter.report(*found)
            return exit_status(error)
        _report_internal(error, reporter)
        return FAULT


def _report_internal(error: BaseException, reporter: Reporter) -> None:
    """Report an internal error, and how to reproduce it."""
    text = str(error)
    if not isinstance(error, InternalError):
        text = f"internal error: {describe(error)}"
    reporter.report(Message(Severity.ERROR, text))
    reproducer = getattr(error, "reproducer", None)
    if reproducer is not None:
        hint = f"a reproducer is in {reproducer} (xrelay-opt --run-reproducer)"
    else:
        hint = f"{SHOWN}, --crash-reproducer=FILE writes a reproducer"
    reporter.report(Message(Severity.NOTE, f"{blame(error)}; {hint}"))


if __name__ == "__main__":
    sys.exit(main())
