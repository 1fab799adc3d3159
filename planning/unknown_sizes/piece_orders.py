"""
Orders of rows that have more than a lifetime: parts, ties, gaps, fixed offsets, pools.

`order_rows` reads an order from a placement of the rows (`operators.orders`) at some sizes: of two
that are needed together, the one at the lower offset is below. Pieces are put on each other in one
sequence, so that they are never interlocked: if a placement interlocks two, the piece that starts
lower is below, and the order may need more bytes than the placement did. All pairs are looked at;
`orientation` is for problems without these.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from ...operators.intervals import Interval
from ...operators.orders import Arms, Life, On, Orders, Row, pairs_together
from ..buffers import Arm, Buffer, Gap, Pool, ProblemError
from ..offsets.weighted_moves import fitted
from ..problem import Plan, Problem
from ..solve import solve


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
    room: int | None = None,
) -> list[int]:
    """
    Return offsets of rows at `sizes`, planned as one buffer for each piece, in `room` if it can be.

    At a time at which its last rows are not needed, only the first bytes of a piece are.
    """
    sized = tuple(
        row._replace(size=size) if row.at is not None else row
        for row, size in zip(rows, sizes, strict=True)
    )
    empty = Orders(alignment, (((),) * len(rows),), sized)
    _, inner = Orders(1, (((),) * len(rows),), sized).laid_out(sizes)
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
                alignment,
                tuple(_gaps(times, needs)),
                offset=sized[head].at,
                pools=(str(sized[head].pool),),
                arms=_arms(*arms) if with_arms and len(arms) == 1 else (),
            )
        )
    pools = tuple(Pool(str(k)) for k in range(empty.n_pools))
    problem = Problem(tuple(buffers), pools)
    plan = solve(problem, strategy)
    if not isinstance(plan, Plan):
        raise ProblemError("pieces at fixed offsets overlap")
    if room is not None:
        plan = fitted(problem, plan, room)
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
