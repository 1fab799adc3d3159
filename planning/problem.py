"""
A packing problem and its two possible answers.

A `Problem` is rows of buffers (bytes, a half-open lifetime, and constraints on their
place) and the pools they may lie in. The answer is a `Plan` (a pool and an offset for
every row) or an `Infeasible` (some pool's capacity cannot be met).

`validate` rejects problems that contradict themselves, with a `ProblemError` that names the rows.
Checked: numbers are in range, ids unique, gaps within lifetimes, pools declared, and arms, ties,
and fixed offsets consistent. A fixed offset that exceeds a capacity is not a contradiction: such a
problem is infeasible, which is an answer.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import lcm

import numpy as np

from ..operators.records import record
from .buffers import LIMIT, Arm, Buffer, BufferTable, Columns, Pool, ProblemError, columns_of

_MAX_FIXED_PAIRS = 4_000_000
"""Pairs of fixed lifetimes that are checked for overlaps (a few seconds)."""


def validate(buffers: Sequence[Buffer], pools: Sequence[Pool], columns: Columns) -> None:
    """Raise ProblemError for the first contradiction in row order. O(n log n)."""
    names = [pool.name for pool in pools]
    if not names:
        raise ProblemError("a problem must have at least one pool")
    for name in names:
        if names.count(name) > 1:
            raise ProblemError(f"duplicate pool '{name}'")
    for pool in pools:
        if pool.capacity is not None and pool.capacity < 0:
            raise ProblemError(
                f"capacity of pool '{pool.name}' must be at least 0, but is {pool.capacity}"
            )
        for what, number, least in (("cost", pool.cost, 0), ("alignment", pool.alignment, 1)):
            if not least <= number < 2**20:
                raise ProblemError(
                    f"{what} of pool '{pool.name}' must be from {least} to 2^20 - 1, "
                    f"but is {number}"
                )
    _check_numbers(buffers, pools, columns)
    if isinstance(buffers, BufferTable):
        return
    ids: dict[str, int] = {}
    for row, buffer in enumerate(buffers):
        first = ids.setdefault(buffer.id, row)
        if first != row:
            raise ProblemError(f"duplicate id '{buffer.id}'", (first, row))
    if all(b.is_plain and not b.pools and b.reads == b.writes == 1 for b in buffers):
        return
    for row, buffer in enumerate(buffers):
        for fault in _faults_of(buffer, pools):
            raise ProblemError(f"buffer '{buffer.id}': {fault}", (row,))
    _check_fixed(buffers, names, _check_ties(buffers, names))


def _check_numbers(buffers: Sequence[Buffer], pools: Sequence[Pool], columns: Columns) -> None:
    lower, upper, size, alignment = columns
    rules = (
        (size < 0, size, "size must be at least 0, but is {}"),
        (alignment < 1, alignment, "alignment must be at least 1, but is {}"),
        (upper < lower, upper - lower, "lifetime must not end before it starts, but has length {}"),
    )
    big = [np.abs(column) >= LIMIT for column in (lower, upper, size, alignment)]
    rules += tuple(
        (mask, column, "{} is not between -2^62 and 2^62")
        for mask, column in zip(big, (lower, upper, size, alignment), strict=True)
    )
    for mask, column, message in rules:
        bad = np.flatnonzero(mask)
        if len(bad):
            row = int(bad[0])
            what = message.format(int(column[row]))
            raise ProblemError(f"buffer '{buffers[row].id}': {what}", (row,))
    if not len(size):
        return
    coarsest = max(pool.alignment for pool in pools)
    most = float(size.sum(dtype=np.float64)) + float(alignment.sum(dtype=np.float64)) * coarsest
    if most >= LIMIT:
        raise ProblemError(f"sizes and alignments sum to about {most:.3g}, not below 2^62")


def _faults_of(buffer: Buffer, pools: Sequence[Pool]) -> Iterator[str]:
    """Yield what is wrong with a buffer on its own."""
    names, (start, stop) = [pool.name for pool in pools], buffer.lifetime
    for gap in buffer.gaps:
        if not start <= gap.start <= gap.stop <= stop:
            yield f"gap {gap.start}-{gap.stop} is not within its lifetime {start}-{stop}"
        if not 0 <= gap.kept <= buffer.size:
            yield f"a gap keeps {gap.kept} of its {buffer.size} bytes"
    for pool in buffer.pools:
        if pool not in names:
            yield f"unknown pool '{pool}' (declared: {', '.join(names)})"
    for name, number in (("reads", buffer.reads), ("writes", buffer.writes)):
        if not 0 <= number < 2**31:
            yield f"{name} must be from 0 to 2^31 - 1, but is {number}"
    chosen: dict[str, str] = {}
    for branch, arm in buffer.arms:
        if chosen.setdefault(branch, arm) != arm:
            yield f"is in arms '{chosen[branch]}' and '{arm}' of branch '{branch}'"
    if (at := buffer.offset) is None:
        return
    if not 0 <= at < LIMIT:
        yield f"fixed offset {at} is not between 0 and 2^62"
    if at % buffer.alignment:
        yield f"fixed offset {at} is not a multiple of its alignment {buffer.alignment}"
    for pool in pools:
        may_be_there = not buffer.pools or pool.name in buffer.pools
        if may_be_there and at % pool.alignment:
            yield (
                f"fixed offset {at} is not a multiple of the alignment {pool.alignment} of "
                f"pool '{pool.name}'"
            )


Place = tuple[int | None, set[str]]
"""The fixed offset, if any, and the names of the allowed pools."""


def _check_ties(buffers: Sequence[Buffer], names: list[str]) -> dict[str, Place]:
    """Check that the rows of each tie agree; return the place of each tie."""
    places: dict[str, Place] = {}
    room = LIMIT - sum(b.size + b.alignment for b in buffers)
    ties: defaultdict[str, list[int]] = defaultdict(list)
    for row, buffer in enumerate(buffers):
        if buffer.tie is not None:
            ties[buffer.tie].append(row)
    for tie, rows in ties.items():
        members = [buffers[row] for row in rows]
        fixed = [(b.offset, b, row) for b, row in zip(members, rows, strict=True)]
        fixed = [entry for entry in fixed if entry[0] is not None]
        for offset, buffer, row in fixed[1:]:
            if offset != fixed[0][0]:
                raise ProblemError(
                    f"buffers '{fixed[0][1].id}' and '{buffer.id}' are tied ('{tie}'), but "
                    f"fixed at {fixed[0][0]} and {offset}",
                    (fixed[0][2], row),
                )
        if fixed:
            offset = fixed[0][0] or 0
            for buffer, row in zip(members, rows, strict=True):
                if offset % buffer.alignment:
                    raise ProblemError(
                        f"buffers '{fixed[0][1].id}' and '{buffer.id}' are tied ('{tie}'), "
                        f"but the fixed offset {offset} of one is not a multiple of the "
                        f"other's alignment {buffer.alignment}",
                        (fixed[0][2], row),
                    )
        allowed = set(members[0].pools) or set(names)
        for buffer, row in zip(members[1:], rows[1:], strict=True):
            allowed &= set(buffer.pools) or allowed
            if not allowed:
                raise ProblemError(
                    f"no pool is allowed for all buffers of tie '{tie}', '{buffer.id}' included",
                    (*rows[: rows.index(row)], row),
                )
        common = lcm(*(b.alignment for b in members))
        room -= common
        if room <= 0:
            raise ProblemError(
                f"tie '{tie}' needs an offset that is a multiple of {common}, the least common "
                "multiple of its alignments: with all sizes that is not below 2^62",
                tuple(rows),
            )
        places[tie] = fixed[0][0] if fixed else None, allowed
    return places


def _check_fixed(buffers: Sequence[Buffer], names: list[str], ties: dict[str, Place]) -> None:
    """Check that fixed buffers with a single allowed pool do not overlap there."""
    everywhere = set(names)
    boxes: list[tuple[int, int, int, int, str, int]] = []
    for row, b in enumerate(buffers):
        alone: Place = b.offset, set(b.pools) or everywhere
        offset, pools = alone if b.tie is None else ties[b.tie]
        if offset is not None and len(pools) == 1:
            (pool,) = pools
            boxes += ((start, stop, offset, size, pool, row) for start, stop, size in b.needs())
    boxes.sort()
    starts, stops = [box[0] for box in boxes], sorted(box[1] for box in boxes)
    pairs = sum(k - bisect_right(stops, start) for k, start in enumerate(starts))
    if pairs > _MAX_FIXED_PAIRS:
        raise ProblemError(
            f"{len(boxes)} lifetimes at fixed offsets overlap in {pairs} pairs, "
            f"but at most {_MAX_FIXED_PAIRS} can be checked"
        )
    alive: list[tuple[int, int, int, int, str, int]] = []
    for box in boxes:
        alive = [other for other in alive if other[1] > box[0]]
        for other in alive:
            first, second = buffers[other[5]], buffers[box[5]]
            if (
                other[4] == box[4]
                and max(other[2], box[2]) < min(other[2] + other[3], box[2] + box[3])
                and not (first.tie is not None and first.tie == second.tie)
                and not _in_different_arms(first.arms, second.arms)
                and other[5] != box[5]
            ):
                raise ProblemError(
                    f"buffers '{first.id}' and '{second.id}' are alive together at "
                    f"{box[0]} and fixed at {other[2]} and {box[2]}, where they overlap",
                    tuple(sorted((other[5], box[5]))),
                )
        alive.append(box)


def _in_different_arms(a: tuple[Arm, ...], b: tuple[Arm, ...]) -> bool:
    chosen = dict(a)
    return any(chosen.get(branch, arm) != arm for branch, arm in b)


@dataclass(frozen=True, eq=False)
class Problem:
    """
    Buffers and the pools they may lie in.

    Raises ProblemError, naming the rows, for a problem that no plan could satisfy
    whatever the capacities: negative numbers, duplicate ids, undeclared pools, ties or
    fixed offsets that contradict each other.
    """

    buffers: Sequence[Buffer]
    pools: tuple[Pool, ...] = (Pool("arena"),)

    def __post_init__(self):
        validate(self.buffers, self.pools, self.columns)

    @staticmethod
    def of(
        lower: Iterable[int],
        upper: Iterable[int],
        size: Iterable[int],
        alignment: Iterable[int] | None = None,
        capacity: int | None = None,
    ) -> "Problem":
        """
        Build the problem with these columns, one pool, and row numbers as ids.

        Accepts sequences of integers or int64 arrays of equal length, and keeps them as
        columns: a million rows cost 32 MB.
        """
        columns = [
            np.array(c if isinstance(c, np.ndarray) else list(c), dtype=np.int64)
            for c in (lower, upper, size)
        ]
        if alignment is None:
            columns.append(np.ones_like(columns[0]))
        else:
            columns.append(np.array(list(alignment), dtype=np.int64))
        if len({len(c) for c in columns}) > 1:
            lengths = ", ".join(str(len(c)) for c in columns)
            raise ProblemError(f"columns must have equal lengths, but have {lengths}")
        return Problem(BufferTable(Columns(*columns)), (Pool("arena", capacity),))

    @cached_property
    def columns(self) -> Columns:
        return columns_of(self.buffers)

    @cached_property
    def is_plain(self) -> bool:
        """True if there is one pool, and rows have only a lifetime, a size and an alignment."""
        if len(self.pools) != 1:
            return False
        return isinstance(self.buffers, BufferTable) or all(b.is_plain for b in self.buffers)

    def with_capacity(self, capacity: int | None) -> "Problem":
        """Return the problem with `capacity` for every pool that has none of its own."""
        pools = tuple(
            p if p.capacity is not None else p._replace(capacity=capacity) for p in self.pools
        )
        return Problem(self.buffers, pools)


@record
class Plan:
    """
    The place of every buffer, in the order of the problem's rows.

    `pools[i]` is an index into the problem's pools. `heights[p]` is the first offset
    above every byte that a buffer of pool p ever needs. `cost` is what reading and writing
    costs in these pools, if that was minimized. No plan's `objective`, cost or height, is below
    `lower_bound`; `is_optimal` means that this one is proved minimal.
    `nodes` counts the search nodes spent; `seconds` is CPU time.
    """

    offsets: tuple[int, ...]
    pools: tuple[int, ...]
    heights: tuple[int, ...]
    lower_bound: int = 0
    is_optimal: bool = False
    strategy: str = ""
    nodes: int = 0
    seconds: float = field(default=0.0, compare=False)
    cost: int | None = None

    @property
    def height(self) -> int:
        """The sum of the pools' heights."""
        return sum(self.heights)

    @property
    def objective(self) -> int:
        """The cost or the height, whichever was minimized."""
        return self.height if self.cost is None else self.cost

    @property
    def gap(self) -> int:
        """The difference between the lower bound and the objective."""
        return self.objective - self.lower_bound

    @property
    def ratio(self) -> float:
        """Objective over lower bound; 1.0 for a problem that needs no bytes."""
        return self.objective / self.lower_bound if self.lower_bound else 1.0


@record
class Infeasible:
    """
    No plan within the pools' capacities was found.

    `proved` means that none exists. `shortfall` is how many bytes of capacity the best
    plan found lacks; `height` is that plan's height, and no plan is lower than
    `lower_bound`. The `rows` that are alive at `moment`, the largest first, need the most
    bytes beyond the pools that they may be in; a plan exists for the pools `enough`.
    """

    proved: bool
    shortfall: int
    height: int = 0
    lower_bound: int = 0
    strategy: str = ""
    nodes: int = 0
    seconds: float = field(default=0.0, compare=False)
    moment: int = 0
    rows: tuple[int, ...] = ()
    enough: tuple[Pool, ...] = ()
