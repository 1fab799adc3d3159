"""
Calls of the functions of a library, with arguments as callers in Python have them.

    call = EntryCall(entry, code, program, workspaces)
    call(args)                       an array or a tuple

Arrays as the code reads them, contiguous and of the right types, are passed on if their dims fit;
all else is converted and checked. What depends on dims alone, the shapes of results and the bytes
of workspaces, is kept for the last shapes that were seen.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise
from math import prod
from operator import itemgetter
from threading import Lock
from typing import Any, NamedTuple, cast

import numpy as np

from ...operators.named_dims import Bounds
from ..calls.addresses import address, addresses
from ..calls.call_arguments import check_structures, flattened
from ..calls.lent_caches import buffer_rows
from ..calls.values import Leaf, Value
from ..errors import MachineError
from ..memory.limits import default_limit
from ..program.dtypes import element_type
from ..program.program import Array, Function, Program
from .interface import TENSOR, Entry, fields_of, nested, spec_of, together
from .library_code import LibraryCode
from .output_memory import Shape, Target, Workspaces, given_for, target_of

READABLE = 0x101
"""NumPy's flags of arrays that are contiguous in C's order, and aligned."""

MOST_KEPT = 1024
"""The shapes whose sizes are kept: an encoder sees few, a generator a new one a token."""


class DimChecks:
    """
    The dims that a function declares, by the place of each among those of all parameters.

        (batch, 8), (batch, n)  ->  ranks (2, 2), fixed {1: 8}, repeated {2: 0}, open [0, 2, 3]
    """

    def __init__(self, function: Function) -> None:
        specs = [spec_of(param) for param in function.params]
        self._ranks = tuple(len(spec.shape) for spec in specs)
        sizes = [*chain.from_iterable(spec.shape for spec in specs)]
        names = chain.from_iterable(
            param.dims or [""] * len(spec.shape)
            for param, spec in zip(function.params, specs, strict=True)
        )
        first: dict[str, int] = {}
        repeated = {
            at: first[name]
            for at, name in enumerate(names)
            if name and first.setdefault(name, at) != at
        }
        fixed = {at: size for at, size in enumerate(sizes) if size is not None}
        self._fixed, self._fixed_sizes = _picker([*fixed]), tuple(fixed.values())
        self._repeated, self._first = _picker([*repeated]), _picker([*repeated.values()])
        open_dims = [at for at, size in enumerate(sizes) if size is None]
        self.count, self.open = len(open_dims), _picker(open_dims)
        self._bounds: list[tuple[int, Bounds]] = [
            (first[name], bounds) for name, bounds in function.dim_bounds.items() if name in first
        ]

    def fit(self, shapes: Sequence[tuple[int, ...]], sizes: tuple[int, ...]) -> bool:
        """Test whether arrays have such dims, `sizes` in all; `check_structures` says why not."""
        return (
            tuple([len(shape) for shape in shapes]) == self._ranks
            and self._fixed(sizes) == self._fixed_sizes
            and self._repeated(sizes) == self._first(sizes)
            and (not self._bounds or all(limits.allow(sizes[at]) for at, limits in self._bounds))
        )


def _picker(places: Sequence[int]) -> Any:
    """Return a function that returns the items at `places` of a tuple, as a tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


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
        self._result_types = [element_type(spec_of(result).dtype) for result in entry.results]
        self._nesting, self._is_dynamic = together(entry.nested.outputs), entry.is_dynamic
        self._is_flat = self._nesting == (len(entry.results), *TENSOR * len(entry.results))
        self._dims = DimChecks(entry.function)
        self._dims_type = ctypes.c_int64 * self._dims.count
        self._caches = {cache.result: cache for cache in entry.function.caches}
        self._kept: dict[tuple[tuple[int, ...], ...], Measured] = {}
        self._measures = [self._measure(f"{pool.symbol}_size") for pool in entry.pools]
        self._spaces: list[int | None] = [None] * len(entry.pools)
        """The bytes of workspaces that do not depend on dims, once they are known."""
        specs = [spec_of(result) for result in entry.results]
        all_known = zip(specs, entry.allocated, strict=True)
        self._shapes: list[Shape] | None = None
        if all(spec.is_static or alone for spec, alone in all_known):
            self._shapes = [spec.shape for spec in specs]
        else:
            self._measure_shapes = self._measure("output_shapes")
            stops = [0, *accumulate(len(spec.shape) for spec in specs)]
            self._spans = [*pairwise(stops)]
            """Of the shape of each output, among the sizes of all."""
            self._sizes = ctypes.c_int64 * stops[-1]
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
        if arrays is None:
            arrays = self._converted(args)
        shapes = tuple([array.shape for array in arrays])
        measured = self._kept.get(shapes)
        if measured is None:
            sizes = (*chain.from_iterable(shapes),)
            if not self._dims.fit(shapes, sizes):
                arrays = self._converted(args)
            measured = self._kept[shapes] = self._measured(self._dims.open(sizes))
        if out is None and measured.outputs is not None:
            outputs: list[Array] = [
                self._lent(i, shape, arrays) if i in self._caches else np.empty(shape, dtype)
                for i, (shape, dtype) in enumerate(measured.outputs)
            ]
            self._run(arrays, addresses(outputs), measured)
            if self._nesting == TENSOR:
                return outputs[0]
            return tuple(outputs) if self._is_flat else nested(self._nesting, outputs)
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
        pointers: list[object] = [*addresses(arrays), *outputs]
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

    def _measured(self, given: Sequence[int]) -> Measured:
        """Return the sizes for inputs of these open dims. Raises `MachineError`."""
        dims = self._dims_type(*given)
        spaces = [
            measure(dims) if size is None else size
            for size, measure in zip(self._spaces, self._measures, strict=True)
        ]
        if not self._kept:
            are_known = [pool.size is not None for pool in self._entry.pools]
            known = zip(are_known, spaces, strict=True)
            self._spaces = [size if is_known else None for is_known, size in known]
        elif len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        results, outputs = self._output_shapes(dims), None
        if not any([None in shape for shape in results]):
            pairs = [*zip(cast("list[tuple[int, ...]]", results), self._result_types, strict=True)]
            limit = default_limit()
            if all([prod(shape) * dtype.itemsize <= limit for shape, dtype in pairs]):
                outputs = pairs
        return Measured(dims, results, spaces, outputs)

    def _output_shapes(self, dims: Any) -> Sequence[Shape]:
        if self._shapes is not None:
            return self._shapes
        sizes: Any = self._sizes()
        if self._measure_shapes(dims, sizes):
            self._code.fail()
        every = sizes[:]
        if min(every) < 0:
            every = [None if size < 0 else size for size in every]
        return [tuple(every[start:stop]) for start, stop in self._spans]

    def _measure(self, name: str) -> Any:
        """Return a function of dims."""
        function = self._code.symbol(f"{self._entry.symbol}_{name}")
        function.restype = ctypes.c_int64
        return function
