"""
Bytes at fixed addresses that are committed when they are first needed.

    region = Region(memory)
    extent = Extent(region)
    extent.cover(4096, "a table")      the first 4096 bytes are there, and charged to `memory`
    extent.view(64, 128)               128 of them, from byte 64
    region.trim(0)                     all are returned to the system, until they are covered again

A region reserves as many addresses as the memory limit, where the system commits pages when they
are touched. Where it refuses, a region that becomes too small is replaced by a larger one; views
of the old one stay valid. Several users may share a region if only one of them runs at a time.
"""

from __future__ import annotations

import mmap
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..program.instructions import MAX_ALIGNMENT
from .limits import Memory, OutOfMemory, Owner

Bytes = npt.NDArray[np.uint8]

MAX_RESERVATION = 1 << 40
"""Limit in bytes on the addresses that a region reserves."""
FIRST = 1 << 16
"""Bytes of a region that cannot reserve addresses, before it grows."""
SMALL_PAGES = 1 << 22
"""Bytes at the start of a region that are not in huge pages."""
MAX_WATCHED = 64
"""Number of limits that a region watches; then all become negative."""
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if hasattr(mmap, "MAP_POPULATE") else 0)
_DISCARD = getattr(mmap, "MADV_DONTNEED", None)
_HUGE = getattr(mmap, "MADV_HUGEPAGE", None)


def can_reserve() -> bool:
    """Test whether addresses that are never touched cost nothing."""
    if not hasattr(mmap, "MAP_ANONYMOUS"):
        return False
    import resource

    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return False
    try:
        policy = Path("/proc/sys/vm/overcommit_memory").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return True
    return policy != "2"  # all addresses count as committed


def map_memory(size: int) -> mmap.mmap:
    """Map `size` zero bytes, at a page."""
    if not hasattr(mmap, "MAP_ANONYMOUS"):
        return mmap.mmap(-1, size)
    mapping = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)
    if _HUGE is not None and size > SMALL_PAGES:
        try:
            mapping.madvise(_HUGE, SMALL_PAGES)
        except OSError:
            pass  # the kernel has no huge pages
    return mapping


def _dispose(owner: Owner) -> None:
    """Drop `owner`; its bytes become free."""


class Region:
    """
    Bytes from 0 on, at a multiple of `MAX_ALIGNMENT`.

    The first `charged` of them are reserved from `memory`.
    """

    __slots__ = ("_limits", "_mapping", "_owner", "_start", "bytes", "memory")

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._mapping: mmap.mmap | None = None
        self._start = 0
        self.bytes: Bytes = np.empty(0, np.uint8)
        """All bytes that there are now, covered or not."""
        self._owner = Owner(memory)
        self._limits: list[list[int]] = []

    @property
    def charged(self) -> int:
        """Number of bytes at the start that may be committed."""
        return self._owner.size

    def cover(self, size: int, what: str) -> None:
        """
        Make the first `size` bytes usable, for `what`.

        Raises `OutOfMemory` if that exceeds the memory limit or the system's memory.
        """
        if size > len(self.bytes):
            self._replace(size, what)
        elif size > self._owner.size:
            self._owner.reserve(size - self._owner.size, what)

    def whole_pages(self, size: int) -> int:
        """Round `size` up to a whole page, which the next call may need, if the limit allows."""
        end = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        return end if self.memory.used + end - self.charged <= self.memory.limit else size

    def view(self, start: int, size: int) -> Bytes:
        """Return `size` bytes from byte `start`, which must be covered."""
        return self.bytes[start : start + size]

    def watch(self, limits: list[int]) -> None:
        """Make `limits` negative as soon as bytes are discarded, or all bytes are elsewhere."""
        if len(self._limits) == MAX_WATCHED:
            self._change()
        self._limits.append(limits)

    def _change(self) -> None:
        for limits in self._limits:
            limits[:] = [-1] * len(limits)
        self._limits.clear()

    def trim(self, keep: int) -> None:
        """Discard all but the first `keep` bytes; they must be covered again before use."""
        spare = self._owner.size - keep
        if spare <= 0 or self._mapping is None or _DISCARD is None:
            return
        first = -(-keep // mmap.PAGESIZE) * mmap.PAGESIZE
        if first < self._owner.size:
            self._mapping.madvise(_DISCARD, self._start + first, self._owner.size - first)
        self._owner.give_back(spare)
        self._change()

    def _replace(self, size: int, what: str) -> None:
        """Start a larger buffer; the views of the current one keep it alive, and charged."""
        owner = Owner(self.memory)
        owner.reserve(size, what)
        for length in self._lengths(size):
            try:
                mapping = map_memory(length + MAX_ALIGNMENT)
            except (OSError, ValueError, OverflowError, MemoryError):
                continue
            whole = np.frombuffer(mapping, np.uint8)
            start = -whole.ctypes.data % MAX_ALIGNMENT
            self._mapping, self._start, self._owner = mapping, start, owner
            self.bytes = whole[start : start + length]
            self._change()
            weakref.finalize(whole, _dispose, owner).atexit = False
            return
        raise OutOfMemory(f"{what} needs {size} bytes, but the system has not enough")

    def _lengths(self, size: int) -> Iterator[int]:
        """Yield the lengths of a buffer to try, for at least `size` bytes."""
        if can_reserve():
            yield max(size, min(self.memory.limit, MAX_RESERVATION))
        yield max(size, 2 * len(self.bytes), FIRST)
        yield size


class Extent:
    """The first `top` bytes of `region`: what one of its users needs."""

    __slots__ = ("region", "top")

    def __init__(self, region: Region) -> None:
        self.region = region
        self.top = 0

    def cover(self, size: int, what: str) -> None:
        """Make the first `size` bytes usable, for `what`; raise `OutOfMemory` if there are none."""
        self.region.cover(size, what)
        if size > self.top:
            self.top = size

    def view(self, start: int, size: int) -> Bytes:
        """Return `size` bytes from byte `start`, which must be covered."""
        return self.region.view(start, size)


def side_by_side(arrays: Sequence[npt.NDArray[Any]]) -> Bytes | None:
    """Return the bytes of contiguous views that are adjacent in one array, in order; else None."""
    first = arrays[0]
    if len(arrays) == 1:
        return first.reshape(-1).view(np.uint8)
    whole, start, at = _owner(first), first.ctypes.data, first.ctypes.data
    for array in arrays:
        if _owner(array) is not whole or array.ctypes.data != at:
            return None
        at += array.nbytes
    offset = whole.ctypes.data
    return whole.reshape(-1).view(np.uint8)[start - offset : at - offset]


def _owner(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array whose memory `array` views."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
