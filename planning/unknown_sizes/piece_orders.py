"""
Orders of rows that have more than a lifetime: parts, ties, gaps, fixed offsets, pools.

    buffer        lifetime [0, 6), gap [2, 4) that keeps 8 bytes, tied to another
    rows          8 bytes [0, 6)            and beside it the remainder [0, 2) [4, 6)

`rows_of` takes a problem apart into rows (`operators.orders`), and `order_rows` reads an order from
a placement of the rows at some sizes: of two that are needed together, the one at the lower offset
is below. Pieces are put on each other in one sequence, so that they are never interlocked: if a
placement interlocks two, the piece that starts lower is below, and the order may need more bytes
than the placement did. All pairs are looked at; `orientation` is for problems without these.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from math import lcm
from typing import NamedTuple

from ...operators.intervals import Interval
from ...operators.orders import Arms, Life, On, Orders, Row, pairs_together
from ...operators.records import record
from ..buffers import Arm, Buffer, Gap, Pool, ProblemError
from ..problem import Plan, Problem
from ..solve import solve


class Rows(NamedTuple):
    """The rows of a problem, in one piece for each buffer or tie."""

    rows: tuple[Row, ...]
    lives: tuple[Life, ...]
    sizes: tuple[int, ...]
    first: tuple[int, ...]
    """The first row of each buffer; it starts where the buffer does."""


def rows_of(problem: Problem, pools: Sequence[int]) -> Rows:
    """Return the rows of `problem`, whose buffers are in `pools`."""
    rows: list[Row] = []
    lives: list[Life] = []
    sizes: list[int] = []
    first: list[int] = []
    ties: dict[str, int] = {}
    at = {b.tie: b.offset for b in problem.buffers if b.offset is not None}
    numbers: dict[tuple[str, str], tuple[int, int]] = {}
    branches: dict[str, int] = {}
    for buffer, pool in zip(problem.buffers, pools, strict=True):
        arms: set[tuple[int, int]] = set()
        for arm in buffer.arms:
            branch = branches.setdefault(arm.branch, len(branches))
            arms.add(numbers.setdefault((arm.branch, arm.arm), (branch, len(numbers))))
        tied = None if buffer.tie is None else ties.setdefault(buffer.tie, len(rows))
        fixed = buffer.offset if buffer.tie is None else at.get(buffer.tie)
        align = lcm(buffer.alignment, problem.pools[pool].alignment)
        first.append(len(rows))
        for k, (size, times) in enumerate(_levels(buffer)):
            if k:
                rows.append(Row(beside=len(rows) - 1, pool=pool, size=size, align=1))
            elif tied is not None and tied < len(rows):
                rows.append(Row(tied=tied, pool=pool, size=size, align=align))
            else:
                rows.append(Row(at=fixed, pool=pool, size=size, align=align))
            lives.append(Life(times, frozenset(arms)))
            sizes.append(size)
    return Rows(tuple(rows), tuple(lives), tuple(sizes), tuple(first))


def _levels(buffer: Buffer) -> Iterator[tuple[int, tuple[Interval, ...]]]:
    """Yield the bytes of a buffer, from the bottom up, that are needed at the same times."""
    needs = list(buffer.needs())
    low = 0
    for high in sorted({buffer.size, *(size for _, _, size in needs)} - {0}) or [0]:
        times: list[Interval] = []
        for start, stop, size in needs:
            if size < high or start >= stop:
                continue
            if times and times[-1].stop == start:
                times[-1] = Interval(times[-1].start, stop)
            else:
                times.append(Interval(start, stop))
        yield high - low, tuple(times)
        low = high


@record
class PieceOrder:
    """An order of rows from the bottom up, as an `Orientation` is one of buffers."""

    below: On
    """For each row, the rows directly below it."""
    rows: tuple[Row, ...]

    @staticmethod
    def of(problem: Problem, plan: Plan) -> "PieceOrder":
        """Return the order of a plan."""
        (below,), rows = orders_of(problem, plan)[0].on, rows_of(problem, plan.pools).rows
        return PieceOrder(below, rows)

    def offsets(self, sizes: Sequence[int]) -> list[int]:
        """Return the offset of each row for these sizes of rows (at least 0 each)."""
        return [*Orders(1, (self.below,), self.rows).laid_out(sizes)[1]]

    def height(self, sizes: Sequence[int]) -> int:
        """Return the bytes of all pools for these sizes of rows (at least 0 each)."""
        return sum(Orders(1, (self.below,), self.rows).laid_out(sizes)[0])


def orders_of(problem: Problem, plan: Plan) -> tuple[Orders, Rows]:
    """Return the order of a plan, and its rows; offsets of fixed buffers must be fixed alone."""
    taken = rows_of(problem, plan.pools)
    offsets: list[int] = []
    for i, row in enumerate(taken.rows):
        is_first = row.beside is None
        offsets.append(0 if is_first else offsets[i - 1] + taken.sizes[i - 1])
    for buffer, at in zip(taken.first, plan.offsets, strict=True):
        end = next((i for i in taken.first if i > buffer), len(offsets))
        for i in range(buffer, end):
            offsets[i] += at
    on = order_rows(taken.rows, taken.lives, offsets)
    return Orders(1, (on,), taken.rows), taken


def order_rows(rows: Sequence[Row], lives: Sequence[Life], offsets: Sequence[int]) -> On:
    """Return the order of a placement of rows, of which those needed together do not overlap."""
    empty = Orders(1, (((),) * len(rows),), tuple(rows))
    pieces = empty.pieces
    piece_of = {i: number for number, piece in enumerate(pieces) for i in piece}
    together = [
        (i, j)
        for i, j in pairs_together(lives)
        if piece_of[i] != piece_of[j] and rows[i].pool == rows[j].pool
    ]
    above: dict[int, set[int]] = {number: set() for number in range(len(pieces))}
    missing = [0] * len(pieces)
    for i, j in together:
        low, high = (i, j) if (offsets[i], i) < (offsets[j], j) else (j, i)
        if piece_of[high] not in above[piece_of[low]]:
            above[piece_of[low]].add(piece_of[high])
            missing[piece_of[high]] += 1

    def key(number: int) -> tuple[bool, bool, int, int]:
        head = pieces[number][0]
        return rows[head].at is None, missing[number] > 0, offsets[head], number

    left = set(range(len(pieces)))
    place: dict[int, int] = {}
    while left:  # of interlocked pieces, the one that starts lowest comes first
        number = min(left, key=key)
        left.remove(number)
        place[number] = len(place)
        for other in above[number]:
            missing[other] -= 1
    below: list[set[int]] = [set() for _ in rows]
    for i, j in together:
        low, high = (i, j) if place[piece_of[i]] < place[piece_of[j]] else (j, i)
        if rows[pieces[piece_of[high]][0]].at is None:
            below[high].add(low)
    return tuple(
        tuple(sorted(j for j in under if not any(j in below[k] for k in under))) for under in below
    )


def choose_rows(
    rows: Sequence[Row],
    lives: Sequence[Life],
    samples: Sequence[Sequence[int]],
    alignment: int,
    with_arms: bool = True,
) -> list[On]:
    """
    Return one order of rows or up to three, of which the smallest total counts.

    Each is that of a plan for the sizes of a sample; the worst ratio to the least total that any of
    them has at a sample is the least.
    """
    candidates = list(
        dict.fromkeys(
            order_rows(rows, lives, placed_rows(rows, lives, sizes, alignment, with_arms=with_arms))
            for sizes in samples
        )
    )
    totals = [
        [sum(Orders(alignment, (on,), tuple(rows)).laid_out(sizes)[0]) for sizes in samples]
        for on in candidates
    ]
    least = [max(1, min(at)) for at in zip(*totals, strict=True)]

    def worst(group: Sequence[int]) -> float:
        best = [min(totals[k][s] for k in group) for s in range(len(samples))]
        return max((a / b for a, b in zip(best, least, strict=True)), default=1.0)

    groups = [g for n in (1, 2, 3) for g in combinations(range(min(len(candidates), 8)), n)]
    chosen = min(groups, key=lambda group: (round(worst(group), 3), len(group)))
    return [candidates[k] for k in chosen]


def placed_rows(
    rows: Sequence[Row],
    lives: Sequence[Life],
    sizes: Sequence[int],
    alignment: int,
    strategy: str = "auto",
    with_arms: bool = True,
) -> list[int]:
    """
    Return offsets of rows at `sizes`, planned as one buffer for each piece.

    At a time at which its last rows are not needed, only the first bytes of a piece are.
    """
    sized = tuple(
        row._replace(size=size) if row.at is not None else row
        for row, size in zip(rows, sizes, strict=True)
    )
    empty = Orders(alignment, (((),) * len(rows),), sized)
    _, inner = Orders(
        1, (((),) * len(rows),), tuple(r._replace(align=None) for r in sized)
    ).laid_out(sizes)
    ends = [start + max(size, 0) for start, size in zip(inner, sizes, strict=True)]
    buffers: list[Buffer] = []
    for piece in empty.pieces:
        head = piece[0]
        arms = {lives[i].arms for i in piece if lives[i].times}
        low = min(inner[i] for i in piece)
        needs = [((start, stop), ends[i] - low) for i in piece for start, stop in lives[i].times]
        times = sorted({time for span, _ in needs for time in span}) or [0]
        buffers.append(
            Buffer(
                str(head),
                Interval(times[0], times[-1]),
                max(ends[i] for i in piece) - low,
                sized[head].align or alignment,
                tuple(_gaps(times, needs)),
                offset=sized[head].at,
                pools=(str(sized[head].pool),),
                arms=_arms(*arms) if with_arms and len(arms) == 1 else (),
            )
        )
    pools = tuple(Pool(str(k)) for k in range(empty.n_pools))
    plan = solve(Problem(tuple(buffers), pools), strategy)
    if not isinstance(plan, Plan):
        raise ProblemError("pieces at fixed offsets overlap")
    offsets = [0] * len(rows)
    for piece, at in zip(empty.pieces, plan.offsets, strict=True):
        for i in piece:
            offsets[i] = at + inner[i]
    return offsets


def _gaps(times: Sequence[int], needs: Sequence[tuple[tuple[int, int], int]]) -> Iterator[Gap]:
    """Yield when fewer than all bytes of a piece are needed, which needs `needs` at `times`."""
    whole = max((end for _, end in needs), default=0)
    for start, stop in pairwise(times):
        kept = max((end for span, end in needs if span[0] <= start and stop <= span[1]), default=0)
        if kept < whole:
            yield Gap(start, stop, kept)


def _arms(arms: Arms) -> tuple[Arm, ...]:
    return tuple(Arm(str(branch), str(arm)) for branch, arm in sorted(arms))
