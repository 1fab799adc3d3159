"""
Scratch memory of kernels, allocated when they are bound.

Kernels that never run at the same time can share it: bind each inside `Workspace.lend()`, and it
starts again at the workspace's first byte. So scratch memory does not keep its contents from one
call of a kernel to the next. Without a workspace, every request is a separate allocation.
"""

from __future__ import annotations

from contextvars import ContextVar
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from .limits import ALIGNMENT, POISON, Memory
from .regions import Bytes, Extent, Region


class Workspace:
    """Memory that kernels share: the first bytes of `region` (default: one of its own)."""

    def __init__(self, region: Region | None = None) -> None:
        self.extent = Extent(Region(Memory()) if region is None else region)
        self.used = 0
        """Bytes in use: all that is taken from here on may be reused by setting it back."""

    @property
    def memory(self) -> Memory:
        """The memory from which the region is reserved."""
        return self.extent.region.memory

    @property
    def size(self) -> int:
        """Number of bytes that the kernels need."""
        return self.extent.top

    def poison(self) -> None:
        """Overwrite the contents, which no kernel may read."""
        self.extent.view(0, self.size).fill(POISON)

    def lend(self) -> Lent:
        """Serve `scratch` calls from this workspace; their memory is free again at the end."""
        return Lent(self)

    def take(self, size: int) -> Bytes:
        """Return `size` bytes, distinct from all others within the same `lend`."""
        start = (self.used + (ALIGNMENT - 1)) & -ALIGNMENT
        self.extent.cover(start + size, "scratch memory of a kernel")
        self.used = start + size
        return self.extent.view(start, size)


class Lent:
    """The context in which `workspace` serves `scratch`."""

    __slots__ = ("_token", "_used", "_workspace")

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __enter__(self) -> None:
        self._used = self._workspace.used
        self._token = _current.set(self._workspace)

    def __exit__(self, *error: object) -> None:
        _current.reset(self._token)
        self._workspace.used = self._used


_current: ContextVar[Workspace | None] = ContextVar("workspace", default=None)


def scratch(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an uninitialised array for a kernel's own use, alive as long as the kernel."""
    if min(shape, default=0) < 0:
        raise ValueError(f"dimensions must be at least 0, but are {shape}")
    workspace = _current.get()
    if workspace is None:
        return np.empty(shape, dtype)
    kind = np.dtype(dtype)
    return workspace.take(prod(shape) * kind.itemsize).view(kind).reshape(shape)
