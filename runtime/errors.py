"""Errors of the runtime: faults of a program or its inputs, never a crash."""

from typing import NamedTuple


class Location(NamedTuple):
    """A position in the source of a program; line and column count from 1."""

    file: str
    line: int
    column: int


class Note(NamedTuple):
    """A further position that an error involves."""

    message: str
    location: Location | None


class MachineError(Exception):
    """
    An invalid program, or inputs that do not fit it.

    `location` is the position in the source at fault, if the program records it.
    """

    def __init__(
        self, message: str, location: Location | None = None, notes: tuple[Note, ...] = ()
    ) -> None:
        super().__init__(message)
        self.location = location
        self.notes = notes
