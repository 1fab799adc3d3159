"""
Search for the smallest height and, if the node budget suffices, prove it.

Two searches decide whether a plan of height C exists (`canonical_search`,
`lowest_floor_search`). Neither is best everywhere and both are heavy-tailed: with a good
order a search finds a plan almost without backtracking, with another it does not finish.
So they take turns, each with several orders, in rounds with growing node limits.

Heights are visited in rounds too: the proved lower bound first, then a bisection up to the
best known height, each with the next few attempts that it has not seen. All limits depend on
the problem alone, and a budget only cuts the sequence off: a larger one never gives a
higher plan. Nodes are counted and seeds are fixed, so equal problems give equal plans on
every machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from .buffers import Ints
from .canonical_search import CanonicalSearch
from .core import Core, components, oriented
from .lowest_floor_search import LowestFloorSearch
from .meter import NEVER, Meter
from .search import Tables, unit_of

_LONG = 8
"""Nodes per body of the first long attempts (at least 1000 in all)."""

_SHORT = 3
"""Nodes per body of every short attempt (at least 600 in all)."""

_SHARE = 4
"""Nodes of short attempts for one of a long attempt."""

_RESOLUTION = 8
"""The first bisection ends at a difference of one part in two to the power of this."""


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
    meter = Meter(budget, deadline=deadline)
    proved, height = bound, max((part.height for part in parts), default=0)
    enough = bound if capacity is None else max(capacity, bound)
    least = target = enough
    step, fine = unit_of(core, core.size), 0
    while height > enough and not meter.is_spent:
        answer: bool | None = True
        for part in parts:
            if answer and part.height > target:
                answer = part.fit(target, meter)
        height = max(part.height for part in parts)
        if answer is False:
            proved = (target // step + 1) * step
            if capacity is not None or proved >= height:
                break
            enough = least = proved
        elif answer is None:
            least = target + 1
        resolution = max(step, proved >> _RESOLUTION + fine)
        target = (least + height - 1) // 2 // step * step
        if answer is False:
            target = enough
        elif capacity is not None or height - least < resolution or target < least:
            least = target = enough
            fine += 1
    best = offsets.copy()
    for part in parts:
        best[part.bodies] = part.offsets
    return Outcome(best, height, min(proved, height), min(meter.nodes, budget))


class _Component:
    """Bodies that are never alive with others, and the best plan known for them."""

    def __init__(self, core: Core, bodies: Ints, offsets: Ints):
        self.bodies = bodies
        self.core = core.restrict(bodies)
        self.offsets = offsets[bodies]
        self.height = int((self.offsets + self.core.body_size).max(initial=0))
        self.place = np.arange(len(bodies))
        self.tables: Tables | None = None
        self.attempts: dict[int, Iterator[Iterator[_Attempt]]] = {}

    def fit(self, capacity: int, meter: Meter) -> bool | None:
        """Try the next attempts at a plan of at most this height: found, impossible, or None."""
        if self.tables is None:
            core = self.core
            if core.is_simple:
                core, self.place = oriented(core)
            self.tables = Tables(core)
        if capacity not in self.attempts:
            self.attempts[capacity] = _attempts(self.tables)
        answer, found = _try(next(self.attempts[capacity]), capacity, meter)
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
    for batch in _attempts(tables):
        answer, found = _try(batch, capacity, meter)
        if answer is not None or meter.is_spent:
            return answer, found
    raise AssertionError("attempts do not end")


def _try(
    batch: Iterator["_Attempt"], capacity: int, meter: Meter
) -> tuple[bool | None, Ints | None]:
    for search, limit in batch:
        own = meter.part(limit)
        answer = search.run(capacity, own)
        meter.nodes += min(own.nodes, own.limit)
        if answer is not None:
            return answer, search.offsets if answer else None
        if meter.is_spent:
            break
    return None, None


_Attempt = tuple[CanonicalSearch | LowestFloorSearch, int]
"""A search, and the limit of its nodes."""


def _attempts(tables: Tables) -> Iterator[Iterator[_Attempt]]:
    """Yield batches of attempts without end; a batch should be consumed before the next."""
    random = np.random.default_rng(3)
    for turn in count():
        yield _batch(tables, turn, random)


def _batch(tables: Tables, turn: int, random: np.random.Generator) -> Iterator[_Attempt]:
    """
    Yield short attempts, each with another order: one of four keys, with noise.

    The first batch is one of each key without noise. All others have two long attempts too,
    which will decide in the end.
    """
    core, n = tables.core, tables.n
    size = np.log(core.body_size)
    life = np.log(core.body_upper - core.body_lower)
    keys = size, life, size + life, -core.body_lower / max(int(np.ptp(core.body_lower)), 1)
    long = max(1000, _LONG * n) * 2 ** max(turn - 1, 0)
    short = max(600, _SHORT * n)
    if not turn:
        for key in keys:
            yield LowestFloorSearch(tables, np.argsort(-key, kind="stable")), short
    yield CanonicalSearch(tables, ("TWA", "TAW", "WAT")[turn % 3]), long
    for k in range(_SHARE * (long if turn else short) // short):
        noise = random.normal(0.0, float(random.choice([0.1, 0.2, 0.4, 0.7])), n)
        order = np.argsort(-(keys[k % len(keys)] + noise), kind="stable")
        yield LowestFloorSearch(tables, order, bool((turn + k // len(keys)) % 2)), short
    if turn:
        yield LowestFloorSearch(tables, np.argsort(-keys[turn % 3], kind="stable")), long
