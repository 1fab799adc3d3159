"""
Search for the smallest height and, if the node budget suffices, prove it.

Two searches decide whether a plan of height C exists (`canonical_search`,
`lowest_floor_search`). Neither is best everywhere and both are heavy-tailed: with a good
order a search finds a plan almost without backtracking, with another it does not finish.
So they take turns, each with several orders, in rounds with growing node limits, until
one decides. The first height tried is the lower bound, then a bisection between the
heights excluded and the best known. Nodes are counted and seeds are fixed, so equal
problems give equal plans on every machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .buffers import Ints
from .canonical_search import CanonicalSearch
from .core import Core, components, oriented
from .lowest_floor_search import LowestFloorSearch
from .meter import NEVER, Meter, is_over
from .search import Tables
from .sort_keys import busiest

_LONG = 12
"""Nodes per body of a long attempt in the first round (at least 1000 in all)."""

_SHORT = 3
"""Nodes per body of a short attempt (at least 1000 in all)."""

_GROWTH = 6
"""Factor by which the nodes of long attempts grow from round to round."""


@dataclass
class Outcome:
    """The offset in bytes of each body, their height, a proved lower bound, and nodes spent."""

    offsets: Ints
    height: int
    bound: int
    nodes: int


def shrink(
    core: Core,
    offsets: Ints,
    bound: int,
    budget: int,
    capacity: int | None = None,
    deadline: float = NEVER,
) -> Outcome:
    """
    Improve a plan of one pool with at most `budget` nodes, until `deadline`.

    Starts from known `offsets` and a proved lower `bound`; stops when the height is
    proved or the nodes are spent. With a `capacity` above the bound it only searches for
    a plan that fits it. The plan is optimal if height and bound are equal.
    """
    parts = [_Component(core, group, offsets) for group in components(core)]
    nodes = 0
    proved, open_from = bound, bound
    height = max((part.height for part in parts), default=0)
    target = max(capacity, bound) if capacity is not None else bound
    enough = bound if capacity is None else target
    while (
        height > enough
        and open_from <= target < height
        and nodes < budget
        and not is_over(deadline)
    ):
        is_last = capacity is not None or open_from >= height - 1
        allowance = budget - nodes if is_last else max((budget - nodes) // 2, 1)
        answer: bool | None = True
        for part in parts:
            if answer and part.height > target:
                meter = Meter(allowance, deadline=deadline)
                answer = part.fit(target, meter)
                nodes += meter.nodes
                allowance = max(allowance - meter.nodes, 0)
        height = max((part.height for part in parts), default=0)
        if not answer:
            open_from = target + 1
            if answer is False:
                proved = max(proved, target + 1)
            if capacity is not None:
                break
        target = (open_from + height - 1) // 2
    best = offsets.copy()
    for part in parts:
        best[part.bodies] = part.offsets
    return Outcome(best, height, min(proved, height), nodes)


class _Component:
    """Bodies that are never alive with others, and the best plan known for them."""

    def __init__(self, core: Core, bodies: Ints, offsets: Ints):
        self.bodies = bodies
        self.core = core.restrict(bodies)
        self.offsets = offsets[bodies]
        self.height = int((self.offsets + self.core.body_size).max(initial=0))
        self.tables: Tables | None = None
        self.place = np.arange(len(bodies))

    def fit(self, capacity: int, meter: Meter) -> bool | None:
        """Search for a plan of at most this height: found, impossible, or None if out of nodes."""
        if self.tables is None:
            core = self.core
            if core.is_simple:
                core, self.place = oriented(core)
            self.tables = Tables(core)
        answer, found = decide(self.tables, capacity, meter)
        if answer and found is not None:
            self.offsets = np.empty_like(self.offsets)
            self.offsets[self.place] = found
            self.height = int((self.offsets + self.core.body_size).max())
        return answer


def decide(tables: Tables, capacity: int, meter: Meter) -> tuple[bool | None, Ints | None]:
    """
    Decide whether a plan of at most this height exists: take turns until a search knows.

    Returns True and offsets in bytes, or False, or None if `meter` ran out.
    """
    long, short, round_ = max(1000, _LONG * tables.n), max(1000, _SHORT * tables.n), 0
    while not meter.is_spent:
        for search, is_long in _attempts(tables, round_):
            own = meter.part(long if is_long else short)
            answer = search.run(capacity, own)
            meter.nodes += min(own.nodes, own.limit)
            if answer is not None:
                return answer, search.offsets if answer else None
            if meter.is_spent:
                break
        long *= _GROWTH
        round_ += 1
    return None, None


def _attempts(
    tables: Tables, round_: int
) -> Iterator[tuple[CanonicalSearch | LowestFloorSearch, bool]]:
    """
    Yield the searches of a round in turn, and whether each is a long attempt.

    Long attempts grow until one decides; short ones are many, each with another order.
    """
    core = tables.core
    size = np.log(core.body_size)
    life = np.log(core.body_upper - core.body_lower)
    load = 10 * np.log(busiest(core)[0])
    random = np.random.default_rng(round_)
    for batch, keys in enumerate(("TWA", "TAW", "WAT")):
        yield CanonicalSearch(tables, keys), True
        spread = 0.15 * batch + 0.3 * round_
        for turn, key in enumerate((size, life, load + life, size + life)):
            order = np.argsort(-(key + random.normal(0.0, spread, tables.n)), kind="stable")
            lowest_first = bool((batch + turn + round_) % 2)
            yield LowestFloorSearch(tables, order, lowest_first), turn == batch
