"""
Show messages with their source line, and turn errors of all kinds into messages.

    model.mlir:3:8: error: 'memory.alloc_storage' op alignment must be a power of two
      %s = memory.alloc_storage 64 align 48 : !memory.storage
           ^
    model.mlir:1:1: note: …
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import ClassVar, TextIO, cast

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    MultipleSpansParseError,
    ParseError,
)
from xdsl.utils.lexer import Span

from ..dialects.errors import TOO_DEEP
from ..passes.support.diagnostics import Message, Note, PassError, Severity, location_of
from ..runtime.errors import Error, Location, quote
from .commands import NO_MEMORY, USAGE, is_quiet
from .progress import Progress, no_progress


class SourceError(DiagnosticException):
    """An error with a place in some text, such as a pipeline on a command line."""

    def __init__(self, message: Message, width: int = 1):
        super().__init__(message.message)
        self.shown = message
        self.width = width


class PipelineError(SourceError):
    """Text that is not a pipeline."""

    exit_status: ClassVar[int] = USAGE


@dataclass
class Reporter:
    """Writes messages to a stream, with their source lines if it has them."""

    stream: TextIO | None = None
    """The stream; None is the current `sys.stderr`."""
    sources: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The lines of each file, by its name in locations."""
    errors: int = 0
    """Number of errors reported."""
    progress: Progress = field(default_factory=no_progress)
    """Shows what is going on, by default nothing; removed before a message is written."""

    def add_source(self, name: str, text: str) -> None:
        """Let messages quote the lines of `text` for places in the file `name`."""
        self.sources[name] = text.split("\n")

    def report(self, message: Message, width: int = 1) -> None:
        """Write `message`; `width` characters from its place on are underlined."""
        if message.severity is Severity.ERROR:
            self.errors += 1
        elif is_quiet():
            return
        self.progress.clear()
        print(self.render(message, width), file=self.stream or sys.stderr)

    def warn(self, text: str) -> None:
        """Write a warning that is about no place."""
        self.report(Message(Severity.WARNING, text))

    def shown(self, error: BaseException) -> tuple[str, bool] | None:
        """Return `error` as text, and whether it begins with a place; None if it is internal."""
        self.progress.clear()
        self.errors += 1
        message = message_of(error)
        return None if message is None else (self.render(*message), message[0].location is not None)

    def render(self, message: Message, width: int = 1) -> str:
        """Return the message and its notes, each with its source line and a caret."""
        notes = (Message(Severity.NOTE, note.message, note.location) for note in message.notes)
        lines: list[str] = []
        for part in (replace(message, notes=()), *notes):
            lines.append(str(part))
            if (at := part.location) is not None:
                place = at.filename.data, at.line.data, at.column.data
                lines += quote(self.sources, *place, width if part.severity != "note" else 1)
        return "\n".join(lines)


def place(name: str, line: int, column: int) -> FileLineColLoc:
    """Return the location of a line and column, both counted from 1, of the file `name`."""
    return FileLineColLoc(StringAttr(name), IntAttr(line), IntAttr(column))


def _place(at: Location | None) -> FileLineColLoc | None:
    return None if at is None else place(*at)


def message_of(error: BaseException) -> tuple[Message, int] | None:
    """Return `error` as a message and the width of its place; None for an internal error."""
    match error:
        case SourceError():
            return error.shown, error.width
        case Error():
            notes = tuple(Note(note.message, _place(note.location)) for note in error.notes)
            return Message(Severity.ERROR, error.message, _place(error.location), notes), 1
        case PassError():
            return error.as_message(), 1
        case ParseError():
            return _of_parse_error(error)
        case ArgSpecParseError():
            return Message(Severity.ERROR, str(error).rstrip()), 1
        case DiagnosticException():
            op = blamed_op(error)
            text = str(error) or type(error).__name__
            if op is None:
                return _of_frontend_error(error, text)
            return Message(Severity.ERROR, text, location_of(op)), 1
        case RecursionError():
            return Message(Severity.ERROR, TOO_DEEP), 1
        case MemoryError():
            return Message(Severity.ERROR, NO_MEMORY), 1
        case _:
            return None


def _of_frontend_error(error: DiagnosticException, text: str) -> tuple[Message, int]:
    """Convert an error of a frontend, which may have a place, a width and notes."""
    at: object = getattr(error, "location", None)
    width: object = getattr(error, "width", 1)
    given = cast("Iterable[tuple[str, FileLineColLoc]]", getattr(error, "notes", ()))
    message = Message(
        Severity.ERROR,
        text,
        at if isinstance(at, FileLineColLoc) else None,
        tuple(Note(what, where) for what, where in given),
    )
    return message, width if isinstance(width, int) else 1


def _of_parse_error(error: ParseError) -> tuple[Message, int]:
    notes: tuple[Note, ...] = ()
    if isinstance(error, MultipleSpansParseError):
        notes = tuple(
            Note(text or error.ref_text or "", span_place(span)) for span, text in error.refs
        )
    text = error.msg.strip() or "syntax error"
    message = Message(Severity.ERROR, text, span_place(error.span), notes)
    return message, max(1, error.span.end - error.span.start)


def span_place(span: Span[str] | Span[bytes]) -> FileLineColLoc:
    """Return the location where `span` starts."""
    at = span.get_location()
    return place(at.file, at.line, at.col)


def blamed_op(error: BaseException) -> Operation | None:
    """
    Return the op that `error` is about.

    Errors of xDSL do not have it, but they are raised through `Operation.emit_error`,
    which is still on the stack of the traceback.
    """
    op: object = getattr(error, "op", None)
    if isinstance(op, Operation):
        return op
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is Operation.emit_error.__code__:
            return cast(Operation, trace.tb_frame.f_locals["self"])
        trace = trace.tb_next
    return None
