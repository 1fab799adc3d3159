"""Errors of the commands, their exit statuses, and their report; it needs no compiler."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ..runtime.errors import Error, render
from .commands import FAULT, NO_MEMORY, USAGE, describe, warnings_passed_to

if TYPE_CHECKING:
    from .messages import Reporter


class UsageError(Error):
    """A request that cannot be fulfilled; the text says why, and what can."""


class CommandLineError(UsageError):
    """A wrong command line: options that are unknown or contradict each other."""

    exit_status: ClassVar[int] = USAGE


class FileError(UsageError):
    """A file that cannot be used, reported as `file: error: message`."""

    def __init__(self, file: str, message: str):
        super().__init__(message)
        self.file = file


def require_compiler(instead: str) -> None:
    """Raise `UsageError` if xDSL is not installed; `instead` says what works without it."""
    if find_spec("xdsl") is None:
        raise UsageError(
            "the compiler is not installed here, only what runs compiled programs: pip install "
            f"xrelay installs it with xDSL; {instead}"
        )


Show: TypeAlias = Callable[[BaseException], tuple[str, bool] | None]
"""Returns an error as text, and whether it begins with a place; None if it is internal."""


def reported(
    body: Callable[[], int],
    name: str = "",
    show: Show | None = None,
    *,
    traceback: bool = False,
    hint: str = "",
) -> int:
    """Run `body`, and return its exit status, or `report` its error; the system's are raised."""
    try:
        return body()
    except OSError:
        raise
    except Exception as error:
        return report(error, name, show, traceback=traceback, hint=hint)


def compiled(body: Callable[[Reporter], int], instead: str, name: str = "", **how: Any) -> int:
    """
    Run `body`, which needs the compiler, in its settings; warnings and errors go to its reporter.

    Raises `UsageError` if it is not installed, which says what works `instead`.
    """
    require_compiler(instead)
    from .messages import Reporter
    from .pass_run.process import settings
    from .progress import Progress

    reporter = Reporter(progress=Progress())

    def run() -> int:
        with warnings_passed_to(reporter.warn):
            return body(reporter)

    with settings():
        return reported(run, name, reporter.shown, **how)


def report(
    error: BaseException,
    name: str = "",
    show: Show | None = None,
    *,
    traceback: bool = False,
    hint: str = "",
) -> int:
    """
    Print `error` to stderr, and return the exit status of the command that it ends.

    An error without a place begins with the `name` of the file that it is about: not a wrong
    request, nor an error that names its file. With the compiler, a reporter `show`s errors, with
    the lines that are quoted. An internal error ends with `hint`.
    """
    from .plugin_faults import SHOWN, blame, blame_of_cause

    if traceback:
        from traceback import print_exception

        print_exception(error)
    shown = (show or _shown)(error)
    if shown is not None:
        text, has_place = shown
        note = blame_of_cause(error)
    else:
        text, has_place = str(error), False
        if not hasattr(error, "reproducer"):
            text = f"internal error: {describe(error)}"
        text, path = f"error: {text}", getattr(error, "reproducer", None)
        rerun = f"a reproducer is in {path} (xrelay-opt --run-reproducer)"
        note = f"{blame(error)}; {rerun if path else SHOWN + hint}"
    file = getattr(error, "file", "" if isinstance(error, UsageError) else name)
    has_file = has_place or not file or text.startswith("error: cannot read '")
    prefix = "" if has_file else f"{file}: "
    print(prefix + text + (f"\nnote: {note}" if note else ""), file=sys.stderr)
    return getattr(error, "exit_status", FAULT)


def _shown(error: BaseException) -> tuple[str, bool] | None:
    """Return an error of the runtime, and whether it begins with a place; None for others."""
    if isinstance(error, MemoryError):
        error = Error(NO_MEMORY)
    if not isinstance(error, Error):
        return None
    has_place = error.location is not None
    return "error: " * (not has_place) + render(error, {}), has_place
