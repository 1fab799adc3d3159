"""
Calls of the functions of a library, with arguments as callers in Python have them.

    call = EntryCall(entry, code, program, workspaces)
    call(args)                       an array or a tuple

Arrays as the code reads them, contiguous and of the right types, are passed on if their shapes were
seen before; all else is converted and checked. What depends on dims alone, the shapes of results
and the bytes of workspaces, is kept for the last shapes that were seen.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from math import prod
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from ...operators.named_dims import dims_fault
from ..calls.addresses import address
from ..calls.call_arguments import check_structures, flattened
from ..calls.lent_caches import buffer_rows
from ..calls.values import Leaf, Value
from ..errors import MachineError
from ..memory.limits import default_limit
from ..program.dtypes import element_type
from ..program.program import Array, Program
from .interface import TENSOR, Entry, fields_of, nested, spec_of, together
from .library_code import LibraryCode
from .output_memory import Shape, Target, Workspaces, given_for, target_of

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
    spaces: Sequence[int]
    """Of the workspaces, in bytes; less than 0 if the call allocates it, or fails."""
    outputs: Sequence[tuple[tuple[int, ...], np.dtype[Any]]] | None
    """The outputs if the call allocates none of them, and all are within the limit."""


class EntryCall:
    """The calls of one entry; several threads may call it at the same time."""

    def __init__(
        self, entry: Entry, code: LibraryCode, program: Program, workspaces: Workspaces
    ) -> None:
        name = entry.function.name
        if "unpacked" not in entry.forms:
            raise MachineError(
                f"{code.path}: {name} has no unpacked form, which this loader calls; compile it "
                "with aot-lower-main{forms=unpacked,…}"
            )
        if entry.contexts:
            raise MachineError(
                f"{code.path}: {name} needs device contexts, which only a C program has"
            )
        self.count = 0
        """The calls that returned."""
        self._entry, self._code, self._workspaces = entry, code, workspaces
        self._program, self._lock = program, Lock()
        self._types = [element_type(spec_of(param).dtype) for param in entry.function.params]
        self._nesting, self._is_dynamic = together(entry.nested.outputs), entry.is_dynamic
        self._caches = {cache.result: cache for cache in entry.function.caches}
        self._kept: dict[tuple[tuple[int, ...], ...], Measured] = {}
        self._call = code.symbol(entry.symbol)
        count = len(entry.tensors) + self._is_dynamic + len(entry.pools)
        self._call.argtypes = [ctypes.c_void_p] * count
        self._release: Any = None
        if any(entry.allocated):
            self._release = code.own_symbol("release")
            self._release.argtypes, self._release.restype = [ctypes.c_void_p], None

    def __call__(self, args: Sequence[object], out: Value | None = None) -> Value:
        """Return the result, or write it to `out`, which is unchanged after an error."""
        arrays = self._readable(args)
        measured = self._kept.get(tuple([array.shape for array in arrays])) if arrays else None
        if not arrays or measured is None:
            if not arrays or not self._fit(arrays):
                arrays = self._converted(args)
            measured = self._measured(arrays)
        if out is None and measured.outputs is not None:
            outputs: list[Array] = [
                self._lent(i, shape, arrays) if i in self._caches else np.empty(shape, dtype)
                for i, (shape, dtype) in enumerate(measured.outputs)
            ]
            self._run(arrays, map(address, outputs), measured)
            return outputs[0] if self._nesting == TENSOR else nested(self._nesting, outputs)
        entry = self._entry
        given = given_for(entry, measured.shapes, out)
        targets = [
            Target(self._lent(i, shape, arrays))
            if i in self._caches
            else target_of(result, shape, None if entry.may_fail else array, arrays)
            for i, (result, shape, array) in enumerate(
                zip(entry.results, measured.shapes, given, strict=True)
            )
        ]
        self._run(arrays, [target.pointer for target in targets], measured)
        outputs = [target.array(self._release) for target in targets]
        if out is None:
            return nested(self._nesting, outputs)
        given_for(entry, [output.shape for output in outputs], out)
        for array, written in zip(given, outputs, strict=True):
            if array is not None and array is not written:
                array[...] = written
        return out

    def _lent(self, result: int, shape: Shape, arrays: Sequence[Array]) -> Array:
        """Return the memory of a result that is in the buffer of an argument."""
        cache, rows = self._caches[result], shape[0]
        assert rows is not None, "verified: its rows are counted before the call"
        return buffer_rows(self._entry.function, cache, arrays[cache.parameter], rows)

    def _run(self, arrays: Sequence[Array], outputs: Iterable[object], sizes: Measured) -> None:
        """Call the function with a workspace for each pool."""
        pointers: list[object] = [*map(address, arrays), *outputs]
        if self._is_dynamic:
            pointers.append(sizes.dims)
        spaces: list[Array] = []
        for size, pool in zip(sizes.spaces, self._entry.pools, strict=True):
            space = self._workspaces.take(size, pool.alignment) if size >= 0 else None
            pointers.append(None if space is None else address(space))
            if space is not None:
                spaces.append(space)
        status = self._call(*pointers)
        for space in spaces:
            self._workspaces.give_back(space)
        if status:
            self._code.fail()
        with self._lock:
            self.count += 1

    def _readable(self, args: Sequence[object]) -> list[Array] | None:
        """Return the arguments if they are arrays as the code reads them."""
        arrays: list[Array] = []
        if len(args) != len(self._types):
            return None
        for array, dtype in zip(args, self._types, strict=True):
            if (
                type(array) is not np.ndarray
                or array.dtype is not dtype
                or array.flags.num & READABLE != READABLE
            ):
                return None
            arrays.append(array)
        return arrays

    def _fit(self, arrays: Sequence[Array]) -> bool:
        """Test whether arrays have dims that the function declares; `_converted` says why not."""
        function = self._entry.function
        for array, param in zip(arrays, function.params, strict=True):
            shape, wanted = array.shape, spec_of(param).shape
            if len(shape) != len(wanted) or any(
                known is not None and known != size
                for known, size in zip(wanted, shape, strict=True)
            ):
                return False
        given = zip(function.params, arrays, strict=True)
        named = ((param.name, param.dims, array.shape) for param, array in given)
        return dims_fault(named, function.dim_bounds) is None

    def _converted(self, args: Sequence[object]) -> list[Array]:
        """Return the arguments as the code reads them; raise `MachineError` if they do not fit."""
        entry = self._entry
        function, structure = entry.function, entry.structure
        if structure is not None and len(args) == len(structure.inputs):
            where = f"parameter '{{}}' of {function.name}"
            args = [
                field
                for param, arg in zip(structure.inputs, args, strict=True)
                for _, field in fields_of(param.fields, arg, param.name, where)
            ]
        values = flattened(function, args)
        check_structures(self._program, function, values)
        return [
            np.require(array, leaf.dtype, ["C", "A"])
            for value in values
            for leaf, array in zip(value.structure, value.arrays, strict=True)
            if isinstance(leaf, Leaf)
        ]

    def _measured(self, arrays: Sequence[Array]) -> Measured:
        """Return the sizes for inputs of such shapes. Raises `MachineError`."""
        shapes = tuple([array.shape for array in arrays])
        measured = self._kept.get(shapes)
        if measured is not None:
            return measured
        wanted = (spec_of(param).shape for param in self._entry.function.params)
        open_dims = [
            size
            for shape, specs in zip(shapes, wanted, strict=True)
            for size, known in zip(shape, specs, strict=True)
            if known is None
        ]
        dims = (ctypes.c_int64 * len(open_dims))(*open_dims)
        symbol, results = self._entry.symbol, self._output_shapes(dims)
        spaces = [
            int(self._measure(f"{symbol}_{pool.symbol}_size")(dims)) for pool in self._entry.pools
        ]
        outputs = [
            (tuple([size for size in shape if size is not None]), element_type(spec_of(p).dtype))
            for shape, p in zip(results, self._entry.results, strict=True)
        ]
        is_known = not any(None in shape for shape in results)
        limit = default_limit()
        fits = is_known and all(prod(s) * dtype.itemsize <= limit for s, dtype in outputs)
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        measured = Measured(dims, results, spaces, outputs if fits else None)
        self._kept[shapes] = measured
        return measured

    def _output_shapes(self, dims: Any) -> list[Shape]:
        entry, specs = self._entry, [spec_of(result) for result in self._entry.results]
        if all(spec.is_static or alone for spec, alone in zip(specs, entry.allocated, strict=True)):
            return [spec.shape for spec in specs]
        found = (ctypes.c_int64 * sum(len(spec.shape) for spec in specs))()
        if self._measure(f"{entry.symbol}_output_shapes")(dims, found):
            self._code.fail()
        sizes = (None if size < 0 else size for size in found)
        return [tuple(next(sizes) for _ in spec.shape) for spec in specs]

    def _measure(self, symbol: str) -> Any:
        """Return a function of dims."""
        function = self._code.symbol(symbol)
        function.restype = ctypes.c_int64
        return function
