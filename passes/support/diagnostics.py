"""
Errors, warnings and remarks of passes, with locations.

    raise PassError("storage needs 64 bytes, but the device has 32", op,
                    notes=[(device_op, "the device is declared here")])
    emit_remark(ctx, op, "fused 3 operators")

An error ends the pass. Remarks and warnings go to the `handler` of a `ReportingContext` (that of
`xrelay-opt`); with any other context, so that every driver can run the pass, they are printed to
stderr as plain lines.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TypeAlias, TypeVar, cast

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
    UnknownLoc,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from ...operators.records import record
from ...runtime.errors import Location

Place: TypeAlias = Operation | SSAValue
"""The subject of a message: an op, or a value (a result or a block argument)."""


class Severity(StrEnum):
    """The severity of a message; its value is the word that is printed."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@record
class Note:
    """A further place that a message involves."""

    message: str
    location: FileLineColLoc | None


@record
class Message:
    """A message to the user, with its location (None when unknown)."""

    severity: Severity
    message: str
    location: FileLineColLoc | None = None
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        """Return the message and its notes, one plain line each: `file:line:col: error: …`."""
        lines = [_line(self.location, self.severity, self.message)]
        lines += [_line(n.location, Severity.NOTE, n.message) for n in self.notes]
        return "\n".join(lines)


def _line(at: FileLineColLoc | None, severity: Severity, message: str) -> str:
    place = ""
    if at is not None:
        place = f"{Location(at.filename.data, at.line.data, at.column.data)}: "
    return f"{place}{severity}: {message}"


class PassError(PassFailedException):
    """
    An error in the user's program, at `op`, that ends the pass.

    `notes` point at the other places involved. Locations are read when the error is created, so the
    ops may be erased afterwards.
    """

    def __init__(
        self,
        message: str,
        op: Place | None = None,
        notes: Iterable[tuple[Place, str]] = (),
    ):
        super().__init__(message)
        self.message = message
        self.op = op
        self.location = None if op is None else location_of(op)
        self.notes = _notes(notes)

    def as_message(self) -> Message:
        """Return the error as a message to render."""
        return Message(Severity.ERROR, self.message, self.location, self.notes)


class OptionError(PassError):
    """A value of `option` that a pass cannot use: reported in the text of the pipeline."""

    def __init__(self, message: str, option: str):
        super().__init__(message)
        self.option = option


def _notes(notes: Iterable[tuple[Place, str]]) -> tuple[Note, ...]:
    return tuple(Note(message, location_of(place)) for place, message in notes)


def file_location(location: LocationAttr) -> FileLineColLoc | None:
    """Return the first place in a file that `location` names; None if it names none."""
    pending: list[Attribute] = [location]
    while pending:
        part = pending.pop()
        if isinstance(part, FileLineColLoc):
            return part
        if isinstance(part, NameLoc):
            pending.append(part.location)
        elif isinstance(part, CallSiteLoc):
            pending += [part.caller, part.callee]
        elif isinstance(part, FusedLoc):
            pending.append(part.locations)
        elif isinstance(part, ArrayAttr):
            pending += reversed(cast("ArrayAttr[Attribute]", part).data)
    return None


def location_of(place: Place) -> FileLineColLoc | None:
    """
    Return the place in its file of an op or value.

    Without a location of its own, it has that of the nearest enclosing op with one.
    """
    node: Operation | Block | Region | None
    if isinstance(place, SSAValue):
        location = getattr(place, "location", None)
        if isinstance(location, LocationAttr):
            nearest = file_location(location)
            if nearest is not None:
                return nearest
        node = place.owner
    else:
        node = place
    while node is not None:
        if isinstance(node, Operation) and not isinstance(node.location, UnknownLoc):
            nearest = file_location(node.location)
            if nearest is not None:
                return nearest
        node = node.parent
    return None


def print_plainly(message: Message) -> None:
    """Print `message` to stderr: the handler of contexts without one."""
    print(message, file=sys.stderr)


@dataclass
class ReportingContext(Context):
    """A context whose `handler` gets the messages that passes emit."""

    handler: Callable[[Message], None] = field(default=print_plainly, kw_only=True)
    remarks: bool = field(default=False, kw_only=True)
    """True if passes whose task is not to report shall report their choices too."""

    @override
    def clone(self) -> "ReportingContext":
        """Return a copy that loads dialects of its own and reports to the same handler."""
        plain = super().clone()
        copied = (getattr(plain, field.name) for field in fields(plain))
        return ReportingContext(*copied, handler=self.handler, remarks=self.remarks)


def wants_remarks(ctx: Context) -> bool:
    """Test whether a pass shall report its choices (`xrelay-opt --remarks`)."""
    return isinstance(ctx, ReportingContext) and ctx.remarks


def emit_remark(
    ctx: Context, op: Place, message: str, notes: Iterable[tuple[Place, str]] = ()
) -> None:
    """Report what was done, or not done, at `op`."""
    _emit(ctx, Severity.REMARK, op, message, notes)


def emit_warning(
    ctx: Context, op: Place, message: str, notes: Iterable[tuple[Place, str]] = ()
) -> None:
    """Report a likely mistake at `op`; the pass continues."""
    _emit(ctx, Severity.WARNING, op, message, notes)


def _emit(
    ctx: Context, severity: Severity, op: Place, message: str, notes: Iterable[tuple[Place, str]]
) -> None:
    handler = ctx.handler if isinstance(ctx, ReportingContext) else print_plainly
    handler(Message(severity, message, location_of(op), _notes(notes)))


_T = TypeVar("_T")


def parse_keyed(
    texts: Sequence[str], parse: Callable[[str], tuple[str, _T]], option: str
) -> dict[str, _T]:
    """
    Parse the values of `option`, each with `parse`.

    Raises `OptionError` for a value that `parse` rejects with `ValueError`, and for a name that has
    two values.
    """
    values: dict[str, _T] = {}
    for text in texts:
        try:
            name, value = parse(text)
        except ValueError as error:
            raise OptionError(f"each of {option} {error}", option) from None
        before = values.setdefault(name, value)
        if before is not value and before != value:
            raise OptionError(f"{option} has two values for '{name}'", option)
    return values
