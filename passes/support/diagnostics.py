"""
What a pass says to the user: errors, warnings and remarks that know their place.

    raise PassError("storage needs 64 bytes, but the device has 32", op,
                    notes=[(device_op, "the device is declared here")])
    emit_remark(ctx, op, "fused 3 operators")

An error ends the pass. A remark or a warning goes to the context's `handler` when the
context is a `ReportingContext` (the one of `xrelay-opt`), and as one plain line to
stderr otherwise, so that a pass may be run by any driver.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TypeAlias, cast

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

Place: TypeAlias = Operation | SSAValue
"""What a message can point at: an op, or a value (a result or a block argument)."""


class Severity(StrEnum):
    """How much a message matters; the value is the word that is printed."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@dataclass(frozen=True)
class Note:
    """A second place that takes part in a message."""

    message: str
    location: FileLineColLoc | None


@dataclass(frozen=True)
class Message:
    """One thing said to the user, with the place it is about (None when unknown)."""

    severity: Severity
    message: str
    location: FileLineColLoc | None = None
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        """The message and its notes, one plain line each: `file:line:col: error: …`."""
        lines = [_line(self.location, self.severity, self.message)]
        lines += [_line(n.location, Severity.NOTE, n.message) for n in self.notes]
        return "\n".join(lines)


def _line(at: FileLineColLoc | None, severity: Severity, message: str) -> str:
    place = ""
    if at is not None:
        place = f"{at.filename.data}:{at.line.data}:{at.column.data}: "
    return f"{place}{severity}: {message}"


class PassError(PassFailedException):
    """
    A pass cannot go on because of what the user wrote at `op`.

    `notes` point at the other places that take part. Locations are read when the error
    is made, so the ops may be erased afterwards.
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
        """The error as data, ready to be rendered."""
        return Message(Severity.ERROR, self.message, self.location, self.notes)


def _notes(notes: Iterable[tuple[Place, str]]) -> tuple[Note, ...]:
    return tuple(Note(message, location_of(place)) for place, message in notes)


def file_location(location: LocationAttr) -> FileLineColLoc | None:
    """The first place in a file that `location` names; None for an unknown one."""
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
    Where `place` stands in its file.

    An op or value without a location has that of the nearest op around it that has one.
    """
    node: Operation | Block | Region | None
    if isinstance(place, SSAValue):
        location = getattr(place, "location", None)
        if isinstance(location, LocationAttr):
            found = file_location(location)
            if found is not None:
                return found
        node = place.owner
    else:
        node = place
    while node is not None:
        if isinstance(node, Operation) and not isinstance(node.location, UnknownLoc):
            found = file_location(node.location)
            if found is not None:
                return found
        node = node.parent
    return None


def print_plainly(message: Message) -> None:
    """The handler of contexts that have none: plain lines on stderr."""
    print(message, file=sys.stderr)


@dataclass
class ReportingContext(Context):
    """A context that hands what passes emit to `handler`."""

    handler: Callable[[Message], None] = field(default=print_plainly, kw_only=True)

    @override
    def clone(self) -> "ReportingContext":
        """A copy that can load further dialects and reports to the same handler."""
        plain = super().clone()
        copied = (getattr(plain, field.name) for field in fields(plain))
        return ReportingContext(*copied, handler=self.handler)


def _emit(ctx: Context, message: Message) -> None:
    handler = ctx.handler if isinstance(ctx, ReportingContext) else print_plainly
    handler(message)


def emit_remark(
    ctx: Context, op: Place, message: str, notes: Iterable[tuple[Place, str]] = ()
) -> None:
    """Tell the user what was done, or not done, at `op`."""
    at = location_of(op)
    _emit(ctx, Message(Severity.REMARK, message, at, _notes(notes)))


def emit_warning(
    ctx: Context, op: Place, message: str, notes: Iterable[tuple[Place, str]] = ()
) -> None:
    """Warn the user about `op`; the pass goes on."""
    at = location_of(op)
    _emit(ctx, Message(Severity.WARNING, message, at, _notes(notes)))
