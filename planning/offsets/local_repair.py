"""
Lower a plan locally, one window of time at a time.

In a long problem a greedy plan exceeds the lower bound only at a few times. For each
body that ends above the target, remove the bodies born shortly before and after it, keep
everything else alive with them as obstacles, and let the exact search place them again
below the target; if it cannot, widen the window. If no window succeeds, raise the
target. Work grows with the number of bodies above the target, not with n.

A large neighbourhood search (Shaw, 1998). Weakness: a long-lived body is alive with more
bodies than a window holds, and stays where it is.
"""

import numpy as np

from ..buffers import Ints, as_list
from ..meter import NEVER, Meter
from .core import Core
from .exact import Outcome, decide
from .search import Tables

_REACHES = (10, 30, 90)
"""Bodies removed on either side of one that is too high, in order of birth."""

_MAX_OBSTACLES = 600
"""Windows with more obstacles than this are skipped."""

_STEPS = (0.0, 0.1, 0.25, 0.5, 0.75)
"""Targets to try in turn, as fractions of the way from the bound up to the height."""


def repair(
    core: Core,
    offsets: Ints,
    bound: int,
    budget: int,
    capacity: int | None = None,
    deadline: float = NEVER,
) -> Outcome:
    """Lower a simple core's plan towards `bound` with at most `budget` nodes, until `deadline`."""
    offsets, meter = offsets.copy(), Meter(budget, deadline=deadline)
    lives = _Lives(core)
    for step in _STEPS:
        height = int((offsets + core.size).max(initial=0))
        target = max(bound + int(step * (height - bound)), capacity or 0)
        if height <= target or meter.is_spent:
            break
        high = np.flatnonzero(offsets + core.size > target)
        if all([_lower(lives, offsets, k, target, meter) for k in as_list(high)]):
            break
    height = int((offsets + core.size).max(initial=0))
    return Outcome(offsets, height, bound, meter.nodes)


class _Lives:
    """An index of the bodies alive during an interval, for queries that do not scan all bodies."""

    def __init__(self, core: Core):
        self.core = core
        life = core.upper - core.lower
        self.usual = int(np.partition(life, -(1 + len(life) // 200))[-(1 + len(life) // 200)])
        self.long = np.flatnonzero(life > self.usual)

    def between(self, start: int, stop: int) -> Ints:
        """Return the bodies alive at some time in `[start, stop)`, in order of birth."""
        core = self.core
        first, last = np.searchsorted(core.lower, [start - self.usual, stop], side="left")
        near = np.arange(int(first), int(last))
        old = self.long[: np.searchsorted(self.long, first, side="left")]
        return np.concatenate([old[core.upper[old] > start], near[core.upper[near] > start]])


def _lower(lives: _Lives, offsets: Ints, k: int, target: int, meter: Meter) -> bool:
    """Bring body `k` below `target`, widening its window as needed; return whether it worked."""
    core = lives.core
    if offsets[k] + core.size[k] <= target:
        return True
    for reach in _REACHES:
        if meter.is_spent:
            return False
        removed = _window(lives, offsets, k, target, reach)
        if removed is None:
            return False
        window, free = removed
        own = meter.part(30 * len(free) + 200)
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
    Return the window around `k` as a core of its own; None if it has too many obstacles.

    The first rows of the core are the removed bodies, which are also returned; the
    remaining rows are obstacles, clipped to the window and to the target.
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
    if len(lower) > _MAX_OBSTACLES:
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
    """Merge adjacent obstacles that last for the whole window, to reduce their number."""
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
