"""
Store the parts of a padded or joined result, each in its place.

    %f = fill %c onto %r                         generic {xrelay.untiled} (%c) onto margins of %out
    %s = extract_slice %f[1, 1]                  %v = subview %out[1, 1]
    %g = generic %x onto %s                ->    generic {xrelay.part} %mx onto %v
    %i = insert_slice %g into %f[1, 1]
    materialize_in_destination %i in %out

The inside is not filled first; one that is copied is a `memref.copy`. An elementwise loop over a
join is computed in the loops of its parts, so that the join is written once. At level `memref`, for
known shapes, after `compute-in-destinations`, which says where the result's memory may be written
before its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from typing_extensions import override
from xdsl.dialects import bufferization, memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.tensors import has_dynamic
from ...linalg.builder import Builder, element_of, tensor_of
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    PART,
    UNTILED,
    buffer_of,
    has_index,
    inlined,
    is_copy,
    is_identity,
    is_parallel,
    is_simple,
    maps_of,
    ops_of,
    parallel_loops,
)


class Part(NamedTuple):
    """A loop that computes a part of a result in a view of it, and the op that inserts it."""

    loop: linalg.GenericOp
    view: tensor.ExtractSliceOp
    insert: tensor.InsertSliceOp

    @property
    def offsets(self) -> list[int]:
        """The indices of the first element."""
        return [*self.insert.static_offsets.iter_values()]

    @property
    def sizes(self) -> list[int]:
        """The dims."""
        return [*self.insert.static_sizes.iter_values()]


def _part(insert: tensor.InsertSliceOp) -> Part | None:
    """Return the part that `insert` inserts, if a loop computes all of it in its place."""
    loop, strides = insert.source.owner, insert.static_strides.iter_values()
    if not isinstance(loop, linalg.GenericOp) or not insert.source.has_one_use():
        return None
    view = loop.outputs[0].owner
    if not isinstance(view, tensor.ExtractSliceOp) or view.source is not insert.dest:
        return None
    if not is_parallel(loop) or loop.body.block.args[-1].uses:
        return None
    part = Part(loop, view, insert)
    is_known = DYNAMIC_INDEX not in (*part.offsets, *part.sizes) and {*strides} == {1}
    has_all_dims = len(part.sizes) == len(loop.iterator_types)
    return part if is_known and has_all_dims and is_identity(maps_of(loop)[-1]) else None


def _margins(part: Part, dims: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the offsets and sizes of slices that are all of `dims` but `part`, each once."""
    for axis, (offset, size, dim) in enumerate(zip(part.offsets, part.sizes, dims, strict=True)):
        for start, stop in ((0, offset), (offset + size, dim)):
            if start < stop:
                before, after = [0] * (len(dims) - axis - 1), dims[axis + 1 :]
                offsets = [*part.offsets[:axis], start, *before]
                yield offsets, [*part.sizes[:axis], stop - start, *after]


def _view(
    build: Builder, buffer: SSAValue, offsets: Sequence[int], sizes: Sequence[int]
) -> SSAValue:
    """Return a part of a buffer."""
    place = offsets, sizes, [1] * len(sizes)
    type = memref.SubviewOp.infer_result_type(cast("MemRefType[Attribute]", buffer.type), *place)
    return build.insert(memref.SubviewOp.get(buffer, *place, type))


def _fill(build: Builder, number: SSAValue, like: linalg.GenericOp, view: SSAValue) -> None:
    """Fill `view` with `number`."""
    rank, block = len(like.iterator_types), Block(arg_types=[number.type] * 2)
    block.add_op(linalg.YieldOp(block.args[0]))
    maps = [AffineMap(rank, 0, ()), AffineMap.identity(rank)]
    build.insert_all(parallel_loops(like, [number], view, maps, block, UNTILED))


def _compute(build: Builder, part: Part, after: linalg.GenericOp | None, view: SSAValue) -> None:
    """Compute `part`, and the elementwise op `after` on it, in `view`."""
    loop, maps = part.loop, maps_of(part.loop)[:-1]
    inputs = [build.insert(buffer_of(value)) for value in loop.inputs]
    if after is None and is_copy(loop):
        build.insert_all(memref.CopyOp(inputs[0], view))
        return
    more = [] if after is None else [*after.inputs]
    body = Block(arg_types=map(element_of, (*loop.inputs, *more, loop.outputs[0])))
    *args, out = body.args
    result = inlined(loop.body.clone().block, body, [*args[: len(inputs)], out])
    if after is not None:
        result = inlined(after.body.clone().block, body, [*args[len(inputs) :], result])
        maps += maps_of(after)[:-1]
        inputs += [
            _slice(build, value, read, part)
            for value, read in zip(more, maps_of(after), strict=False)
        ]
    body.add_op(linalg.YieldOp(result))
    every = [*maps, AffineMap.identity(len(part.sizes))]
    build.insert_all(parallel_loops(loop, inputs, view, every, body, PART))


def _slice(build: Builder, value: SSAValue, read: AffineMap, part: Part) -> SSAValue:
    """Return the buffer of what `part` reads of `value`, by the map `read`."""
    buffer, shape = build.insert(buffer_of(value)), tensor_of(value).get_shape()
    offsets, sizes = [0] * len(shape), [*shape]
    for axis, expr in enumerate(read.results):
        if isinstance(expr, AffineDimExpr):
            offsets[axis], sizes[axis] = part.offsets[expr.position], part.sizes[expr.position]
    return buffer if sizes == [*shape] else _view(build, buffer, offsets, sizes)


def _is_elementwise(op: linalg.GenericOp) -> bool:
    """Test whether `op` computes each element from those at its place, and broadcast operands."""
    maps = maps_of(op)
    is_plain = is_parallel(op) and not has_index(op) and is_identity(maps[-1])
    return is_plain and all(map(is_simple, maps))


@dataclass(frozen=True)
class StorePartsPass(KernelPass):
    name = "store-parts"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        stores = ops_of(kernel, bufferization.MaterializeInDestinationOp)
        if len(stores) != 1 or has_dynamic(tensor_of(stores[0].source)):
            return
        (store,), value, after = stores, stores[0].source, None
        if isinstance(value.owner, linalg.GenericOp) and _is_elementwise(value.owner):
            after, value = value.owner, value.owner.outputs[0]
        parts: list[Part] = []
        while isinstance(insert := value.owner, tensor.InsertSliceOp):
            part = _part(insert)
            if part is None:
                return
            parts.append(part)
            value = insert.dest
        fill = value.owner if isinstance(value.owner, linalg.FillOp) else None
        start = (value if fill is None else fill.outputs[0]).owner
        loops = len(ops_of(kernel, linalg.GenericOp)) - (after is not None)
        is_pad = fill is not None and after is None and len(parts) == 1
        is_join = fill is None and len(parts) > 1
        if not isinstance(start, bufferization.ToTensorOp) or start.memref is not store.dest:
            return
        if not (is_pad or is_join) or loops != len(parts):
            return
        build = Builder(Block())
        build.location = store.location
        if fill is not None:
            for margin in _margins(parts[0], tensor_of(start.tensor).get_shape()):
                view = _view(build, store.dest, *margin)
                _fill(build, fill.inputs[0], parts[0].loop, view)
        for part in reversed(parts):
            _compute(build, part, after, _view(build, store.dest, part.offsets, part.sizes))
        Rewriter.inline_block(build.block, InsertPoint.before(store))
        ends: list[Operation | None] = [store, after]
        for part in parts:
            ends += [part.insert, part.loop, part.view]
        for op in filter(None, (*ends, fill, start)):
            Rewriter.erase_op(op)
