"""
Which things are on one device: a union-find whose classes know a partial virtual device.

A *domain* is a number; what it stands for is its maker's business. Two domains are united, or a
device is demanded of one; each such constraint carries a *cause*, any object, that is only handed
back. When a constraint cannot hold, the answer is a `Conflict` with the two devices and the
shortest chain of constraints between the demands for them. Constraints are kept one edge each, and
searched only then.

Union by rank, and no path compression: a constraint can be tried and taken back (`trying`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ...dialects.device import UNCONSTRAINED, VirtualDeviceAttr

Cause = TypeVar("Cause")


@dataclass(frozen=True)
class Demand(Generic[Cause]):
    """`domain` was demanded to be on `device`."""

    domain: int
    device: VirtualDeviceAttr
    cause: Cause


@dataclass(frozen=True)
class Union(Generic[Cause]):
    """`a` and `b` were united."""

    a: int
    b: int
    cause: Cause


@dataclass(frozen=True)
class Conflict(Generic[Cause]):
    """Two demands that do not go together, and the unions that lead from one to the other."""

    first: Demand[Cause]
    chain: tuple[Union[Cause], ...]
    second: Demand[Cause]


@dataclass
class DeviceDomains(Generic[Cause]):
    """The domains, their classes and the constraints so far."""

    parent: list[int] = field(default_factory=list[int])
    rank: list[int] = field(default_factory=list[int])
    device: list[VirtualDeviceAttr] = field(default_factory=list[VirtualDeviceAttr])
    demands: list[Demand[Cause]] = field(default_factory=list[Demand[Cause]])
    unions: list[Union[Cause]] = field(default_factory=list[Union[Cause]])
    trail: list[tuple[int, int, VirtualDeviceAttr]] | None = None
    """While trying: the roots that changed, with their rank and device before."""

    def fresh(self) -> int:
        """A domain that nothing is known of."""
        self.parent.append(len(self.parent))
        self.rank.append(0)
        self.device.append(UNCONSTRAINED)
        return len(self.parent) - 1

    def find(self, domain: int) -> int:
        parent = self.parent
        while parent[domain] != domain:
            domain = parent[domain]
        return domain

    def device_of(self, domain: int) -> VirtualDeviceAttr:
        """What is known of the domain's device so far."""
        return self.device[self.find(domain)]

    def demand(
        self, domain: int, device: VirtualDeviceAttr, cause: Cause
    ) -> Conflict[Cause] | None:
        """Put `domain` on `device`, which may be partial."""
        self.demands.append(Demand(domain, device, cause))
        root = self.find(domain)
        known = self.device[root]
        if known is not device and known != device:
            joined = known.join(device)
            if joined is None:
                return self._conflict(domain, device)
            self._set(root, self.rank[root], joined)
        return None

    def unite(self, a: int, b: int, cause: Cause) -> Conflict[Cause] | None:
        """Put `a` and `b` on one device."""
        self.unions.append(Union(a, b, cause))
        x, y = self.find(a), self.find(b)
        if x == y:
            return None
        mine, theirs = self.device[x], self.device[y]
        joined = mine if mine is theirs else mine.join(theirs)
        if joined is None:
            return self._conflict(a, theirs)
        if self.rank[x] < self.rank[y]:
            x, y = y, x
        rank = self.rank[x] + (self.rank[x] == self.rank[y])
        self._set(x, rank, joined)
        if self.trail is not None:
            self.trail.append((y, self.rank[y], self.device[y]))
        self.parent[y] = x
        return None

    def default(self, domain: int, device: VirtualDeviceAttr) -> VirtualDeviceAttr:
        """Fill in what is still open of the domain's device, and say what it is."""
        root = self.find(domain)
        known = self.device[root]
        filled = known.or_default(device)
        if filled != known:
            self.device[root] = filled
        return filled

    def trying(self, a: int, b: int, cause: Cause) -> bool:
        """Unite `a` and `b` if nothing stands against it; else leave everything as it was."""
        self.trail = []
        conflict = self.unite(a, b, cause)
        if conflict is not None:
            for root, rank, device in reversed(self.trail):
                self.parent[root], self.rank[root], self.device[root] = root, rank, device
            self.unions.pop()
        self.trail = None
        return conflict is None

    def _set(self, root: int, rank: int, device: VirtualDeviceAttr) -> None:
        if self.trail is not None:
            self.trail.append((root, self.rank[root], self.device[root]))
        self.rank[root], self.device[root] = rank, device

    def _conflict(self, domain: int, device: VirtualDeviceAttr) -> Conflict[Cause]:
        """The conflict that the last constraint made at `domain`."""
        around: dict[int, list[tuple[int, Union[Cause]]]] = {}
        for union in self.unions:
            around.setdefault(union.a, []).append((union.b, union))
            around.setdefault(union.b, []).append((union.a, union))
        at: dict[int, list[Demand[Cause]]] = {}
        for demand in self.demands:
            at.setdefault(demand.domain, []).append(demand)
        one, back = _nearest(domain, around, at, lambda d: d.device.join(device) is None)
        other, there = _nearest(one.domain, around, at, lambda d: d.device.join(one.device) is None)
        del back
        first, second, chain = one, other, there
        if self.demands.index(second) < self.demands.index(first):
            first, second, chain = second, first, there[::-1]
        return Conflict(first, tuple(chain), second)


def _nearest(
    start: int,
    around: dict[int, list[tuple[int, Union[Cause]]]],
    at: dict[int, list[Demand[Cause]]],
    wanted: Callable[[Demand[Cause]], bool],
) -> tuple[Demand[Cause], list[Union[Cause]]]:
    """The nearest wanted demand to `start`, and the unions on the way to it."""
    came: dict[int, tuple[int, Union[Cause]] | None] = {start: None}
    pending = deque([start])
    while pending:
        domain = pending.popleft()
        found = next((d for d in at.get(domain, ()) if wanted(d)), None)
        if found is not None:
            chain: list[Union[Cause]] = []
            step = came[domain]
            while step is not None:
                chain.append(step[1])
                step = came[step[0]]
            return found, chain[::-1]
        for next_domain, union in around.get(domain, ()):
            if next_domain not in came:
                came[next_domain] = (domain, union)
                pending.append(next_domain)
    raise AssertionError("a conflict comes from a demand")
