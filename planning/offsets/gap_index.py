"""
Find the lowest gap for a body among those placed, without looking at all of them.

    width 512   |===============================|===============================|
    width 64    |===|===|===|===|===|===|===|===|===|===|===|===|===|===|===|===|
                       aaaaaaa                 bbbbbbbbbbbbbbbbb

Boxes in order of birth are their own time index: box k is alive from position k to
`reach[k]`. Positions are grouped into leaves, leaves into nodes, eight to one, and so on.
A body is kept where its life covers a node but not the node's parent (`solid`), and at
either end in a leaf that it covers in part (a in one, b in two of the picture). Each node
also has the union of all bytes used below it at any time. Both are sets of bytes as
disjoint intervals: neighbours merge, so a stack of a thousand long-lived bodies is one.

A query visits the same few nodes as an insertion: O(log n) of them, and one or two leaves.
Hence placing n bodies is near-linear, however many are alive together, as long as the bytes
in use at a time have few gaps: 22 microseconds per body at 18,692; at 100,000, 75 by size and
200 by area.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from ..buffers import Ints, as_list
from ..meter import NEVER, is_over
from .core import Core
from .greedy import Placement

_LEAF = 32
"""Positions per leaf."""

_FAN = 8
"""Children per node."""


class _Bytes:
    """A set of bytes as disjoint intervals, ascending; touching ones are merged."""

    __slots__ = ("highs", "lows")

    def __init__(self) -> None:
        self.lows: list[int] = []
        self.highs: list[int] = []

    def add(self, low: int, high: int) -> None:
        lows, highs = self.lows, self.highs
        first, last = bisect_left(highs, low), bisect_right(lows, high)
        if first < last:
            low, high = min(low, lows[first]), max(high, highs[last - 1])
        lows[first:last] = (low,)
        highs[first:last] = (high,)


class GapIndex:
    """The bytes that placed bodies use, by time; see above."""

    def __init__(self, core: Core):
        self.reach = as_list(core.reach)
        self.leaves: list[list[tuple[int, int, int, int]]] = []
        self.widths: list[int] = []
        self.solid: list[list[_Bytes]] = []
        self.union: list[list[_Bytes]] = []
        width, count = _LEAF, -(-core.n_bodies // _LEAF)
        self.leaves = [[] for _ in range(count)]
        while True:
            self.widths.append(width)
            self.solid.append([_Bytes() for _ in range(count)])
            self.union.append([_Bytes() for _ in range(count)])
            if count <= 1:
                break
            width, count = width * _FAN, -(-count // _FAN)

    def _covered(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield (level, node) of the largest nodes within the positions `[start, stop)`."""
        level, first, last = 0, -(-start // _LEAF), stop // _LEAF
        while first < last:
            while first < last and first % _FAN:
                yield level, first
                first += 1
            while first < last and last % _FAN:
                last -= 1
                yield level, last
            level, first, last = level + 1, first // _FAN, last // _FAN

    def _partly(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield (level, node) of the nodes that contain an end of `[start, stop)`, and more."""
        for level, width in enumerate(self.widths):
            first, last = start // width, (stop - 1) // width
            if first * width < start or (first + 1) * width > stop:
                yield level, first
            if last != first and (last + 1) * width > stop:
                yield level, last

    def add(self, k: int, at: int, end: int) -> None:
        """Record that body `k` is at bytes `at` to `end`."""
        stop = self.reach[k]
        for level, node in self._covered(k, stop):
            self.solid[level][node].add(at, end)
            self.union[level][node].add(at, end)
        for level, node in self._partly(k, stop):
            self.union[level][node].add(at, end)
            if level == 0:
                self.leaves[node].append((at, end, k, stop))

    def lowest(self, k: int, need: int, alignment: int) -> int:
        """Return the lowest offset at which `need` bytes are free during the life of body `k`."""
        stop = self.reach[k]
        used = [self.union[level][node] for level, node in self._covered(k, stop)]
        near: list[tuple[int, int]] = []
        for level, node in self._partly(k, stop):
            used.append(self.solid[level][node])
            if level == 0:
                near += [(a, z) for a, z, b, d in self.leaves[node] if b < stop and d > k]
        near.sort()
        sets = [(u.lows, u.highs) for u in used if u.lows]
        at, there, turn = 0, -1, 0
        while there != at:
            there = at
            for lows, highs in sets:
                i = bisect_right(highs, at)
                while i < len(lows) and lows[i] < at + need:
                    at = -(-highs[i] // alignment) * alignment
                    i = bisect_right(highs, at, i)
            while turn < len(near) and near[turn][0] < at + need:
                if near[turn][1] > at:
                    at = -(-near[turn][1] // alignment) * alignment
                turn += 1
        return at


def fill(core: Core, start: Ints, rest: Ints, deadline: float = NEVER) -> Placement | None:
    """
    Place the bodies of `rest` in order, each in the lowest gap, around those in `start`.

    The core is simple; `start` has an offset for each body that is placed, and -1 for others.
    Returns None if `deadline` passes.
    """
    offsets, size, alignment = as_list(start), as_list(core.size), as_list(core.alignment)
    index = GapIndex(core)
    for k, at in enumerate(offsets):
        if at >= 0:
            index.add(k, at, at + size[k])
    for turn, k in enumerate(as_list(rest)):
        if turn % 256 == 0 and is_over(deadline):
            return None
        at = offsets[k] = index.lowest(k, size[k], alignment[k])
        index.add(k, at, at + size[k])
    return Placement(offsets, None, [max(map(int.__add__, offsets, size), default=0)])
