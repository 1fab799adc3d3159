"""
Does a problem mean something? Raises `ProblemError`, naming the rows, where it does not.

Checked: numbers in range, ids unique, gaps within lifetimes, pools and arms known and
consistent, ties and fixed offsets that do not contradict each other. Fixed offsets that
exceed a capacity are no contradiction: such a problem is infeasible, which is an answer.
"""

from collections import defaultdict
from math import lcm

import numpy as np

from .check import needs
from .problem import LIMIT, Arm, Buffer, BufferTable, Problem, ProblemError


def validate(problem: Problem) -> None:
    """Raise ProblemError for the first contradiction in row order. O(n log n)."""
    names = [pool.name for pool in problem.pools]
    if not names:
        raise ProblemError("a problem needs at least one pool")
    for name in names:
        if names.count(name) > 1:
            raise ProblemError(f"pool '{name}' is declared twice")
    for pool in problem.pools:
        if pool.capacity is not None and pool.capacity < 0:
            raise ProblemError(f"capacity of pool '{pool.name}' is {pool.capacity}, below 0")
    _check_numbers(problem)
    if isinstance(problem.buffers, BufferTable):
        return
    ids: dict[str, int] = {}
    for row, buffer in enumerate(problem.buffers):
        first = ids.setdefault(buffer.id, row)
        if first != row:
            raise ProblemError(f"id '{buffer.id}' is used twice", (first, row))
    if problem.is_plain and not any(b.pools for b in problem.buffers):
        return
    for row, buffer in enumerate(problem.buffers):
        _check_row(row, buffer, names)
    _check_fixed(problem, _check_ties(problem))


def _check_numbers(problem: Problem) -> None:
    try:
        lower, upper, size, alignment = problem.columns
    except OverflowError:
        for row, b in enumerate(problem.buffers):
            for value in (*b.lifetime, b.size, b.alignment):
                if abs(value) >= LIMIT:
                    raise ProblemError(
                        f"buffer '{b.id}': {value} is not below 2^62", (row,)
                    ) from None
        raise
    rules = (
        (size < 0, size, "size is {}, below 0"),
        (alignment < 1, alignment, "alignment is {}, below 1"),
        (upper < lower, upper - lower, "lifetime ends {} after it starts"),
    )
    big = [np.abs(column) >= LIMIT for column in (lower, upper, size, alignment)]
    rules += tuple(
        (mask, column, "{} is not below 2^62")
        for mask, column in zip(big, (lower, upper, size, alignment), strict=True)
    )
    for mask, column, message in rules:
        bad = np.flatnonzero(mask)
        if len(bad):
            row = int(bad[0])
            what = message.format(int(column[row]))
            raise ProblemError(f"buffer '{problem.buffers[row].id}': {what}", (row,))
    if not len(size):
        return
    most = float(size.sum(dtype=np.float64)) + float(alignment.sum(dtype=np.float64))
    if most >= LIMIT:
        raise ProblemError(f"sizes and alignments sum to about {most:.3g}, not below 2^62")


def _check_row(row: int, buffer: Buffer, names: list[str]) -> None:
    what = f"buffer '{buffer.id}'"
    for gap in buffer.gaps:
        start, stop = buffer.lifetime
        if not start <= gap.start <= gap.stop <= stop:
            raise ProblemError(
                f"{what}: gap {gap.start}-{gap.stop} is not within its lifetime {start}-{stop}",
                (row,),
            )
        if not 0 <= gap.kept <= buffer.size:
            raise ProblemError(f"{what}: a gap keeps {gap.kept} of its {buffer.size} bytes", (row,))
    for pool in buffer.pools:
        if pool not in names:
            raise ProblemError(
                f"{what}: there is no pool '{pool}' (there are: {', '.join(names)})", (row,)
            )
    chosen: dict[str, str] = {}
    for branch, arm in buffer.arms:
        if chosen.setdefault(branch, arm) != arm:
            raise ProblemError(
                f"{what}: is in arms '{chosen[branch]}' and '{arm}' of branch '{branch}'",
                (row,),
            )
    if buffer.offset is not None:
        if not 0 <= buffer.offset < LIMIT:
            raise ProblemError(
                f"{what}: fixed offset {buffer.offset} is not between 0 and 2^62", (row,)
            )
        if buffer.offset % buffer.alignment:
            raise ProblemError(
                f"{what}: fixed offset {buffer.offset} is not a multiple of its "
                f"alignment {buffer.alignment}",
                (row,),
            )


Place = tuple[int | None, set[str]]  # a fixed offset, and the pools that are left


def _check_ties(problem: Problem) -> dict[str, Place]:
    """Check that the rows of each tie agree; where they may be."""
    places: dict[str, Place] = {}
    room = LIMIT - sum(b.size + b.alignment for b in problem.buffers)
    ties: defaultdict[str, list[int]] = defaultdict(list)
    for row, buffer in enumerate(problem.buffers):
        if buffer.tie is not None:
            ties[buffer.tie].append(row)
    for tie, rows in ties.items():
        members = [problem.buffers[row] for row in rows]
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
        allowed = set(members[0].pools) or {pool.name for pool in problem.pools}
        for buffer, row in zip(members[1:], rows[1:], strict=True):
            allowed &= set(buffer.pools) or allowed
            if not allowed:
                raise ProblemError(
                    f"tie '{tie}' leaves no pool that all its buffers may lie in, "
                    f"'{buffer.id}' included",
                    (*rows[: rows.index(row)], row),
                )
        common = lcm(*(b.alignment for b in members))
        room -= common
        if room <= 0:
            raise ProblemError(
                f"tie '{tie}' needs a multiple of {common}, its buffers' alignments taken "
                "together: with all sizes and alignments that is not below 2^62",
                tuple(rows),
            )
        places[tie] = fixed[0][0] if fixed else None, allowed
    return places


def _check_fixed(problem: Problem, ties: dict[str, Place]) -> None:
    """Fixed buffers that can only lie in one pool must not overlap there."""
    everywhere = {pool.name for pool in problem.pools}
    boxes: list[tuple[int, int, int, int, str, int]] = []
    for row, b in enumerate(problem.buffers):
        alone: Place = b.offset, set(b.pools) or everywhere
        offset, pools = alone if b.tie is None else ties[b.tie]
        if offset is not None and len(pools) == 1:
            (pool,) = pools
            boxes += ((start, stop, offset, size, pool, row) for start, stop, size in needs(b))
    boxes.sort()
    alive: list[tuple[int, int, int, int, str, int]] = []
    for box in boxes:
        alive = [other for other in alive if other[1] > box[0]]
        for other in alive:
            first, second = problem.buffers[other[5]], problem.buffers[box[5]]
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
