"""
Which things are on one device: a union-find whose classes know a partial virtual device.

A *domain* is a number; what it stands for is its maker's business. Two domains are united, or a
device is demanded of one; each such constraint carries a *cause*, any object, that is only handed
back, and what it would cost to give it up (None: it cannot be). When a constraint cannot hold, the
answer is a `Conflict` with the two demands and the shortest chain of constraints between them.
Constraints are kept one edge each, and are searched only then. `cut` takes a constraint back.

Union by rank, and no path compression: a constraint can be tried and taken back (`trying`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ...dialects.device import UNCONSTRAINED, VirtualDeviceAttr

Cause = TypeVar("Cause")


@dataclass(frozen=True, eq=False)
class Demand(Generic[Cause]):
    """`domain` was demanded to be on `device`."""

    domain: int
    device: VirtualDeviceAttr
    cause: Cause
    cost: int | None = None
    order: int = 0
    """How many demands were made before."""


@dataclass(frozen=True, eq=False)
class Union(Generic[Cause]):
    """`a` and `b` were united."""

    a: int
    b: int
    cause: Cause
    cost: int | None = None

    def other(self, domain: int) -> int:
        return self.b if domain == self.a else self.a


@dataclass(frozen=True)
class Conflict(Generic[Cause]):
    """Two demands that do not go together, and the unions that lead from one to the other."""

    first: Demand[Cause]
    chain: tuple[Union[Cause], ...]
    second: Demand[Cause]
    last: Demand[Cause] | Union[Cause]
    """The constraint that could not be added; all others hold."""

    @property
    def cheapest(self) -> Demand[Cause] | Union[Cause] | None:
        """The constraint on the way that costs least to give up; the first of equals."""
        constraints = [self.first, *self.chain, self.second]
        offered = [c for c in constraints if c.cost is not None]
        return min(offered, key=lambda c: c.cost or 0, default=None)


@dataclass
class DeviceDomains(Generic[Cause]):
    """The domains, their classes and the constraints so far."""

    parent: list[int] = field(default_factory=list[int])
    rank: list[int] = field(default_factory=list[int])
    device: list[VirtualDeviceAttr] = field(default_factory=list[VirtualDeviceAttr])
    demands: list[Demand[Cause]] = field(default_factory=list[Demand[Cause]])
    unions: list[Union[Cause]] = field(default_factory=list[Union[Cause]])
    _trail: list[tuple[int, int, int, VirtualDeviceAttr]] | None = None
    """While trying: each root that changed, with its parent, rank and device before."""
    _filled: dict[tuple[VirtualDeviceAttr, VirtualDeviceAttr], VirtualDeviceAttr] = field(
        default_factory=dict[tuple[VirtualDeviceAttr, VirtualDeviceAttr], VirtualDeviceAttr]
    )
    _graph: _Graph[Cause] = field(default_factory=lambda: _Graph())

    def fresh(self) -> int:
        """A domain that nothing is known of."""
        self.parent.append(len(self.parent))
        self.rank.append(0)
        self.device.append(UNCONSTRAINED)
        return len(self.parent) - 1

    def find(self, domain: int) -> int:
        """The domain that stands for the class of `domain`."""
        parent = self.parent
        while parent[domain] != domain:
            domain = parent[domain]
        return domain

    def device_of(self, domain: int) -> VirtualDeviceAttr:
        """What is known of the domain's device so far."""
        return self.device[self.find(domain)]

    def demand(
        self, domain: int, device: VirtualDeviceAttr, cause: Cause, cost: int | None = None
    ) -> Conflict[Cause] | None:
        """Put `domain` on `device`, which may be partial."""
        demand = Demand(domain, device, cause, cost, len(self.demands))
        root = self.find(domain)
        known = self.device[root]
        if known is not device and known != device:
            joined = known.join(device)
            if joined is None:
                return self._conflict(demand)
            self._set(root, root, self.rank[root], joined)
        self.demands.append(demand)
        return None

    def unite(
        self, a: int, b: int, cause: Cause, cost: int | None = None
    ) -> Conflict[Cause] | None:
        """Put `a` and `b` on one device."""
        union = Union(a, b, cause, cost)
        if not self._join(a, b):
            return self._conflict(union)
        self.unions.append(union)
        return None

    def trying(self, a: int, b: int, cause: Cause) -> bool:
        """Unite `a` and `b` if nothing stands against it; else leave everything as it was."""
        self._trail = []
        joined = self._join(a, b)
        if joined:
            self.unions.append(Union(a, b, cause))
        else:
            for root, parent, rank, device in reversed(self._trail):
                self.parent[root], self.rank[root], self.device[root] = parent, rank, device
        self._trail = None
        return joined

    def default(self, domain: int, device: VirtualDeviceAttr) -> VirtualDeviceAttr:
        """Fill in what is still open of the domain's device, and say what it is."""
        root = self.find(domain)
        known = self.device[root]
        if known is UNCONSTRAINED:
            self.device[root] = device
            return device
        filled = self._filled.get((known, device))
        if filled is None:
            filled = self._filled[known, device] = known.or_default(device)
        self.device[root] = filled
        return filled

    def cut(self, constraint: Demand[Cause] | Union[Cause]) -> None:
        """Take a constraint back: its class falls apart, or knows less of its device."""
        graph = self._searchable()
        if isinstance(constraint, Demand):
            graph.demands[constraint.domain].remove(constraint)
            ends = (constraint.domain,)
        else:
            for end in (constraint.a, constraint.b):
                graph.unions[end].remove(constraint)
            ends = (constraint.a, constraint.b)
        seen = set[int]()
        for end in ends:
            if end not in seen:
                members = [domain for domain, _ in graph.reach(end)]
                seen.update(members)
                self._rebuild(members, graph)

    def reasons(self) -> Iterator[tuple[int, Demand[Cause], Union[Cause] | None]]:
        """
        For each domain that a demand reaches: the nearest demand, and the union it came through.

        A domain that comes from nowhere has its device by default.
        """
        graph = self._searchable()
        starts = {d.domain: d for d in reversed(self.demands) if d in graph.demands[d.domain]}
        nearest = {domain: starts[domain] for domain in reversed(starts)}
        pending = deque(nearest)
        yield from ((domain, demand, None) for domain, demand in nearest.items())
        while pending:
            domain = pending.popleft()
            for union in graph.unions.get(domain, ()):
                other = union.other(domain)
                if other not in nearest:
                    nearest[other] = nearest[domain]
                    pending.append(other)
                    yield other, nearest[domain], union

    def _join(self, a: int, b: int) -> bool:
        x, y = self.find(a), self.find(b)
        if x == y:
            return True
        mine, theirs = self.device[x], self.device[y]
        joined = mine if mine is theirs else mine.join(theirs)
        if joined is None:
            return False
        if self.rank[x] < self.rank[y]:
            x, y = y, x
        self._set(x, x, self.rank[x] + (self.rank[x] == self.rank[y]), joined)
        self._set(y, x, self.rank[y], self.device[y])
        return True

    def _set(self, root: int, parent: int, rank: int, device: VirtualDeviceAttr) -> None:
        if self._trail is not None:
            self._trail.append((root, self.parent[root], self.rank[root], self.device[root]))
        self.parent[root], self.rank[root], self.device[root] = parent, rank, device

    def _rebuild(self, members: list[int], graph: _Graph[Cause]) -> None:
        root = members[0]
        device = UNCONSTRAINED
        for domain in members:
            self.parent[domain], self.rank[domain] = root, 0
            for demand in graph.demands.get(domain, ()):
                joined = device.join(demand.device)
                assert joined is not None, "the demands of a class go together"
                device = joined
        self.rank[root] = int(len(members) > 1)
        self.device[root] = device

    def _searchable(self) -> _Graph[Cause]:
        """The constraints by domain; only those that are new are added."""
        graph = self._graph
        for union in self.unions[graph.known_unions :]:
            graph.unions.setdefault(union.a, []).append(union)
            graph.unions.setdefault(union.b, []).append(union)
        for demand in self.demands[graph.known_demands :]:
            graph.demands.setdefault(demand.domain, []).append(demand)
        graph.known_unions, graph.known_demands = len(self.unions), len(self.demands)
        return graph

    def _conflict(self, last: Demand[Cause] | Union[Cause]) -> Conflict[Cause]:
        """What `last`, which is not among the constraints, is in conflict with."""
        graph = self._searchable()
        if isinstance(last, Demand):
            there, chain = graph.nearest(last.domain, lambda d: d.device.join(last.device) is None)
            return Conflict(there, tuple(reversed(chain)), last, last)
        # Some demand of the one side does not go with some demand of the other.
        known = self.device[self.find(last.b)]
        one, one_chain = graph.nearest(last.a, lambda d: d.device.join(known) is None)
        two, two_chain = graph.nearest(last.b, lambda d: d.device.join(one.device) is None)
        chain = (*reversed(one_chain), last, *two_chain)
        if two.order < one.order:
            return Conflict(two, chain[::-1], one, last)
        return Conflict(one, chain, two, last)


@dataclass
class _Graph(Generic[Cause]):
    """The constraints that stand at each domain."""

    unions: dict[int, list[Union[Cause]]] = field(default_factory=dict[int, "list[Union[Cause]]"])
    demands: dict[int, list[Demand[Cause]]] = field(
        default_factory=dict[int, "list[Demand[Cause]]"]
    )
    known_unions: int = 0
    known_demands: int = 0

    def reach(self, start: int) -> Iterator[tuple[int, Union[Cause] | None]]:
        """The domains of `start`'s class, nearest first, and the union each came through."""
        came: dict[int, None] = {start: None}
        pending = deque([start])
        yield start, None
        while pending:
            domain = pending.popleft()
            for union in self.unions.get(domain, ()):
                other = union.other(domain)
                if other not in came:
                    came[other] = None
                    pending.append(other)
                    yield other, union

    def nearest(
        self, start: int, wanted: Callable[[Demand[Cause]], bool]
    ) -> tuple[Demand[Cause], list[Union[Cause]]]:
        """The nearest wanted demand to `start`, and the unions on the way to it."""
        came: dict[int, Union[Cause] | None] = {}
        for domain, union in self.reach(start):
            came[domain] = union
            found = next((d for d in self.demands.get(domain, ()) if wanted(d)), None)
            if found is not None:
                chain: list[Union[Cause]] = []
                while union is not None:
                    chain.append(union)
                    domain = union.other(domain)
                    union = came[domain]
                return found, chain[::-1]
        raise AssertionError("a conflict comes from a demand")
