"""Workspaces that calls of compiled code use one after the other."""

from __future__ import annotations

import threading
from contextlib import suppress

import numpy as np

from ..program.program import Array

MOST_KEPT = 256 << 20
"""The bytes that are kept at most for later calls."""


class Workspaces:
    """
    Memory for calls, kept for later ones; several threads may use it.

    As many workspaces are kept as calls ran at the same time, each as large as a call needed, and
    at most `limit` bytes in all.
    """

    def __init__(self, limit: int = MOST_KEPT) -> None:
        self.limit = limit
        self._free: list[Array] = []
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """The bytes that are kept and not in use."""
        with self._lock:
            return sum(space.nbytes for space in self._free)

    def take(self, size: int, alignment: int) -> Array | None:
        """Return at least `size` bytes; None if they cannot be allocated."""
        with self._lock:
            for i in reversed(range(len(self._free))):
                space = self._free[i]
                if space.nbytes >= size and space.ctypes.data % alignment == 0:
                    return self._free.pop(i)
            if self._free:
                self._free.pop()  # the new one takes its place
        with suppress(MemoryError, ValueError):
            space = np.empty(size + alignment, np.uint8)
            return space[-space.ctypes.data % alignment :]
        return None

    def give_back(self, space: Array) -> None:
        """Keep what `take` returned for later calls, if there is room."""
        with self._lock:
            self._free.append(space)
            while sum(kept.nbytes for kept in self._free) > self.limit:
                self._free.pop(0)

    def clear(self) -> None:
        """Free all that is kept."""
        with self._lock:
            self._free.clear()
