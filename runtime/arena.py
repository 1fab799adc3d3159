"""
The memory of one prepared function on one device.

Storages live in blocks. Along one path through the function, a block serves one storage at a
time. Mutually exclusive paths share blocks: a `FreeList` is one path's view of the arena.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .kernels.memory import ALIGNMENT, OutOfMemory, Owner

WASTE = 2
"""A free block may be at most this many times as large as the storage it serves."""


def with_room(size: int) -> int:
    """Return `size`, rounded up by at most a quarter: there are 4 sizes between powers of two."""
    step = max(ALIGNMENT, 1 << max(0, size.bit_length() - 3))
    return -(-size // step) * step


@dataclass(frozen=True, slots=True)
class Block:
    """Block `number` of an arena: bytes at an address that is a multiple of `alignment`."""

    number: int
    alignment: int
    memory: npt.NDArray[np.uint8]


@dataclass(slots=True)
class Arena:
    """
    All blocks on the device named `device`, charged to `owner`.

    Without `reuses` each serves only one storage along a path.
    """

    device: str
    owner: Owner
    reuses: bool = True
    blocks: list[Block] = field(default_factory=list[Block])

    def grow(self, size: int, alignment: int) -> Block:
        """Allocate a new block; raise `OutOfMemory` if memory is short."""
        what = f"a storage on {self.device}"
        block = Block(len(self.blocks), alignment, self.owner.take(size, alignment, what))
        self.blocks.append(block)
        return block


@dataclass(slots=True)
class FreeList:
    """The blocks of `arena` that are free at a point of a path."""

    arena: Arena
    free: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(size, number), sorted."""
    known: int = 0
    """Number of the arena's blocks that this path has seen; newer ones are free too."""

    def copy(self) -> FreeList:
        return FreeList(self.arena, list(self.free), self.known)

    def take(self, size: int, alignment: int, varies: bool = False) -> Block:
        """
        Take the smallest free block that fits `size` bytes at a multiple of `alignment`.

        A new block for a size that `varies` from path to path has room for a few larger ones.
        """
        alignment = max(alignment, ALIGNMENT)
        for block in self.arena.blocks[self.known :]:
            insort(self.free, (len(block.memory), block.number))
        self.known = len(self.arena.blocks)
        for i in range(bisect_left(self.free, (size, 0)), len(self.free)):
            extent, number = self.free[i]
            if extent > WASTE * size:
                break
            if self.arena.blocks[number].alignment >= alignment:
                del self.free[i]
                return self.arena.blocks[number]
        self.known += 1
        if varies:
            try:
                return self.arena.grow(with_room(size), alignment)
            except OutOfMemory:
                pass  # there may be enough for the size itself
        return self.arena.grow(size, alignment)

    def give(self, block: Block) -> None:
        """Return `block` for later storages of this path."""
        if not self.arena.reuses:
            return
        insort(self.free, (len(block.memory), block.number))
