"""Rows of orders that would overlap, said by pairs."""

from collections.abc import Iterator, Sequence

from xrelay.operators.orders import Life, Orders, events


def may_share(orders: Orders, i: int, j: int) -> bool:
    """Test whether rows share bytes on purpose: tied ones, and a row and those it is over."""
    rows = orders.rows
    return bool(rows) and not set(_parts(orders, i)).isdisjoint(_parts(orders, j))


def _parts(orders: Orders, row: int) -> Iterator[int]:
    """Yield the rows whose bytes a row has: of tied ones the first."""
    of = orders.rows[row]
    if of.tied is not None:
        yield from _parts(orders, of.tied)
    elif of.over is None:
        yield row
    else:
        first, at = of.over
        while True:
            yield from _parts(orders, at)
            before = orders.rows[at].beside
            if at == first or before is None:
                return
            at = before


def faults(orders: Orders, lives: Sequence[Life]) -> list[tuple[int, int]]:
    """Return the rows that are needed together, of which neither is above the other."""
    return [
        (i, j)
        for i, j in orders.unordered(events(lives))
        if lives[i].meets(lives[j]) and not may_share(orders, i, j)
    ]
