"""
Calls of compiled functions with arrays as the code reads them: contiguous, of the right types.

    direct = DirectCall(entry, call, measure, workspaces)
    done = direct(args)              None: the general path converts the arguments, or complains

What depends on dims alone, the shapes of results and the bytes of workspaces, is kept for the last
shapes that were seen. Each error is that of the general path.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...operators.named_dims import dims_fault
from ..errors import MachineError
from ..memory.limits import default_limit
from ..program.dtypes import element_type
from ..program.program import Array
from .interface import Entry, spec_of
from .output_memory import Shape, Workspaces, address

READABLE = 0x101
"""NumPy's flags of arrays that are contiguous in C's order, and aligned."""

MOST_KEPT = 1024
"""The shapes whose sizes are kept: an encoder sees few, a generator a new one a token."""


class Measured(NamedTuple):
    """Sizes that depend on the dims of the inputs alone."""

    dims: Any
    """The dims, as the code reads them."""
    shapes: Sequence[Shape]
    """Of the outputs; a dim that is known only after the call is None."""
    sizes: Sequence[int]
    """Of the workspaces, in bytes; less than 0 if the call allocates it."""


Measure: TypeAlias = Callable[[Any], Measured]
"""Measures dims. Raises `MachineError`."""


class _Known(NamedTuple):
    """Measured sizes, for calls whose results are arrays of known shapes."""

    dims: Any
    outputs: Sequence[tuple[tuple[int, ...], np.dtype[Any]]]
    sizes: Sequence[int]


class DirectCall:
    """The calls of one entry; several threads may call it at the same time."""

    def __init__(self, entry: Entry, call: Any, measure: Measure, workspaces: Workspaces) -> None:
        function = entry.function
        self._entry, self._call, self._measure = entry, call, measure
        self._workspaces = workspaces
        specs = [spec_of(param) for param in function.params]
        self._types = [element_type(spec.dtype) for spec in specs]
        self._dims = [spec.shape for spec in specs]
        self._outputs = [element_type(spec_of(result).dtype) for result in entry.results]
        self._alignments = [pool.alignment for pool in entry.pools]
        self._known: dict[tuple[tuple[int, ...], ...], _Known] = {}

    @staticmethod
    def serves(entry: Entry) -> bool:
        """Test whether calls of `entry` are simple: no tuples, no tensors that calls allocate."""
        return entry.structure is None and not any(entry.allocated)

    def __call__(self, args: Sequence[object]) -> tuple[int, list[Array]] | None:
        """Return the status and the results; None if the arguments need the general path."""
        if len(args) != len(self._types):
            return None
        arrays: list[Array] = []
        for array, dtype in zip(args, self._types, strict=True):
            if (
                type(array) is not np.ndarray
                or array.dtype is not dtype
                or array.flags.num & READABLE != READABLE
            ):
                return None
            arrays.append(array)
        shapes = tuple([array.shape for array in arrays])
        known = self._known.get(shapes) or self._learned(shapes)
        if known is None:
            return None
        results: list[Array] = [np.empty(shape, dtype) for shape, dtype in known.outputs]
        pointers: list[object] = [*map(address, arrays), *map(address, results)]
        if self._entry.is_dynamic:
            pointers.append(known.dims)
        if not self._alignments:
            return self._call(*pointers), results
        spaces: list[Array] = []
        for size, alignment in zip(known.sizes, self._alignments, strict=True):
            space = self._workspaces.take(size, alignment) if size >= 0 else None
            pointers.append(None if space is None else address(space))
            if space is not None:
                spaces.append(space)
        status = self._call(*pointers)
        for space in spaces:
            self._workspaces.give_back(space)
        return status, results

    def _learned(self, shapes: tuple[tuple[int, ...], ...]) -> _Known | None:
        """Measure shapes that were not seen before; None if the call must fail."""
        dims: list[int] = []
        for shape, wanted in zip(shapes, self._dims, strict=True):
            if len(shape) != len(wanted):
                return None
            for size, known in zip(shape, wanted, strict=True):
                if known is None:
                    dims.append(size)
                elif size != known:
                    return None
        function = self._entry.function
        shaped = ((p.name, p.dims, shape) for p, shape in zip(function.params, shapes, strict=True))
        if dims_fault(shaped, function.dim_bounds) is not None:
            return None
        try:
            measured = self._measure((ctypes.c_int64 * len(dims))(*dims))
        except MachineError:
            return None
        limit, outputs = default_limit(), list[tuple[tuple[int, ...], np.dtype[Any]]]()
        for shape, dtype in zip(measured.shapes, self._outputs, strict=True):
            sizes = tuple([size for size in shape if size is not None])
            if len(sizes) < len(shape) or prod(sizes) * dtype.itemsize > limit:
                return None
            outputs.append((sizes, dtype))
        if len(self._known) >= MOST_KEPT:
            self._known.clear()
        known = self._known[shapes] = _Known(measured.dims, outputs, measured.sizes)
        return known
