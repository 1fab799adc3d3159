"""
Place bodies one by one, each in a gap between those already placed.

Given an order (see `sort_keys`), a body is placed in the lowest gap that holds it ("first
fit") or in the smallest ("best fit"). Gaps are searched among the placed bodies that are
alive with it, so bodies placed late fill what remains. Largest first into the lowest gap
is what TensorFlow Lite Micro ships, and what reaches the lower bound on most real
networks.

Bodies alive with a given one are found by time, without scanning all n: boxes are in
order of birth, so those born during a box's life are a slice of that order, and those
born earlier and still alive have added themselves to its list. Time and memory are
linear in the number of pairs that are alive together (`Core.n_overlaps`).

Weakness: no look-ahead. A body placed early may split a gap that a later one needed; on
instances whose load is near the limit most of the time this costs a third and more.
Sources: the gap search of TFLM's GreedyMemoryPlanner; Pisarchyk and Lee, "Efficient
Memory Management for Deep Neural Net Inference" (2020).
"""

from collections.abc import Callable
from functools import partial
from math import lcm
from typing import NamedTuple

import numpy as np

from ..buffers import Ints, as_list
from ..meter import NEVER, hold
from .core import Core

_NOWHERE = 2**63


class Placement(NamedTuple):
    """An offset and a pool for each body, and the height of each pool."""

    offsets: list[int]
    pools: list[int] | None
    heights: list[int]


def place_in_order(
    core: Core,
    order: Ints,
    best_fit: bool = False,
    deadline: float = NEVER,
) -> Placement | None:
    """
    Place the bodies of `core` in `order`.

    With several pools, a body is placed where the sum of heights grows least, then where
    it prefers to be. Returns None if a body fits in no pool's capacity (with one pool
    the capacity is ignored: the caller compares the height). Raises OutOfNodes at `deadline`.
    """
    if core.is_simple:
        offsets = _place_simple(core, order, best_fit, deadline)
        ends = np.array(offsets, dtype=np.int64) + core.size
        return Placement(offsets, None, [int(ends.max(initial=0))])
    return _place_general(core, order, best_fit, deadline)


def _place_simple(core: Core, order: Ints, best_fit: bool, deadline: float) -> list[int]:
    """Place bodies of one box each, in one pool, none fixed."""
    gap: Callable[[list[tuple[int, int]], int, int], int] = _lowest_gap
    if best_fit or (core.alignment > 1).any():
        gap = partial(find_gap, best_fit=best_fit)
    n = core.n_bodies
    size, reach = as_list(core.size), as_list(core.reach)
    alignment = as_list(core.alignment)
    before: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    placed: list[tuple[int, int] | None] = [None] * n
    offsets = [0] * n
    for turn, k in enumerate(as_list(order)):
        hold(deadline, turn)
        stop = reach[k]
        near = before[k]
        if stop > k + 1:
            near += filter(None, placed[k + 1 : stop])
        near.sort()
        at = offsets[k] = gap(near, size[k], alignment[k])
        placed[k] = here = (at, at + size[k])
        if stop > k + 1:
            for later in before[k + 1 : stop]:
                later.append(here)
    return offsets


def _lowest_gap(near: list[tuple[int, int]], need: int, alignment: int) -> int:
    """Do what `find_gap` does for first fit without alignments, in less time."""
    at = 0
    for low, high in near:
        if low - at >= need:
            break
        if high > at:
            at = high
    return at


def find_gap(near: list[tuple[int, int]], need: int, alignment: int, best_fit: bool) -> int:
    """
    Return an offset for `need` bytes between the sorted intervals `near`.

    Returns the lowest; with `best_fit` the lowest in the smallest gap. If no gap holds
    the bytes, returns the end of the highest interval, rounded up.
    """
    top = 0  # the end of the highest interval so far
    best, room = -1, _NOWHERE
    for low, high in near:
        at = -(-top // alignment) * alignment
        if low - at >= need:
            if not best_fit:
                return at
            if low - top < room:
                best, room = at, low - top
        if high > top:
            top = high
    return best if best >= 0 else -(-top // alignment) * alignment


def _place_general(core: Core, order: Ints, best_fit: bool, deadline: float) -> Placement | None:
    """
    Place bodies with several boxes, branches, fixed offsets or pools.

    An obstacle at `at` excludes offsets in `(at - mine, at + its)`, where `mine` and
    `its` are the most bytes that each needs while they conflict; the gap search works on
    those intervals. Fixed bodies are placed first.
    """
    n_pools = len(core.capacities)
    sizes, alignment, fixed = (as_list(c) for c in (core.body_size, core.alignment, core.fixed))
    everywhere = tuple(range(n_pools))
    offsets, pools = [-1] * core.n_bodies, [-1] * core.n_bodies
    heights = [0] * n_pools
    sequence = as_list(order)
    sequence.sort(key=lambda k: fixed[k] < 0)
    for turn, k in enumerate(sequence):
        hold(deadline, turn)
        near: list[list[tuple[int, int]]] = [[] for _ in everywhere]
        for other, mine, its in core.conflicts[k]:
            if offsets[other] >= 0:
                at = offsets[other]
                near[pools[other]].append((at - mine, at + its))
        best: tuple[int, int, int, int] | None = None
        for preference, pool in enumerate(core.pools[k] if core.pools else everywhere):
            at = fixed[k]
            if at < 0:
                near[pool].sort()
                step = lcm(alignment[k], core.pool_alignments[pool])
                at = find_gap(near[pool], 0, step, best_fit)
            elif any(low < at < high for low, high in near[pool]):
                continue
            growth = max(0, at + sizes[k] - heights[pool])
            capacity = core.capacities[pool]
            if n_pools > 1 and capacity is not None and at + sizes[k] > capacity:
                continue
            if best is None or (growth, preference) < best[:2]:
                best = (growth, preference, pool, at)
        if best is None:
            return None
        _, _, pools[k], offsets[k] = best
        heights[pools[k]] = max(heights[pools[k]], offsets[k] + sizes[k])
    return Placement(offsets, pools if n_pools > 1 else None, heights)
