"""
The memory that a program may use.

    memory = Memory(limit=1 << 30)
    owner = Owner(memory)
    block = owner.take(4096)          zeros; the limit has them back when `owner` dies

Fresh bytes are zero, so a program sees only what it wrote itself. In `poison`, a mode for
debugging, they are 0xFF instead (a NaN in every float type, -1 in the integers): what reads bytes
that nothing wrote gives numbers that show it.
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
SMALL = 64
"""Arrays of at most so many bytes are not counted."""
SHARE = 2
"""By default a program may use one part in this many of the memory that is available."""
MAX_STACK = 1 << 30
"""
The most that nested calls may take of a limit that nobody gave: an endless recursion is an error
after seconds, not after minutes.
"""
MAX_EXTENT = 2**63 - 1
"""NumPy has no array whose dims other than 0 have more bytes between them."""
UNKNOWN = 8 << 30
"""The available memory to assume where the system does not report it."""


class OutOfMemory(Exception):
    """More memory is needed than there may be; the text says how much."""


def _numbers(path: str) -> Iterator[int]:
    try:
        text = Path(path).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return
    if text.isdecimal():  # not "max"
        yield int(text)


def _bounds() -> Iterator[int]:
    """The bounds on this process's memory: the machine, its control group, its resource limits."""
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
    except ImportError:  # not on this system
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        yield limit


@cache
def default_limit() -> int:
    """A share of the memory that this process could get when this was first asked."""
    return min((size for size in _bounds() if size > 0), default=UNKNOWN) // SHARE


def aligned_bytes(size: int, alignment: int = ALIGNMENT) -> npt.NDArray[np.uint8]:
    """`size` bytes of zero at an address that is a multiple of `alignment`."""
    block = np.zeros(size + alignment, np.uint8)
    start = -block.ctypes.data % alignment
    return block[start : start + size]


class Memory:
    """`limit` bytes, by default a share of what is available; used by any number of threads."""

    def __init__(self, limit: int | None = None, poison: bool = False) -> None:
        self.limit = default_limit() if limit is None else limit
        self.stack_limit = min(self.limit, MAX_STACK) if limit is None else limit
        self.poison = poison
        self.blank = POISON if poison else 0
        """The value of a byte that nothing has written."""
        self.reclaim: Callable[[], object] = gc.collect
        """Frees what can be freed when the limit is reached."""
        self._used = 0
        # Owners die at any moment, within `reserve` too: they must not wait for its lock.
        self._returned: deque[int] = deque()
        self._lock = Lock()

    @property
    def used(self) -> int:
        """The bytes that are taken."""
        with self._lock:
            return self._settle()

    def _settle(self) -> int:
        while self._returned:
            self._used -= self._returned.popleft()
        return self._used

    def reserve(self, size: int, what: str = "memory") -> None:
        """Count `size` bytes as taken, for `what`; `OutOfMemory` when the limit is less."""
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
        """Count `size` bytes as free again."""
        self._returned.append(size)

    def fresh(
        self, size: int, alignment: int = ALIGNMENT, what: str = "memory"
    ) -> npt.NDArray[np.uint8]:
        """Reserve and allocate `size` bytes at a multiple of `alignment`, for `what`."""
        self.reserve(size, what)
        try:
            block = aligned_bytes(size, alignment)
        except (MemoryError, ValueError, OverflowError):
            self.give_back(size)
            raise OutOfMemory(f"{what} needs {size} bytes, but the system has no more") from None
        if self.poison:
            block.fill(POISON)
        return block

    def array(
        self, shape: tuple[int, ...], dtype: npt.DTypeLike, what: str = "memory"
    ) -> npt.NDArray[Any]:
        """
        An array of fresh bytes; the limit has them back when it and its views die.

        What is `SMALL` is not counted: it costs less than the object that holds it.
        """
        kind = np.dtype(dtype)
        if 0 in shape and prod(dim for dim in shape if dim) * kind.itemsize > MAX_EXTENT:
            raise OutOfMemory(f"{what} of shape {list(shape)} is beyond NumPy's arrays")
        size = prod(shape) * kind.itemsize
        if size <= SMALL:
            return np.full(size, self.blank, np.uint8).view(kind).reshape(shape)
        block = self.fresh(size, what=what)
        weakref.finalize(block.base, self.give_back, block.size).atexit = False
        return block.view(kind).reshape(shape)


class Owner:
    """Takes bytes of `memory`, and gives them back when it dies; `size` of them so far."""

    __slots__ = ("memory", "size")

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.size = 0

    def reserve(self, size: int, what: str = "memory") -> None:
        """Count `size` bytes as taken, for `what`."""
        self.memory.reserve(size, what)
        self.size += size

    def take(
        self, size: int, alignment: int = ALIGNMENT, what: str = "memory"
    ) -> npt.NDArray[np.uint8]:
        """`size` fresh bytes at a multiple of `alignment`."""
        block = self.memory.fresh(size, alignment, what)
        self.size += size
        return block

    def __del__(self) -> None:
        if self.size:
            self.memory.give_back(self.size)


class Stack(Owner):
    """The owner of what nested calls take, at most `stack_limit` bytes of `memory`."""

    __slots__ = ()

    def reserve(self, size: int, what: str = "memory") -> None:
        limit = self.memory.stack_limit
        if self.size + size > limit:
            raise OutOfMemory(f"{what} needs more than {limit} bytes (--memory-limit)")
        super().reserve(size, what)
