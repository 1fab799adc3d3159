"""
An order of rows from the bottom up: a plan for all sizes, and its own proof.

    rows   0: a                          a row is a slice of an arena
           1: b                          on (0): it starts at the end of a, or above
           2: c, beside 1                it starts where b ends: b and c move as one piece
           3: w, over 1 to 2             from the start of b to the end of c
           4: d, tied to 1               it starts where b starts

Each row has a start and an end, and a plan is relations `>=` between them that hold whatever the
sizes are:

    end(i) >= start(i)                           no size is negative
    start(i) >= end(j)                           i lies on j
    start(c) = end(b)                            c is beside b
    start(w) = start(b), end(w) = end(c)         w is over b to c
    start(d) = start(b)                          d is tied to b

Row i is above row j if `start(i) >= end(j)` follows: a way leads from one to the other. So a check
needs no arithmetic: rows that are needed together must have a way between them. Pieces lie on each
other without a cycle, and then offsets exist for all sizes: two that are interlocked are refused. A
row at a fixed offset is a piece that lies on nothing; of two the numbers decide. Orders are of one
pool each: rows of different pools never meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from math import gcd
from typing import Generic, NamedTuple, TypeVar

from .sizes.size_table import compute

MIN_ALIGNMENT = 64
"""The minimum alignment of a storage, in bytes (TVM's `kAllocAlignment`)."""

Interval = tuple[int, int]
"""The first time at which bytes are needed, and the first at which they are not any more."""

Arms = frozenset[tuple[int, int]]
"""Arms of branches, `(branch, arm)`: rows in different arms of one never exist together."""

CHUNK = 4096
"""The number of rows whose relations to all others are computed at once."""


class Event(IntEnum):
    """A step of a program that concerns a row; with the number of the row, an integer."""

    NEEDS = 0
    """Its bytes are written, so all that is alive must be apart from it."""
    BEGINS = 1
    """It is alive from here on."""
    ENDS = 2

    def of(self, row: int) -> int:
        """Return the event of a row."""
        return 3 * row + self


class Life(NamedTuple):
    """When the bytes of a row are needed; between intervals, nothing is in them."""

    times: tuple[Interval, ...]
    arms: Arms = frozenset()

    def meets(self, other: Life) -> bool:
        """Test whether both need bytes at one time, on one path."""
        if any(b == d and arm != other_arm for b, arm in self.arms for d, other_arm in other.arms):
            return False
        return any(a < d and c < b for a, b in self.times for c, d in other.times)


class Row(NamedTuple):
    """The place of a row, as far as it follows from others than those it lies on."""

    beside: int | None = None
    """The row at whose end it starts."""
    over: tuple[int, int] | None = None
    """The rows at whose start it starts and at whose end it ends; its size is theirs."""
    tied: int | None = None
    """The row at whose start it starts."""
    at: int | None = None
    """Its fixed offset."""
    pool: int = 0
    size: int | None = None
    """Its size, if it is the same always: that of a row at a fixed offset must be."""

    @property
    def below(self) -> tuple[int, ...]:
        """The earlier rows of its piece that its place depends on."""
        return tuple(i for i in (self.beside, self.tied, *(self.over or ())) if i is not None)


On = tuple[tuple[int, ...], ...]
"""For each row, the rows that it lies directly on."""

T = TypeVar("T")

Apply = Callable[..., T | int]
"""Computes `add`, `sub`, `max`, `align` or `select` (`a < b ? c : d`) of sizes, by name."""


class Layout(NamedTuple, Generic[T]):
    """The total of each pool, and the offset of each row."""

    totals: tuple[T | int, ...]
    offsets: tuple[T | int, ...]


class OrderError(ValueError):
    """An order that no sizes can follow, or that has no meaning."""


@dataclass(frozen=True)
class Orders:
    """One or more orders of rows, of which each pool takes the one with the smallest total."""

    alignment: int
    """Offsets of pieces are multiples of it."""
    on: tuple[On, ...]
    rows: tuple[Row, ...] = ()
    """The rows; none if each is a piece of one pool that starts anywhere."""

    @cached_property
    def _hash(self) -> int:
        return hash((self.alignment, self.on, self.rows))

    def __hash__(self) -> int:
        return self._hash

    @staticmethod
    def one_after_the_other(alignment: int, count: int, rows: tuple[Row, ...] = ()) -> Orders:
        """Return the order in which each piece lies on the one before, as they are numbered."""
        on: list[tuple[int, ...]] = [()] * count
        last: dict[int, Sequence[int]] = {}
        for piece in Orders(alignment, (tuple(on),), rows).pieces:
            head = piece[0]
            pool = rows[head].pool if rows else 0
            if not rows or rows[head].at is None:
                on[head] = tuple(last.get(pool, ()))
            last[pool] = piece
        return Orders(alignment, (tuple(on),), rows)

    # ------------------------------------------------------------------ pieces

    @property
    def count(self) -> int:
        return len(self.rows or self.on[0])

    @cached_property
    def pieces(self) -> Sequence[Sequence[int]]:
        """The rows of each piece, in order; the place of each follows from that of the first."""
        if not self.rows:
            return [(i,) for i in range(self.count)]
        members: dict[int, list[int]] = {}
        for i, first in enumerate(self._first):
            members.setdefault(first, []).append(i)
        return list(members.values())

    @cached_property
    def _first(self) -> Sequence[int]:
        """For each row the first row of its piece."""
        if not self.rows:
            return range(self.count)
        first = list(range(len(self.rows)))

        def root(i: int) -> int:
            while first[i] != i:
                first[i] = i = first[first[i]]
            return i

        for i, row in enumerate(self.rows):
            for j in row.below:
                one, other = sorted((root(i), root(j)))
                first[other] = one
        return [root(i) for i in range(len(self.rows))]

    @cached_property
    def _points(self) -> tuple[Sequence[int], Sequence[int]]:
        """The points at which rows start, and at which they end; equal points have one number."""
        starts, ends = [2 * i for i in range(self.count)], [2 * i + 1 for i in range(self.count)]
        for i, row in enumerate(self.rows):
            if row.beside is not None:
                starts[i] = ends[row.beside]
            elif row.tied is not None:
                starts[i] = starts[row.tied]
            elif row.over is not None:
                starts[i], ends[i] = starts[row.over[0]], ends[row.over[1]]
        return starts, ends

    def check(self) -> None:
        """Raise an error unless offsets exist for all sizes."""
        for i, row in enumerate(self.rows):
            self._check_row(i, row)
        for piece in self.pieces if self.rows else ():
            if len({self.rows[i].pool for i in piece}) > 1:
                raise OrderError(
                    f"slices {piece[0]} and {piece[-1]} are of one piece, but two pools"
                )
        for k, on in enumerate(self.on):
            if len(on) != self.count:
                raise OrderError(f"an order of {self.count} slices, but {len(on)} lists")
            for i, under in enumerate(on):
                for j in under:
                    self._check_edge(i, j)
            self.sorted(k)

    def _check_row(self, i: int, row: Row) -> None:
        places = (row.beside, row.over, row.tied, row.at)
        if sum(place is not None for place in places) > 1:
            raise OrderError(f"slice {i} has two places")
        for j in row.below:
            if not 0 <= j < i:
                raise OrderError(
                    f"the place of slice {i} depends on slice {j}, which is not before"
                )
        if row.at is not None and row.size is None:
            raise OrderError(f"slice {i} is at a fixed offset, so its size must be static")
        if row.over is not None:
            first, last = row.over
            while last != first:
                before = self.rows[last].beside
                if before is None:
                    raise OrderError(f"slice {i} lies over slices that are not side by side")
                last = before

    def _check_edge(self, i: int, j: int) -> None:
        if not 0 <= j < self.count:
            raise OrderError(f"slice {i} lies on slice {j}, but there are {self.count}")
        if self._first[i] == self._first[j]:
            raise OrderError(f"slice {i} lies on slice {j} of its own piece")
        if self.rows and self.rows[i].pool != self.rows[j].pool:
            raise OrderError(f"slice {i} lies on slice {j} of another pool")
        if self.rows and self.rows[self._first[i]].at is not None:
            raise OrderError(f"slice {i} is at a fixed offset, so it lies on nothing")

    def sorted(self, k: int) -> list[Sequence[int]]:
        """Return the pieces of order `k`, each after those it lies on; an error if none is."""
        on, first = self.on[k], self._first
        members = {piece[0]: piece for piece in self.pieces}
        below = {head: {first[j] for i in piece for j in on[i]} for head, piece in members.items()}
        above: dict[int, list[int]] = {}
        for head, under in below.items():
            for other in under:
                above.setdefault(other, []).append(head)
        missing = {head: len(under) for head, under in below.items()}
        ready = [head for head, count in missing.items() if not count]
        for head in ready:
            for other in above.get(head, ()):
                missing[other] -= 1
                if not missing[other]:
                    ready.append(other)
        if len(ready) < len(members):
            stuck = next(head for head, count in missing.items() if count)
            raise OrderError(f"slice {stuck} lies on itself, through others")
        return [members[head] for head in ready]

    # --------------------------------------------------------------- relations

    def unordered(self, log: Sequence[int]) -> list[tuple[int, int]]:
        """
        Return the rows of which one is needed when the other is alive, none above the other.

        `log` is the events of a program. A chunk of rows at a time, those that come first: one pass
        over the log, and two over the points, with the rows of the chunk as bits of an integer.
        """
        ranks: dict[int, int] = {}
        for event in log:
            ranks.setdefault(event // 3, len(ranks))
        rows, pairs = list(ranks), dict[tuple[int, int], None]()
        starts, ends = self._points
        ways = [self._ways(k) for k in range(len(self.on))]
        for first in range(0, len(rows), CHUNK):
            needed = _needed(log, ranks, first)
            chunk = rows[first : first + CHUNK]
            for lower, upper, points in ways:
                left = dict(needed)
                _clear(left, starts, [ends[j] for j in chunk], points, upper)
                left = {i: bits for i, bits in left.items() if bits}
                if left:
                    _clear(left, ends, [starts[j] for j in chunk], reversed(points), lower)
                for i, bits in left.items():
                    while bits:
                        j = chunk[bits.bit_length() - 1]
                        bits ^= 1 << bits.bit_length() - 1
                        if not self._are_apart(i, j):
                            pairs[min(i, j), max(i, j)] = None
        return list(pairs)

    def _ways(self, k: int) -> tuple[Sequence[list[int]], Sequence[list[int]], Sequence[int]]:
        """
        Return the relations of order `k` between points, and all points, each after lower ones.

        For each point those that it is at least, and those that are at least it.
        """
        starts, ends = self._points
        lower: list[list[int]] = [[] for _ in range(2 * self.count)]
        upper: list[list[int]] = [[] for _ in lower]
        for start, end, under in zip(starts, ends, self.on[k], strict=True):
            lower[end].append(start)
            upper[start].append(end)
            for j in under:
                lower[start].append(ends[j])
                upper[ends[j]].append(start)
        missing = [*map(len, lower)]
        points = [point for point, count in enumerate(missing) if not count]
        for point in points:
            for other in upper[point]:
                missing[other] -= 1
                if not missing[other]:
                    points.append(other)
        return lower, upper, points

    def _are_apart(self, i: int, j: int) -> bool:
        """Test whether two rows are in different pools, or at fixed offsets that do not overlap."""
        if not self.rows:
            return False
        if self.rows[i].pool != self.rows[j].pool:
            return True
        one, other = self._fixed[i], self._fixed[j]
        return one is not None and other is not None and (one[1] <= other[0] or other[1] <= one[0])

    @cached_property
    def _fixed(self) -> Sequence[Interval | None]:
        """The bytes of each row of a piece at a fixed offset, as far as sizes are known."""
        spans: list[Interval | None] = []
        for row in self.rows:
            at: int | None = row.at
            if row.over is not None:
                first, last = (spans[i] for i in row.over)
                spans.append(None if first is None or last is None else (first[0], last[1]))
                continue
            below = row.tied if row.beside is None else row.beside
            span = None if below is None else spans[below]
            if span is not None:
                at = span[0] if row.beside is None else span[1]
            spans.append(None if at is None or row.size is None else (at, at + row.size))
        return spans

    # ----------------------------------------------------------------- offsets

    def layout(
        self, sizes: Sequence[T | int], apply: Apply[T], divisors: Sequence[int] | None = None
    ) -> Layout[T]:
        """
        Return the totals and offsets for `sizes`, none of which is negative.

        `divisors[i]` divides size i whatever it is (0 if it is 0): an offset that is a multiple of
        the alignment anyway is not rounded up.
        """
        first, *others = (
            self._stacked(k, sizes, apply, divisors or [1] * self.count)
            for k in range(len(self.on))
        )
        pools = [row.pool for row in self.rows] or [0] * self.count
        for totals, offsets in others:
            best, places = first
            less = list(zip(totals, best, strict=True))
            smaller = tuple(apply("select", a, b, a, b) for a, b in less)
            chosen = [
                apply("select", *less[pool], offset, place)
                for pool, offset, place in zip(pools, offsets, places, strict=True)
            ]
            first = smaller, tuple(chosen)
        return Layout(*first)

    def _stacked(
        self, k: int, sizes: Sequence[T | int], apply: Apply[T], divisors: Sequence[int]
    ) -> tuple[tuple[T | int, ...], tuple[T | int, ...]]:
        """Return the totals and offsets of order `k`."""
        on, zero = self.on[k], 0
        starts: list[T | int] = [zero] * self.count
        ends: list[T | int] = [zero] * self.count
        start_divisors, end_divisors = [0] * self.count, [0] * self.count  # 0: like infinity
        for piece in self.sorted(k):
            inner, inner_divisors = self._inside(piece, sizes, apply, divisors)
            ends_below: list[T | int] = []
            divisor, may_be_negative = 0, False
            for i in piece:
                low, low_divisor = inner[i][0], inner_divisors[i][0]
                for j in on[i]:
                    is_first = isinstance(low, int) and low == 0
                    ends_below.append(ends[j] if is_first else apply("sub", ends[j], low))
                    may_be_negative |= not is_first
                    divisor = gcd(divisor, end_divisors[j], low_divisor)
            at = _highest(apply, ends_below)
            if may_be_negative and not isinstance(at, int):
                at = apply("max", at, zero)
            fixed = self.rows[piece[0]].at if self.rows else None
            if fixed is not None:
                at, divisor = fixed, fixed
            elif divisor % self.alignment:
                at, divisor = apply("align", at, self.alignment), self.alignment
            for i in piece:
                (low, high), (low_divisor, high_divisor) = inner[i], inner_divisors[i]
                starts[i], ends[i] = _sum(apply, at, low), _sum(apply, at, high)
                start_divisors[i] = gcd(divisor, low_divisor)
                end_divisors[i] = gcd(divisor, high_divisor)
        return self._totals(k, ends, apply), tuple(starts)

    def _inside(
        self,
        piece: Sequence[int],
        sizes: Sequence[T | int],
        apply: Apply[T],
        divisors: Sequence[int],
    ) -> tuple[dict[int, tuple[T | int, T | int]], dict[int, tuple[int, int]]]:
        """Return the start and the end of each row in its piece, and their divisors."""
        inner: dict[int, tuple[T | int, T | int]] = {}
        known: dict[int, tuple[int, int]] = {}
        for i in piece:
            row = self.rows[i] if self.rows else _PLAIN
            if row.over is not None:
                first, last = row.over
                inner[i] = inner[first][0], inner[last][1]
                known[i] = known[first][0], known[last][1]
                continue
            start: T | int = 0
            divisor = 0
            if row.beside is not None:
                start, divisor = inner[row.beside][1], known[row.beside][1]
            elif row.tied is not None:
                start, divisor = inner[row.tied][0], known[row.tied][0]
            inner[i] = start, _sum(apply, start, sizes[i])
            known[i] = divisor, gcd(divisor, divisors[i])
        return inner, known

    def _totals(self, k: int, ends: Sequence[T | int], apply: Apply[T]) -> tuple[T | int, ...]:
        """Return the highest end of each pool: of rows on which nothing lies."""
        start_points, end_points = self._points
        covered = {end_points[j] for under in self.on[k] for j in under}
        covered |= {start_points[i] for i, row in enumerate(self.rows) if row.beside is not None}
        tops: dict[int, dict[int, T | int]] = {}
        for i, end in enumerate(ends):
            pool = self.rows[i].pool if self.rows else 0
            if end_points[i] not in covered:
                tops.setdefault(pool, {})[end_points[i]] = end
        return tuple(_highest(apply, tops.get(pool, {}).values()) for pool in range(self.n_pools))

    @property
    def n_pools(self) -> int:
        return 1 + max((row.pool for row in self.rows), default=0)

    def laid_out(self, sizes: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the total of each pool and the offset of each row; a negative size counts as 0."""
        natural = [max(size, 0) for size in sizes]
        layout: Layout[int] = self.layout(natural, compute)
        return [*layout.totals], [*layout.offsets]


_PLAIN = Row()


class PoolTotal(NamedTuple):
    """The total of a pool of ordered rows: an operation on their sizes."""

    orders: Orders
    pool: int = 0

    def total(self, sizes: Sequence[T | int], apply: Apply[T]) -> T | int:
        """Compute it; a negative size counts as 0."""
        return self.layout(sizes, apply).totals[self.pool]

    def layout(self, sizes: Sequence[T | int], apply: Apply[T]) -> Layout[T]:
        """Return all totals and offsets; a negative size counts as 0."""
        return self.orders.layout([apply("max", size, 0) for size in sizes], apply)


def _sum(apply: Apply[T], left: T | int, right: T | int) -> T | int:
    if isinstance(right, int) and right == 0:
        return left
    return right if isinstance(left, int) and left == 0 else apply("add", left, right)


def _highest(apply: Apply[T], ends: Iterable[T | int]) -> T | int:
    """Return the largest of `ends` and 0, unless none of them is a number."""
    distinct = dict.fromkeys(ends)
    at: T | int = max((0, *(end for end in distinct if isinstance(end, int))))
    for end in distinct:
        if not isinstance(end, int):
            at = end if isinstance(at, int) and at == 0 else apply("max", at, end)
    return at


def _needed(log: Iterable[int], ranks: Mapping[int, int], first: int) -> dict[int, int]:
    """Return for each row that is needed those that are alive, of a chunk of rows, as bits."""
    needed: dict[int, int] = {}
    alive = 0
    for event in log:
        row, kind = divmod(event, 3)
        if kind:
            at = ranks[row] - first
            if 0 <= at < CHUNK:
                alive ^= 1 << at
        elif alive:
            at = ranks[row] - first
            bits = alive & ~(1 << at) if 0 <= at < CHUNK else alive
            if bits:
                needed[row] = needed.get(row, 0) | bits
    return needed


def _clear(
    left: dict[int, int],
    at: Sequence[int],
    marked: Sequence[int],
    points: Iterable[int],
    after: Sequence[list[int]],
) -> None:
    """
    Remove from `left` of each row the bits of the `marked` points from which a way leads to its.

    `points` are sorted, and `after` has those right after each. Marks are kept only as long as ways
    lead on.
    """
    marks = [0] * len(after)
    for k, point in enumerate(marked):
        marks[point] |= 1 << k
    rows: dict[int, list[int]] = {}
    for row in left:
        rows.setdefault(at[row], []).append(row)
    for point in points:
        if bits := marks[point]:
            marks[point] = 0
            for row in rows.get(point, ()):
                left[row] &= ~bits
            for other in after[point]:
                marks[other] |= bits


def events(lives: Sequence[Life]) -> list[int]:
    """Return the events of rows by time: ends first, and what begins is needed."""
    spans = [(i, span) for i, life in enumerate(lives) for span in life.times if span[0] < span[1]]
    times = [(stop, False, Event.ENDS.of(i)) for i, (_, stop) in spans]
    times += [(start, True, kind.of(i)) for i, (start, _) in spans for kind in _BEGIN]
    return [event for _, _, event in sorted(times)]


_BEGIN = (Event.NEEDS, Event.BEGINS)


def pairs_together(lives: Sequence[Life]) -> Iterator[tuple[int, int]]:
    """Yield the rows that are needed at one time, on one path, each pair once or more often."""
    alive: dict[int, None] = {}
    for event in events(lives):
        i, kind = divmod(event, 3)
        if kind == Event.BEGINS:
            yield from ((i, j) for j in alive if lives[i].meets(lives[j]))
            alive[i] = None
        elif kind == Event.ENDS:
            del alive[i]
