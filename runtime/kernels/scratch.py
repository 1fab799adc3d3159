"""
Scratch memory of kernels, taken when they are bound.

Kernels that never run at the same time can share it: whoever binds them does so inside
`Workspace.lend()`, and each kernel starts again at the workspace's first byte. A kernel must
therefore not expect its scratch to keep anything from one call to the next. Without a workspace
every request is an allocation of its own.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64


def aligned_bytes(size: int, alignment: int = ALIGNMENT) -> npt.NDArray[np.uint8]:
    """`size` uninitialised bytes at an address that is a multiple of `alignment`."""
    block = np.empty(size + alignment, np.uint8)
    start = -block.ctypes.data % alignment
    return block[start : start + size]


class Workspace:
    """
    Memory that kernels bound one after the other share.

    It grows by doubling; kernels bound before keep the memory they were given.
    """

    def __init__(self) -> None:
        self._memory = aligned_bytes(0)
        self._used = 0
        self.size = 0
        """The bytes allocated so far, outgrown memory included."""

    @contextmanager
    def lend(self) -> Generator[None]:
        """Serve `scratch` calls from here; what they take is free again at the end."""
        used = self._used
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)
            self._used = used

    def take(self, size: int) -> npt.NDArray[np.uint8]:
        """`size` bytes that no other taker of the same `lend` block has."""
        start = -(-self._used // ALIGNMENT) * ALIGNMENT
        if start + size > len(self._memory):
            self._memory = aligned_bytes(max(start + size, 2 * len(self._memory)))
            self.size += len(self._memory)
        self._used = start + size
        return self._memory[start : start + size]


_current: ContextVar[Workspace | None] = ContextVar("workspace", default=None)


def scratch(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """An uninitialised array for a kernel's own use, alive as long as the kernel."""
    if min(shape, default=0) < 0:
        raise ValueError(f"dims must be at least 0, but are {shape}")
    workspace = _current.get()
    if workspace is None:
        return np.empty(shape, dtype)
    kind = np.dtype(dtype)
    return workspace.take(prod(shape) * kind.itemsize).view(kind).reshape(shape)
