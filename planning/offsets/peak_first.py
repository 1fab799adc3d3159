"""
Solve the busiest times exactly, then fill in everything else.

    byte  |      ________________
          |     |  searched      |       the bodies alive at a busy time, in part
          |   __|________________|__
          |  |   alive throughout   |    stacked, the last to die lowest
          +--+--|----busy times--|--+--> time

In a large problem the height is decided where the load is near its maximum. The bodies
alive there get their offsets first. Those alive throughout the busy times conflict with
each other and with all the rest, so stacking them at the bottom loses nothing there; in
the order in which they die, they leave one growing gap at the top of the stack. The others
are few, and the exact search places them on top. Everything else is then placed around
them, largest first, each in the lowest gap (`gap_index`), and what still ends too high is
lowered in windows (`local_repair`).

Several sets of busy times are tried. Weakness: bodies away from the peak are placed one by
one, and windows help only where few are too high.
"""

from math import lcm
from typing import NamedTuple

import numpy as np

from ..buffers import Ints, as_list
from ..meter import NEVER, Meter
from .bounds import loads, lower_bound
from .core import Core
from .exact import shrink
from .gap_index import fill
from .greedy import Placement
from .local_repair import repair
from .portfolio import as_array, best_plan
from .sort_keys import busiest, by_size

MAX_BODIES = 30_000
"""Number of bodies up to which this is tried."""

_MAX_SEARCHED = 600
"""Number of bodies alive during a part of the busy times up to which they are searched."""

_FRACTIONS = (0.97, 0.99, 0.995, 0.9)
"""Shares of the largest load above which a time is busy."""

_NODES = 6000
"""Search nodes for the bodies of one set of busy times; half as many repair the plan from it."""


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

    Stops when `budget` nodes are spent. Does nothing if there are too many bodies.
    """
    best = PeakPlan("", None, 0)
    if not 0 < core.n_bodies <= MAX_BODIES:
        return best
    meter = Meter(budget, deadline=deadline)
    tried: set[bytes] = set()
    for fraction in _FRACTIONS:
        start = _place_peak(core, fraction, height, meter, tried)
        if meter.is_spent:
            break
        if start is None:
            continue
        others = by_size(core)
        filled = fill(core, start, others[start[others] < 0], deadline)
        if filled is None:
            break
        outcome = repair(
            core, as_array(filled), bound, meter.part(_NODES // 2).limit, deadline=deadline
        )
        meter.nodes += outcome.nodes
        if outcome.height < height:
            height = outcome.height
            placement = Placement(as_list(outcome.offsets), None, [height])
            best = PeakPlan(f"peak first, {fraction}", placement, 0)
        if height <= bound or meter.is_spent:
            break
    return best._replace(nodes=min(meter.nodes, budget))


def _place_peak(
    core: Core, fraction: float, height: int, meter: Meter, tried: set[bytes]
) -> Ints | None:
    """
    Return offsets of the bodies alive at a busy time, and -1 for the others.

    Returns None if these bodies have been `tried`, are too many or too high, or the nodes are
    spent.
    """
    load = loads(core.lower, core.upper, core.size)
    hot = core.lower[load >= fraction * int(load.max())]
    peak = busiest(core)[0] >= fraction * int(load.max())
    throughout = peak & (core.lower <= hot[0]) & (core.upper > hot[-1])
    searched = np.flatnonzero(peak & ~throughout)
    if len(searched) > _MAX_SEARCHED or peak.tobytes() in tried:
        return None
    tried.add(peak.tobytes())
    start: Ints = np.full(core.n_bodies, -1)
    stacked = np.flatnonzero(throughout)
    top = 0
    for k in as_list(stacked[np.lexsort((stacked, -core.upper[stacked]))]):
        a = int(core.alignment[k])
        start[k] = top = -(-top // a) * a
        top += int(core.size[k])
    if len(searched):
        part = core.restrict(searched)
        a = lcm(*as_list(part.alignment))
        top = -(-top // a) * a
        bound = lower_bound(part)
        if top + bound >= height:
            return None
        best = best_plan(part, bound, deadline=meter.deadline)
        assert best is not None, "one pool holds everything"
        own = meter.part(_NODES)
        outcome = shrink(part, as_array(best[1]), bound, own.limit, deadline=meter.deadline)
        meter.nodes += outcome.nodes
        start[searched] = top + outcome.offsets
        top += outcome.height
    return start if top < height and not meter.is_spent else None
