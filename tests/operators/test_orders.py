"""Orders of rows: what is accepted never overlaps, by brute force at random sizes."""

from collections import Counter
from random import Random

import pytest
from helpers.memory.order_faults import faults, may_share
from helpers.programs.random_settings import rounds

from xrelay.operators import orders as module
from xrelay.operators.orders import Layout, Life, On, OrderError, Orders, Row
from xrelay.operators.sizes.size_table import compute

Problem = tuple[Orders, list[Life]]


def random_life(rng: Random) -> Life:
    points = sorted(rng.sample(range(12), rng.choice((2, 2, 2, 4))))
    times = tuple((points[k], points[k + 1]) for k in range(0, len(points), 2))
    return Life(times, frozenset([(0, rng.randrange(2))]) if rng.random() < 0.2 else frozenset())


def random_rows(rng: Random, count: int) -> list[Row]:
    """Draw rows beside, tied to and over earlier ones, at fixed offsets, in two pools."""
    n_pools = rng.choice((1, 1, 2))
    rows: list[Row] = []
    for i in range(count):
        free = [*range(i)] if rng.random() < 0.9 else [j for j in range(i) if rows[j].at is None]
        kind = rng.random() if free else 1.0
        j = rng.choice(free) if free else 0
        if kind < 0.2:
            rows.append(Row(beside=j, pool=rows[j].pool))
        elif kind < 0.3:
            rows.append(Row(tied=j, pool=rows[j].pool))
        elif kind < 0.4:
            first = j
            while (before := rows[first].beside) is not None and rng.random() < 0.8:
                first = before
            rows.append(Row(over=(first, j), pool=rows[j].pool))
        elif rng.random() < 0.1:
            at, size = 8 * rng.randrange(6), 8 * rng.randrange(1, 4)
            rows.append(Row(at=at, size=size, pool=rng.randrange(n_pools)))
        else:
            rows.append(Row(pool=rng.randrange(n_pools)))
    return rows


def random_order(rng: Random, rows: list[Row], lives: list[Life], density: float) -> On:
    """Put rows that meet on each other, as random places of their pieces say."""
    pieces = Orders(1, (((),) * len(rows),), tuple(rows)).pieces
    place: dict[int, float] = {}
    for piece in pieces:
        at = rng.random() if rows[piece[0]].at is None else -1.0
        place.update(dict.fromkeys(piece, at))
    return tuple(
        tuple(
            j
            for j, other in enumerate(rows)
            if place[j] < place[i] != -1 and row.pool == other.pool
            if lives[i].meets(lives[j]) and rng.random() < density
        )
        for i, row in enumerate(rows)
    )


def random_problem(rng: Random) -> Problem:
    rows = random_rows(rng, rng.randint(1, 12))
    lives = [random_life(rng) for _ in rows]
    n_orders = rng.choice((1, 1, 2, 3))
    density = rng.choice((1.0, 1.0, 0.95, 0.7))
    on = tuple(random_order(rng, rows, lives, density) for _ in range(n_orders))
    is_plain = all(row == Row() for row in rows)
    return Orders(rng.choice((1, 4, 64)), on, () if is_plain else tuple(rows)), lives


def random_sizes(rng: Random, orders: Orders) -> list[int]:
    style, large = rng.choice(("equal", "small", "mixed", "one")), rng.randrange(orders.count)
    sizes = [
        {"equal": 8, "small": rng.randrange(4), "mixed": rng.choice((0, 1, 8, 1000))}.get(
            style, 1000 if i == large else 1
        )
        for i in range(orders.count)
    ]
    for i, row in enumerate(orders.rows):
        sizes[i] = sizes[i] if row.size is None else row.size
    return sizes


def bounds(orders: Orders, sizes: list[int]) -> list[tuple[int, int]]:
    """Return the bytes of each row, and check all that is promised of them."""
    totals, offsets = orders.laid_out(sizes)
    rows = orders.rows or (Row(),) * orders.count
    ends = [at + size for at, size in zip(offsets, sizes, strict=True)]
    for i, row in enumerate(rows):
        if row.over is not None:
            assert offsets[i] == offsets[row.over[0]]
            ends[i] = ends[row.over[1]]
        if row.beside is not None:
            assert offsets[i] == ends[row.beside]
        if row.tied is not None:
            assert offsets[i] == offsets[row.tied]
        if row.at is not None:
            assert offsets[i] == row.at
        assert 0 <= offsets[i] <= ends[i] <= totals[row.pool]
    for piece in orders.pieces:
        assert rows[piece[0]].at is not None or offsets[piece[0]] % orders.alignment == 0
    for pool, total in enumerate(totals):  # no byte of the total is above all rows
        assert total == max(
            (e for e, row in zip(ends, rows, strict=True) if row.pool == pool), default=0
        )
    return list(zip(offsets, ends, strict=True))


def overlaps(problem: Problem, sizes: list[int]) -> set[tuple[int, int]]:
    """Return the pairs that need one byte together, pair by pair."""
    orders, lives = problem
    places = bounds(orders, sizes)
    return {
        (i, j)
        for j, (low, high) in enumerate(places)
        for i, (start, stop) in enumerate(places[:j])
        if max(low, start) < min(high, stop)
        and lives[i].meets(lives[j])
        and (not orders.rows or orders.rows[i].pool == orders.rows[j].pool)
        and not may_share(orders, i, j)
    }


@pytest.mark.parametrize("chunk", [2, 4096])
def test_accepted_orders_never_overlap(chunk: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "CHUNK", chunk)
    count = Counter[str]()
    for seed in range(rounds(500)):
        rng = Random(seed)
        problem = random_problem(rng)
        orders, lives = problem
        try:
            orders.check()
        except OrderError:
            count["interlocked"] += 1
            continue
        refused = set(faults(orders, lives))
        seen = set[tuple[int, int]]()
        for _ in range(40 if refused else 8):
            seen |= overlaps(problem, random_sizes(rng, orders))
        assert seen <= refused
        count["accepted"] += not refused
        count["refused"] += len(refused)
        count["overlap"] += len(seen)
    assert count["accepted"] > rounds(150)
    assert count["overlap"] > 0.8 * count["refused"] > 0, "few are refused that never overlap"


def test_changed_orders_are_refused_or_never_overlap():
    count = Counter[str]()
    for seed in range(rounds(400, 4)):
        rng = Random(seed)
        orders, lives = random_problem(rng)
        edges = [(i, j) for i, under in enumerate(orders.on[0]) for j in under]
        if not edges:
            continue
        i, j = rng.choice(edges)
        on = [list(under) for under in orders.on[0]]
        on[i].remove(j)
        kind = rng.choice(("dropped", "turned", "moved"))
        if kind == "turned":
            on[j].append(i)
        if kind == "moved":
            on[i].append(rng.randrange(len(on)))
        mutant = Orders(orders.alignment, (tuple(map(tuple, on)),), orders.rows)
        try:
            mutant.check()
        except OrderError:
            count["no order"] += 1
            continue
        refused = set(faults(mutant, lives))
        count["refused" if refused else "accepted"] += 1
        for _ in range(10):
            assert overlaps((mutant, lives), random_sizes(rng, mutant)) <= refused
    assert min(count["no order"], count["refused"], count["accepted"]) > rounds(10, 4)


ONE = Life(((0, 1),))


@pytest.mark.parametrize(
    ("rows", "on", "error"),
    [
        ((Row(), Row()), ((1,), (0,)), "slice 0 lies on itself, through others"),
        ((Row(), Row()), ((), (2,)), "slice 1 lies on slice 2, but there are 2"),
        ((Row(), Row(beside=0)), ((), (0,)), "slice 1 lies on slice 0 of its own piece"),
        ((Row(), Row(pool=1)), ((), (0,)), "slice 1 lies on slice 0 of another pool"),
        (
            (Row(), Row(beside=0, pool=1)),
            ((), ()),
            "slices 0 and 1 are of one piece, but two pools",
        ),
        ((Row(beside=0), Row()), ((), ()), "the place of slice 0 depends on slice 0, which is not"),
        ((Row(at=0),), ((),), "slice 0 is at a fixed offset, so its size must be static"),
        ((Row(), Row(at=0, size=4)), ((), (0,)), "slice 1 is at a fixed offset, so it lies on"),
        ((Row(), Row(at=0, size=4), Row(beside=1)), ((), (), (0,)), "slice 2 is at a fixed offset"),
        (
            (Row(), Row(), Row(over=(0, 1))),
            ((), (), ()),
            "slice 2 lies over slices that are not si",
        ),
        ((Row(), Row(beside=0, tied=0)), ((), ()), "slice 1 has two places"),
        ((Row(),), ((), ()), "an order of 1 slices, but 2 lists"),
    ],
)
def test_what_has_no_meaning_is_refused(rows: tuple[Row, ...], on: On, error: str):
    with pytest.raises(OrderError, match=error):
        Orders(1, (on,), rows).check()


def test_interlocked_pieces_are_refused():
    """b1 on a1 and a2 on b2: no order of two pieces, though it has offsets at some sizes."""
    rows = (Row(), Row(beside=0), Row(), Row(beside=2))
    with pytest.raises(OrderError, match="slice 0 lies on itself"):
        Orders(1, (((), (3,), (0,), ()),), rows).check()


def test_a_row_on_a_part_is_not_above_the_next_part():
    """Parts of a concatenation die each at its own time."""
    rows = (Row(), Row(beside=0), Row(over=(0, 1)), Row())
    orders = Orders(1, (((), (), (), (0,)),), rows)
    orders.check()
    together = [ONE] * 4
    assert sorted(faults(orders, together)) == [(1, 3), (2, 3)]
    assert orders.laid_out([8, 16, 0, 4]) == ([24], [0, 8, 0, 8])


def test_offsets_that_are_multiples_are_not_rounded():
    """Only sizes that the alignment does not divide cost a rounding."""
    ops: list[str] = []

    def apply(op: str, *operands: int) -> int:
        ops.append(op)
        return compute(op, *operands)

    orders = Orders(64, (((), (0,), (1,)),))
    layout: Layout[int] = orders.layout([64, 128, 4], apply, [64, 64, 4])
    assert layout.offsets == (0, 64, 192)
    assert "align" not in ops
    layout = orders.layout([64, 100, 4], apply, [64, 4, 4])
    assert layout.offsets == (0, 64, 192)
    assert ops.count("align") == 1
