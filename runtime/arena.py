"""
The memory of one prepared function on one device.

Storages live in blocks. Along one path through the function a block serves one storage at a
time; paths that exclude each other share blocks: a `Shelf` is the arena as one path sees it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .kernels.memory import ALIGNMENT, Owner

WASTE = 2
"""A free block serves a storage unless it is more than this many times as large."""


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes at an address that is a multiple of `alignment`; the arena's block `number`."""

    number: int
    alignment: int
    memory: npt.NDArray[np.uint8]


@dataclass(slots=True)
class Arena:
    """All blocks of a device, named `device`; `owner` pays for them."""

    device: str
    owner: Owner
    blocks: list[Block] = field(default_factory=list[Block])

    def grow(self, size: int, alignment: int) -> Block:
        """A new block; `OutOfMemory` when memory is short."""
        what = f"a storage on {self.device}"
        block = Block(len(self.blocks), alignment, self.owner.take(size, alignment, what))
        self.blocks.append(block)
        return block


@dataclass(slots=True)
class Shelf:
    """The blocks of `arena` that are free at one point of a path."""

    arena: Arena
    free: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(size, number), sorted."""
    known: int = 0
    """How many of the arena's blocks this path has seen; the others are free too."""

    def copy(self) -> Shelf:
        return Shelf(self.arena, list(self.free), self.known)

    def take(self, size: int, alignment: int) -> Block:
        """The smallest free block that holds `size` bytes at a multiple of `alignment`."""
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
        return self.arena.grow(size, alignment)

    def give(self, block: Block) -> None:
        """Make `block` free for later storages of this path."""
        insort(self.free, (len(block.memory), block.number))
