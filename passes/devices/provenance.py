"""
Why a domain is on a device: the constraints between domains, as a graph that is searched.

A `Demand` puts a domain on a device and a `Union` puts two domains on one device; each carries its
*cause*, any object. A conflict is two demands and the shortest chain of unions between them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ...dialects.device import VirtualDeviceAttr

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
