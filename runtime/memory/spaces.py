"""
The bytes of a region that are free at a point of a path.

    space = Space(extent)
    at, memory = space.take(100, 64, "a storage")     the first bytes that are free
    space.give(at, 100)

A storage gets the smallest gap between live ones that fits, or the bytes after the last one. So
paths that exclude each other, and functions that are not active at the same time, share bytes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from .gaps import cut, join
from .limits import ALIGNMENT
from .regions import Bytes, Extent

TRIED = 8
"""Number of gaps to try for a storage with a large alignment."""
MAX_GAPS = 64
"""
Limit on the gaps: beyond it the smallest is forgotten, and its bytes are not used again. Each point
of a path has a copy of the gaps, and deep recursion may leave some at each level.
"""


def _rounded(number: int, alignment: int) -> int:
    """Return the first multiple of `alignment`, a power of two, from `number` on."""
    return (number + (alignment - 1)) & -alignment


@dataclass(eq=False, slots=True)
class Space:
    """
    The free bytes of `extent`: those from `top` on, and the gaps below, which do not touch.

    `edges` are the starts and stops of the gaps, in order, `by_size` their sizes and starts. Bytes
    are taken in multiples of `ALIGNMENT`. Without `reuses` they are not taken again.
    """

    extent: Extent
    reuses: bool = True
    top: int = 0
    edges: list[int] = field(default_factory=list[int])
    by_size: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def copy(self) -> Space:
        return Space(self.extent, self.reuses, self.top, self.edges.copy(), self.by_size.copy())

    @property
    def contents(self) -> tuple[int, ...]:
        """The free bytes, to compare spaces of one extent."""
        return (self.top, *self.edges)

    def take(self, size: int, alignment: int, what: str) -> tuple[int, Bytes]:
        """
        Take `size` bytes at a multiple of `alignment`; return the first one's number, and them.

        Raises `OutOfMemory` if memory is short.
        """
        length = _rounded(size, ALIGNMENT)
        if not length:
            return 0, self.extent.view(0, 0)
        first = bisect_left(self.by_size, (length, 0))
        for i in range(first, min(first + TRIED, len(self.by_size))):
            gap, start = self.by_size[i]
            at = _rounded(start, alignment)
            if at + length <= start + gap:
                self._cut(i, at, at + length)
                return at, self.extent.view(at, size)
        at = _rounded(self.top, alignment)
        self.extent.cover(at + size, what)
        if at > self.top:
            self.edges += (self.top, at)
            insort(self.by_size, (at - self.top, self.top))
        self.top = at + length
        return at, self.extent.view(at, size)

    def _cut(self, index: int, first: int, stop: int) -> None:
        """Remove the bytes from `first` to `stop` from the gap `by_size[index]`."""
        size, start = self.by_size.pop(index)
        cut(self.edges, first, stop)
        for a, b in ((start, first), (stop, start + size)):
            if a < b:
                insort(self.by_size, (b - a, a))

    def give(self, start: int, size: int) -> None:
        """Return the `size` bytes that were taken at `start`."""
        if not self.reuses or not size:
            return
        stop = start + _rounded(size, ALIGNMENT)
        low, high = join(self.edges, start, stop)
        for a, b in ((low, start), (stop, high)):  # the gaps on both sides
            if a < b:
                del self.by_size[bisect_left(self.by_size, (b - a, a))]
        if high == self.top:
            self.top = low
            cut(self.edges, low, high)
            return
        insort(self.by_size, (high - low, low))
        if len(self.by_size) > MAX_GAPS:
            length, smallest = self.by_size.pop(0)
            cut(self.edges, smallest, smallest + length)
