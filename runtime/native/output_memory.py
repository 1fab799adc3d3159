"""
The memory of native calls: DLPack's tensor, workspaces, and outputs.

That of an output is the caller's array, a new one, or memory that compiled code allocates. A size
that is known only after the call is None in a shape. Compiled code allocates such an output; its
memory is freed with the last NumPy array that uses it.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np

from ...operators.element_types import ELEMENT_TABLE
from ..calls.addresses import address
from ..calls.values import Value
from ..errors import MachineError
from ..memory.limits import default_limit
from ..program.dtypes import element_type
from ..program.program import Array, Param, TensorSpec, spec_of
from .interface import Entry, fields_of, together
from .interface import spec_of as spec_of_param

_TYPES = {
    (row.dlpack, max(row.bits, 8 * (row.struct is not None))): name
    for name, row in ELEMENT_TABLE.items()
}


class DLTensor(ctypes.Structure):
    """`DLTensor` of DLPack."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def array_in(tensor: Any) -> Array:
    """Return an array over the contiguous memory of a `DLTensor`, which must outlive it."""
    name = _TYPES.get((tensor.code, tensor.bits))
    if name is None or tensor.lanes != 1:
        raise MachineError(f"tensors of DLPack's type code {tensor.code} are not supported")
    dtype = element_type(name)
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    size = prod(shape) * dtype.itemsize
    if not size:
        return np.empty(shape, dtype)
    memory: Any = (ctypes.c_char * size).from_address(tensor.data + tensor.byte_offset)
    return np.frombuffer(memory, dtype).reshape(shape)


Shape: TypeAlias = "tuple[int | None, ...]"

Release: TypeAlias = Callable[[int | None], None]
"""Frees what compiled code allocated."""


class Target:
    """The memory of an output: an array that compiled code writes, or what it allocates."""

    def __init__(self, array: Array) -> None:
        self._array = array

    @property
    def pointer(self) -> object:
        """The address that compiled code receives."""
        return address(self._array)

    def array(self, release: Release) -> Array:
        """Return the output, after the call."""
        return self._array


class Allocated(Target):
    """A tensor that compiled code allocates."""

    def __init__(self, rank: int) -> None:
        self._shape = (ctypes.c_int64 * rank)()
        self._tensor = DLTensor(shape=self._shape)

    @property
    def pointer(self) -> object:
        return ctypes.addressof(self._tensor)

    def array(self, release: Release) -> Array:
        array = array_in(self._tensor)
        data = cast("int | None", self._tensor.data)
        if array.size:
            memory: Any = array
            while isinstance(memory, np.ndarray):
                memory = cast(Any, memory).base
            weakref.finalize(memory, release, data).atexit = False
        else:
            release(data)
        return array


def target_of(result: Param, shape: Shape, given: Array | None, inputs: Sequence[Array]) -> Target:
    """Return the memory for an output: `given`, if compiled code may write there."""
    if None in shape:
        return Allocated(len(shape))
    if given is not None and given.flags.c_contiguous and given.flags.aligned:
        if not any(np.may_share_memory(given, array) for array in inputs):
            return Target(given)
    sizes = tuple(size for size in shape if size is not None)
    dtype = element_type(spec_of_param(result).dtype)
    size = prod(sizes) * dtype.itemsize
    if size > default_limit():
        raise MachineError(f"a result of {size:,} bytes exceeds the memory limit")
    return Target(np.empty(sizes, dtype))


def given_for(entry: Entry, shapes: Sequence[Shape], out: Value | None) -> list[Array | None]:
    """Check `out`; return the caller's array for each output, or None."""
    results = entry.results
    if out is None:
        return [None] * len(results)
    places = fields_of(together(entry.nested.outputs), out, "out")
    arrays: list[Array | None] = []
    for (name, place), result, shape in zip(places, results, shapes, strict=True):
        if not isinstance(place, np.ndarray):
            raise MachineError(f"{name} must be an array, but is {type(place).__name__}")
        array = cast(Array, place)
        wanted, given = TensorSpec(spec_of_param(result).dtype, shape), spec_of(array)
        if not wanted.accepts(given):
            raise MachineError(f"{name} must be {wanted}, but is {given}")
        if not array.flags.writeable:
            raise MachineError(f"{name} is read-only")
        arrays.append(array)
    return arrays


MOST_KEPT = 256 << 20
"""The bytes that are kept at most for later calls."""


class Workspaces:
    """
    Memory for calls, kept for later ones; several threads may use it.

    As many workspaces are kept as calls ran at the same time, each as large as a call needed, and
    at most `limit` bytes in all.
    """

    def __init__(self, limit: int = MOST_KEPT) -> None:
        self.limit = limit
        self._free: list[Array] = []
        self._kept = 0
        """The bytes of `_free`."""
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """The bytes that are kept and not in use."""
        with self._lock:
            return self._kept

    def take(self, size: int, alignment: int) -> Array | None:
        """Return at least `size` bytes; None if they cannot be allocated."""
        with self._lock:
            for i in reversed(range(len(self._free))):
                space = self._free[i]
                if space.nbytes >= size and address(space) % alignment == 0:
                    self._kept -= space.nbytes
                    return self._free.pop(i)
            if self._free:
                self._kept -= self._free.pop().nbytes  # the new one takes its place
        with suppress(MemoryError, ValueError):
            space = np.empty(size + alignment, np.uint8)
            return space[-address(space) % alignment :]
        return None

    def give_back(self, space: Array) -> None:
        """Keep what `take` returned for later calls, if there is room."""
        with self._lock:
            self._free.append(space)
            self._kept += space.nbytes
            while self._kept > self.limit:
                self._kept -= self._free.pop(0).nbytes

    def clear(self) -> None:
        """Free all that is kept."""
        with self._lock:
            self._free.clear()
            self._kept = 0
