"""Hypothesis strategies for packing problems, and a brute force to compare with."""

from itertools import product

from hypothesis import strategies as st

from xrelay.passes.planning import Arm, Buffer, Gap, Interval, Plan, Pool, Problem, check


@st.composite
def plain_problems(draw: st.DrawFn, most: int = 12, largest: int = 9) -> Problem:
    """One pool; lifetimes, sizes and alignments only."""
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
    Everything a row can have, fixed offsets only if `fixed`.

    Fixed offsets are far apart, so they never contradict; they also make the arena tall.
    """
    pools = draw(st.sampled_from([("arena",), ("fast", "slow")]))
    rows: list[Buffer] = []
    for i in range(draw(st.integers(0, most))):
        start = draw(st.integers(0, 8))
        stop = start + draw(st.integers(0, 5))
        size = draw(st.integers(0, 6))
        gaps: tuple[Gap, ...] = ()
        if stop - start > 2 and draw(st.booleans()):
            low = draw(st.integers(start, stop - 1))
            gaps = (Gap(low, draw(st.integers(low, stop)), draw(st.integers(0, size))),)
        arms: list[Arm] = []
        if draw(st.booleans()):
            arms.append(Arm("outer", draw(st.sampled_from("xy"))))
            if draw(st.booleans()):
                arms.append(Arm(f"inner {arms[0].arm}", draw(st.sampled_from("uvw"))))
        rows.append(
            Buffer(
                str(i),
                Interval(start, stop),
                size,
                draw(st.sampled_from([1, 1, 2, 4])),
                gaps,
                12 * (i + 1) if fixed and draw(st.integers(0, 9)) == 0 else None,
                draw(st.sampled_from([(), (), (pools[-1],), pools])),
                tuple(arms),
                None,
            )
        )
    tied = draw(st.lists(st.integers(0, max(len(rows) - 1, 0)), max_size=2, unique=True))
    if len(tied) == 2 and rows:
        for i in tied:
            rows[i] = rows[i]._replace(tie="t", offset=None, pools=())
    return Problem(tuple(rows), tuple(Pool(name) for name in pools))


def brute_force(problem: Problem, limit: int) -> int:
    """
    The smallest sum of heights, by trying every offset up to `limit` for every row.

    Shares nothing with the solvers: rows are placed one after the other at every offset
    and pool, and `check` of the complete plan decides; partial plans are cut only when
    their height is no better than the best known.
    """
    rows = problem.buffers
    best = limit + 1
    parts = [Problem(tuple(rows[:i]), problem.pools) for i in range(len(rows) + 1)]

    def heights(offsets: list[int], pools: list[int]) -> list[int]:
        tall = [0] * len(problem.pools)
        for buffer, at, pool in zip(rows, offsets, pools, strict=False):
            needs = buffer.size if buffer.lifetime.stop > buffer.lifetime.start else 0
            if buffer.gaps and needs:
                needs = max(_needs(buffer))
            tall[pool] = max(tall[pool], at + needs if needs else 0)
        return tall

    def go(offsets: list[int], pools: list[int]) -> None:
        nonlocal best
        i = len(offsets)
        tall = heights(offsets, pools)
        if sum(tall) >= best:
            return
        if check(parts[i], Plan(tuple(offsets), tuple(pools), tuple(tall))):
            return
        if i == len(rows):
            best = sum(tall)
            return
        fixed = rows[i].offset
        places = range(max(limit, 1)) if fixed is None else (fixed,)
        for pool, at in product(range(len(problem.pools)), places):
            go([*offsets, at], [*pools, pool])

    go([], [])
    return best


def _needs(buffer: Buffer) -> list[int]:
    return [
        min([buffer.size, *(g.kept for g in buffer.gaps if g.start <= t < g.stop)])
        for t in range(*buffer.lifetime)
    ]
