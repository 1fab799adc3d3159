"""
Check a plan against its problem, independently of the solvers.

Shares no code with the solvers: it works on the problem's rows as they were given, in
plain integers, and knows neither boxes nor bodies nor cores. A plan is valid when

1. every row has an offset of at least 0 that is a multiple of its alignment, and a pool
   that it may lie in;
2. a fixed row is at its fixed offset; tied rows have the same offset and pool;
3. no two rows need the same byte of the same pool at the same time, unless they are
   tied or in different arms of a branch;
4. every row ends at or below its pool's height, and a height is at most the capacity
   and no more than its tallest row needs.

Reports each overlapping pair once, by a sweep over time that keeps the live rows sorted
by offset; O(n log n) for a valid plan as long as few live rows start at one offset.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from ..operators.records import record
from .buffers import Buffer
from .problem import Plan, Problem


def ends(problem: Problem, offsets: Sequence[int], pools: Sequence[int]) -> list[tuple[int, int]]:
    """Return for each pool the end of its highest byte and the row that needs it, or (0, -1)."""
    highest = [(0, -1)] * len(problem.pools)
    for row, (at, pool) in enumerate(zip(offsets, pools, strict=True)):
        needed = max((size for _, _, size in problem.buffers[row].needs()), default=0)
        if needed and at + needed > highest[pool][0]:
            highest[pool] = (at + needed, row)
    return highest


@record
class Fault:
    """A violated rule, with a message and the indices of the rows it is about."""

    rule: str
    message: str
    rows: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.message


def check(problem: Problem, plan: Plan) -> list[Fault]:
    """Return every violation of `problem` by `plan`; empty if the plan is valid."""
    n, n_pools = len(problem.buffers), len(problem.pools)
    for what, actual, wanted in (
        ("offsets", len(plan.offsets), n),
        ("pools", len(plan.pools), n),
        ("heights", len(plan.heights), n_pools),
    ):
        if actual != wanted:
            return [Fault("shape", f"the plan must have {wanted} {what}, but has {actual}")]
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
            yield Fault(
                "offset", f"{what} must be at an offset of at least 0, but is at {at}", (row,)
            )
        if at % buffer.alignment:
            message = f"{what} must be aligned to {buffer.alignment}, but is at {at}"
            yield Fault("alignment", message, (row,))
        if not 0 <= pool < len(names):
            message = f"{what} is in pool {pool}, but there are {len(names)} pools"
            yield Fault("pool", message, (row,))
        elif buffer.pools and names[pool] not in buffer.pools:
            allowed = ", ".join(buffer.pools)
            message = f"{what} is in pool '{names[pool]}', but may only be in: {allowed}"
            yield Fault("pool preference", message, (row,))
        elif at % problem.pools[pool].alignment:
            coarse = problem.pools[pool].alignment
            message = f"{what} is at {at}, but pool '{names[pool]}' is aligned to {coarse}"
            yield Fault("alignment", message, (row,))
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
    Report each pair of rows that need the same byte at the same time.

    Each pool's live rows are kept sorted by first byte. As long as nothing overlaps, only
    the nearest of the rows that begin at or below a new row can reach into it. After the
    first fault, and among rows that may overlap on purpose (`sharing`: ties and arms),
    every row that could reach it is examined.
    """
    events: list[tuple[int, int, int, int, int]] = []
    for row, buffer in enumerate(problem.buffers):
        for start, stop, size in buffer.needs():
            if size > 0 and stop > start:
                low = plan.offsets[row]
                events.append((start, 1, row, low, low + size))
                events.append((stop, 0, row, low, low + size))
    events.sort()
    alive: list[list[tuple[int, int, int]]] = [[] for _ in problem.pools]
    sharing: list[list[tuple[int, int, int]]] = [[] for _ in problem.pools]
    longest = [0] * len(problem.pools)
    clean = [True] * len(problem.pools)
    reported: set[tuple[int, int]] = set()
    for time, begins, row, low, high in events:
        pool, buffer = plan.pools[row], problem.buffers[row]
        entry = (low, high, row)
        mine = sharing[pool] if buffer.tie is not None or buffer.arms else alive[pool]
        if not begins:
            mine.pop(bisect_left(mine, entry))
            continue
        longest[pool] = max(longest[pool], high - low)
        for table in (alive[pool], sharing[pool]):
            for i in range(bisect_left(table, (high,)) - 1, -1, -1):
                other_low, other_high, other = table[i]
                if other_low + longest[pool] <= low:
                    break
                is_nearest = clean[pool] and table is alive[pool] and other_low <= low
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
                if is_nearest:
                    break
        insort(mine, entry)


def _may_share(a: Buffer, b: Buffer) -> bool:
    if a.tie is not None and a.tie == b.tie:
        return True
    return any(x.branch == y.branch and x.arm != y.arm for x in a.arms for y in b.arms)


def _height_faults(problem: Problem, plan: Plan) -> Iterator[Fault]:
    highest = ends(problem, plan.offsets, plan.pools)
    for pool, height, (end, row) in zip(problem.pools, plan.heights, highest, strict=True):
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
