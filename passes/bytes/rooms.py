"""
The bytes of storages and tensors, as their ops declare them.

    %w = memory.slice_storage %s[64] size 128 align 64             [64, 192) of %s
    %u = memory.alloc_tensor %w[32] : tensor<4xf32>                [96, 112) of %s
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import SSAValue

from ...dialects import memory
from ...dialects.tensors import as_tensor, element_size, static_size
from ...operators.sizes.size_expressions import Expr
from ..sizes.reader import Sizes


class Room(NamedTuple):
    """Bytes from `start` on in `root`, a storage that is not part of another."""

    root: SSAValue
    start: Expr
    size: Expr | None
    """None of a storage whose caller knows it."""
    alignment: int | None = None


def root_of(storage: SSAValue) -> SSAValue:
    """Return the storage that `storage` is a slice of, through slices of slices."""
    while isinstance(storage.owner, memory.SliceStorageOp):
        storage = storage.owner.storage
    return storage


@dataclass(eq=False)
class Rooms:
    """Finds the bytes of storages and tensors, each once."""

    sizes: Sizes = field(default_factory=Sizes)
    _rooms: dict[int, Room] = field(default_factory=dict[int, Room])
    """By the identity of the storage: xDSL's hash is slow."""

    def of_storage(self, storage: SSAValue) -> Room:
        """Return the bytes of a storage; the size of one that is not allocated is unknown."""
        path: list[memory.SliceStorageOp] = []
        at = storage
        while id(at) not in self._rooms and isinstance(at.owner, memory.SliceStorageOp):
            path.append(at.owner)
            at = at.owner.storage
        found = self._rooms.get(id(at))
        if found is None:
            found, op = Room(at, Expr.of(0), None), at.owner
            if isinstance(op, memory.AllocStorageOp):
                size = self._static_or(op.size, op.dynamic_size)
                found = found._replace(size=size, alignment=op.alignment.value.data)
            self._rooms[id(at)] = found
        for op in reversed(path):
            start = found.start + self._static_or(op.offset, op.dynamic_offset)
            size = self._static_or(op.size, op.dynamic_size)
            found = self._rooms[id(op.slice)] = Room(
                found.root, start, size, op.alignment.value.data
            )
        return found

    def of_tensor(self, op: memory.AllocTensorOp) -> tuple[SSAValue, Expr, Expr]:
        """Return the root of a tensor, the offset in it, and the size."""
        storage, offset = op.start
        room, size = self.of_storage(storage), self.bytes_of(op.results[0])
        return room.root, room.start + self.sizes.size_or(offset), size

    def bytes_of(self, tensor: SSAValue) -> Expr:
        """Return the size of a tensor."""
        type = as_tensor(tensor.type)
        assert type is not None, "verified: a tensor"
        bytes = static_size(type)
        if bytes is not None:
            return Expr.of(bytes)
        width = Expr.of(element_size(type.element_type))
        return self.sizes.algebra.product([width, *self.sizes.dims(tensor)])

    def _static_or(self, static: IntegerAttr[I64] | None, dynamic: SSAValue | None) -> Expr:
        if static is not None:
            return Expr.of(static.value.data)
        assert dynamic is not None, "verified: static or dynamic"
        return self.sizes.size(dynamic)
