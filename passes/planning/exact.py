"""
The smallest height, searched for and, when the budget of nodes is enough, proved.

Two searches answer "is there a plan of height C?" (`canonical`, `valley`). Neither is
best everywhere and both are heavy-tailed: an order that fits finds a plan with almost
no backtracking, another one takes for ever. So they take turns, each with several
orders, in rounds that allow more nodes each time; whichever decides ends it. The height
asked for is the lower bound first, then halfway between what is excluded and what is
known. All choices are made by counting nodes and with fixed seeds, so equal problems
give equal plans on every machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .canonical import CanonicalSearch
from .core import Core, components, oriented
from .orders import busiest
from .problem import Ints
from .search import Meter, Tables
from .valley import ValleySearch

_LONG = 12
"""Nodes of a long attempt in the first round, for each body (and 1000 at least)."""

_SHORT = 3
"""Nodes of a short attempt, for each body (and 1000 at least)."""

_GROWTH = 6
"""By how much the nodes of long attempts grow from round to round."""


@dataclass
class Outcome:
    """Offsets (bytes) of each body, their height, what is proved, and nodes spent."""

    offsets: Ints
    height: int
    bound: int
    nodes: int


def shrink(
    core: Core, offsets: Ints, bound: int, budget: int, capacity: int | None = None
) -> Outcome:
    """
    Improve a plan of one pool, with at most `budget` nodes.

    Starts from known `offsets` and a proved lower `bound`, and ends at a height that is
    proved, or without nodes. With a `capacity` above the bound it only looks for a plan
    that fits it. The plan is optimal when height and bound are equal.
    """
    parts = [_Component(core, group, offsets) for group in components(core)]
    nodes = 0
    proved, open_from = bound, bound
    height = max((part.height for part in parts), default=0)
    target = max(capacity, bound) if capacity is not None else bound
    enough = bound if capacity is None else target
    while height > enough and open_from <= target < height and nodes < budget:
        is_last = capacity is not None or open_from >= height - 1
        allowance = budget - nodes if is_last else max((budget - nodes) // 2, 1)
        answer: bool | None = True
        for part in parts:
            if answer and part.height > target:
                meter = Meter(allowance)
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
    """Bodies that share no time with others, and the best plan known for them."""

    def __init__(self, core: Core, bodies: Ints, offsets: Ints):
        self.bodies = bodies
        self.core = core.restrict(bodies)
        self.offsets = offsets[bodies]
        self.height = int((self.offsets + self.core.body_size).max(initial=0))
        self.tables: Tables | None = None
        self.place = np.arange(len(bodies))

    def fit(self, capacity: int, meter: Meter) -> bool | None:
        """Look for a plan of at most this height: found, impossible, or out of nodes."""
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
    Is there a plan of at most this height? Takes turns until one search knows.

    True with offsets in bytes, False, or None when `meter` is used up.
    """
    long, short, round_ = max(1000, _LONG * tables.n), max(1000, _SHORT * tables.n), 0
    while meter.nodes < meter.limit:
        for search, is_long in _attempts(tables, round_):
            own = Meter(min(long if is_long else short, meter.limit - meter.nodes))
            answer = search.run(capacity, own)
            meter.nodes += min(own.nodes, own.limit)
            if answer is not None:
                return answer, search.offsets if answer else None
            if meter.nodes >= meter.limit:
                break
        long *= _GROWTH
        round_ += 1
    return None, None


def _attempts(tables: Tables, round_: int) -> Iterator[tuple[CanonicalSearch | ValleySearch, bool]]:
    """
    The searches of a round, in turn, and whether each may take long.

    Long ones grow until one decides; short ones are many, each with another order.
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
            yield ValleySearch(tables, order, lowest_first), turn == batch
