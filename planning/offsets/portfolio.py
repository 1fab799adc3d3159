"""
Try cheap strategies in turn until one reaches the lower bound.

No greedy order is best everywhere; together they reach the bound on nearly every real
network. The most promising strategy comes first. If so many buffers are alive together
that visiting every pair costs too much (`PAIRS_PER_BODY`), only the sweeps from the peak
and `coalesce` run.
"""

from collections.abc import Callable, Iterator
from math import lcm

import numpy as np

from ..buffers import Ints, as_list
from ..meter import NEVER, OutOfNodes, is_over
from . import sort_keys
from .core import Core
from .greedy import Placement, place_in_order
from .sweep import sweep_from_peak

PAIRS_PER_BODY = 100
"""Overlapping pairs per body up to which the pairwise greedy strategies run."""

_FEW = 2000
"""Number of bodies up to which every order is tried."""

Strategy = Callable[[Core, float], Placement | None]
"""Plans a core, or returns None if its pools do not hold it; raises OutOfNodes at a deadline."""


def coalesce(core: Core, deadline: float = NEVER) -> Placement | None:
    """
    Lay the bodies end to end, so that no byte is used twice.

    What TVM's StorageCoalesce did. In order of birth, each body is placed above all
    others in the most preferred pool with room; fixed bodies keep their offsets.
    """
    order = sort_keys.by_birth(core)
    everywhere = tuple(range(len(core.capacities)))
    size, fixed = as_list(core.body_size), as_list(core.fixed)
    alignment = as_list(core.alignment)
    heights = [0] * len(everywhere)
    offsets, pools = [0] * core.n_bodies, [0] * core.n_bodies
    if not core.is_simple and (core.fixed >= 0).any():
        start = place_in_order(core, order, deadline=deadline)
        if start is None:
            return None
        for k in as_list(np.flatnonzero(core.fixed >= 0)):
            offsets[k] = fixed[k]
            pools[k] = start.pools[k] if start.pools else 0
            heights[pools[k]] = max(heights[pools[k]], fixed[k] + size[k])
    for k in as_list(order):
        if fixed[k] >= 0:
            continue
        for pool in core.pools[k] if core.pools else everywhere:
            step = lcm(alignment[k], core.pool_alignments[pool])
            at = -(-heights[pool] // step) * step
            capacity = core.capacities[pool]
            if len(everywhere) == 1 or capacity is None or at + size[k] <= capacity:
                offsets[k], pools[k], heights[pool] = at, pool, at + size[k]
                break
        else:
            return None
    return Placement(offsets, pools if len(everywhere) > 1 else None, heights)


def greedy(order: sort_keys.Order, best_fit: bool = False) -> Strategy:
    """Return the strategy that places bodies in `order`; see `greedy.place_in_order`."""
    return lambda core, deadline: place_in_order(core, order(core), best_fit, deadline)


def sweep(stack: str, ends: bool) -> Strategy:
    """Return the strategy that plans from the peak; see `sweep.sweep_from_peak`."""

    def run(core: Core, deadline: float) -> Placement:
        offsets = sweep_from_peak(core, stack, ends, deadline)
        return Placement(as_list(offsets), None, [int((offsets + core.size).max(initial=0))])

    return run


NAMED: dict[str, Strategy] = {
    "coalesce": coalesce,
    "first-fit": greedy(sort_keys.by_birth),
    "best-fit": greedy(sort_keys.by_birth, best_fit=True),
    "greedy-by-size": greedy(sort_keys.by_size),
    "greedy-by-breadth": greedy(sort_keys.by_breadth),
}
"""The strategies that a user can choose by name."""

_MORE: dict[str, Strategy] = {
    "size, longest life": greedy(sort_keys.by_size_and_life),
    "load": greedy(sort_keys.by_load),
    "area": greedy(sort_keys.by_area),
    "life": greedy(sort_keys.by_life),
    "size, best fit": greedy(sort_keys.by_size, best_fit=True),
    "area, best fit": greedy(sort_keys.by_area, best_fit=True),
}


def is_dense(core: Core) -> bool:
    """Test whether so many bodies are alive together that visiting each pair costs too much."""
    return core.n_overlaps > PAIRS_PER_BODY * core.n_bodies + 50_000


def plans(core: Core, deadline: float = NEVER) -> Iterator[tuple[str, Placement]]:
    """
    Yield plans of `core` with the names of their strategies, the most promising first.

    Ends at `deadline`, but not before the first plan.
    """
    few = core.n_bodies <= _FEW
    sparse = not (core.is_simple and is_dense(core))
    tried: list[tuple[str, Strategy]] = []
    if sparse:
        tried.append(("greedy-by-size", NAMED["greedy-by-size"]))
    if core.is_simple:
        tried.append(("sweep", sweep("death", False)))
        if few or not sparse:
            for stack in ("death", "birth", "life"):
                tried.append((f"sweep, {stack}", sweep(stack, True)))
    if sparse:
        # First fit in the same order is never worse than coalesce, so skip coalesce.
        done = ("greedy-by-size", "coalesce") if core.is_simple else ("greedy-by-size",)
        tried += [(name, strategy) for name, strategy in NAMED.items() if name not in done]
        tried += _MORE.items() if few else ()
    else:
        tried.append(("coalesce", coalesce))
    until = NEVER
    for name, strategy in tried:
        try:
            plan = strategy(core, until)
        except OutOfNodes:
            return
        if plan is not None:
            yield name, plan
            until = deadline


def best_plan(
    core: Core,
    bound: int,
    found: Iterator[tuple[str, Placement]] | None = None,
    deadline: float = NEVER,
) -> tuple[str, Placement] | None:
    """
    Return the best of `found` (default: `plans`), or None if there is none.

    Stops at `bound`, and with what there is at `deadline`.
    """
    best: tuple[str, Placement] | None = None
    for name, plan in plans(core, deadline) if found is None else found:
        if best is None or sum(plan.heights) < sum(best[1].heights):
            best = (name, plan)
            if sum(plan.heights) <= bound:
                break
        if is_over(deadline):
            break
    return best


def as_array(placement: Placement) -> Ints:
    """Return the offsets of a placement as int64."""
    return np.array(placement.offsets, dtype=np.int64)
