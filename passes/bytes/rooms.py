"""
The bytes of storages and tensors, as their ops declare them.

    %w = memory.slice_storage %s[64] size 128 align 64             [64, 192) of %s
    %u = memory.alloc_tensor %w[32] : tensor<4xf32>                [96, 112) of %s
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from ...dialects import memory
from ...dialects.memrefs import as_memref, buffer_size
from ...dialects.tensors import element_size, static_size, tensor_of
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from ...operators.sizes.size_expressions import Expr
from ..sizes.reader import Sizes
from .op_facts import part_of, viewed


class Room(NamedTuple):
    """Bytes from `start` on in `root`, a storage that is not part of another."""

    root: SSAValue
    start: Expr
    size: Expr | None
    """None of a storage whose caller knows it."""
    alignment: int | None = None


def bytes_of(tensor: SSAValue, sizes: Sizes) -> Expr:
    """Return the size of a tensor, or of a buffer."""
    if isinstance(tensor.owner, memory.BufferOp):
        buffer = as_memref(tensor.type)
        static = None if buffer is None else buffer_size(buffer)
        assert static is not None, "verified: a memref of known layout"
        return sizes.algebra.product([Expr.of(static), *map(sizes.size, tensor.owner.sizes)])
    type = tensor_of(tensor)
    bytes = static_size(type)
    if bytes is not None:
        return Expr.of(bytes)
    return sizes.algebra.product([Expr.of(element_size(type.element_type)), *sizes.dims(tensor)])


def size_of(storage: memory.AllocStorageOp, sizes: Sizes) -> Expr:
    """Return the size of a storage."""
    return sizes.size_or(storage.bytes)


@dataclass(eq=False)
class Rooms:
    """Finds the bytes of storages and tensors, each once."""

    sizes: Sizes = field(default_factory=Sizes)
    _rooms: dict[int, Room] = field(default_factory=lambda: {})
    """By the identity of the storage: xDSL's hash is slow."""
    _bytes: dict[tuple[int, ...], Expr] = field(default_factory=lambda: {})
    """The size of a tensor, by the identities of what its dims are computed from, and its type."""

    def of_storage(self, storage: SSAValue) -> Room:
        """Return the bytes of a storage; the size of one that is not allocated is unknown."""
        path: list[SSAValue] = []
        while id(storage) not in self._rooms and (source := viewed(storage)) is not None:
            path.append(storage)
            storage = source
        room = self._rooms.get(id(storage))
        if room is None:
            room, op = Room(storage, Expr.of(0), None), storage.owner
            if isinstance(op, memory.AllocStorageOp):
                size, alignment = size_of(op, self.sizes), op.alignment.value.data
                room = room._replace(size=size, alignment=alignment)
            self._rooms[id(storage)] = room
        for slice in reversed(path):
            op = slice.owner
            assert isinstance(op, Operation), "a view"
            if (part := part_of(op)) is not None:
                start = room.start + self.sizes.size_or(part.offset)
                room = Room(room.root, start, self.sizes.size_or(part.size), part.alignment)
            self._rooms[id(slice)] = room
        return room

    def of_tensor(self, op: memory.PlacedOp) -> tuple[SSAValue, Expr, Expr]:
        """Return the root of a tensor or buffer, the offset in it, and the size."""
        storage, offset = op.start
        (tensor,), operands = op.results, operands_of(op)
        is_buffer = isinstance(op, memory.BufferOp)
        shape = operands[1 + ("offset" not in op.properties) :] if is_buffer else operands[-1:]
        key = (*map(id, shape), id(tensor.type))
        size = self._bytes.get(key)
        if size is None:
            size = bytes_of(tensor, self.sizes)
            self._bytes[key] = size
        room = self.of_storage(storage)
        return room.root, room.start + self.sizes.size_or(offset), size
