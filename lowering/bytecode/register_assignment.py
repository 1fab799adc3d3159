"""
Assign registers to live ranges: those of no two that share a register overlap.

    0: [-1, 9)    1: [3, 5)    2: [5, 9) [15, 17)    3: [9, 15)    4: [16, 20)

    0 stays, being a parameter; 1, 2 and 3 become 1; 4 becomes 0. With a move from 2 to 4, …

First come the moves: each joins its registers if their ranges allow it. Then a linear scan assigns
to each, in order of their starts, the lowest register in which nothing overlaps; it may be in a
hole between two ranges. So each register overlaps all lower ones, and assigning again changes
nothing. The time is O(n log n), times the registers that are in a hole at once.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from xdsl.utils.disjoint_set import IntDisjointSet

from .live_ranges import LiveRanges, Range


@dataclass(slots=True)
class Ranges:
    """Ranges that do not overlap, in order."""

    items: list[Range]

    @property
    def stop(self) -> int:
        return self.items[-1][1]

    def overlap(self, other: Ranges) -> bool:
        """Test whether a range of this overlaps one of `other`."""
        few, many = sorted((self.items, other.items), key=len)
        for start, stop in few:
            at = bisect_left(many, (stop,))  # the ranges before it start before `stop`
            if at and many[at - 1][1] > start:
                return True
        return False

    def add(self, other: Ranges) -> None:
        """Add the ranges of `other`, which do not overlap these."""
        if self.stop <= other.items[0][0]:
            self.items += other.items
            return
        for item in other.items:
            insort(self.items, item)


@dataclass
class Coalescing:
    """The registers that became one."""

    ranges: dict[int, Ranges]
    parameters: int
    representatives: IntDisjointSet = field(init=False)

    def __post_init__(self) -> None:
        self.representatives = IntDisjointSet(size=max(self.ranges, default=-1) + 1)

    def find(self, register: int) -> int:
        """Return the representative of the coalescing class of `register`."""
        return self.representatives[register]

    def join(self, one: int, other: int) -> None:
        """Make two registers one, unless they overlap or are two parameters."""
        one, other = self.find(one), self.find(other)
        if one == other or max(one, other) < self.parameters:
            return
        if self.ranges[one].overlap(self.ranges[other]):
            return
        if other < self.parameters or (
            one >= self.parameters and len(self.ranges[one].items) < len(self.ranges[other].items)
        ):
            one, other = other, one
        self.ranges[one].add(self.ranges.pop(other))
        self.representatives.union_left(one, other)


@dataclass
class LinearScan:
    """The registers assigned so far; the ranges of those that are not free for good."""

    taken: dict[int, Ranges] = field(default_factory=dict[int, Ranges])
    stops: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """When registers may become free, and which: a heap."""
    free: list[int] = field(default_factory=list[int])
    """A heap."""
    holed: list[int] = field(default_factory=list[int])
    """Those taken that have holes, in order."""
    count: int = 0

    def assign(self, ranges: Ranges) -> int:
        """Assign the lowest register; the first range starts at or after those assigned before."""
        now = ranges.items[0][0]
        while self.stops and self.stops[0][0] <= now:
            stop, register = heappop(self.stops)
            if register in self.taken and self.taken[register].stop == stop:
                self._release(register)
        lowest = self.free[0] if self.free else self.count
        for register in self.holed:
            if register > lowest:
                break
            if not self.taken[register].overlap(ranges):
                self.taken[register].add(ranges)
                heappush(self.stops, (self.taken[register].stop, register))
                return register
        if self.free:
            heappop(self.free)
        else:
            self.count += 1
        self.take(lowest, ranges)
        return lowest

    def take(self, register: int, ranges: Ranges) -> None:
        """Assign `register`, in which nothing else is live from now on."""
        self.taken[register] = Ranges(list(ranges.items))
        heappush(self.stops, (ranges.stop, register))
        if any(
            one[1] < other[0] for one, other in zip(ranges.items, ranges.items[1:], strict=False)
        ):
            insort(self.holed, register)

    def _release(self, register: int) -> None:
        del self.taken[register]
        heappush(self.free, register)
        at = bisect_left(self.holed, register)
        if at < len(self.holed) and self.holed[at] == register:
            del self.holed[at]


@dataclass(frozen=True)
class Assignment:
    """The new register of each register, and their number."""

    register: dict[int, int]
    count: int


def assign_registers(
    live: LiveRanges, parameters: int, moves: Iterable[tuple[int, int]]
) -> Assignment:
    """
    Assign registers so that live ones do not meet; parameters stay in the first ones.

    `moves` are pairs of registers that hold the same value after it was copied. They share a
    register unless they overlap; so that a read of a register without a value stays an error, moves
    from those that are `unsafe` must not be among them.
    """
    classes = Coalescing({r: Ranges(list(found)) for r, found in live.of.items()}, parameters)
    for one, other in moves:
        classes.join(one, other)
    scan = LinearScan(count=parameters)
    found = {register: register for register in range(parameters)}
    for register in range(parameters):
        scan.take(register, classes.ranges[register])
    for register in live.of:
        root = classes.find(register)
        if root not in found:
            found[root] = scan.assign(classes.ranges[root])
    return Assignment({register: found[classes.find(register)] for register in live.of}, scan.count)
