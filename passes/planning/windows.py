"""
Repair a plan where it stands out, a stretch of time at a time.

In a long problem a greedy plan is above the lower bound only at a few times. For each
body that ends too high the bodies born around it are taken out, everything else alive
with them is kept as an obstacle, and the exact search puts them back below the target;
when it cannot, more bodies around are taken. If some stretch stays too high the target
is raised for it. Work grows with the number of bodies that stand out, not with n.

A large neighbourhood search (Shaw, 1998). Weakness: a body that lives long is alive with
more than a window holds; such bodies are left where they are.
"""

import numpy as np

from .core import Core
from .exact import Outcome, decide
from .problem import Ints, as_list
from .search import Meter, Tables

_REACHES = (10, 30, 90)
"""Bodies taken out on either side of one that stands out, in order of birth."""

_MOST_AROUND = 600
"""A window with more obstacles than this is not looked at."""

_STEPS = (0.0, 0.1, 0.25, 0.5, 0.75)
"""How far up from bound to height the targets are that are tried in turn."""


def repair(
    core: Core, offsets: Ints, bound: int, budget: int, capacity: int | None = None
) -> Outcome:
    """Lower a plan of a simple core towards `bound` with at most `budget` nodes."""
    offsets, meter = offsets.copy(), Meter(budget)
    lives = _Lives(core)
    for step in _STEPS:
        height = int((offsets + core.size).max(initial=0))
        target = max(bound + int(step * (height - bound)), capacity or 0)
        if height <= target or meter.nodes >= budget:
            break
        high = np.flatnonzero(offsets + core.size > target)
        if all([_lower(lives, offsets, k, target, meter) for k in as_list(high)]):
            break
    height = int((offsets + core.size).max(initial=0))
    return Outcome(offsets, height, bound, meter.nodes)


class _Lives:
    """Finds what is alive in a stretch of time without looking at all bodies."""

    def __init__(self, core: Core):
        self.core = core
        life = core.upper - core.lower
        self.usual = int(np.partition(life, -(1 + len(life) // 200))[-(1 + len(life) // 200)])
        self.long = np.flatnonzero(life > self.usual)

    def between(self, start: int, stop: int) -> Ints:
        """The bodies alive at some time in `[start, stop)`, in order of birth."""
        core = self.core
        first, last = np.searchsorted(core.lower, [start - self.usual, stop], side="left")
        near = np.arange(int(first), int(last))
        old = self.long[: np.searchsorted(self.long, first, side="left")]
        return np.concatenate([old[core.upper[old] > start], near[core.upper[near] > start]])


def _lower(lives: _Lives, offsets: Ints, k: int, target: int, meter: Meter) -> bool:
    """Bring body `k` below `target`, with its neighbourhood if need be."""
    core = lives.core
    if offsets[k] + core.size[k] <= target:
        return True
    for reach in _REACHES:
        if meter.nodes >= meter.limit:
            return False
        found = _window(lives, offsets, k, target, reach)
        if found is None:
            return False
        window, free = found
        own = Meter(min(30 * len(free) + 200, meter.limit - meter.nodes))
        answer, new = decide(Tables(window), target, own)
        meter.nodes += min(own.nodes, own.limit)
        if answer and new is not None:
            offsets[free] = new[window.row_body[: len(free)]]
            return True
    return False


def _window(
    lives: _Lives, offsets: Ints, k: int, target: int, reach: int
) -> tuple[Core, Ints] | None:
    """
    The bodies around `k` as a problem of their own; None when too much is in the way.

    The first rows of its core are the bodies taken out, which are given too; the rest
    are obstacles, cut to the times and bytes that matter.
    """
    core = lives.core
    around = np.arange(max(0, k - reach), min(core.n_bodies, k + reach + 1))
    start, stop = int(core.lower[around[0]]), int(core.lower[around[-1]]) + 1
    stop = max(stop, int(core.upper[k]))
    free = around[(core.upper[around] <= stop) | (around == k)]
    near = lives.between(start, stop)
    at = np.minimum(np.searchsorted(free, near), len(free) - 1)
    near = near[(free[at] != near) & (offsets[near] < target)]
    lower, upper = np.maximum(core.lower[near], start), np.minimum(core.upper[near], stop)
    low, high = offsets[near], np.minimum(offsets[near] + core.size[near], target)
    lower, upper, low, high = _merged(lower, upper, low, high, start, stop)
    if len(lower) > _MOST_AROUND:
        return None
    lower = np.concatenate([core.lower[free], lower])
    upper = np.concatenate([core.upper[free], upper])
    size = np.concatenate([core.size[free], high - low])
    fixed = np.concatenate([np.full(len(free), -1), low])
    alignment = np.concatenate([core.alignment[free], np.ones(len(low), dtype=np.int64)])
    order = np.lexsort((size, upper, lower))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    window = Core(
        lower[order],
        upper[order],
        size[order],
        np.arange(len(order)),
        alignment[order],
        fixed[order],
        place,
        is_simple=False,
    )
    return window, free


def _merged(
    lower: Ints, upper: Ints, low: Ints, high: Ints, start: int, stop: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Join obstacles that fill the whole time and touch, so that few are left."""
    whole = (lower == start) & (upper == stop)
    order = np.argsort(low[whole], kind="stable")
    lows, highs = low[whole][order], high[whole][order]
    if not len(lows):
        return lower, upper, low, high
    new = np.concatenate([[True], lows[1:] > highs[:-1]])
    first = np.flatnonzero(new)
    n = len(first)
    part = ~whole
    return (
        np.concatenate([lower[part], np.full(n, start)]),
        np.concatenate([upper[part], np.full(n, stop)]),
        np.concatenate([low[part], lows[first]]),
        np.concatenate([high[part], np.maximum.reduceat(highs, first)]),
    )
