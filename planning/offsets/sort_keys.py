"""
The orders in which greedy strategies place bodies.

Each function returns all bodies of a core in the order of placement. Ties are broken by
the core's canonical order, so results do not depend on how the rows were shuffled.
"""

from collections.abc import Callable

import numpy as np

from ..buffers import Ints
from .bounds import loads
from .core import Core

Order = Callable[[Core], Ints]


def by_birth(core: Core) -> Ints:
    """Sort by birth, then length of life and size descending: the order an allocator sees."""
    return np.lexsort((-core.body_size, -core.body_upper, core.body_lower))


def by_size(core: Core) -> Ints:
    """Sort by size descending, then birth."""
    return np.lexsort((core.body_lower, -core.body_size))


def by_size_and_life(core: Core) -> Ints:
    """Sort by size descending, then length of life descending."""
    return np.lexsort((core.body_lower, core.body_lower - core.body_upper, -core.body_size))


def by_area(core: Core) -> Ints:
    """Sort by size times length of life, descending."""
    life = (core.body_upper - core.body_lower).astype(np.float64)
    return np.lexsort((core.body_lower, -life * core.body_size))


def by_life(core: Core) -> Ints:
    """Sort by length of life descending, then size descending."""
    return np.lexsort((core.body_lower, -core.body_size, core.body_lower - core.body_upper))


def by_breadth(core: Core) -> Ints:
    """
    Sort by the load at the busiest time of a body's life, descending; then that time; then size.

    The order of "Greedy by Breadth" (Pisarchyk and Lee, 2020): the busiest time is placed
    first, starting with its largest buffer.
    """
    load, when = busiest(core)
    return np.lexsort((core.body_lower, -core.body_size, when, -load))


def by_load(core: Core) -> Ints:
    """Sort by the load at the busiest time of a body's life, then size times life; descending."""
    load, _ = busiest(core)
    life = (core.body_upper - core.body_lower).astype(np.float64)
    return np.lexsort((core.body_lower, -life * core.body_size, -load))


def busiest(core: Core) -> tuple[Ints, Ints]:
    """
    Return the largest load during each body's life, and the index of the first birth with it.

    Uses a sparse table over births, built and consumed level by level so that memory is
    linear; O(n log n).
    """
    load = loads(core.lower, core.upper, core.size)
    n = len(load)
    # One number encodes load and birth: a larger load wins, then an earlier birth.
    rank = np.empty(n, dtype=np.int64)
    rank[np.lexsort((-np.arange(n), load))] = np.arange(n)
    place = np.empty(n, dtype=np.int64)
    place[rank] = np.arange(n)
    start = np.searchsorted(core.lower, core.lower, side="left")
    length = core.reach - start
    best = np.zeros(n, dtype=np.int64)
    table, width = rank, 1
    while True:
        now = np.flatnonzero((length >= width) & (length < 2 * width))
        best[now] = np.maximum(table[start[now]], table[core.reach[now] - width])
        if 2 * width > n:
            break
        table = np.maximum(table[:-width], table[width:])
        width *= 2
    if not core.is_simple:
        of_body = np.full(core.n_bodies, -1)
        np.maximum.at(of_body, core.body, best)
        best = of_body
    return load[place[best]], place[best]
