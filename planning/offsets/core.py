"""
The core of a problem: its canonical form, on which all solvers work.

A *body* is a group of rows that share one offset and move together: a single row, or all
rows of one tie. It corresponds to a buffer in MiniMalloc. A *box* is a stretch of time
in which a body needs a fixed number of bytes from its offset up. Five rows, four bodies,
five boxes:

    byte
      5 |    b b b              row  lifetime  size
      4 |    b b b               a    [0, 4)     2
      3 |    b b b d e           b    [1, 4)     4
      2 |    b b b d e           c    [4, 7)     2    gap [5, 6): one body, two boxes
      1 |  a a a a c   c         d    [4, 5)     2
      0 |  a a a a c   c         e    [5, 6)     2    tied to d: one body, one box
        +--0-1-2-3-4-5-6-> time

Rows of size 0 or with an empty lifetime have no box and conflict with nothing.

Boxes and bodies are sorted by content (lifetime, size, alignment, …), not by position in
the input, so shuffled rows give the same heights.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import groupby, pairwise
from math import lcm
from typing import NamedTuple

import numpy as np

from ..buffers import Arm, Buffer, Ints, TooManyPairs, as_list
from ..problem import Problem

Arms = tuple[Arm, ...]

MAX_PAIRS = 4_000_000
"""Pairs alive together of which a problem that is not simple can keep tables (about 1.5 GB)."""


@dataclass(frozen=True, eq=False)
class Core:
    """
    Boxes in order of birth, and the bodies they belong to.

    `lower`, `upper`, `size` and `body` have one entry per box; `alignment` and `fixed`
    (-1: free) one per body. `arms` (per box) and `pools` (per body: indices, most
    preferred first) are None if nothing is restricted. `row_body[i]` is the body of input
    row i, or -1 for a row that conflicts with nothing. `is_simple`: body k is box k and
    no body is fixed, so the arrays are the whole problem.
    """

    lower: Ints
    upper: Ints
    size: Ints
    body: Ints
    alignment: Ints
    fixed: Ints
    row_body: Ints
    arms: tuple[Arms, ...] | None = None
    pools: tuple[tuple[int, ...], ...] | None = None
    capacities: tuple[int | None, ...] = (None,)
    is_simple: bool = True
    pool_alignments: tuple[int, ...] = (1,)
    """For each pool, the divisor of all offsets in it."""
    traffic: tuple[int, ...] = ()
    """The bytes of each body that are read and written, if there are several pools."""

    @property
    def n_bodies(self) -> int:
        return len(self.alignment)

    @property
    def has_spans(self) -> bool:
        """True if every body is one box and none is in a branch; bodies may be fixed."""
        return self.arms is None and len(self.body) == self.n_bodies

    @cached_property
    def reach(self) -> Ints:
        """For each box, the first box in order that is born after its death."""
        return np.searchsorted(self.lower, self.upper, side="left")

    @cached_property
    def n_overlaps(self) -> int:
        """Number of pairs of boxes that are alive together."""
        return int((self.reach - np.arange(len(self.reach)) - 1).sum())

    @cached_property
    def conflicts(self) -> list[list[tuple[int, int, int]]]:
        """
        For each body, the bodies it conflicts with: (other, mine, its).

        `mine` and `its` are the most bytes that each needs while both are alive. Lists
        are sorted by `other`. Time and memory O(n_overlaps).
        """
        if self.n_overlaps > MAX_PAIRS:
            raise TooManyPairs(
                f"{len(self.lower)} lifetimes overlap in {self.n_overlaps} pairs; with gaps, arms, "
                f"ties, pools or offsets at most {MAX_PAIRS} can be planned"
            )
        overlaps: list[dict[int, tuple[int, int]]] = [{} for _ in range(self.n_bodies)]
        size, body, reach = as_list(self.size), as_list(self.body), as_list(self.reach)
        arms = [{arm.branch: arm.arm for arm in of} for of in self.arms] if self.arms else None
        for box, mine in enumerate(size):
            k = body[box]
            for next_box in range(box + 1, reach[box]):
                other, its = body[next_box], size[next_box]
                if other == k or (arms and exclusive(arms[box], arms[next_box])):
                    continue
                most_mine, most_its = overlaps[k].get(other, (0, 0))
                most_mine, most_its = max(mine, most_mine), max(its, most_its)
                overlaps[k][other] = (most_mine, most_its)
                overlaps[other][k] = (most_its, most_mine)
        return [[(other, *sizes) for other, sizes in sorted(near.items())] for near in overlaps]

    @cached_property
    def body_size(self) -> Ints:
        """The largest box of each body."""
        if self.is_simple:
            return self.size
        size = np.zeros(self.n_bodies, dtype=np.int64)
        np.maximum.at(size, self.body, self.size)
        return size

    @cached_property
    def body_lower(self) -> Ints:
        """The first birth of each body."""
        if self.is_simple:
            return self.lower
        lower = np.full(self.n_bodies, np.iinfo(np.int64).max)
        np.minimum.at(lower, self.body, self.lower)
        return lower

    @cached_property
    def body_upper(self) -> Ints:
        """The last death of each body."""
        if self.is_simple:
            return self.upper
        upper = np.full(self.n_bodies, np.iinfo(np.int64).min)
        np.maximum.at(upper, self.body, self.upper)
        return upper

    def restrict(self, bodies: Ints) -> "Core":
        """Return the core of only these bodies (ascending), renumbered from 0."""
        number = np.full(self.n_bodies, -1)
        number[bodies] = np.arange(len(bodies))
        boxes = np.flatnonzero(number[self.body] >= 0)
        arms = self.arms and tuple(self.arms[i] for i in as_list(boxes))
        return Core(
            self.lower[boxes],
            self.upper[boxes],
            self.size[boxes],
            number[self.body[boxes]],
            self.alignment[bodies],
            self.fixed[bodies],
            np.arange(len(bodies)),
            arms if arms and any(arms) else None,
            self.pools and tuple(self.pools[k] for k in as_list(bodies)),
            self.capacities,
            self.is_simple,
            self.pool_alignments,
            self.traffic and tuple(self.traffic[k] for k in as_list(bodies)),
        )

    def in_pool(self, bodies: Ints, pool: int) -> "Core":
        """Return the core of only these bodies (ascending), all in `pool`."""
        core = self.restrict(bodies)
        return replace(
            core,
            alignment=np.lcm(core.alignment, self.pool_alignments[pool]),
            pools=None,
            capacities=(self.capacities[pool],),
            pool_alignments=(1,),
        )


def components(core: Core) -> list[Ints]:
    """Partition the bodies (ascending) so that no two groups are ever alive together."""
    order = np.argsort(core.body_lower, kind="stable")
    ends = np.maximum.accumulate(core.body_upper[order])
    cuts = np.flatnonzero(core.body_lower[order][1:] >= ends[:-1]) + 1
    return [np.sort(group) for group in np.split(order, cuts) if len(group)]


def oriented(core: Core) -> tuple[Core, Ints]:
    """
    Return a simple core or its mirror image in time, whichever is canonical.

    Also returns, for each body of the result, its index in `core`. A search on the result
    does the same work whichever way time runs.
    """
    lower, upper = -core.upper, -core.lower
    order = np.lexsort((core.alignment, core.size, upper, lower))
    mirrored = replace(
        core,
        lower=lower[order],
        upper=upper[order],
        size=core.size[order],
        alignment=core.alignment[order],
    )
    for name in ("lower", "upper", "size", "alignment"):
        ours, theirs = getattr(core, name), getattr(mirrored, name)
        if name in ("lower", "upper"):
            ours, theirs = ours - core.lower.min(), theirs - mirrored.lower.min()
        differ = np.flatnonzero(ours != theirs)
        if len(differ):
            if theirs[differ[0]] < ours[differ[0]]:
                return mirrored, order
            break
    return core, np.arange(core.n_bodies)


def exclusive(a: dict[str, str], b: dict[str, str]) -> bool:
    """Test whether `a` and `b` (branch to arm) are in different arms of some branch."""
    if len(a) > len(b):
        a, b = b, a
    return any(b.get(branch, arm) != arm for branch, arm in a.items())


def core_of(problem: Problem) -> Core:
    """Return `problem` in canonical form. O(n log n)."""
    return _plain_core(problem) if problem.is_plain else _general_core(problem)


def _plain_core(problem: Problem) -> Core:
    lower, upper, size, alignment = problem.columns
    real = np.flatnonzero((size > 0) & (upper > lower))
    lower, upper, size, alignment = (c[real] for c in (lower, upper, size, alignment))
    order = np.lexsort((alignment, size, upper, lower))
    row_body = np.full(len(problem.buffers), -1)
    row_body[real[order]] = np.arange(len(order))
    return Core(
        lower[order],
        upper[order],
        size[order],
        np.arange(len(order)),
        np.lcm(alignment[order], problem.pools[0].alignment),
        np.full(len(order), -1),
        row_body,
        capacities=(problem.pools[0].capacity,),
    )


_NONE = 2**63

Box = tuple[int, int, int, Arms]  # lower, upper, size, arms


def _boxes(buffer: Buffer) -> list[Box]:
    """Cut a buffer's lifetime at its gaps. (Not `needs`: `check` must share no code.)"""
    if not buffer.gaps:
        start, stop = buffer.lifetime
        return [(start, stop, buffer.size, buffer.arms)]
    times = {*buffer.lifetime}
    for gap in buffer.gaps:
        times |= {gap.start, gap.stop}
    cuts = sorted(t for t in times if buffer.lifetime.start <= t <= buffer.lifetime.stop)
    kept = _least([(*gap[:2], gap.kept) for gap in buffer.gaps], cuts)
    return [
        (start, stop, min(buffer.size, least), buffer.arms)
        for (start, stop), least in zip(pairwise(cuts), kept, strict=True)
    ]


def _least(spans: list[tuple[int, int, int]], cuts: list[int]) -> list[int]:
    """
    Return the least value of the spans (start, stop, value) that cover each step of `cuts`.

    `cuts` ascends and has every start and stop. `_NONE` where no span covers.
    """
    coming = sorted(spans, reverse=True)
    open_: list[tuple[int, int]] = []
    least: list[int] = []
    for time in cuts[:-1]:
        while coming and coming[-1][0] <= time:
            _, stop, value = coming.pop()
            heappush(open_, (value, stop))
        while open_ and open_[0][1] <= time:
            heappop(open_)
        least.append(open_[0][0] if open_ else _NONE)
    return least


def _merged(boxes: Iterable[Box]) -> list[Box]:
    """Merge boxes so that those with equal arms do not overlap and are as long as possible."""
    result: list[Box] = []
    by_arms: defaultdict[Arms, list[Box]] = defaultdict(list)
    for box in boxes:
        if box[2] > 0 and box[1] > box[0]:
            by_arms[box[3]].append(box)
    for arms, group in by_arms.items():
        cuts = sorted({t for box in group for t in box[:2]})
        sizes = _least([(start, stop, -size) for start, stop, size, _ in group], cuts)
        spans = [(-min(size, 0), t, u) for size, (t, u) in zip(sizes, pairwise(cuts), strict=True)]
        for size, same in groupby(spans, key=lambda span: span[0]):
            run = list(same)
            if size:
                result.append((run[0][1], run[-1][2], size, arms))
    return sorted(result)


class _Body(NamedTuple):
    """A body under construction; sorts by content before row indices."""

    boxes: list[Box]
    alignment: int
    fixed: int
    pools: tuple[int, ...]
    tie: str
    rows: list[int]


def tied_rows(problem: Problem) -> list[list[int]]:
    """Return the rows of each body: those of one tie together, every other row alone."""
    groups: defaultdict[str | int, list[int]] = defaultdict(list)
    for row, buffer in enumerate(problem.buffers):
        groups[row if buffer.tie is None else buffer.tie].append(row)
    return list(groups.values())


def allowed_places(problem: Problem, members: list[Buffer]) -> tuple[int, tuple[int, ...]]:
    """Return a group's fixed offset (-1: free) and its allowed pools, most preferred first."""
    index = {pool.name: i for i, pool in enumerate(problem.pools)}
    fixed = max(-1 if b.offset is None else b.offset for b in members)
    named = [tuple(index[p] for p in b.pools) or tuple(index.values()) for b in members]
    return fixed, tuple(p for p in min(named) if all(p in other for other in named))


def _general_core(problem: Problem) -> Core:
    bodies: list[_Body] = []
    for rows in tied_rows(problem):
        members = [problem.buffers[row] for row in rows]
        boxes = _merged(box for buffer in members for box in _boxes(buffer))
        if boxes:
            fixed, allowed = allowed_places(problem, members)
            alignment = lcm(*(b.alignment for b in members))
            tie = min(b.tie or "" for b in members)
            bodies.append(_Body(boxes, alignment, fixed, allowed, tie, rows))
    bodies.sort()

    row_body = np.full(len(problem.buffers), -1)
    flat: list[tuple[Box, int]] = []
    for k, body in enumerate(bodies):
        row_body[body.rows] = k
        flat += ((box, k) for box in body.boxes)
    flat.sort()
    boxes = [box for box, _ in flat]
    arms = tuple(box[3] for box in boxes)
    one_pool = len(problem.pools) == 1
    coarse = problem.pools[0].alignment if one_pool else 1
    return Core(
        np.array([box[0] for box in boxes], dtype=np.int64),
        np.array([box[1] for box in boxes], dtype=np.int64),
        np.array([box[2] for box in boxes], dtype=np.int64),
        np.array([k for _, k in flat], dtype=np.int64),
        np.lcm(np.array([body.alignment for body in bodies], dtype=np.int64), coarse),
        np.array([body.fixed for body in bodies], dtype=np.int64),
        row_body,
        arms if any(arms) else None,
        None if one_pool else tuple(body.pools for body in bodies),
        tuple(pool.capacity for pool in problem.pools),
        one_pool
        and not any(arms)
        and len(flat) == len(bodies)
        and all(body.fixed < 0 for body in bodies),
        (1,) if one_pool else tuple(pool.alignment for pool in problem.pools),
        ()
        if one_pool
        else tuple(sum(problem.buffers[row].traffic for row in body.rows) for body in bodies),
    )
