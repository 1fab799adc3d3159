"""Arrays that are views of mapped files, as kernels need them: aligned, and in C order."""

from __future__ import annotations

import mmap
from typing import cast

import numpy as np

from ..program.program import Array

CHUNK = 1 << 24
"""Bytes that are copied at a time."""


def aligned(array: Array) -> Array:
    """
    Return `array`, or a copy if it is not aligned for its element type or not in C order.

    The pages of a file that were read for the copy are returned to the system, so that no value is
    in memory twice.
    """
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    if not array.flags.c_contiguous:
        copy = np.array(array, order="C")
        _release(array)
        return copy
    copy = np.empty(array.shape, array.dtype)
    to, data = copy.reshape(-1).view(np.uint8), array.reshape(-1).view(np.uint8)
    for at in range(0, data.size, CHUNK):
        part = data[at : at + CHUNK]
        to[at : at + CHUNK] = part
        _release(part)
    return copy


def _release(array: Array) -> None:
    """Return the pages of `array` to the system if it is a view of a mapped file."""
    file = _file_of(array)
    if file is None or not hasattr(file, "madvise") or not array.size:
        return
    low, high = np.lib.array_utils.byte_bounds(array)
    base = np.frombuffer(file, np.uint8).ctypes.data
    start = (low - base) // mmap.PAGESIZE * mmap.PAGESIZE
    file.madvise(mmap.MADV_DONTNEED, start, high - base - start)


def _file_of(array: Array) -> mmap.mmap | None:
    """Return the read-only map that `array` is a view of."""
    base = cast(object, array)
    while isinstance(base, np.ndarray):
        base = cast(object, cast(Array, base).base)
    owner = cast(object, base.obj) if isinstance(base, memoryview) else base
    return owner if isinstance(owner, mmap.mmap) and memoryview(owner).readonly else None
