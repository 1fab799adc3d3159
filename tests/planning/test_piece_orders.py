"""Orders of parts, ties, gaps, fixed offsets and pools, judged by code of their own."""

from itertools import combinations
from random import Random

from helpers.memory.order_faults import faults
from helpers.programs.random_settings import rounds

from xrelay.operators.orders import Life, Orders, Row
from xrelay.planning.unknown_sizes.piece_orders import choose_rows, order_rows


def overlapping(
    rows: list[Row], lives: list[Life], spans: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the rows that need a byte of one pool at one time, tied ones and wholes aside."""
    found: list[tuple[int, int]] = []
    for (i, one), (j, other) in combinations(enumerate(lives), 2):
        times = [{t for a, b in life.times for t in range(a, b)} for life in (one, other)]
        branches = {b: arm for b, arm in one.arms}
        apart = any(branches.get(b, arm) != arm for b, arm in other.arms)
        tied = rows[j].tied == i or (rows[i].tied is not None and rows[i].tied == rows[j].tied)
        over = any(row.over is not None for row in (rows[i], rows[j]))
        low, high = max(spans[i][0], spans[j][0]), min(spans[i][1], spans[j][1])
        if times[0] & times[1] and not (apart or tied or over) and low < high:
            if rows[i].pool == rows[j].pool:
                found.append((i, j))
    return found


def spans_of(orders: Orders, sizes: list[int]) -> list[tuple[int, int]]:
    _, offsets = orders.laid_out(sizes)
    return [(at, at + size) for at, size in zip(offsets, sizes, strict=True)]


def random_pieces(rng: Random) -> tuple[list[Row], list[Life]]:
    """Draw slices, some with parts that live each their own time and are read as a whole."""
    rows: list[Row] = []
    lives: list[Life] = []

    def life(low: int, high: int) -> Life:
        start = rng.randrange(low, high)
        return Life(((start, rng.randint(start + 1, high)),))

    for _ in range(rng.randint(1, 5)):
        pool = rng.randrange(2)
        if rng.random() < 0.5:
            rows.append(Row(pool=pool))
            lives.append(life(0, 12))
            continue
        head, end = len(rows), rng.randrange(4, 9)
        for k in range(rng.randint(2, 4)):
            rows.append(Row(beside=len(rows) - 1 if k else None, pool=pool))
            lives.append(Life(()) if rng.random() < 0.2 else life(0, end))
        if rng.random() < 0.5:
            rows.append(Row(over=(head, len(rows) - 1), pool=pool))
            lives.append(Life(((end, end + rng.randint(1, 4)),)))
    return rows, lives


def test_parts_are_ordered_for_all_sizes():
    interlocked = 0
    for seed in range(rounds(400)):
        rng = Random(seed)
        rows, lives = random_pieces(rng)
        samples = [[rng.choice((1, 4, 64, 1000)) for _ in rows] for _ in range(3)]
        alignment = rng.choice((1, 4, 64))
        orders = Orders(alignment, tuple(choose_rows(rows, lives, samples, alignment)), tuple(rows))
        orders.check()
        assert faults(orders, lives) == []
        for _ in range(5):
            sizes = [rng.choice((0, 1, 7, 64, 1000)) for _ in rows]
            assert overlapping(rows, lives, spans_of(orders, sizes)) == []
        interlocked += len(orders.on) > 1
    assert interlocked, "several orders are kept where one is not best everywhere"


def test_interlocked_pieces_are_put_on_each_other():
    """b1 under a1 and a2 under b2, as a placement may have it: one of the pieces comes first."""
    rows = [Row(), Row(beside=0), Row(), Row(beside=2)]
    lives = [Life(((0, 1),)), Life(((1, 2),)), Life(((0, 1),)), Life(((1, 2),))]
    on = order_rows(rows, lives, [4, 8, 0, 12])
    assert on == ((2,), (3,), (), ())
    Orders(1, (on,), tuple(rows)).check()


def test_a_part_whose_time_is_over_is_no_obstacle():
    """What comes later lies in the bytes of a part that is dead, beside one that is read."""
    rows = [Row(), Row(beside=0), Row(over=(0, 1)), Row()]
    lives = [Life(((0, 2),)), Life(((0, 6),)), Life(()), Life(((3, 5),))]
    on = order_rows(rows, lives, [0, 8, 0, 24])
    assert on[3] == (1,)
    on = order_rows(rows, lives, [8, 16, 8, 0])
    assert on == ((), (3,), (), ())
    orders = Orders(1, (on,), tuple(rows))
    assert orders.laid_out([8, 16, 0, 8]) == ([24], [0, 8, 0, 0]), "it lies in the dead part"
