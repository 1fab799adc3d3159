"""
Solve the busiest times exactly, then fill in everything else.

In a large problem the height is decided where the load is near its maximum. The bodies
alive there are few: they are planned on their own, with the exact search if cheap plans do
not reach the lower bound, and keep their offsets. All others are then placed one by one,
each in the lowest gap left, large ones first.

Where few pairs are alive together, gaps are found through the pairs (`greedy`). Otherwise
the placed bodies are kept as arrays sorted by offset, and one pass of array operations
finds a gap: O(n * placed) elements, but a fraction of a nanosecond each; `MAX_BODIES`
bounds that. Weakness: nothing is reconsidered when a gap is missing away from the peak.
"""

from collections.abc import Iterator

import numpy as np

from .bounds import lower_bound
from .buffers import Ints, as_list
from .core import Core
from .exact import shrink
from .greedy import Placement, place_in_order
from .meter import NEVER
from .portfolio import PAIRS_PER_BODY, as_array, best_plan
from .sort_keys import Order, busiest, by_area, by_size_and_life

MAX_BODIES = 30_000
"""Number of bodies up to which gaps are searched without pairs."""

_MAX_PEAK = 1500
"""Number of bodies alive near the peak up to which they are searched exactly."""

_FRACTIONS = (0.97, 0.9, 0.99)
"""Shares of the largest load above which a time is busy."""

_ORDERS: tuple[Order, ...] = (by_size_and_life, by_area)
"""Orders in which the other bodies are placed."""


def plans_from_peak(
    core: Core, budget: int, deadline: float = NEVER
) -> Iterator[tuple[str, Placement, int]]:
    """
    Yield plans of a simple core: a name, the placement, and the search nodes spent on it.

    Each peak gets an equal share of `budget`. Yields nothing if the problem is too large,
    or its peaks are.
    """
    dense = core.n_overlaps > PAIRS_PER_BODY * core.n_bodies + 50_000
    if not core.n_bodies or (dense and core.n_bodies > MAX_BODIES):
        return
    load = busiest(core)[0]
    tried: set[int] = set()
    for fraction in _FRACTIONS:
        peak = np.flatnonzero(load >= fraction * int(load.max()))
        # Peaks of different fractions contain each other: equal numbers are equal peaks.
        if len(peak) > _MAX_PEAK or len(peak) in tried:
            continue
        tried.add(len(peak))
        offsets, nodes = _solve_peak(core, peak, budget // len(_FRACTIONS), deadline)
        for order in _ORDERS:
            rest = order(core)
            rest = rest[offsets[rest] < 0]
            if dense:
                found = _fill(core, offsets, rest)
            else:
                found = place_in_order(core, np.concatenate([peak, rest]), start=offsets)
                assert found is not None, "one pool holds everything"
            yield f"peak first {fraction}", found, nodes
            nodes = 0


def _solve_peak(core: Core, peak: Ints, budget: int, deadline: float) -> tuple[Ints, int]:
    """Return the offsets of the bodies in `peak` (-1 for others), and the nodes spent."""
    part = core.restrict(peak)
    bound = lower_bound(part)
    found = best_plan(part, bound, deadline=deadline)
    assert found is not None, "one pool holds everything"
    placed, nodes = as_array(found[1]), 0
    if sum(found[1].heights) > bound:
        outcome = shrink(part, placed, bound, budget, deadline=deadline)
        placed, nodes = outcome.offsets, outcome.nodes
    offsets = np.full(core.n_bodies, -1)
    offsets[peak] = placed
    return offsets, nodes


def _fill(core: Core, start: Ints, rest: Ints) -> Placement:
    """Place the bodies of `rest` in order, each in the lowest gap, around those in `start`."""
    offsets = start.copy()
    # Times as ranks in 32 bits: half the memory to compare.
    times = np.array(sorted({*as_list(core.lower), *as_list(core.upper)}), dtype=np.int64)
    births = np.searchsorted(times, core.lower).astype(np.int32)
    deaths = np.searchsorted(times, core.upper).astype(np.int32)
    n, placed = core.n_bodies, np.flatnonzero(start >= 0)
    placed = placed[np.argsort(start[placed], kind="stable")]
    count = len(placed)
    low, high = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    born, dead = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    low[:count] = start[placed]
    high[:count] = start[placed] + core.size[placed]
    born[:count], dead[:count] = births[placed], deaths[placed]
    columns = low, high, born, dead
    size, alignment = as_list(core.size), as_list(core.alignment)
    births_of, deaths_of = births.tolist(), deaths.tolist()
    for k in as_list(rest):
        birth, death, need, a = births_of[k], deaths_of[k], size[k], alignment[k]
        near = np.flatnonzero((born[:count] < death) & (dead[:count] > birth))
        at = 0
        if len(near):
            tops = np.maximum.accumulate(high[near])
            if a > 1:
                tops = -(-tops // a) * a
            bottoms = low[near]
            if bottoms[0] < need:
                fits = bottoms[1:] - tops[:-1] >= need
                first = int(fits.argmax()) if len(fits) else 0
                at = int(tops[first]) if len(fits) and fits[first] else int(tops[-1])
        place = int(np.searchsorted(low[:count], at, side="right"))
        for column, value in zip(columns, (at, at + need, birth, death), strict=True):
            column[place + 1 : count + 1] = column[place:count]
            column[place] = value
        count += 1
        offsets[k] = at
    return Placement(as_list(offsets), None, [int((offsets + core.size).max(initial=0))])
