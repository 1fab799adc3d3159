"""
In which order a greedy strategy places bodies.

Each function gives all bodies of a core, the first to be placed first. Ties fall to the
canonical order of the core, so nothing depends on how the rows were shuffled.
"""

from collections.abc import Callable

import numpy as np

from .bounds import loads
from .core import Core
from .problem import Ints

Order = Callable[[Core], Ints]


def by_birth(core: Core) -> Ints:
    """Birth, then the longest life, then size descending: the order an allocator sees."""
    return np.lexsort((-core.body_size, -core.body_upper, core.body_lower))


def by_size(core: Core) -> Ints:
    """Size descending, then birth."""
    return np.lexsort((core.body_lower, -core.body_size))


def by_size_and_life(core: Core) -> Ints:
    """Size descending, then the longest life."""
    return np.lexsort((core.body_lower, core.body_lower - core.body_upper, -core.body_size))


def by_area(core: Core) -> Ints:
    """Size times length of life, descending."""
    life = (core.body_upper - core.body_lower).astype(np.float64)
    return np.lexsort((core.body_lower, -life * core.body_size))


def by_life(core: Core) -> Ints:
    """Length of life descending, then size descending."""
    return np.lexsort((core.body_lower, -core.body_size, core.body_lower - core.body_upper))


def by_breadth(core: Core) -> Ints:
    """
    The load at the busiest time of a body's life, descending; then that time; then size.

    This is the order of "Greedy by Breadth" (Pisarchyk and Lee, 2020): the time that
    needs most bytes is settled first, its largest buffer first.
    """
    load, when = busiest(core)
    return np.lexsort((core.body_lower, -core.body_size, when, -load))


def by_load(core: Core) -> Ints:
    """The load at the busiest time of a body's life, descending; then size times life."""
    load, _ = busiest(core)
    life = (core.body_upper - core.body_lower).astype(np.float64)
    return np.lexsort((core.body_lower, -life * core.body_size, -load))


def busiest(core: Core) -> tuple[Ints, Ints]:
    """
    The largest load in each body's life, and the first birth (an index) that has it.

    A sparse table over births, made level by level and used as it is made, so memory
    stays linear; O(n log n).
    """
    load = loads(core.lower, core.upper, core.size)
    n = len(load)
    # One number says load and place: a larger load wins, then an earlier birth.
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
