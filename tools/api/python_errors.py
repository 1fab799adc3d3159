"""Errors and messages of the compiler for callers in Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import FileLineColLoc

from ...passes.support.diagnostics import Message, Severity
from ...runtime.errors import Error, Location, Note, with_cause
from ...runtime.files import streams_kept
from ..messages import Reporter, message_of
from ..pass_run.process import settings


class PythonReporter(Reporter):
    """Turns warnings into Python's; remarks are printed to stderr."""

    @override
    def report(self, message: Message, width: int = 1) -> None:
        if message.severity is Severity.WARNING:
            warnings.warn(self.render(message, width), stacklevel=2)
        else:
            super().report(message, width)


def _location(at: FileLineColLoc | None) -> Location | None:
    return None if at is None else Location(at.filename.data, at.line.data, at.column.data)


def as_error(error: BaseException, reporter: Reporter) -> Error | None:
    """Return `error` for callers in Python; None if it is an internal error."""
    if isinstance(error, Error):
        return with_cause(error)
    described = message_of(error)
    if described is None:
        return None
    message, width = described
    notes = (Note(note.message, _location(note.location)) for note in message.notes)
    converted = Error(message.message, _location(message.location), notes)
    converted.diagnostic = message.message
    if message.location is not None or message.notes:
        converted.diagnostic = reporter.render(message, width)
    return converted


@contextmanager
def _compiling(reporter: Reporter) -> Generator[None]:
    try:
        with settings(), streams_kept():
            yield
    except Exception as error:
        converted = as_error(error, reporter)
        if converted is None:
            raise
    else:
        return
    raise converted.with_traceback(None) from None


compiling: Callable[[Reporter], AbstractContextManager[None, None]] = cast("Any", _compiling)
"""Raise errors in the `with` block as `Error`s."""
