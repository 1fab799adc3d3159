"""Errors about Relay programs that cannot be read or written, with their locations."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from re import compile, finditer

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from ...dialects.xdsl_extras.xdsl_internals import file_location
from ...operators.spelling import did_you_mean

_LONG_WORD = compile(r"\S{161,}")
_MESSAGE = 1000
"""Maximum length of a message."""
_NAME = 100
"""Maximum length of a name for which similar names are suggested."""


def _shortened(message: str) -> str:
    """Return `message` without the middle of overlong words."""
    text = _LONG_WORD.sub(lambda m: f"{m[0][:100]}…{m[0][-20:]}", message)
    return text if len(text) <= _MESSAGE else f"{text[:_MESSAGE]}…"


class RelayTextError(DiagnosticException):
    """
    A Relay program is wrong, or uses something that is not supported.

    `location` is the place of the error (line and column from 1), `width` the number of characters
    there, `notes` are messages at related places.
    """

    def __init__(
        self,
        message: str,
        location: FileLineColLoc,
        width: int = 1,
        notes: Iterable[tuple[str, FileLineColLoc]] = (),
    ):
        self.message = _shortened(message)
        super().__init__(self.message)
        self.location = location
        self.width = width
        self.notes = tuple(notes)


def location_of(it: Operation | SSAValue) -> FileLineColLoc:
    """Return the location of an op or value; for a value without one, that of its op."""
    location = getattr(it, "location", None)
    if isinstance(it, SSAValue) and not isinstance(location, FileLineColLoc):
        op = it.owner if isinstance(it.owner, Operation) else it.owner.parent_op()
        location = None if op is None else op.location
    assert isinstance(location, FileLineColLoc), "an op that was read has a location"
    return location


class SourceMap:
    """
    Maps offsets in a text to lines and columns of the file `name`.

    The text may be a part of the file, preceded by other lines.
    """

    def __init__(self, name: str, text: str, lines_before: int = 0):
        self.file = StringAttr(name)
        self._lines_before = lines_before
        self._starts = [0, *(m.end() for m in finditer("\n", text))]
        self._numbers: dict[int, IntAttr] = {}

    def location(self, at: int) -> FileLineColLoc:
        """Return the line and column, from 1, of the offset `at`."""
        line = bisect_right(self._starts, at)
        return file_location(
            self.file,
            self._number(line + self._lines_before),
            self._number(at - self._starts[line - 1] + 1),
        )

    def _number(self, number: int) -> IntAttr:
        attr = self._numbers.get(number)
        if attr is None:
            attr = self._numbers[number] = IntAttr(number)
        return attr

    def error(
        self, message: str, at: int, width: int = 1, notes: Iterable[tuple[str, int]] = ()
    ) -> RelayTextError:
        """Return the error `message` about `width` characters at the offset `at`."""
        placed = [(text, self.location(where)) for text, where in notes]
        return RelayTextError(message, self.location(at), width, placed)


class PrintingError(DiagnosticException):
    """The program has no form as Relay text; `op` and its `location` are to blame."""

    def __init__(self, message: str, op: Operation):
        super().__init__(message)
        self.op = op
        self.location = op.location if isinstance(op.location, FileLineColLoc) else None


def unprintable(what: str, op: Operation) -> PrintingError:
    """Return the error that Relay text has no form for `what`."""
    return PrintingError(f"Relay text has no form for {what}", op)


def nearest(wrong: str, known: Iterable[str], sigil: str = "") -> str:
    """Return "; did you mean 'x' or 'y'?" for the names closest to `wrong`, or ""."""
    if len(wrong) > _NAME:
        return ""
    return did_you_mean(wrong, known, sigil, most=3)
