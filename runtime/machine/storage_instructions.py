"""
Record instructions that allocate storages, and view their bytes as tensors.

They run while they are recorded: a storage gets its place once for each path.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...operators import storage_errors
from ..calls.value_checks import dimensions, scalar
from ..errors import MachineError
from ..observe.counters import AllocationSite
from ..program import instructions as vm
from ..program.dtypes import element_type
from ..program.objects import Storage, Tensor
from ..program.program import Array, spec_of
from .segment_builder import SegmentBuilder


class StorageInstructions(SegmentBuilder):
    """A segment, with a method for each instruction on storages."""

    def alloc_storage(self, i: vm.AllocStorage) -> None:
        size = self.immediate(i.size)
        if size < 0:
            raise MachineError(storage_errors.negative_size(size))
        capacity = self.context.capacities.get(i.device)
        if capacity is not None and (live := self.state.live[i.device]) + size > capacity:
            raise MachineError(
                storage_errors.pool_is_full(size, self.device(i.device), live, capacity)
            )
        what = f"a storage of {size} bytes on {self.device(i.device)}"
        at, memory = self.state.spaces[i.device].take(size, i.alignment, what)
        site = AllocationSite(self.state.frame.function, self.pc, i.device)
        self.counters.storages[site] += 1
        self.counters.storage_bytes[site] += size
        storage = Storage(size, i.device, memory, at, i.alignment)
        self.mark_unwritten(storage)
        if self.guard is not None:
            self.compute(self.guard.allocates(self.site(), storage))
        elif self.context.memory.poison:
            self.clear(memory)
        self.state.write(i.dst, storage)
        if self.details is not None:
            allocated = i.device, size
            self.details.note_memory(len(self.steps), self.pc, self.state.live, allocated)

    def mark_unwritten(self, storage: Storage) -> None:
        """Note that no byte of `storage`, which is new, was written."""
        if storage.size:
            self.state.unwritten[storage] = [0, storage.size]

    def slice_storage(self, i: vm.SliceStorage) -> None:
        storage = self.storage(i.storage)
        dynamic = [value for value in (i.offset, i.size) if isinstance(value, vm.Reg)]
        read = iter(self.values(*(self.tensor(value.index) for value in dynamic)))
        offset, size = (
            value if isinstance(value, int) else scalar(next(read)).item()
            for value in (i.offset, i.size)
        )
        if size < 0:
            raise MachineError(storage_errors.negative_size(size))
        if offset < 0 or offset + size > storage.size:
            raise MachineError(
                storage_errors.outside_storage("a slice", size, offset, storage.size)
            )
        if i.alignment > storage.alignment or offset % i.alignment:
            raise MachineError(
                storage_errors.misaligned_slice(offset, storage.alignment, i.alignment)
            )
        start = storage.start + offset
        slice = Storage(
            *(size, storage.device, storage.memory, storage.at, i.alignment, start),
            whole=storage.root,
            parts=(storage,),
        )
        self.state.write(i.dst, slice)

    def alloc_tensor(self, i: vm.AllocTensor) -> None:
        self.view_storage(i.dst, i.storage, self.immediate(i.offset), i.shape, i.dtype)

    def alloc_tensor_reg(self, i: vm.AllocTensorReg) -> None:
        shape = self.tensor(i.shape)
        if isinstance(i.offset, int):
            (dims,), offset = self.values(shape), i.offset
        else:
            dims, at = self.values(shape, self.tensor(i.offset.index))
            offset = scalar(at).item()
        self.view_storage(i.dst, i.storage, offset, dimensions(dims), i.dtype)

    def view_storage(
        self, dst: int, register: int, offset: int, shape: tuple[int, ...], dtype: str
    ) -> None:
        storage = self.storage(register)
        kind, size = _layout(shape, dtype)
        if offset < 0 or offset + size > storage.size:
            raise MachineError(
                storage_errors.outside_storage("a tensor", size, offset, storage.size)
            )
        start = storage.start + offset
        try:
            array = self.array_at(storage, start, shape, kind)
        except ValueError as error:
            raise MachineError(storage_errors.no_array(shape, error)) from error
        home = self.context.homes[storage.device]
        self.state.write(dst, Tensor(array, home, False, (storage,), start))

    def array_at(
        self, storage: Storage, start: int, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> Array:
        """Return the bytes of `storage` from byte `start` of its memory as an array."""
        return np.ndarray(shape, dtype, storage.memory, start)

    def reshape_tensor(self, i: vm.ReshapeTensor) -> None:
        source = self.tensor(i.tensor)
        if isinstance(i.shape, vm.Reg):
            shape = dimensions(self.values(self.tensor(i.shape.index))[0])
        else:
            shape = i.shape
        if any(dim < 0 for dim in shape) or prod(shape) != source.array.size:
            raise MachineError(storage_errors.other_elements(spec_of(source.array), shape))
        array = _viewed(source.array, shape)
        kept = (source.device, source.constant, source.parts, source.offset)
        self.state.write(i.dst, Tensor(array, *kept, viewed=source.origin))

    def slice_tensor(self, i: vm.SliceTensor) -> None:
        source = self.tensor(i.tensor)
        start, shape = self.immediate(i.start), i.shape
        if isinstance(shape, vm.Reg):
            shape = dimensions(self.values(self.tensor(shape.index))[0])
        count, whole = shape[0] if shape else -1, source.array
        if (
            not whole.ndim
            or min(start, count) < 0
            or whole.shape[1:] != tuple(shape[1:])
            or (count and start + count > whole.shape[0])
        ):
            raise MachineError(storage_errors.other_rows(spec_of(whole), start, shape))
        array = whole[start : start + count]
        at = source.offset + start * prod(whole.shape[1:]) * whole.dtype.itemsize
        kept = (source.device, source.constant, source.parts, at)
        self.state.write(i.dst, Tensor(array, *kept, viewed=source.origin))

    def join_tensors(self, i: vm.JoinTensors) -> None:
        parts, shape = tuple(map(self.tensor, i.parts)), i.shape
        if isinstance(shape, vm.Reg):
            shape = dimensions(self.values(self.tensor(shape.index))[0])
        specs = [spec_of(part.array) for part in parts]
        count = sum(part.array.size for part in parts)
        if not parts or any(dim < 0 for dim in shape) or prod(shape) != count:
            raise MachineError(storage_errors.other_elements_of_join(count, shape))
        inside = [part for part in parts if part.array.size] or [parts[0]]
        first, kept = inside[0], tuple(dict.fromkeys(s for part in parts for s in part.parts))
        if any(part.array.dtype != first.array.dtype for part in parts):
            raise MachineError(storage_errors.apart(specs))
        array = _viewed(first.array, shape) if len(inside) == 1 else None
        if array is None:
            storage, at = first.parts[0] if first.parts else None, first.offset
            for part in inside:
                where = part.parts[0] if part.parts else None
                if not (
                    isinstance(storage, Storage)
                    and isinstance(where, Storage)
                    and where.root is storage.root
                    and part.offset == at
                ):
                    raise MachineError(storage_errors.apart(specs))
                at += part.array.nbytes
            assert isinstance(storage, Storage)
            array = np.ndarray(shape, first.array.dtype, storage.memory, first.offset)
        constant = any(part.constant for part in parts)
        joined = Tensor(array, first.device, constant, kept, first.offset, joined=parts)
        self.state.write(i.dst, joined)


def _layout(shape: tuple[int, ...], dtype: str) -> tuple[np.dtype[Any], int]:
    """Return the NumPy type called `dtype`, and the bytes of an array of `shape`."""
    if any(dim < 0 for dim in shape):
        raise MachineError(storage_errors.negative_dims(shape))
    kind = element_type(dtype)
    return kind, prod(shape) * kind.itemsize


def _viewed(array: Array, shape: tuple[int, ...]) -> Array:
    """Return `array` in `shape`, which has as many elements."""
    try:
        return array.reshape(shape)
    except ValueError as error:
        raise MachineError(storage_errors.no_array(shape, error)) from error
