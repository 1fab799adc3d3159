"""Constraints as a graph: domains, the unions between them and the demands at them, by number."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass
class ConstraintGraph:
    """The constraints that stand at each domain, in the order in which they were added."""

    unions: dict[int, list[tuple[int, int]]] = field(
        default_factory=dict[int, list[tuple[int, int]]]
    )
    """Of each domain: unions, and the domains that they lead to."""
    demands: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """Of each domain: demands."""

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
        What can be reached from `starts`, nearest first: a domain, the union and the domain before.
        """
        came = dict.fromkeys(starts)
        pending = deque(came)
        while pending:
            domain = pending.popleft()
            for union, other in self.unions.get(domain, ()):
                if other not in came:
                    came[other] = None
                    pending.append(other)
                    yield other, union, domain

    def members(self, domain: int) -> list[int]:
        """The domains that are united with `domain`, itself first."""
        return [domain, *(other for other, _, _ in self.reach([domain]))]

    def nearest(self, start: int, wanted: Callable[[int], bool]) -> tuple[int, list[int]]:
        """The nearest wanted demand to `start`, and the unions on the way to it."""
        came: dict[int, tuple[int, int]] = {}

        def found(domain: int) -> int | None:
            return next((d for d in self.demands.get(domain, ()) if wanted(d)), None)

        at, demand = start, found(start)
        reach = self.reach([start])
        while demand is None:
            at, union, before = next(reach)
            came[at] = (union, before)
            demand = found(at)
        chain: list[int] = []
        while at != start:
            union, at = came[at]
            chain.append(union)
        return demand, chain[::-1]
