"""
Errors that are a user's to correct, and how they are shown.

    model.mlir:3:8: error: 'memory.alloc_storage' op alignment must be a power of two
      %s = memory.alloc_storage 64 align 48 : !memory.storage
           ^
    model.mlir:1:1: note: …
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

WIDE = 400
"""Lines of more characters, such as big constants, are not quoted as a whole."""

Sources: TypeAlias = Mapping[str, Sequence[str]]
"""The lines of each file, by its name in locations."""


class Location(NamedTuple):
    """
    A position in the source of a program; line and column count from 1.

    Without a line, which is 0 then, the file has a path in it: `m.onnx:if_0/then_branch/conv_3`.
    """

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    @property
    def of_line(self) -> str:
        """The place without the column."""
        return f"{self.file}:{self.line}" if self.line else self.file


class Note(NamedTuple):
    """A further place that an error involves."""

    message: str
    location: Location | None = None


class Error(Exception):
    """
    A mistake in a program, a file or an argument.

    `location` is the position in the source at fault, if it is known, and `notes` are the other
    places involved. `str()` of an error that the Python API raises is the text that the commands
    print: location, message, source line and caret, then the notes. About a file, it is also the
    error that Python has for it: `FileNotFoundError`, `PermissionError`.
    """

    def __init__(
        self, message: str, location: Location | None = None, notes: Iterable[Note] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.notes = tuple(notes)
        self.diagnostic: str | None = None
        """The error as the commands print it, once it has been rendered."""

    def __str__(self) -> str:
        return self.message if self.diagnostic is None else self.diagnostic


class MachineError(Error):
    """An invalid program, inputs that do not fit it, or a fault while it runs."""


def described(error: Exception) -> str:
    """Return the text of `error`, after its type unless it is one of ours, written for users."""
    return str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"


def quote(sources: Sources, file: str, line: int, column: int, width: int = 1) -> Iterator[str]:
    """Yield a source line, and a line with carets under `width` characters from `column` on."""
    lines = sources.get(file, ())
    number, column = line - 1, column - 1
    if not 0 <= number < len(lines) or column < 0:
        return
    text = lines[number].rstrip("\r")
    if not text:
        return
    if len(text) > WIDE:
        start = max(0, column - 80)
        text, column = text[start : start + 160], column - start
    column = min(column, len(text))
    blank = "".join("\t" if c == "\t" else " " for c in text[:column])
    yield text
    yield blank + "^" * max(1, min(width, len(text) - column))


def _shown(severity: str, message: str, at: Location | None, sources: Sources) -> Iterator[str]:
    if at is None:
        yield message if severity == "error" else f"{severity}: {message}"
        return
    yield f"{at}: {severity}: {message}"
    yield from quote(sources, *at)


def render(error: Error, sources: Sources) -> str:
    """
    Return `error` and its notes, each with its source line and a caret if it is known.

    An error without a location is its message.
    """
    lines = [*_shown("error", error.message, error.location, sources)]
    for note in error.notes:
        lines += _shown("note", note.message, note.location, sources)
    return "\n".join(lines)


@cache
def _also(cls: type[Error], system: type[OSError]) -> type[Error]:
    """Return the class of errors that are of both classes."""

    def reduce(error: Error) -> tuple[Any, ...]:
        return _of_both, (cls, system, error.__dict__, _place_in_system(error))

    return type(cls.__name__, (cls, system), {"__module__": cls.__module__, "__reduce__": reduce})


def _place_in_system(error: Any) -> tuple[Any, ...]:
    return error.errno, error.strerror, error.filename


def _of_both(
    cls: type[Error], system: type[OSError], state: Mapping[str, Any], place: tuple[Any, ...]
) -> Error:
    both = _also(cls, system)
    error: Any = both.__new__(both)
    Error.__init__(error, state["message"])
    error.__dict__.update(state)
    error.errno, error.strerror, error.filename = place
    return error


def with_cause(error: Error) -> Error:
    """Return `error`, which is the error of the system that caused it, too, if one did."""
    cause = error.__cause__
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__
    if cause is None or isinstance(error, OSError):
        return error
    return _of_both(type(error), type(cause), error.__dict__, _place_in_system(cause))


def reason_of(error: OSError | ValueError) -> str:
    """Return why a file cannot be read or written."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
