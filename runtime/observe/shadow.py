"""
The contents of memory, by address: who wrote each byte last.

    shadow.set(0, 16, a)           [0, 16) a
    shadow.set(4, 8, b)            [0, 4) a    [4, 8) b    [8, 16) a
    shadow.within(6, 20)           [6, 8) b    [8, 16) a    [16, 20) None
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Shadow(Generic[T]):
    """A map from addresses to contents, None by default, as intervals that do not overlap."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._spans: list[tuple[int, T]] = []
        """The end and the content of each interval."""

    def set(self, start: int, stop: int, content: T) -> None:
        """Let [start, stop) hold `content`."""
        if start >= stop:
            return
        first, last = self._met(start, stop)
        starts, spans = [start], [(stop, content)]
        if first < last:
            before, after = self._starts[first], self._spans[last - 1]
            if before < start:
                starts.insert(0, before)
                spans.insert(0, (start, self._spans[first][1]))
            if stop < after[0]:
                starts.append(stop)
                spans.append(after)
        self._starts[first:last] = starts
        self._spans[first:last] = spans

    def within(self, start: int, stop: int) -> Iterator[tuple[int, int, T | None]]:
        """Yield the parts of [start, stop) in order, each with its content."""
        if start >= stop:
            return
        first, last = self._met(start, stop)
        for i in range(first, last):
            here, (end, content) = max(start, self._starts[i]), self._spans[i]
            if start < here:
                yield start, here, None
            start = min(end, stop)
            yield here, start, content
        if start < stop:
            yield start, stop, None

    def _met(self, start: int, stop: int) -> tuple[int, int]:
        """Return the range of the intervals that intersect [start, stop)."""
        first = bisect_right(self._starts, start)
        if first and self._spans[first - 1][0] > start:
            first -= 1
        return first, max(first, bisect_left(self._starts, stop))
