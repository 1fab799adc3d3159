"""Half-open intervals: of times, of positions in a program, of indices."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """The integers from `start` up to but excluding `stop`: touching intervals do not meet."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        return self.stop - self.start

    def meets(self, other: Interval) -> bool:
        return max(self.start, other.start) < min(self.stop, other.stop)
