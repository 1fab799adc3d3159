"""
Notes in the annotations of records: facts about a field that its type does not state.

    kinds: Annotated[tuple[int, ...], AtMost(4)]            a check of values that are read
    memory: Annotated[int | None, NoneAs(-1)]               how None is written among numbers
    locations: Annotated[tuple[Location, ...], ELSEWHERE]   stored in another place
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..program.records import record


class Check:
    """A note that values which are read must fulfil."""

    __slots__ = ()

    def fault(self, value: Any) -> str | None:
        """Return the fault of a value: "must be …, but is …"; None if it has none."""
        raise NotImplementedError


@record
class AtLeast(Check):
    """A number that is not below a limit."""

    limit: int

    def fault(self, value: int) -> str | None:
        """Return the fault of a value."""
        return None if value >= self.limit else f"must be at least {self.limit}, but is {value}"


@record
class Below(Check):
    """A number from 0 on that is below a limit."""

    limit: int

    def fault(self, value: int) -> str | None:
        """Return the fault of a value."""
        in_range = 0 <= value < self.limit
        return None if in_range else f"must be in [0, {self.limit}), but is {value}"


@record
class AtMost(Check):
    """A sequence of at most so many items."""

    limit: int

    def fault(self, value: Sequence[object]) -> str | None:
        """Return the fault of a value."""
        count = len(value)
        return None if count <= self.limit else f"must have at most {self.limit}, but has {count}"


@record
class Exactly(Check):
    """A sequence of so many items."""

    count: int

    def fault(self, value: Sequence[object]) -> str | None:
        """Return the fault of a value."""
        count = len(value)
        return None if count == self.count else f"must have {self.count}, but has {count}"


@record
class OneOf(Check):
    """One of these values."""

    values: tuple[object, ...]

    def fault(self, value: object) -> str | None:
        """Return the fault of a value."""
        listed = ", ".join(map(str, self.values))
        return None if value in self.values else f"must be one of {listed}, but is {value!r}"


@record
class NoneAs:
    """The number that stands for None where a number is expected; all others are from 0 on."""

    number: int


@record
class Elsewhere:
    """A field that is stored in another place, or nowhere: its default is read."""


ELSEWHERE = Elsewhere()
