"""
The memory limit of a program.

    memory = Memory(limit=1 << 30)
    owner = Owner(memory)
    owner.reserve(4096)               returned to `memory` when `owner` dies
    array = memory.array((32,), "float32")      zeros, returned when the last view dies

Fresh bytes are zero, so a program sees only its own data. In the debugging mode `poison` they
are 0xFF instead (a NaN in every float type, -1 in the integers), which exposes reads of bytes
that were never written.
"""

from __future__ import annotations

import gc
import os
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from math import prod
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64
POISON = 0xFF
SMALL_RESULT = 1 << 16
"""Results of at most this many bytes are not charged to the memory limit."""
SMALL = 64
"""Arrays of at most this many bytes are not counted."""
SHARE = 2
"""By default, a program may use this fraction (1 / SHARE) of the available memory."""
MAX_STACK = 1 << 30
"""
Bytes that nested calls may take under the default limit: an infinite recursion fails within
seconds, not minutes.
"""
MAX_RANK = 64
"""NumPy's limit on the dimensions of an array."""
MAX_EXTENT = 2**63 - 1
"""NumPy's limit on the bytes of an array, where dimensions of 0 count as 1."""
UNKNOWN = 8 << 30
"""Available memory to assume if the system does not report it."""


class OutOfMemory(Exception):
    """A request exceeds the memory limit or the system's memory; the message has the sizes."""


def _numbers(path: str) -> Iterator[int]:
    try:
        text = Path(path).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return
    if text.isdecimal():  # not "max"
        yield int(text)


def memory_bounds() -> Iterator[int]:
    """Yield the bounds on this process's memory: system, control group, resource limits."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        lines = []
    fields = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    if "MemAvailable" in fields:
        yield int(fields["MemAvailable"][0]) << 10
    elif hasattr(os, "sysconf"):
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield from _numbers("/sys/fs/cgroup/memory.max")
    yield from _numbers("/sys/fs/cgroup/memory/memory.limit_in_bytes")
    try:
        import resource
    except ImportError:  # not available on this system
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        yield limit


@cache
def default_limit() -> int:
    """Return a share of the memory that was available to this process on the first call."""
    return min((size for size in memory_bounds() if size > 0), default=UNKNOWN) // SHARE


class Memory:
    """A limit in bytes, by default a share of the available memory; thread-safe."""

    def __init__(self, limit: int | None = None, poison: bool = False) -> None:
        self.limit = default_limit() if limit is None else limit
        self.stack_limit = min(self.limit, MAX_STACK) if limit is None else limit
        self.poison = poison
        self.blank = POISON if poison else 0
        """The value of fresh bytes."""
        self.reclaim: Callable[[], object] = gc.collect
        """Called to free memory when the limit is reached."""
        self._used = 0
        # Owners may die at any moment, even within `reserve`: they must not wait for its lock.
        self._returned: deque[int] = deque()
        self._lock = Lock()

    @property
    def used(self) -> int:
        """Number of reserved bytes."""
        with self._lock:
            return self._settle()

    def _settle(self) -> int:
        while self._returned:
            self._used -= self._returned.popleft()
        return self._used

    def reserve(self, size: int, what: str = "memory") -> None:
        """Reserve `size` bytes for `what`; raise `OutOfMemory` if that exceeds the limit."""
        if not self._try_to_reserve(size):
            self.reclaim()
            if not self._try_to_reserve(size):
                raise OutOfMemory(
                    f"{what} needs {size} bytes, but {self.used} are in use and the memory limit "
                    f"is {self.limit} (--memory-limit)"
                )

    def _try_to_reserve(self, size: int) -> bool:
        with self._lock:
            fits = self._settle() + size <= self.limit
            self._used += size * fits
            return fits

    def give_back(self, size: int) -> None:
        """Return `size` reserved bytes."""
        self._returned.append(size)

    def fresh(self, size: int, what: str = "memory") -> npt.NDArray[np.uint8]:
        """Reserve and allocate `size` bytes at a multiple of `ALIGNMENT`, for `what`."""
        self.reserve(size, what)
        try:
            block = np.zeros(size + ALIGNMENT, np.uint8)
        except (MemoryError, ValueError, OverflowError):
            self.give_back(size)
            raise OutOfMemory(f"{what} needs {size} bytes, but the system has not enough") from None
        start = -block.ctypes.data % ALIGNMENT
        block = block[start : start + size]
        if self.poison:
            block.fill(POISON)
        return block

    def array(
        self, shape: tuple[int, ...], dtype: npt.DTypeLike, what: str = "memory"
    ) -> npt.NDArray[Any]:
        """
        Return an array of fresh bytes, reserved until the array and its views die.

        An array of at most `SMALL` bytes is not counted: its object costs more.
        """
        kind = np.dtype(dtype)
        if 0 in shape and prod(dim for dim in shape if dim) * kind.itemsize > MAX_EXTENT:
            raise OutOfMemory(f"{what} of shape {list(shape)} exceeds NumPy's array size limit")
        size = prod(shape) * kind.itemsize
        if size <= SMALL:
            return np.full(size, self.blank, np.uint8).view(kind).reshape(shape)
        block = self.fresh(size, what)
        weakref.finalize(block.base, self.give_back, block.size).atexit = False
        return block.view(kind).reshape(shape)


class Owner:
    """Reserves bytes of `memory`, `size` so far, and returns them when it dies."""

    __slots__ = ("memory", "size")

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.size = 0

    def reserve(self, size: int, what: str = "memory") -> None:
        """Reserve `size` bytes for `what`."""
        self.memory.reserve(size, what)
        self.size += size

    def give_back(self, size: int) -> None:
        """Return `size` of the bytes."""
        self.size -= size
        self.memory.give_back(size)

    def __del__(self) -> None:
        if self.size:
            self.memory.give_back(self.size)


class Stack(Owner):
    """The owner of the call stack: at most `stack_limit` bytes of `memory`."""

    __slots__ = ()

    def reserve(self, size: int, what: str = "memory") -> None:
        limit = self.memory.stack_limit
        if self.size + size > limit:
            raise OutOfMemory(f"{what} needs more than {limit} bytes (--memory-limit)")
        super().reserve(size, what)
