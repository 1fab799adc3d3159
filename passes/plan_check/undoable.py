"""
A mapping whose changes can be taken back.

    mapping.open()
    mapping.set(key, value)
    changes = mapping.close()         the mapping is as before; `changes` has what was set
    mapping.meet([changes, …], 2)     what was set in one of two regions
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Undoable(Generic[K, V]):
    """A mapping whose changes since each open frame can be taken back; None is absence."""

    def __init__(self) -> None:
        self.now: dict[K, V] = {}
        self._frames: list[dict[K, V | None]] = []

    def set(self, key: K, value: V | None) -> None:
        if self._frames:
            self._frames[-1].setdefault(key, self.now.get(key))
        if value is None:
            self.now.pop(key, None)
        else:
            self.now[key] = value

    def open(self) -> None:
        self._frames.append({})

    def close(self) -> dict[K, V | None]:
        """Take the changes of the last frame back, and return them."""
        before = self._frames.pop()
        changes = {key: self.now.get(key) for key in before}
        for key, value in before.items():
            if value is None:
                self.now.pop(key, None)
            else:
                self.now[key] = value
        return changes

    def meet(self, regions: Iterable[Mapping[K, V | None]], count: int) -> None:
        """Continue after `count` regions: a key is present if it is in some region."""
        merged: dict[K, V | None] = {}
        seen: dict[K, int] = {}
        for changes in regions:
            for key, value in changes.items():
                seen[key] = seen.get(key, 0) + 1
                merged[key] = value if merged.get(key) is None else merged[key]
        for key, value in merged.items():
            if value is None and seen[key] < count:
                continue  # it is as before where it was not changed
            self.set(key, value)
