"""
The memory of outputs: the caller's arrays, new arrays, or memory that compiled code allocates.

A size that is known only after the call is None in a shape. Compiled code allocates such an output;
its memory is freed with the last NumPy array that uses it.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np

from ..calls.values import Value
from ..errors import MachineError
from ..memory.limits import default_limit
from ..program.dtypes import element_type
from ..program.program import Array, Param, TensorSpec, spec_of
from .dlpack import DLTensor, array_in
from .interface import Entry
from .interface import spec_of as spec_of_param
from .structures import fields_of, together

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
        return self._array.ctypes.data

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
        found = array_in(self._tensor)
        data = cast("int | None", self._tensor.data)
        if found.size:
            memory: Any = found
            while isinstance(memory, np.ndarray):
                memory = cast(Any, memory).base
            weakref.finalize(memory, release, data).atexit = False
        else:
            release(data)
        return found


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
    found: list[Array | None] = []
    for (name, place), result, shape in zip(places, results, shapes, strict=True):
        if not isinstance(place, np.ndarray):
            raise MachineError(f"{name} must be an array, but is {type(place).__name__}")
        array = cast(Array, place)
        wanted, given = TensorSpec(spec_of_param(result).dtype, shape), spec_of(array)
        if not wanted.accepts(given):
            raise MachineError(f"{name} must be {wanted}, but is {given}")
        if not array.flags.writeable:
            raise MachineError(f"{name} is read-only")
        found.append(array)
    return found
