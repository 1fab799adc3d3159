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

from .memory import ALIGNMENT, POISON, Memory, Owner


class Workspace:
    """
    Memory that kernels share, reserved from `memory`.

    It grows by doubling; kernels bound earlier keep their old blocks.
    """

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = Memory() if memory is None else memory
        self._owner = Owner(self.memory)
        self._blocks = [self._owner.take(0)]
        self.used = 0
        """Bytes in use: all that is taken from here on may be reused by setting it back."""

    @property
    def size(self) -> int:
        """Number of bytes allocated so far, including outgrown blocks."""
        return self._owner.size

    def poison(self) -> None:
        """Overwrite the contents, which no kernel may read."""
        for block in self._blocks:
            block.fill(POISON)

    def lend(self) -> Lent:
        """Serve `scratch` calls from this workspace; their memory is free again at the end."""
        return Lent(self)

    def take(self, size: int) -> npt.NDArray[np.uint8]:
        """Return `size` bytes, distinct from all others within the same `lend`."""
        start = -(-self.used // ALIGNMENT) * ALIGNMENT
        if start + size > len(self._blocks[-1]):
            grown = max(start + size, 2 * len(self._blocks[-1]))
            self._blocks.append(self._owner.take(grown, what="scratch memory of a kernel"))
        self.used = start + size
        return self._blocks[-1][start : start + size]


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
