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

from .memory import ALIGNMENT, POISON, Memory, Owner


class Workspace:
    """
    Memory that kernels bound one after the other share, taken from `memory`.

    It grows by doubling; kernels bound before keep the memory they were given.
    """

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = Memory() if memory is None else memory
        self._owner = Owner(self.memory)
        self._blocks = [self._owner.take(0)]
        self._used = 0

    @property
    def size(self) -> int:
        """The bytes allocated so far, outgrown memory included."""
        return self._owner.size

    def poison(self) -> None:
        """Overwrite what kernels left here, which none may read."""
        for block in self._blocks:
            block.fill(POISON)

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
        if start + size > len(self._blocks[-1]):
            grown = max(start + size, 2 * len(self._blocks[-1]))
            self._blocks.append(self._owner.take(grown, what="scratch memory of a kernel"))
        self._used = start + size
        return self._blocks[-1][start : start + size]


_current: ContextVar[Workspace | None] = ContextVar("workspace", default=None)


def scratch(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array for a kernel's own use, alive as long as the kernel; what is in it means nothing."""
    if min(shape, default=0) < 0:
        raise ValueError(f"dims must be at least 0, but are {shape}")
    workspace = _current.get()
    if workspace is None:
        return np.empty(shape, dtype)
    kind = np.dtype(dtype)
    return workspace.take(prod(shape) * kind.itemsize).view(kind).reshape(shape)
