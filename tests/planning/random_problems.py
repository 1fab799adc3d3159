"""Hypothesis strategies for packing problems, and a brute-force solver as reference."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from hypothesis import strategies as st

from xrelay.planning import (
    Arm,
    Buffer,
    Gap,
    Interval,
    Pool,
    Problem,
    ProblemError,
)


@st.composite
def plain_problems(draw: st.DrawFn, most: int = 12, largest: int = 9) -> Problem:
    """Problems with one pool and only lifetimes, sizes and alignments."""
    rows: list[Buffer] = []
    for i in range(draw(st.integers(0, most))):
        start = draw(st.integers(0, 12))
        stop = start + draw(st.integers(0, 6))
        alignment = draw(st.sampled_from([1, 1, 2, 4, 3]))
        size = draw(st.integers(0, largest))
        rows.append(Buffer(str(i), Interval(start, stop), size, alignment))
    return Problem(tuple(rows))


@st.composite
def rich_problems(draw: st.DrawFn, most: int = 8, fixed: bool = True) -> Problem:
    """
    Problems with all features, with fixed offsets only if `fixed`.

    Features that contradict earlier rows (overlapping fixed offsets, inconsistent ties) are
    dropped, so every draw is a valid problem.
    """
    pools = draw(st.sampled_from([("arena",), ("fast", "slow")]))
    declared = tuple(Pool(name) for name in pools)
    rows: list[Buffer] = []
    for i in range(draw(st.integers(0, most))):
        start = draw(st.integers(-2, 8))
        stop = start + draw(st.integers(0, 5))
        size = draw(st.integers(0, 6))
        arms: list[Arm] = []
        if draw(st.booleans()):
            arms.append(Arm("outer", draw(st.sampled_from("xy"))))
            if draw(st.booleans()):
                arms.append(Arm(f"inner-{arms[0].arm}", draw(st.sampled_from("uvw"))))
        row = Buffer(
            str(i),
            Interval(start, stop),
            size,
            draw(st.sampled_from([1, 1, 2, 4])),
            tuple(draw(st.lists(_gaps(start, stop, size), max_size=2))),
            None,
            draw(st.sampled_from([(), (), (pools[-1],), pools])),
            tuple(arms),
        )
        may_be = [row]
        if fixed and draw(st.integers(0, 5)) == 0:
            # With a choice of pools they stay apart: whether each has one left would need a search.
            near = len(pools) == 1 or len(row.pools) == 1
            offset = 4 * draw(st.integers(0, 3)) if near else 12 * (i + 2)
            may_be.append(row._replace(offset=offset))
        if draw(st.integers(0, 4)) == 0:
            may_be.append(may_be[-1]._replace(tie=draw(st.sampled_from("st"))))
        rows.append(next(r for r in reversed(may_be) if _is_problem([*rows, r], declared)))
    return Problem(tuple(rows), declared)


@st.composite
def _gaps(draw: st.DrawFn, start: int, stop: int, size: int) -> Gap:
    """A gap in the lifetime, often the whole lifetime."""
    times = st.integers(start, stop)
    low, high = (start, stop) if draw(st.booleans()) else sorted((draw(times), draw(times)))
    return Gap(low, high, draw(st.integers(0, size)))


def _is_problem(rows: list[Buffer], pools: tuple[Pool, ...]) -> bool:
    try:
        Problem(tuple(rows), pools)
    except ProblemError:
        return False
    return True


def bytes_at(buffer: Buffer, time: int) -> int:
    """Return the number of bytes that `buffer` needs at `time`, from its offset on."""
    if not buffer.lifetime.start <= time < buffer.lifetime.stop:
        return 0
    return min([buffer.size, *(g.kept for g in buffer.gaps if g.start <= time < g.stop)])


def height_of(buffers: Sequence[Buffer], offsets: Sequence[int]) -> int:
    """Return the end of the highest byte that is ever needed."""
    return max(
        (
            at + bytes_at(buffer, time)
            for buffer, at in zip(buffers, offsets, strict=True)
            for time in range(*buffer.lifetime)
            if bytes_at(buffer, time)
        ),
        default=0,
    )


@lru_cache(maxsize=10_000)
def together(a: Buffer, b: Buffer) -> frozenset[tuple[int, int]]:
    """Yield (bytes of `a`, bytes of `b`) at times at which both need some and must not overlap."""
    if (a.tie is not None and a.tie == b.tie) or any(
        x.branch == y.branch and x.arm != y.arm for x in a.arms for y in b.arms
    ):
        return frozenset()
    times = range(max(a.lifetime.start, b.lifetime.start), min(a.lifetime.stop, b.lifetime.stop))
    needs = {(bytes_at(a, time), bytes_at(b, time)) for time in times}
    return frozenset(pair for pair in needs if all(pair))


def may_be_last(problem: Problem, offsets: Sequence[int], pools: Sequence[int]) -> bool:
    """Test whether the last row is placed validly, given the earlier ones."""
    i = len(offsets) - 1
    a, at, pool = problem.buffers[i], offsets[i], pools[i]
    if at % a.alignment or a.offset not in (None, at):
        return False
    if a.pools and problem.pools[pool].name not in a.pools:
        return False
    for b, bt, its in zip(problem.buffers[:i], offsets, pools, strict=False):
        if a.tie is not None and a.tie == b.tie and (at, pool) != (bt, its):
            return False
        if pool == its and any(at < bt + y and bt < at + x for x, y in together(a, b)):
            return False
    return True


def is_right(problem: Problem, offsets: Sequence[int], pools: Sequence[int]) -> bool:
    """Check the format's rules at each time; shares no code with the solvers or with `check`."""
    rows = range(1, len(problem.buffers) + 1)
    return all(may_be_last(problem, offsets[:n], pools[:n]) for n in rows)


def brute_force(problem: Problem, limit: int) -> int:
    """
    Find the smallest sum of heights by trying every offset up to `limit` for every row.

    Rows are placed one after the other at every offset and pool; a partial plan is pruned only
    if it is invalid, or no lower than the best plan so far.
    """
    rows = problem.buffers
    best = limit + 1
    places = sorted({*range(limit), *(b.offset or 0 for b in rows)})
    ends = [height_of([b], [0]) for b in rows]

    def go(offsets: list[int], pools: list[int], tall: list[int]) -> None:
        nonlocal best
        i = len(offsets)
        if i == len(rows):
            best = sum(tall)
            return
        for pool, at in product(range(len(tall)), places):
            end = at + ends[i] if ends[i] else 0
            taller = [max(h, end) if p == pool else h for p, h in enumerate(tall)]
            here = [*offsets, at], [*pools, pool]
            if sum(taller) < best and may_be_last(problem, *here):
                go(*here, taller)

    go([], [], [0] * len(problem.pools))
    return best
