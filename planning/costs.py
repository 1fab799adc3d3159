"""
Minimize what moving bytes costs, over several pools with capacities.

    cost = sum over bodies of (bytes read and written) * (cost of a byte in its pool)

A local search. Bodies are placed one by one, those with the most traffic for their bytes and
lifetime first, each in the cheapest pool with a gap for it. A *move* then puts a body into a
cheaper pool at a chosen offset; the bodies that are in its way move to the cheapest gaps that are
left. Moves that lower the cost are made until there is none. From there on, a random move is made
whatever it costs and followed by moves that lower the cost; all are undone if the cost is higher
than before. A body that fits in no pool is *nowhere*, at a cost above all others: so the search
for a plan within the capacities is the same.

Weakness: no proof, but `cost_bound`: of the bodies that are alive at one time, each byte has the
cheapest pool that is left. Source: iterated local search, with the ejections of packing heuristics
such as the telamalloc solver's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from math import lcm
from random import Random
from typing import NamedTuple

from .buffers import as_list
from .meter import Meter, OutOfNodes
from .offsets.core import Core
from .offsets.greedy import Placement, find_gap

MAX_WIDTH = 256
"""The states that a sweep keeps."""
EXPANSIONS = 120_000
"""The states to make for a problem, about: fewer are kept at a time if there are more bodies."""

Alive = tuple[int, int, int, int]
"""A pool, the bytes from a first to a last, and the time at which they are free."""


class _State(NamedTuple):
    cost: int
    alive: tuple[Alive, ...]
    choices: _Choices | None


class _Choices(NamedTuple):
    """The pool and the offset of the last body, and the choices before."""

    before: _Choices | None
    pool: int
    at: int


def sweep(
    core: Core, choices: Sequence[Sequence[int]], prices: Sequence[Sequence[int]], steps: Steps
) -> list[tuple[int, int]] | None:
    """
    Choose pools in order of birth, by a beam search; return a pool and an offset for each body.

    A state is where the bodies are that are alive now, in pools with a capacity. The next body goes
    to either end of each gap that holds it, in each of its pools. States with the same bytes in use
    are one, the cheapest; of all others, the cheapest are kept. Where few bodies are alive at once,
    as in a chain of layers, that is a dynamic program over all placements. The offset is -1 in
    pools without a capacity. None if a body does not fit. `choices` are the pools of each body,
    `prices` what each costs, `steps` what its offsets are multiples of.
    """
    lower, upper, sizes = as_list(core.body_lower), as_list(core.body_upper), as_list(core.size)
    order = sorted(range(core.n_bodies), key=lower.__getitem__)
    width = max(1, min(MAX_WIDTH, EXPANSIONS // (4 * max(1, len(order)))))
    states = [_State(0, (), None)]
    for k in order:
        reached: dict[tuple[Alive, ...], _State] = {}
        for cost, before, link in states:
            alive = tuple(part for part in before if part[3] > lower[k])
            for pool in choices[k]:
                price, capacity = cost + prices[k][pool], core.capacities[pool]
                if capacity is None:
                    offsets = {-1}
                else:
                    offsets = _offsets(alive, pool, sizes[k], capacity, steps[k][pool])
                for at in offsets:
                    after = alive
                    if at >= 0:
                        after = tuple(sorted((*alive, (pool, at, at + sizes[k], upper[k]))))
                    other = reached.get(after)
                    if other is None or price < other.cost:
                        reached[after] = _State(price, after, _Choices(link, pool, at))
        states = list(reached.values())
        if len(states) > width:
            states = nsmallest(width, states, key=lambda state: state.cost)
    return _places(order, min(states, key=lambda state: state.cost)) if states else None


Steps = Sequence[Sequence[int]]


def _offsets(alive: Sequence[Alive], pool: int, size: int, capacity: int, step: int) -> set[int]:
    """Return both ends of each gap of `pool` that holds `size` bytes."""
    offsets: set[int] = set()
    top = 0
    for low, high in (*((low, high) for p, low, high, _ in alive if p == pool), (capacity, 0)):
        at = -(-top // step) * step
        if low - at >= size:
            offsets |= {at, (low - size) // step * step}
        top = max(top, high)
    return offsets


def _places(order: Sequence[int], state: _State) -> list[tuple[int, int]]:
    places = [(0, 0)] * len(order)
    link = state.choices
    for k in reversed(order):
        assert link is not None, "a choice for each body"
        places[k] = link.pool, link.at
        link = link.before
    return places


_NOWHERE = -1

_TRIED = 4
"""The offsets that are tried for one body in one pool, those with the least traffic in the way."""


_WORK = 64
"""Pairs of bodies that are compared in the time of one node."""

_ALIVE = 32
"""The average number of live bodies above which the search does not start from a sweep."""


class Place(NamedTuple):
    """A pool, or `_NOWHERE`, and an offset."""

    pool: int
    offset: int


class CostSearch:
    """A placement of the bodies of `core`, which moves improve."""

    def __init__(self, core: Core, costs: Sequence[int], meter: Meter):
        assert core.pools is not None, "only bodies with several pools have a choice"
        self.core, self.meter = core, meter
        self.sizes, self.fixed = as_list(core.body_size), as_list(core.fixed)
        self.steps = [
            [lcm(own, coarse) for coarse in core.pool_alignments] for own in as_list(core.alignment)
        ]
        self.prices = [[traffic * cost for cost in costs] for traffic in core.traffic]
        self.nowhere = 1 + sum(max(prices) for prices in self.prices)
        """A cost that is above that of each placement within the capacities."""
        for prices, size in zip(self.prices, self.sizes, strict=True):
            prices.append(self.nowhere * size)  # the last: that of `_NOWHERE`
        self.choices = [
            sorted((p for p in allowed if self.room(k, p) >= 0), key=self.prices[k].__getitem__)
            or [_NOWHERE]
            for k, allowed in enumerate(core.pools)
        ]
        self.places = [Place(_NOWHERE, 0)] * core.n_bodies
        lives = as_list(core.body_upper - core.body_lower)
        self.weights = [
            (prices[self.choices[k][-1]] - prices[self.choices[k][0]]) / (self.sizes[k] * lives[k])
            for k, prices in enumerate(self.prices)
        ]
        self.cost = sum(prices[_NOWHERE] for prices in self.prices)

    def run(self, goal: int) -> None:
        """Improve the placement until its cost is `goal`, or the meter is spent."""
        half = self.meter.part((self.meter.limit - self.meter.nodes) // 2)
        meter, self.meter = self.meter, half
        self._start_by_weight()
        self._improve_all(goal)
        meter.nodes += half.nodes
        self.meter = meter
        core = self.core
        few = core.n_overlaps <= _ALIVE * core.n_bodies
        if self.cost > goal and few and core.has_spans and not (core.fixed >= 0).any():
            cost, places = self.cost, self.places.copy()
            if self._start_by_sweep():
                self._improve_all(goal)
            if self.cost > cost:
                self.cost, self.places = cost, places

    def _start_by_weight(self) -> None:
        everything = range(self.core.n_bodies)
        for k in sorted(everything, key=lambda k: (self.fixed[k] < 0, -self.weights[k])):
            self.put(k, self.cheapest(k))

    def _start_by_sweep(self) -> bool:
        """Start with the pools and offsets that a sweep over time chooses, if it finds any."""
        places = sweep(self.core, self.choices, self.prices, self.steps)
        if places is None:
            return False
        for k in range(self.core.n_bodies):
            self.put(k, Place(_NOWHERE, 0))
        for k, place in enumerate(places):
            if place[1] >= 0:
                self.put(k, Place(*place))
        for k, (_, at) in enumerate(places):
            if at < 0:
                self.put(k, self.cheapest(k))
        return True

    def _improve_all(self, goal: int) -> None:
        """Make moves that lower the cost, then random ones, until the meter is spent."""
        random = Random(0)
        try:
            self.descend(range(self.core.n_bodies), {})
            while self.cost > goal and self.kick(random):
                pass
        except OutOfNodes:
            pass

    def put(self, k: int, place: Place) -> None:
        prices = self.prices[k]
        self.cost += prices[place.pool] - prices[self.places[k].pool]
        self.places[k] = place

    def cheapest(self, k: int) -> Place:
        """Return the place of `k` in the cheapest pool with a gap for it."""
        for pool in self.choices[k]:
            if pool == _NOWHERE:
                break
            obstacles = self.obstacles(k, pool)
            at = self.fixed[k]
            if at < 0:
                at = find_gap(obstacles, 0, self.steps[k][pool], True)
            elif any(low < at < high for low, high in obstacles):
                continue
            if at <= self.room(k, pool):
                return Place(pool, at)
        return Place(_NOWHERE, 0)

    def obstacles(self, k: int, pool: int) -> list[tuple[int, int]]:
        """Return the open intervals in which `k` cannot be in `pool`, in ascending order."""
        places = self.places
        return sorted(
            (places[other].offset - mine, places[other].offset + its)
            for other, mine, its in self.core.conflicts[k]
            if places[other].pool == pool
        )

    def room(self, k: int, pool: int) -> int:
        """Return the largest offset at which `k` ends within the capacity of `pool`."""
        capacity = self.core.capacities[pool]
        return 2**62 if capacity is None else capacity - self.sizes[k]

    def regret(self, k: int) -> int:
        prices = self.prices[k]
        return prices[self.places[k].pool] - prices[self.choices[k][0]]

    def offsets(self, k: int, pool: int) -> list[int]:
        """Return the offsets to try for `k`, those with the least traffic in the way first."""
        room, step = self.room(k, pool), self.steps[k][pool]
        if self.fixed[k] >= 0:
            return [self.fixed[k]] if self.fixed[k] <= room else []
        near = [
            (self.places[other].offset - mine, self.places[other].offset + its, other)
            for other, mine, its in self.core.conflicts[k]
            if self.places[other].pool == pool
        ]
        edges = {0, room // step * step}
        for low, high, _ in near:
            edges |= {low // step * step, -(-high // step) * step}
        self.meter.tick(len(edges) * len(near) // _WORK)
        scored: list[tuple[int, int]] = []
        for at in edges:
            if 0 <= at <= room:
                in_the_way = (o for low, high, o in near if low < at < high)
                scored.append((sum(self.core.traffic[o] for o in in_the_way), at))
        return [at for _, at in sorted(scored)[:_TRIED]]

    def move(self, k: int, place: Place) -> dict[int, Place]:
        """Put `k` at `place`; return where it, and those that had to go, were before."""
        self.meter.tick(1 + len(self.core.conflicts[k]) // _WORK)
        pool, at = place
        before = {k: self.places[k]}
        evicted: list[int] = []
        for other, mine, its in self.core.conflicts[k]:
            there = self.places[other]
            if there.pool == pool and there.offset - mine < at < there.offset + its:
                before[other] = there
                evicted.append(other)
        for other in evicted:
            self.meter.nodes += len(self.core.conflicts[other]) // _WORK
            self.put(other, Place(_NOWHERE, 0))
        self.put(k, place)
        for other in sorted(evicted, key=lambda o: -self.weights[o]):
            self.put(other, self.cheapest(other))
        return before

    def descend(self, bodies: Iterable[int], before: dict[int, Place]) -> None:
        """
        Make moves of `bodies`, and of those that they affect, as long as the cost sinks.

        Adds the places of those that moved to `before`, unless it has them.
        """
        pending = self._unhappy(bodies)
        while pending:
            k = pending.pop()
            moved = self._improve(k)
            for other, place in moved.items():
                before.setdefault(other, place)
            if moved:
                pending += self._unhappy(self._affected(moved))

    def _unhappy(self, bodies: Iterable[int]) -> list[int]:
        """Return those of `bodies` that a cheaper pool may hold, in order of what it saves."""
        return sorted((k for k in bodies if self.regret(k)), key=lambda k: (self.regret(k), k))

    def _affected(self, moved: Iterable[int]) -> set[int]:
        return {*moved, *(other for k in moved for other, _, _ in self.core.conflicts[k])}

    def _improve(self, k: int) -> dict[int, Place]:
        """Move `k` to a cheaper pool, if a move there lowers the cost; return what it changed."""
        cost, prices = self.cost, self.prices[k]
        for pool in self.choices[k]:
            if prices[pool] >= prices[self.places[k].pool]:
                break
            for at in self.offsets(k, pool):
                before = self.move(k, Place(pool, at))
                if self.cost < cost:
                    return before
                for other, place in before.items():
                    self.put(other, place)
        return {}

    def kick(self, random: Random) -> bool:
        """Make a random move and improve what follows; False if no body can be better placed."""
        unhappy = [k for k in range(self.core.n_bodies) if self.regret(k)]
        if not unhappy:
            return False
        k = random.choice(unhappy)
        prices = self.prices[k]
        pools = [p for p in self.choices[k] if prices[p] < prices[self.places[k].pool]]
        pool = random.choice(pools)
        offsets = self.offsets(k, pool)
        if not offsets:
            self.meter.tick()
            return True
        cost = self.cost
        before = self.move(k, Place(pool, random.choice(offsets)))
        try:
            self.descend(self._affected(before) - {k}, before)
        finally:
            if self.cost > cost:
                for other, place in before.items():
                    self.put(other, place)
        return True

    def placement(self) -> Placement | None:
        """Return the placement; None if a body is nowhere."""
        if any(place.pool == _NOWHERE for place in self.places):
            return None
        heights = [0] * len(self.core.capacities)
        for (pool, at), size in zip(self.places, self.sizes, strict=True):
            heights[pool] = max(heights[pool], at + size)
        return Placement(
            [place.offset for place in self.places], [place.pool for place in self.places], heights
        )


def cost_bound(core: Core, costs: Sequence[int]) -> int:
    """
    Return a lower bound on the cost of every plan.

    Each body is in the cheapest pool that can hold it. Of those alive at one time, bytes with the
    most reads and writes have the cheapest pools, up to their capacities; what that adds is summed
    over times that no body is alive at twice.
    """
    assert core.pools is not None
    sizes = as_list(core.body_size)
    lower, upper = as_list(core.body_lower), as_list(core.body_upper)
    least: list[int] = []
    for k, allowed in enumerate(core.pools):
        held = [costs[p] for p in allowed if (c := core.capacities[p]) is None or c >= sizes[k]]
        least.append(min(held, default=max(costs)))
    total = sum(traffic * cost for traffic, cost in zip(core.traffic, least, strict=True))
    if not core.has_spans:
        return total
    pools = sorted(range(len(costs)), key=costs.__getitem__)
    best, times = [0], sorted(set(lower))
    alive: list[int] = []
    order, following = sorted(range(core.n_bodies), key=lower.__getitem__), 0
    for time in times:
        alive = [k for k in alive if upper[k] > time]
        while following < len(order) and lower[order[following]] <= time:
            alive.append(order[following])
            following += 1
        extra = _extra(core, costs, pools, least, sizes, alive)
        before = bisect_left(times, min((lower[k] for k in alive), default=time))
        best.append(max(best[-1], best[before] + extra))
    return total + best[-1]


def _extra(
    core: Core,
    costs: Sequence[int],
    pools: Sequence[int],
    least: Sequence[int],
    sizes: Sequence[int],
    alive: Sequence[int],
) -> int:
    """Return what bodies that are alive together cost more than each in its cheapest pool."""
    others = [(pool, core.capacities[pool]) for pool in pools]
    cost, cheap = 0, 0
    for k in sorted(alive, key=lambda k: -core.traffic[k] / sizes[k]):
        left = sizes[k]
        cheap += least[k] * core.traffic[k]
        while left and others:
            pool, free = others[0]
            taken = left if free is None else min(left, free)
            cost += taken * core.traffic[k] * costs[pool] // sizes[k]
            left -= taken
            if free is not None:
                others[0] = pool, free - taken
            if left:
                others.pop(0)
    return max(0, cost - cheap)
