"""Errors of the runtime: a program or its inputs are at fault, never a crash."""

from typing import NamedTuple


class Location(NamedTuple):
    """A place in the source of a program; line and column are counted from 1."""

    file: str
    line: int
    column: int


class MachineError(Exception):
    """
    A program that cannot be run, or inputs that do not fit it; the message says which.

    `location` is the place in the source that is at fault, if the program keeps it.
    """

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location
