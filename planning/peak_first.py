"""
Solve the busiest times exactly, then fill in everything else.

In a large problem the height is decided where the load is near its maximum. The bodies
alive there are few: they are planned on their own, by sweeps and by the exact search, and
keep their offsets. All others are then placed one by one,
each in the lowest gap left, large ones first.

Where few pairs are alive together, gaps are found through the pairs (`greedy`). Otherwise
the placed bodies are kept as arrays sorted by offset, and one pass of array operations
finds a gap: O(n * placed) elements, but a nanosecond or two each; `MAX_BODIES` bounds
that. Weakness: nothing is reconsidered when a gap is missing away from the peak.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .bounds import lower_bound
from .buffers import Ints, as_list
from .core import Core
from .exact import shrink
from .greedy import Placement, place_in_order
from .meter import NEVER, is_over
from .portfolio import as_array, best_plan, is_dense
from .sort_keys import busiest, by_size_and_life
from .sweep import sweep_from_peak

MAX_BODIES = 30_000
"""Number of bodies up to which this is tried."""

_MAX_PEAK = 1500
"""Number of bodies alive near the peak up to which they are searched exactly."""

_FRACTIONS = (0.97, 0.9, 0.99)
"""Shares of the largest load above which a time is busy."""


class PeakPlan(NamedTuple):
    """The best plan found, or None if none is lower than the known height, and nodes spent."""

    name: str
    placement: Placement | None
    nodes: int


def plan_from_peak(
    core: Core, bound: int, height: int, budget: int, deadline: float = NEVER
) -> PeakPlan:
    """
    Search for a plan of a simple core that is lower than `height`, until one is at `bound`.

    Each set of busy times gets an equal share of `budget`. A plan of the peak that is too
    high on its own is not filled in. Does nothing if there are too many bodies.
    """
    best = PeakPlan("", None, 0)
    if not 0 < core.n_bodies <= MAX_BODIES:
        return best
    dense = is_dense(core)
    load = busiest(core)[0]
    tried: set[int] = set()
    filled: set[bytes] = set()
    for fraction in _FRACTIONS:
        peak = np.flatnonzero(load >= fraction * int(load.max()))
        # Peaks of different fractions contain each other: equal numbers are equal peaks.
        if len(peak) > _MAX_PEAK or len(peak) in tried:
            continue
        tried.add(len(peak))
        part = core.restrict(peak)
        for offsets, nodes in _plans_of_peak(part, budget // len(_FRACTIONS), deadline):
            best = best._replace(nodes=best.nodes + nodes)
            if is_over(deadline):
                return best
            key = offsets.tobytes()
            if key in filled or int((offsets + part.size).max()) >= height:
                continue
            filled.add(key)
            start = np.full(core.n_bodies, -1)
            start[peak] = offsets
            rest = by_size_and_life(core)
            rest = rest[start[rest] < 0]
            if dense:
                found = fill(core, start, rest)
            else:
                found = place_in_order(core, np.concatenate([peak, rest]), start=start)
                assert found is not None, "one pool holds everything"
            if found.heights[0] < height:
                height = found.heights[0]
                best = PeakPlan(f"peak first, {fraction}", found, best.nodes)
            if height <= bound:
                return best
    return best


def _plans_of_peak(part: Core, budget: int, deadline: float) -> Iterator[tuple[Ints, int]]:
    """
    Yield plans of the peak's bodies, with the nodes spent on each.

    The exact search finds the lowest plan; sweeps with the longest-lived bodies lowest leave
    the most regular gaps.
    """
    bound = lower_bound(part)
    found = best_plan(part, bound, deadline=deadline)
    assert found is not None, "one pool holds everything"
    outcome = shrink(part, as_array(found[1]), bound, budget, deadline=deadline)
    yield outcome.offsets, outcome.nodes
    for ends in (False, True):
        yield sweep_from_peak(part, "death", ends), 0


def fill(core: Core, start: Ints, rest: Ints) -> Placement:
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
