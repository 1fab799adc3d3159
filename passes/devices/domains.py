"""
Domains: a union-find whose classes each have a virtual device, which may be partial.

A *domain* is an integer handle; the caller decides what it represents. Two domains are united, or
one is put on a device; each such constraint carries a *cause*, an object that is only handed back.
A constraint that contradicts earlier ones is not added: the result is the `Conflict` with them.
`cut` removes a constraint.

Constraints are kept as columns of numbers and causes. They become objects, and edges of a
`ConstraintGraph`, only when a conflict or an explanation needs them: most programs never do.
Devices are numbers too, so that comparing and joining them costs next to nothing.

Union by rank without path compression: paths are short, and `find` changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from ...dialects.device import UNCONSTRAINED, VirtualDeviceAttr
from ...operators.records import record

Cause = TypeVar("Cause")


@dataclass(frozen=True, eq=False)
class Demand(Generic[Cause]):
    """`domain` must be on `device`."""

    domain: int
    device: VirtualDeviceAttr
    cause: Cause
    order: int
    """The number of demands made before."""


@dataclass(frozen=True, eq=False)
class Union(Generic[Cause]):
    """`a` and `b` must be on one device."""

    a: int
    b: int
    cause: Cause
    order: int
    """The number of unions made before."""


@dataclass(frozen=True, eq=False)
class Conflict(Generic[Cause]):
    """Two demands that contradict each other, and the unions that lead from one to the other."""

    first: Demand[Cause]
    chain: tuple[Union[Cause], ...]
    second: Demand[Cause]
    last: Demand[Cause] | Union[Cause]
    """The constraint that could not be added: one of the others, all of which hold."""


@dataclass
class ConstraintGraph:
    """The unions and demands at each domain, by number, in the order in which they were added."""

    unions: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: {})
    """For each domain: its unions, and the domain at the other end of each."""
    demands: dict[int, list[int]] = field(default_factory=lambda: {})
    """For each domain: its demands."""

    def add_union(self, union: int, a: int, b: int) -> None:
        self.unions.setdefault(a, []).append((union, b))
        self.unions.setdefault(b, []).append((union, a))

    def remove_union(self, union: int, a: int, b: int) -> None:
        self.unions[a].remove((union, b))
        self.unions[b].remove((union, a))

    def add_demand(self, demand: int, domain: int) -> None:
        self.demands.setdefault(domain, []).append(demand)

    def remove_demand(self, demand: int, domain: int) -> None:
        self.demands[domain].remove(demand)

    def reach(self, starts: list[int]) -> Iterator[tuple[int, int, int]]:
        """
        Search breadth-first from `starts`.

        Yields each domain reached, the union it was reached through and the domain before it.
        """
        seen = dict.fromkeys(starts)
        pending = deque(seen)
        while pending:
            domain = pending.popleft()
            for union, other in self.unions.get(domain, ()):
                if other not in seen:
                    seen[other] = None
                    pending.append(other)
                    yield other, union, domain

    def members(self, domain: int) -> list[int]:
        """Return the domains that unions connect with `domain`, itself first."""
        return [domain, *(other for other, _, _ in self.reach([domain]))]

    def nearest(self, start: int, wanted: Callable[[int], bool]) -> tuple[int, list[int]]:
        """Return the wanted demand nearest to `start`, and the unions on the way to it."""
        before: dict[int, tuple[int, int]] = {}

        def found(domain: int) -> int | None:
            return next((d for d in self.demands.get(domain, ()) if wanted(d)), None)

        at, demand = start, found(start)
        reach = self.reach([start])
        while demand is None:
            at, union, previous = next(reach)
            before[at] = (union, previous)
            demand = found(at)
        chain: list[int] = []
        while at != start:
            union, at = before[at]
            chain.append(union)
        return demand, chain[::-1]


NO_DEVICE = 0
"""The number of the unconstrained device."""

_Joins: TypeAlias = dict[tuple[int, int], "int | None"]


@dataclass
class DeviceNumbers:
    """The devices of one plan: equal devices have one number, and each join is computed once."""

    devices: list[VirtualDeviceAttr] = field(default_factory=lambda: [UNCONSTRAINED])
    """By number."""
    _numbers: dict[VirtualDeviceAttr, int] = field(
        default_factory=lambda: {UNCONSTRAINED: NO_DEVICE}
    )
    _joins: _Joins = field(default_factory=_Joins)
    _completed: dict[tuple[int, int], int] = field(default_factory=lambda: {})

    def number(self, device: VirtualDeviceAttr) -> int:
        """Return the number of `device`, a new one if the device is new."""
        known = self._numbers.get(device)
        if known is None:
            known = self._numbers[device] = len(self.devices)
            self.devices.append(device)
        return known

    def join(self, a: int, b: int) -> int | None:
        """Combine two devices (`VirtualDeviceAttr.join`); None if they contradict each other."""
        if a == b or b == NO_DEVICE:
            return a
        if a == NO_DEVICE:
            return b
        if (a, b) not in self._joins:
            joined = self.devices[a].join(self.devices[b])
            self._joins[a, b] = None if joined is None else self.number(joined)
        return self._joins[a, b]

    def complete(self, device: int, default: int) -> int:
        """Take the unset fields of `device` from `default` (`VirtualDeviceAttr.completed_by`)."""
        if device == NO_DEVICE or device == default:
            return default
        known = self._completed.get((device, default))
        if known is None:
            completed = self.devices[device].completed_by(self.devices[default])
            known = self._completed[device, default] = self.number(completed)
        return known


@dataclass
class DomainSet(Generic[Cause]):
    """The domains, their classes, and the constraints that made them."""

    numbers: DeviceNumbers = field(default_factory=DeviceNumbers)
    _parent: list[int] = field(default_factory=lambda: [])
    _rank: list[int] = field(default_factory=lambda: [])
    _device: list[int] = field(default_factory=lambda: [])
    """For the root of each class, the number of the device of the class."""
    _left: list[int] = field(default_factory=lambda: [])
    _right: list[int] = field(default_factory=lambda: [])
    _union_causes: list[Cause] = field(default_factory=lambda: [])
    """The columns of the unions: the two domains and the cause."""
    _domains: list[int] = field(default_factory=lambda: [])
    _devices: list[int] = field(default_factory=lambda: [])
    _demand_causes: list[Cause] = field(default_factory=lambda: [])
    """The columns of the demands: the domain, the number of the device and the cause."""
    _graph: ConstraintGraph = field(default_factory=ConstraintGraph)
    _known_unions: int = 0
    _known_demands: int = 0
    """The numbers of constraints added to the graph so far; `cut` has removed some of them."""

    def fresh(self) -> int:
        """Make an unconstrained domain."""
        domain = len(self._parent)
        self._parent.append(domain)
        self._rank.append(0)
        self._device.append(NO_DEVICE)
        return domain

    def find(self, domain: int) -> int:
        """Return the root of the class of `domain`."""
        parent = self._parent
        while (above := parent[domain]) != domain:
            domain = above
        return domain

    def number_of(self, domain: int) -> int:
        """Return the number of the domain's device, as far as it is known."""
        return self._device[self.find(domain)]

    def device_of(self, domain: int) -> VirtualDeviceAttr:
        """Return the domain's device, as far as it is known."""
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
        if self.try_unite(a, b, cause):
            return None
        return self._between(Union(a, b, cause, len(self._left)))

    def try_unite(self, a: int, b: int, cause: Cause) -> bool:
        """Unite `a` and `b` unless that is a conflict; return whether they are united."""
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
        """Complete the domain's device from `device` and return its number."""
        parent = self._parent
        while (above := parent[domain]) != domain:
            domain = above
        known = self._device[domain]
        if known != device:
            known = self._device[domain] = self.numbers.complete(known, device)
        return known

    def cut(self, constraint: Demand[Cause] | Union[Cause]) -> None:
        """Remove a constraint: its class is split, or has less of a device."""
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
        For each domain that a demand reaches, yield the nearest demand and the union it came by.

        A domain that no demand reaches has its device by default.
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
        """Make one class of `members`: all domains that the remaining unions connect."""
        root, device = members[0], NO_DEVICE
        for domain in members:
            self._parent[domain], self._rank[domain] = root, 0
            for demand in self._graph.demands.get(domain, ()):
                joined = self.numbers.join(device, self._devices[demand])
                assert joined is not None, "the demands of a class do not contradict each other"
                device = joined
        self._rank[root] = int(len(members) > 1)
        self._device[root] = device

    def _searchable(self) -> ConstraintGraph:
        """Return the constraints as a graph, after adding those that are new to it."""
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
        """Return the demand nearest to `domain` that contradicts a device, and the way to it."""
        join, devices = self.numbers.join, self._devices
        graph = self._searchable()
        return graph.nearest(domain, lambda demand: join(devices[demand], number) is None)

    def _at(self, last: Demand[Cause], number: int) -> Conflict[Cause]:
        """Return the conflict of the demand `last`, which was not added, with earlier ones."""
        there, way = self._against(last.domain, number)
        chain = tuple(self._union(union) for union in reversed(way))
        return Conflict(self._demand(there), chain, last, last)

    def _between(self, last: Union[Cause]) -> Conflict[Cause]:
        """
        Return the conflict of the union `last`, which was not added, with earlier constraints.

        Some demand on one side contradicts some demand on the other.
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


# -------------------------------------------------------------------- domains by type


@record
class FunctionPlacement:
    """The placements of a function value's parameters and of its result."""

    params: tuple[Placement, ...]
    result: Placement


Placement: TypeAlias = int | FunctionPlacement
"""The domains of a value, by its type: one domain, or for a function those of its parts."""


def leaves(placement: Placement) -> Iterator[int]:
    """Yield the domains in a placement: the result's first, then the parameters'."""
    if isinstance(placement, int):
        yield placement
    else:
        for part in (placement.result, *placement.params):
            yield from leaves(part)


def result_of(placement: Placement) -> int:
    """Return the domain that stands for a placement: of a function, that of its result."""
    while isinstance(placement, FunctionPlacement):
        placement = placement.result
    return placement
