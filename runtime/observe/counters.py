"""Execution statistics: instructions, memory, copies between devices."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeAlias

Pool: TypeAlias = dict[object, Any]
"""Tables of counts by their contents."""
Sizes: TypeAlias = tuple[int, ...]
MAX_POOL = 4096
"""Number of tables that a pool keeps."""
MAX_PENDING = 1024
"""Number of runs of segments and templates that may be pending."""


class AllocationSite(NamedTuple):
    """An instruction that allocates on a device, all by index."""

    function: int
    pc: int
    device: int


@dataclass(eq=False, slots=True)
class Counters:
    """
    Totals over all runs; sizes in bytes, devices by index.

    Memory is what `alloc_storage` allocates. A storage is live until no register refers to it,
    to a tensor in it, or to data or a closure that holds one. Inputs, constants and scratch
    memory of kernels are not counted.
    """

    instructions: Counter[str] = field(default_factory=Counter[str])
    """Executed instructions by opcode."""
    storages: Counter[AllocationSite] = field(default_factory=Counter["AllocationSite"])
    """Storages allocated, by instruction."""
    storage_bytes: Counter[AllocationSite] = field(default_factory=Counter["AllocationSite"])
    """Bytes allocated, by instruction."""
    peak: dict[int, int] = field(default_factory=dict[int, int])
    """Peak of the live bytes within one run, by device."""
    copies: Counter[tuple[int, int]] = field(default_factory=Counter[tuple[int, int]])
    """Device copies executed, by (from, to)."""
    copied: Counter[tuple[int, int]] = field(default_factory=Counter[tuple[int, int]])
    """Bytes copied between devices, by (from, to)."""

    @property
    def allocations(self) -> Counter[int]:
        """Storages allocated, by device."""
        return _by_device(self.storages)

    @property
    def allocated(self) -> Counter[int]:
        """Bytes allocated, by device."""
        return _by_device(self.storage_bytes)

    def counters(self, _sizes: Sizes) -> Counters:
        """Return these counters: those of a recorded segment depend on no sizes."""
        return self

    def share(self, pool: Pool) -> None:
        """Replace the tables by equal ones in `pool`, if there are any; they must not change."""
        if len(pool) > MAX_POOL:
            pool.clear()
        for name in _TABLES:
            table = getattr(self, name)
            setattr(self, name, pool.setdefault(tuple(table.items()), table))

    def add(self, other: Counters, times: int = 1) -> None:
        """Add `times` times the counts of `other`."""
        for name in _TABLES:
            mine: Counter[Any] = getattr(self, name)
            for key, count in getattr(other, name).items():
                mine[key] += count * times
        for device, size in other.peak.items():
            self.peak[device] = max(size, self.peak.get(device, 0))


_TABLES = ("instructions", "storages", "storage_bytes", "copies", "copied")


class Countable(Protocol):
    """A segment or template, whose counters are computed when they are read."""

    def counters(self, sizes: Sizes, /) -> Counters:
        """Return the counters of a run with these `sizes`."""
        ...


Runs: TypeAlias = tuple[Countable, Sizes, int]
"""A segment or template, the sizes it ran with, and how often."""


class Counting:
    """
    Adds up the counters of what has run, when asked or when many runs are pending.

    Thread-safe.
    """

    def __init__(self) -> None:
        self._total = Counters()
        self._pending: deque[Runs] = deque()
        self._lock = Lock()

    def note(self, executed: Iterable[Runs]) -> None:
        """Queue what has run."""
        self._pending.extend(executed)
        if len(self._pending) > MAX_PENDING:
            self.total()

    def total(self) -> Counters:
        """Return the sum of all counters so far."""
        with self._lock:
            times = Counter[tuple[Countable, Sizes]]()
            while self._pending:
                item, sizes, count = self._pending.popleft()
                times[item, sizes] += count
            for (item, sizes), count in times.items():
                self._total.add(item.counters(sizes), count)
        return self._total


def _by_device(table: Counter[AllocationSite]) -> Counter[int]:
    counts = Counter[int]()
    for site, count in table.items():
        counts[site.device] += count
    return counts
