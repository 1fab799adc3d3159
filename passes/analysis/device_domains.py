"""
Which things are on one device: a union-find whose classes know a partial virtual device.

A *domain* is a number; what it stands for is its maker's business. Two domains are united, or a
device is demanded of one; each such constraint carries a *cause*, any object, that is only handed
back. When a constraint cannot hold, the answer is a `Conflict` with the two demands and the
shortest chain of constraints between them. `cut` takes a constraint back.

Constraints are kept as columns of numbers and causes. They become objects, and edges of a graph
(`device_graph`), only when a conflict or an explanation asks for them: most programs never do.

Union by rank and no path compression: paths are short, and `find` changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ...dialects.device import VirtualDeviceAttr
from .device_graph import ConstraintGraph
from .device_numbers import NOWHERE, DeviceNumbers

Cause = TypeVar("Cause")


@dataclass(frozen=True, eq=False)
class Demand(Generic[Cause]):
    """`domain` was demanded to be on `device`."""

    domain: int
    device: VirtualDeviceAttr
    cause: Cause
    order: int
    """How many demands were made before."""


@dataclass(frozen=True, eq=False)
class Union(Generic[Cause]):
    """`a` and `b` were united."""

    a: int
    b: int
    cause: Cause
    order: int
    """How many unions were made before."""


@dataclass(frozen=True, eq=False)
class Conflict(Generic[Cause]):
    """Two demands that do not go together, and the unions that lead from one to the other."""

    first: Demand[Cause]
    chain: tuple[Union[Cause], ...]
    second: Demand[Cause]
    last: Demand[Cause] | Union[Cause]
    """The constraint that could not be added, one of the others; all but it hold."""


@dataclass
class DeviceDomains(Generic[Cause]):
    """The domains, their classes and the constraints so far."""

    numbers: DeviceNumbers = field(default_factory=DeviceNumbers)
    _parent: list[int] = field(default_factory=list[int])
    _rank: list[int] = field(default_factory=list[int])
    _device: list[int] = field(default_factory=list[int])
    """Of a domain that stands for its class, the number of what is known of its device."""
    _left: list[int] = field(default_factory=list[int])
    _right: list[int] = field(default_factory=list[int])
    _union_causes: list[Cause] = field(default_factory=list[Cause])
    """Of each union: what was united, and why."""
    _domains: list[int] = field(default_factory=list[int])
    _devices: list[int] = field(default_factory=list[int])
    _demand_causes: list[Cause] = field(default_factory=list[Cause])
    """Of each demand: what was to be where, and why."""
    _graph: ConstraintGraph = field(default_factory=ConstraintGraph)
    _known_unions: int = 0
    _known_demands: int = 0
    """How many constraints the graph has seen; `cut` has taken some out again."""

    def fresh(self) -> int:
        """A domain that nothing is known of."""
        domain = len(self._parent)
        self._parent.append(domain)
        self._rank.append(0)
        self._device.append(NOWHERE)
        return domain

    def find(self, domain: int) -> int:
        """The domain that stands for the class of `domain`."""
        parent = self._parent
        while (above := parent[domain]) != domain:
            domain = above
        return domain

    def number_of(self, domain: int) -> int:
        """The number of what is known of the domain's device so far."""
        return self._device[self.find(domain)]

    def device_of(self, domain: int) -> VirtualDeviceAttr:
        """What is known of the domain's device so far."""
        return self.numbers.devices[self.number_of(domain)]

    def demand(
        self, domain: int, device: VirtualDeviceAttr, cause: Cause
    ) -> Conflict[Cause] | None:
        """Put `domain` on `device`, which may be partial."""
        number = self.numbers.number(device)
        root = self.find(domain)
        joined = self.numbers.join(self._device[root], number)
        if joined is None:
            return self._at(Demand(domain, device, cause, len(self._domains)), number)
        self._device[root] = joined
        self._domains.append(domain)
        self._devices.append(number)
        self._demand_causes.append(cause)
        return None

    def unite(self, a: int, b: int, cause: Cause) -> Conflict[Cause] | None:
        """Put `a` and `b` on one device."""
        if self.trying(a, b, cause):
            return None
        return self._between(Union(a, b, cause, len(self._left)))

    def trying(self, a: int, b: int, cause: Cause) -> bool:
        """Unite `a` and `b` if nothing stands against it; else leave everything as it was."""
        parent, device, rank = self._parent, self._device, self._rank
        x, y = a, b
        while (above := parent[x]) != x:
            x = above
        while (above := parent[y]) != y:
            y = above
        if x != y:
            joined = device[x]
            if joined != device[y]:
                joined = self.numbers.join(joined, device[y])
                if joined is None:
                    return False
            if rank[x] < rank[y]:
                x, y = y, x
            elif rank[x] == rank[y]:
                rank[x] += 1
            parent[y] = x
            device[x] = joined
        self._left.append(a)
        self._right.append(b)
        self._union_causes.append(cause)
        return True

    def default(self, domain: int, device: int) -> int:
        """Fill in what is open of the domain's device, and say what it is (both by number)."""
        root = self.find(domain)
        filled = self._device[root] = self.numbers.fill(self._device[root], device)
        return filled

    def cut(self, constraint: Demand[Cause] | Union[Cause]) -> None:
        """Take a constraint back: its class falls apart, or knows less of its device."""
        graph = self._searchable()
        if isinstance(constraint, Demand):
            graph.remove_demand(constraint.order, constraint.domain)
            self._rebuild(graph.members(constraint.domain))
            return
        graph.remove_union(constraint.order, constraint.a, constraint.b)
        one = graph.members(constraint.a)
        self._rebuild(one)
        if constraint.b not in set(one):
            self._rebuild(graph.members(constraint.b))

    def reasons(self) -> Iterator[tuple[int, Demand[Cause], Union[Cause] | None]]:
        """
        For each domain that a demand reaches: the nearest demand, and the union it came through.

        A domain that comes from nowhere has its device by default.
        """
        graph = self._searchable()
        first = ((domain, demands[0]) for domain, demands in graph.demands.items() if demands)
        nearest = dict(sorted(first, key=lambda found: found[1]))
        for domain, demand in nearest.items():
            yield domain, self._demand(demand), None
        for domain, union, before in graph.reach(list(nearest)):
            nearest[domain] = nearest[before]
            yield domain, self._demand(nearest[domain]), self._union(union)

    def _demand(self, order: int) -> Demand[Cause]:
        device = self.numbers.devices[self._devices[order]]
        return Demand(self._domains[order], device, self._demand_causes[order], order)

    def _union(self, order: int) -> Union[Cause]:
        return Union(self._left[order], self._right[order], self._union_causes[order], order)

    def _rebuild(self, members: list[int]) -> None:
        """Make one class of `members`, which are all that constraints still hold together."""
        root, device = members[0], NOWHERE
        for domain in members:
            self._parent[domain], self._rank[domain] = root, 0
            for demand in self._graph.demands.get(domain, ()):
                joined = self.numbers.join(device, self._devices[demand])
                assert joined is not None, "the demands of a class go together"
                device = joined
        self._rank[root] = int(len(members) > 1)
        self._device[root] = device

    def _searchable(self) -> ConstraintGraph:
        """The constraints as a graph; only those that are new are added."""
        graph = self._graph
        unions = range(self._known_unions, len(self._left))
        for union in unions:
            graph.add_union(union, self._left[union], self._right[union])
        demands = range(self._known_demands, len(self._domains))
        for demand in demands:
            graph.add_demand(demand, self._domains[demand])
        self._known_unions, self._known_demands = unions.stop, demands.stop
        return graph

    def _against(self, domain: int, number: int) -> tuple[int, list[int]]:
        """The nearest demand to `domain` that does not go with a device, and the way to it."""
        join, devices = self.numbers.join, self._devices
        graph = self._searchable()
        return graph.nearest(domain, lambda demand: join(devices[demand], number) is None)

    def _at(self, last: Demand[Cause], number: int) -> Conflict[Cause]:
        """What the demand `last`, which is not among the constraints, is in conflict with."""
        there, way = self._against(last.domain, number)
        chain = tuple(self._union(union) for union in reversed(way))
        return Conflict(self._demand(there), chain, last, last)

    def _between(self, last: Union[Cause]) -> Conflict[Cause]:
        """
        What the union `last`, which is not among the constraints, is in conflict with.

        Some demand on the one side does not go with some demand on the other.
        """
        one, one_way = self._against(last.a, self.number_of(last.b))
        two, two_way = self._against(last.b, self._devices[one])
        chain = (
            *(self._union(union) for union in reversed(one_way)),
            last,
            *(self._union(union) for union in two_way),
        )
        if two < one:
            return Conflict(self._demand(two), chain[::-1], self._demand(one), last)
        return Conflict(self._demand(one), chain, self._demand(two), last)
