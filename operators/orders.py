"""
An order of slices from the bottom up: a plan for all sizes, and its own proof.

    rows   Row(0, 2)                             a     [0, 2)  on ()
           Beside(Row(1, 3), Row(1, 5))          b, c  side by side, c right above b
    on     (), (0,), ()                          b lies on a

Each row has a start and an end, and a plan is relations `>=` between them that hold whatever the
sizes are:

    end(i) >= start(i)                           no size is negative
    start(i) >= end(j)                           i lies on j
    start(k + 1) = end(k)                        rows side by side, in one piece
    start(w) = start(first), end(w) = end(last)  a whole, as large as its parts
    start(i) = start(j)                          rows that are tied, and may share bytes

Row i is above row j if `start(i) >= end(j)` follows: a way leads from one to the other. So a check
needs no arithmetic: rows that are needed together must have a way between them. Rows side by side
and tied ones are a piece, which moves as one; pieces must lie on each other without a cycle, and
then offsets exist for all sizes. A row at a fixed offset is a piece that lies on nothing; of two
the numbers decide. Orders are of one pool each: rows of different pools never meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Interval = tuple[int, int]
"""The first time at which bytes are needed, and the first at which they are not any more."""

Arms = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Row:
    """Bytes with a lifetime: one interval, or more with gaps in which nothing is in them."""

    times: tuple[Interval, ...]
    arms: Arms = frozenset()
    pool: int = 0
    at: int | None = None
    """A fixed offset."""
    size: int | None = None
    """The size, if it is known: that of a row at a fixed offset must be."""

    def meets(self, other: Row) -> bool:
        """Test whether both need bytes of one pool at one time, on one path."""
        if self.pool != other.pool:
            return False
        if any(b == d and arm != other_arm for b, arm in self.arms for d, other_arm in other.arms):
            return False
        return any(a < d and c < b for a, b in self.times for c, d in other.times)


@dataclass(frozen=True)
class Beside:
    """Rows and pieces one after the other; `whole` is a row over all of them."""

    parts: tuple[Piece, ...]
    whole: Row | None = None


@dataclass(frozen=True)
class Tied:
    """Rows and pieces that start at one offset; they may share bytes with each other."""

    parts: tuple[Piece, ...]


Piece = Row | Beside | Tied

On = tuple[tuple[int, ...], ...]
"""For each row, the rows that it lies directly on."""


class OrderError(ValueError):
    """An order that no sizes can follow, or that has no meaning."""


@dataclass(eq=False)
class Pieces:
    """Rows by number, in the order in which `pieces` name them; a whole is before its parts."""

    pieces: tuple[Piece, ...]
    rows: list[Row] = field(default_factory=list[Row])
    piece_of: list[int] = field(default_factory=list[int])
    tie_of: list[frozenset[int]] = field(default_factory=list[frozenset[int]])
    """The rows with which each may share bytes: those of the other parts of a tie, its whole."""
    start: list[int] = field(default_factory=list[int])
    """The point at which each row starts; points that are equal have one number."""
    end: list[int] = field(default_factory=list[int])
    n_points: int = 0
    at_least: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Points, the first of which is at least the second."""

    def __post_init__(self) -> None:
        for number, piece in enumerate(self.pieces):
            first = len(self.rows)
            self._add(piece, number, self._point(), self._point(), frozenset())
            rows = range(first, len(self.rows))
            if len(rows) > 1 and any(self.rows[i].at is not None for i in rows):
                raise OrderError("a row at a fixed offset is a piece of its own")
            if len({self.rows[i].pool for i in rows}) > 1:
                raise OrderError("a piece lies in one pool")

    def _point(self) -> int:
        self.n_points += 1
        return self.n_points - 1

    def _add(self, piece: Piece, number: int, start: int, end: int, ties: frozenset[int]) -> None:
        if isinstance(piece, Row):
            self.rows.append(piece)
            self.piece_of.append(number)
            self.tie_of.append(ties)
            self.start.append(start)
            self.end.append(end)
            self.at_least.append((end, start))
            return
        if not piece.parts:
            raise OrderError("a piece has rows")
        if isinstance(piece, Tied):
            found = [len(self.rows)]
            for part in piece.parts:
                own = self._point()
                self._add(part, number, start, own, ties)
                self.at_least.append((end, own))
                found.append(len(self.rows))
            spans = [frozenset(range(a, b)) for a, b in pairwise(found)]
            every = frozenset[int]().union(*spans)
            for span in spans:
                for i in span:
                    self.tie_of[i] |= every - span
            return
        whole = len(self.rows) if piece.whole is not None else None
        if piece.whole is not None:
            self._add(piece.whole, number, start, end, ties)
        at = start
        for k, part in enumerate(piece.parts):
            next_point = end if k + 1 == len(piece.parts) else self._point()
            self._add(part, number, at, next_point, ties)
            at = next_point
        if whole is not None:  # what is written to the parts is then read as the whole
            inside = frozenset(range(whole + 1, len(self.rows)))
            self.tie_of[whole] |= inside
            for i in inside:
                self.tie_of[i] |= {whole}


def sorted_pieces(pieces: Pieces, on: On) -> list[int]:
    """Return the pieces, each after those that it lies on; an error if there is a cycle."""
    if len(on) != len(pieces.rows):
        raise OrderError(f"an order of {len(pieces.rows)} rows, but {len(on)} lists")
    below: list[dict[int, None]] = [{} for _ in pieces.pieces]
    for i, under in enumerate(on):
        for j in under:
            if not 0 <= j < len(on):
                raise OrderError(f"row {i} lies on row {j}, but there are {len(on)}")
            if pieces.piece_of[i] == pieces.piece_of[j]:
                raise OrderError(f"rows {i} and {j} are of one piece: neither lies on the other")
            if pieces.rows[i].pool != pieces.rows[j].pool:
                raise OrderError(f"rows {i} and {j} are in different pools")
            if pieces.rows[i].at is not None:
                raise OrderError(f"row {i} is at a fixed offset: it lies on nothing")
            below[pieces.piece_of[i]][pieces.piece_of[j]] = None
    missing = [len(under) for under in below]
    above: list[list[int]] = [[] for _ in below]
    for i, under in enumerate(below):
        for j in under:
            above[j].append(i)
    found = [i for i, count in enumerate(missing) if not count]
    for i in found:
        for k in above[i]:
            missing[k] -= 1
            if not missing[k]:
                found.append(k)
    if len(found) < len(below):
        left = next(i for i, count in enumerate(missing) if count)
        raise OrderError(f"row {pieces.piece_of.index(left)} lies on itself, through others")
    return found


def comparable(pieces: Pieces, on: On) -> list[int]:
    """Return for each row the rows above and below it, as the bits of an integer."""
    sorted_pieces(pieces, on)
    rows, edges = pieces.rows, list(pieces.at_least)
    edges += [(pieces.start[i], pieces.end[j]) for i, under in enumerate(on) for j in under]
    lower: list[list[int]] = [[] for _ in range(pieces.n_points)]
    upper: list[list[int]] = [[] for _ in range(pieces.n_points)]
    for high, low in edges:
        lower[high].append(low)
        upper[low].append(high)
    ends, starts = [0] * pieces.n_points, [0] * pieces.n_points
    for i in range(len(rows)):
        ends[pieces.end[i]] |= 1 << i
        starts[pieces.start[i]] |= 1 << i
    below = _reached(lower, ends)
    above = _reached(upper, starts)
    found = [below[pieces.start[i]] | above[pieces.end[i]] for i in range(len(rows))]
    for pool, i, j in _fixed_pairs(rows):
        del pool
        found[i] |= 1 << j
        found[j] |= 1 << i
    # A row that is empty whatever the sizes are would be above itself.
    return [bits & ~(1 << i) for i, bits in enumerate(found)]


def _reached(successors: list[list[int]], marks: list[int]) -> list[int]:
    """Return the marks that each point reaches, its own among them."""
    missing = [len(after) for after in successors]
    before: list[list[int]] = [[] for _ in successors]
    for point, after in enumerate(successors):
        for other in after:
            before[other].append(point)
    found = list(marks)
    ready = [point for point, count in enumerate(missing) if not count]
    for point in ready:
        bits = found[point]
        for other in before[point]:
            found[other] |= bits
            missing[other] -= 1
            if not missing[other]:
                ready.append(other)
    return found


def _fixed_pairs(rows: Sequence[Row]) -> Iterator[tuple[int, int, int]]:
    """Yield the pairs of rows at fixed offsets that do not overlap."""
    fixed = [(i, row) for i, row in enumerate(rows) if row.at is not None]
    for k, (i, one) in enumerate(fixed):
        for j, other in fixed[:k]:
            if one.pool == other.pool and _are_apart(one, other):
                yield one.pool, i, j


def _are_apart(one: Row, other: Row) -> bool:
    if one.at is None or other.at is None or one.size is None or other.size is None:
        return False
    return one.at + one.size <= other.at or other.at + other.size <= one.at


Meets = Callable[[int, int], bool]


def faults(pieces: Pieces, on: On) -> list[tuple[int, int]]:
    """Return the pairs of rows needed together, of which neither is above the other."""
    known = comparable(pieces, on)
    rows = pieces.rows
    events = sorted(
        (time, is_start, i)
        for i, row in enumerate(rows)
        for span in row.times
        for time, is_start in zip(span, (True, False), strict=True)
        if span[0] < span[1]
    )
    in_pool: dict[int, int] = {}
    for i, row in enumerate(rows):
        in_pool[row.pool] = in_pool.get(row.pool, 0) | 1 << i
    tied = [sum(1 << j for j in ties) for ties in pieces.tie_of]
    found: dict[tuple[int, int], None] = {}
    alive = 0
    for _, is_start, i in events:
        if not is_start:
            alive &= ~(1 << i)
            continue
        left = alive & in_pool[rows[i].pool] & ~known[i] & ~tied[i]
        while left:
            j = left.bit_length() - 1
            left &= ~(1 << j)
            if rows[i].meets(rows[j]):
                found[min(i, j), max(i, j)] = None
        alive |= 1 << i
    return list(found)


def laid_out(
    pieces: Pieces, on: On, sizes: Sequence[int], alignment: int = 1
) -> tuple[list[int], list[int]]:
    """
    Return the total of each pool and the offset of each row.

    A negative size counts as 0; that of a whole is the sum of its parts, whatever is given.
    """
    inner, ends_inner = _inside(pieces, sizes)
    offsets, ends = [0] * len(pieces.rows), [0] * len(pieces.rows)
    members: list[list[int]] = [[] for _ in pieces.pieces]
    for i, number in enumerate(pieces.piece_of):
        members[number].append(i)
    for number in sorted_pieces(pieces, on):
        at = 0
        for i in members[number]:
            for j in on[i]:
                at = max(at, ends[j] - inner[i])
        at = -(-at // alignment) * alignment
        fixed = pieces.rows[members[number][0]].at
        at = at if fixed is None else fixed
        for i in members[number]:
            offsets[i], ends[i] = at + inner[i], at + ends_inner[i]
    n_pools = 1 + max((row.pool for row in pieces.rows), default=0)
    totals = [
        max((end for end, row in zip(ends, pieces.rows, strict=True) if row.pool == k), default=0)
        for k in range(n_pools)
    ]
    return totals, offsets


def _inside(pieces: Pieces, sizes: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the start and end of each row in its piece."""
    starts, ends = [0] * len(pieces.rows), [0] * len(pieces.rows)
    count = iter(range(len(pieces.rows)))

    def place(piece: Piece, at: int) -> int:
        if isinstance(piece, Row):
            i = next(count)
            starts[i], ends[i] = at, at + max(sizes[i], 0)
            return ends[i]
        if isinstance(piece, Tied):
            return max(place(part, at) for part in piece.parts)
        whole = next(count) if piece.whole is not None else None
        end = at
        for part in piece.parts:
            end = place(part, end)
        if whole is not None:
            starts[whole], ends[whole] = at, end
        return end

    for piece in pieces.pieces:
        place(piece, 0)
    return starts, ends


@dataclass(frozen=True)
class Orders:
    """One or more orders of slices, each its own piece, in one pool; the least total counts."""

    alignment: int
    on: tuple[On, ...]

    def check(self, count: int) -> None:
        """Raise an error unless these are orders of `count` slices."""
        for on in self.on:
            if len(on) != count:
                raise OrderError(f"an order of {count} slices, but {len(on)} lists")
            sorted_pieces(self.pieces(), on)

    def sorted(self, k: int) -> list[int]:
        """Return the slices from the bottom up, each after those that it lies on in order `k`."""
        return sorted_pieces(self.pieces(), self.on[k])

    def pieces(self) -> Pieces:
        return Pieces(tuple(Row(((0, 1),)) for _ in self.on[0]))

    def comparable(self) -> list[int]:
        """Return for each slice those that are above or below it in all orders."""
        pieces = self.pieces()
        found, *others = (comparable(pieces, on) for on in self.on)
        for other in others:
            found = [a & b for a, b in zip(found, other, strict=True)]
        return found

    def laid_out(self, sizes: Sequence[int]) -> tuple[int, list[int]]:
        """Return the total and the offset of each slice: those of the first order that is least."""
        pieces = self.pieces()
        plans = [laid_out(pieces, on, sizes, self.alignment) for on in self.on]
        totals, offsets = min(plans, key=lambda plan: plan[0])
        return totals[0], offsets
