"""
Notes in the annotations of records: facts about a field that its type does not state.

    alignment: Annotated[int, at_least(1)]                  a check of values that are read
    memory: Annotated[int | None, NoneAs(-1)]               how None is written in attributes
    locations: Annotated[tuple[Location, ...], ELSEWHERE]   stored in another place
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...operators.records import record


@record(eq=False)
class Check:
    """A test that values which are read must pass: what each must be, and whether one is."""

    must: str
    holds: Callable[[Any], bool]

    def fault(self, value: Any) -> str | None:
        """Return the fault of a value: "must be …, but is …"; None if it has none."""
        return None if self.holds(value) else f"must {self.must}, but is {value!r:.80}"


def at_least(limit: int) -> Check:
    """Return the check of numbers that are not below a limit."""
    return Check(f"be at least {limit}", lambda value: value >= limit)


def sized(least: int, most: int) -> Check:
    """Return the check of sequences of so many items."""
    return Check(f"have {least} to {most} items", lambda value: least <= len(value) <= most)


@record
class NoneAs:
    """The number that stands for None where a number is expected; all others are from 0 on."""

    number: int


@record
class Elsewhere:
    """A field that is stored in another place, or nowhere: its default is read."""


ELSEWHERE = Elsewhere()
