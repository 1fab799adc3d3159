"""
A plan for sizes that are not known yet: which buffers lie below which.

Lifetimes decide which buffers conflict, sizes only how far apart they lie. So a plan may
name, for every pair that conflicts, the lower of the two, and leave offsets to arithmetic:

    time    0 1 2 3 4          below          offset                    sizes 8, 4, 6
    c           c c            a   -          0                         0
    b         b b b            b   a          a + size(a)               8
    a       a a a              c   b          b + size(b)               12

An offset is the largest end of the buffers directly below, rounded up to the buffer's
alignment. No two live buffers overlap whatever the sizes are, because one of every
conflicting pair is below the other, directly or through others. Conversely, every plan
has such an order (its offsets), whose arithmetic never needs more than the plan did. So
the best arena for given sizes is that of the best order.

Only direct relations are kept (the transitive reduction): in the picture, `c` conflicts
with `a` as well, but is above it through `b`. Bodies are stacked bottom up on a skyline
over time, which holds the topmost buffer at each time; a buffer rests on those it
covers, about three in all per buffer. O(n log n), whatever the number of conflicts.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..buffers import Arm, ProblemError
from ..problem import Problem

_MAX_REACH = 20_000
"""Number of buffers up to which every redundant relation is found (a bit per pair)."""


@dataclass(frozen=True)
class Orientation:
    """
    The order of buffers from the bottom up.

    `order` lists the rows that are ever alive, each after the rows below it; `below[i]`
    are the rows directly below row i, in that order. A row that is never alive is in
    neither and has offset 0. `alignment` has one entry per row.
    """

    order: tuple[int, ...]
    below: tuple[tuple[int, ...], ...]
    alignment: tuple[int, ...]

    @cached_property
    def tops(self) -> tuple[int, ...]:
        """The rows that are below no other: the arena ends at the highest of their ends."""
        covered = {j for under in self.below for j in under}
        return tuple(i for i in self.order if i not in covered)

    def offsets(self, sizes: Sequence[int]) -> list[int]:
        """Return the offset of each row for these sizes (at least 0 each)."""
        offsets = [0] * len(self.below)
        ends = [0] * len(self.below)
        below, alignment = self.below, self.alignment
        for i in self.order:
            at = 0
            for j in below[i]:
                if ends[j] > at:
                    at = ends[j]
            if at % alignment[i]:
                at += alignment[i] - at % alignment[i]
            offsets[i] = at
            ends[i] = at + sizes[i]
        return offsets

    def height(self, sizes: Sequence[int]) -> int:
        """Return the bytes of the arena for these sizes (at least 0 each)."""
        offsets = self.offsets(sizes)
        return max((offsets[i] + sizes[i] for i in self.tops), default=0)


def orientation_of(problem: Problem, offsets: Sequence[int]) -> Orientation:
    """
    Return the orientation of a placement: of two buffers, the one at the lower offset is below.

    At the problem's sizes its arena is at most that of the placement. Buffers of size 0 come
    first: there they cost nothing. Raises ProblemError if the problem is not of `lifetimes_only`:
    others are ordered by rows (`piece_orders`). O(n log n) without branches; with them, also in
    proportion to the buffers of different arms that are alive together.
    """
    if not lifetimes_only(problem):
        raise ProblemError("an orientation is of one pool, without gaps, ties and fixed offsets")
    lower, upper, size, alignment = (column.tolist() for column in problem.columns)
    rows = [i for i in range(len(size)) if upper[i] > lower[i]]
    rows.sort(key=lambda i: (offsets[i] if size[i] else -1, lower[i], upper[i], size[i], i))
    arms = None if problem.is_plain else [frozenset(b.arms) for b in problem.buffers]
    below = _resting_on(rows, lower, upper, arms)
    _reduce(rows, below)
    return Orientation(tuple(rows), tuple(tuple(under) for under in below), tuple(alignment))


def lifetimes_only(problem: Problem) -> bool:
    """Test whether conflicts follow from lifetimes and arms, and any place is right."""
    is_one = len(problem.pools) == 1 and problem.pools[0].alignment == 1
    return is_one and (
        problem.is_plain
        or not any(b.gaps or b.offset is not None or b.tie is not None for b in problem.buffers)
    )


Arms = frozenset[Arm]


def _resting_on(
    rows: list[int], lower: list[int], upper: list[int], arms: list[Arms] | None
) -> list[list[int]]:
    """
    Stack `rows` in order and return, for each row, the rows that it covers, in order.

    A row covers those that are topmost at some time of its life. In branches several are
    topmost: one is hidden only by a row whose arms are among its own, because whatever
    conflicts with the hidden row then conflicts with the row that hides it.
    """
    below: list[list[int]] = [[] for _ in lower]
    rank = {row: place for place, row in enumerate(rows)}
    # The skyline: the topmost rows from starts[k] (inclusive) to starts[k + 1].
    times = sorted({t for i in rows for t in (lower[i], upper[i])})
    starts: list[int] = times[:1]
    topmost: list[tuple[int, ...]] = [()] * len(starts)
    for i in rows:
        for time in (lower[i], upper[i]):
            k = bisect_left(starts, time)
            if k == len(starts) or starts[k] != time:
                starts.insert(k, time)
                topmost.insert(k, topmost[k - 1])
        first, last = bisect_left(starts, lower[i]), bisect_left(starts, upper[i])
        covered = {j for tops in topmost[first:last] for j in tops}
        if arms is None:
            starts[first + 1 : last] = []
            topmost[first:last] = [(i,)]
        else:
            covered = {j for j in covered if not _exclude(arms[i], arms[j])}
            topmost[first:last] = [
                (*(j for j in tops if not arms[i] <= arms[j]), i) for tops in topmost[first:last]
            ]
        below[i] = sorted(covered, key=rank.__getitem__)
    return below


def _exclude(a: Arms, b: Arms) -> bool:
    """Test whether `a` and `b` are in different arms of some branch."""
    return any(x.branch == y.branch and x.arm != y.arm for x in a for y in b)


def _reduce(rows: list[int], below: list[list[int]]) -> None:
    """
    Drop the relations that follow from others.

    Up to `_MAX_REACH` rows each has the set of all rows below it, as the bits of an
    integer, and a relation is dropped if another way leads there. Of more rows, only ways
    through one other row are found: the remaining relations are correct, but a few more.
    """
    if len(rows) > _MAX_REACH:
        direct = [set(under) for under in below]
        for i in rows:
            if len(below[i]) > 1:
                through = set[int]().union(*(direct[j] for j in below[i]))
                below[i] = [j for j in below[i] if j not in through]
        return
    bit = {row: 1 << place for place, row in enumerate(rows)}
    reach: dict[int, int] = {}
    for i in rows:
        strictly = 0
        for j in below[i]:
            strictly |= reach[j]
        below[i] = [j for j in below[i] if not bit[j] & strictly]
        direct_bits = 0
        for j in below[i]:
            direct_bits |= bit[j]
        reach[i] = strictly | direct_bits
