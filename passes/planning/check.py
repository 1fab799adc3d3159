"""
Is a plan right? Every broken rule, by people who did not make the plan.

Shares nothing with the solvers: it works on the problem's rows as they were given, in
plain integers, and knows neither boxes nor bodies nor cores. A plan is right when

1. every row has an offset, from 0 up, that is a multiple of its alignment, and a pool
   that it may lie in;
2. a fixed row is at its offset; tied rows are at one offset in one pool;
3. no two rows need the same byte of the same pool at the same time, unless they are
   tied or in different arms of a branch;
4. every row ends at or below its pool's height, and a height is at most the capacity
   and no more than its tallest row needs.

Finds all pairs that overlap, one fault each, by a sweep over time that keeps the bytes
in use sorted; O(n log n) for a right plan as long as few live bytes start together.
"""

import itertools
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .problem import Buffer, Plan, Problem


def needs(buffer: Buffer) -> Iterator[tuple[int, int, int]]:
    """
    What `buffer` needs over time: (from, to, bytes) for each stretch of its lifetime.

    In a gap that is the first `kept` bytes; where gaps meet, the fewest that one of them
    keeps. Bytes that are needed at no time are not part of the arena.
    """
    edges = sorted({*buffer.lifetime, *(t for g in buffer.gaps for t in (g.start, g.stop))})
    for start, stop in itertools.pairwise(edges):
        kept = [g.kept for g in buffer.gaps if g.start <= start and stop <= g.stop]
        yield start, stop, min([buffer.size, *kept])


def ends(problem: Problem, offsets: Sequence[int], pools: Sequence[int]) -> list[tuple[int, int]]:
    """For each pool the end of the highest byte needed and the row that needs it, or (0, -1)."""
    highest = [(0, -1)] * len(problem.pools)
    for row, (at, pool) in enumerate(zip(offsets, pools, strict=True)):
        needed = max((size for _, _, size in needs(problem.buffers[row])), default=0)
        if needed and at + needed > highest[pool][0]:
            highest[pool] = (at + needed, row)
    return highest


@dataclass(frozen=True)
class Fault:
    """A broken rule: what it is about, in words, and the rows (indices) it is about."""

    rule: str
    message: str
    rows: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.message


def check(problem: Problem, plan: Plan) -> list[Fault]:
    """Every way in which `plan` fails `problem`; empty when the plan is right."""
    n, n_pools = len(problem.buffers), len(problem.pools)
    for what, found, wanted in (
        ("offsets", len(plan.offsets), n),
        ("pools", len(plan.pools), n),
        ("heights", len(plan.heights), n_pools),
    ):
        if found != wanted:
            return [Fault("shape", f"the plan has {found} {what}, but {wanted} are needed")]
    faults = list(_row_faults(problem, plan))
    if any(fault.rule in ("offset", "pool") for fault in faults):
        return faults
    faults += _tie_faults(problem, plan)
    faults += _overlaps(problem, plan)
    faults += _height_faults(problem, plan)
    return faults


def _row_faults(problem: Problem, plan: Plan) -> Iterator[Fault]:
    names = [pool.name for pool in problem.pools]
    for row, buffer in enumerate(problem.buffers):
        at, pool, what = plan.offsets[row], plan.pools[row], f"buffer '{buffer.id}'"
        if at < 0:
            yield Fault("offset", f"{what} is at {at}, below 0", (row,))
        if at % buffer.alignment:
            message = f"{what} is at {at}, not a multiple of its alignment {buffer.alignment}"
            yield Fault("alignment", message, (row,))
        if not 0 <= pool < len(names):
            message = f"{what} is in pool {pool}, but there are {len(names)} pools"
            yield Fault("pool", message, (row,))
        elif buffer.pools and names[pool] not in buffer.pools:
            allowed = ", ".join(buffer.pools)
            message = f"{what} is in pool '{names[pool]}', but may only be in: {allowed}"
            yield Fault("pool preference", message, (row,))
        if buffer.offset is not None and at != buffer.offset:
            message = f"{what} is at {at}, but is fixed at {buffer.offset}"
            yield Fault("fixed offset", message, (row,))


def _tie_faults(problem: Problem, plan: Plan) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for row, buffer in enumerate(problem.buffers):
        if buffer.tie is None:
            continue
        other = first.setdefault(buffer.tie, row)
        here = (plan.offsets[row], plan.pools[row])
        there = (plan.offsets[other], plan.pools[other])
        if here != there:
            yield Fault(
                "tie",
                f"buffers '{problem.buffers[other].id}' and '{buffer.id}' are tied, but are "
                f"at {there[0]} of pool '{problem.pools[there[1]].name}' and at {here[0]} "
                f"of pool '{problem.pools[here[1]].name}'",
                (other, row),
            )


def _overlaps(problem: Problem, plan: Plan) -> Iterator[Fault]:
    """
    Rows that need the same byte at the same time.

    Per pool: what is alive is kept sorted by its first byte. As long as nothing overlaps,
    of those that begin at or below a new row only the nearest can reach into it; after a
    first fault, and among rows that may overlap on purpose (ties, arms: a table of their
    own), all that could reach are looked at.
    """
    events: list[tuple[int, int, int, int, int]] = []
    for row, buffer in enumerate(problem.buffers):
        for start, stop, size in needs(buffer):
            if size > 0 and stop > start:
                low = plan.offsets[row]
                events.append((start, 1, row, low, low + size))
                events.append((stop, 0, row, low, low + size))
    events.sort()
    alive: list[list[tuple[int, int, int]]] = [[] for _ in problem.pools]
    special: list[list[tuple[int, int, int]]] = [[] for _ in problem.pools]
    longest = [0] * len(problem.pools)
    clean = [True] * len(problem.pools)
    reported: set[tuple[int, int]] = set()
    for time, begins, row, low, high in events:
        pool, buffer = plan.pools[row], problem.buffers[row]
        entry = (low, high, row)
        mine = special[pool] if buffer.tie is not None or buffer.arms else alive[pool]
        if not begins:
            mine.pop(bisect_left(mine, entry))
            continue
        longest[pool] = max(longest[pool], high - low)
        for table in (alive[pool], special[pool]):
            for i in range(bisect_left(table, (high,)) - 1, -1, -1):
                other_low, other_high, other = table[i]
                if other_low + longest[pool] <= low:
                    break
                stop_here = clean[pool] and table is alive[pool] and other_low <= low
                if other_high > low and other != row and (other, row) not in reported:
                    if _may_share(problem.buffers[other], buffer):
                        continue
                    reported |= {(other, row), (row, other)}
                    clean[pool] = False
                    shared = min(high, other_high) - max(low, other_low)
                    yield Fault(
                        "overlap",
                        f"buffers '{problem.buffers[other].id}' and '{buffer.id}' are both "
                        f"alive from {time} and share {shared} bytes from "
                        f"{max(low, other_low)} of pool '{problem.pools[pool].name}'",
                        (other, row),
                    )
                if stop_here:
                    break
        insort(mine, entry)


def _may_share(a: Buffer, b: Buffer) -> bool:
    if a.tie is not None and a.tie == b.tie:
        return True
    return any(x.branch == y.branch and x.arm != y.arm for x in a.arms for y in b.arms)


def _height_faults(problem: Problem, plan: Plan) -> Iterator[Fault]:
    found = ends(problem, plan.offsets, plan.pools)
    for pool, height, (end, row) in zip(problem.pools, plan.heights, found, strict=True):
        if height != end:
            message = f"pool '{pool.name}' has height {height}, but its buffers end at {end}"
            yield Fault("height", message, (row,) if row >= 0 else ())
        if pool.capacity is not None and end > pool.capacity:
            yield Fault(
                "capacity",
                f"buffer '{problem.buffers[row].id}' ends at {end}, {end - pool.capacity} "
                f"bytes above the capacity {pool.capacity} of pool '{pool.name}'",
                (row,),
            )
