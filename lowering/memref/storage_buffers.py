"""
Storages, and the tensors in them.

    %s = memory.alloc_storage 512 align 64      %s = memref.alloc() {…} : memref<512xi8>
    %t = memory.alloc_tensor %s[128] : T        %t = memref.view %s[%c128][] : … to memref<…>
    %v = vm.reshape_tensor %t : …          ->   %v = memref.reinterpret_cast %t to …
    %y = memory.copy ins(%x) outs(%t)           memref.copy %x, %t
    memory.kill %y

Freed is what is allocated where it dies; see `deallocation`. The size of a dynamic storage, its
tensors' dims and their ends are checked when the program runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, gpu, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, StringAttr, i64
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import memory, relay, vm
from ...dialects.device import device_of
from ...dialects.tensors import element_size
from .conversion_state import Conversion, Inserter, kept
from .memref_types import as_memref, space_of
from .shape_elements import elements_of

HOSTS = ("cpu", "hexagon", "ext_dev")
"""The types of devices between which memory is copied by `memref.copy`."""


@dataclass(frozen=True)
class ConvertAllocStorage(RewritePattern):
    """Allocate a storage as bytes."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.AllocStorageOp, rewriter: PatternRewriter, /) -> None:
        sizes: list[SSAValue] = []
        static = DYNAMIC_INDEX if op.size is None else op.size.value.data
        if op.dynamic_size is not None:
            size = self.state.call_helper("size", [op.dynamic_size], IndexType())
            rewriter.insert(size)
            sizes.append(size.results[0])
        type = self.state.types.storage(device_of(op.storage.type), static)
        new = memref.AllocOp(sizes, [], type, op.alignment)
        new.attributes = kept(op)
        rewriter.replace(op, new)


@dataclass(frozen=True)
class ConvertSliceStorage(RewritePattern):
    """View a part of a storage."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.SliceStorageOp, rewriter: PatternRewriter, /) -> None:
        static = DYNAMIC_INDEX if op.size is None else op.size.value.data
        sizes: list[SSAValue] = []
        insert = Inserter(rewriter, InsertPoint.before(op))
        if op.dynamic_size is not None:
            size = self.state.call_helper("size", [op.dynamic_size], IndexType())
            sizes.append(insert.value(size))
        offset = place(
            self.state,
            op,
            op.storage,
            _static(op.offset),
            op.dynamic_offset,
            static if op.dynamic_size is None else op.dynamic_size,
            insert,
        )
        type = self.state.types.storage(device_of(op.slice.type), static)
        rewriter.replace(op, memref.ViewOp(op.storage, offset, sizes, type))


def _static(value: IntegerAttr | None) -> int | None:
    return None if value is None else value.value.data


def place(
    state: Conversion,
    op: Operation,
    storage: SSAValue,
    offset: int | None,
    dynamic_offset: SSAValue | None,
    bytes: int | SSAValue,
    insert: Inserter,
) -> SSAValue:
    """
    Return the offset of `bytes` in `storage` as an index; check that they are within it.

    What has a static size fits in a storage of the caller: it allocates for this size.
    """
    room = as_memref(storage.type).get_shape()[0]
    if offset is not None and isinstance(bytes, int):
        if isinstance(storage, BlockArgument) or offset + bytes <= room:
            return state.index(offset, op)
    if offset is not None:
        dynamic_offset = state.number64(offset, op)
    assert dynamic_offset is not None
    end = state.number64(bytes, op) if isinstance(bytes, int) else bytes
    size = insert.value(memref.DimOp(storage, state.index(0, op)))
    return insert.value(state.call_helper("place", [end, dynamic_offset, size], IndexType()))


@dataclass(frozen=True)
class ConvertAllocTensor(RewritePattern):
    """View bytes of a storage as a tensor."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.AllocTensorOp, rewriter: PatternRewriter, /) -> None:
        state, insert = self.state, Inserter(rewriter, InsertPoint.before(op))
        type = as_memref(state.types.of(op.tensor))
        shape = type.get_shape()
        size = element_size(type.element_type)
        static = prod(dim for dim in shape if dim != DYNAMIC_INDEX) * size
        dims: list[SSAValue] = []
        bytes: int | SSAValue = static
        if op.shape is not None:
            elements = elements_of(op.shape, state, op, insert)
            sizes = [e for e, dim in zip(elements, shape, strict=True) if dim == DYNAMIC_INDEX]
            for dynamic in sizes:
                dims.append(insert.value(state.call_helper("dim", [dynamic], IndexType())))
            bytes = product(static, sizes, state, op, insert)
        offset = place(state, op, op.storage, _static(op.offset), op.dynamic_offset, bytes, insert)
        new = memref.ViewOp(op.storage, offset, dims, type)
        new.attributes = kept(op)
        rewriter.replace(op, new)


def product(
    static: int,
    sizes: Sequence[SSAValue],
    state: Conversion,
    op: Operation,
    insert: Inserter,
) -> SSAValue:
    """Multiply sizes; overflow stops the program."""
    found = None if static == 1 and sizes else state.number64(static, op)
    for size in sizes:
        if found is None:
            found = size
        else:
            found = insert.value(state.call_helper("muli", [size, found]))
    assert found is not None
    return found


@dataclass(frozen=True)
class ConvertReshape(RewritePattern):
    """View a tensor with other dims."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vm.ReshapeTensorOp, rewriter: PatternRewriter, /) -> None:
        state, insert = self.state, Inserter(rewriter, InsertPoint.before(op))
        data, type = op.data, as_memref(state.types.of(op.result))
        before, after = as_memref(data.type).get_shape(), type.get_shape()
        if data.type == type and op.shape is None:
            rewriter.replace(op, [], [data])
            return
        sizes: list[SSAValue | int] = list(after)
        if op.shape is not None or DYNAMIC_INDEX in before:
            numbers = self._checked_dims(op, after, insert)
            sizes = [
                insert.value(state.call_helper("dim", [number], IndexType()))
                if dim == DYNAMIC_INDEX
                else dim
                for number, dim in zip(numbers, after, strict=True)
            ]
        strides: list[SSAValue | int] = []
        step: SSAValue | int = 1
        for size in reversed(sizes):
            strides.append(step)
            if isinstance(step, int) and isinstance(size, int):
                step *= size
                continue
            a, b = (f if isinstance(f, SSAValue) else state.index(f, op) for f in (size, step))
            step = insert.value(arith.MuliOp(a, b))
        cast = memref.ReinterpretCastOp.from_dynamic(data, [0], sizes, strides[::-1], type)
        rewriter.replace(op, cast)

    def _checked_dims(
        self, op: vm.ReshapeTensorOp, after: Sequence[int], insert: Inserter
    ) -> Sequence[SSAValue]:
        """Return the dims of the view, once it is checked that it keeps its elements."""
        state, before = self.state, as_memref(op.data.type).get_shape()
        wanted = [state.number64(max(dim, 0), op) for dim in after]
        if op.shape is not None:
            wanted = elements_of(op.shape, state, op, insert)
        found: list[SSAValue] = []
        for i, dim in enumerate(before):
            if dim == DYNAMIC_INDEX:
                index = insert.value(memref.DimOp(op.data, state.index(i, op)))
                found.append(insert.value(arith.IndexCastOp(index, i64)))
        static = [prod(dim for dim in shape if dim != DYNAMIC_INDEX) for shape in (before, after)]
        dynamic = [w for w, dim in zip(wanted, after, strict=True) if dim == DYNAMIC_INDEX]
        counts = [
            product(number, sizes, state, op, insert)
            for number, sizes in zip(static, (found, dynamic), strict=True)
        ]
        insert(state.call_helper("same", counts, None))
        return wanted


@dataclass(frozen=True)
class ConvertCopy(RewritePattern):
    """Copy bytes, to another device too."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.CopyOp, rewriter: PatternRewriter, /) -> None:
        spaces = [space_of(op.ins), space_of(op.outs)]
        devices = [s.data.partition(":")[0] for s in spaces if isinstance(s, StringAttr)]
        if all(device in HOSTS for device in devices):
            copy: Operation = memref.CopyOp(op.ins, op.outs)
        else:
            source: SSAValue = op.ins
            if source.type != op.outs.type:  # xDSL's op has one type
                cast = memref.MemorySpaceCastOp(source, as_memref(op.outs.type))
                rewriter.insert(cast, InsertPoint.before(op))
                source = cast.dest
            copy = gpu.MemcpyOp(source, op.outs)
        rewriter.insert(copy, InsertPoint.before(op))
        rewriter.replace(op, [], [op.outs])


@dataclass(frozen=True)
class EraseKill(RewritePattern):
    """Erase a kill: what is allocated is freed where its last use is."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.KillOp, rewriter: PatternRewriter, /) -> None:
        rewriter.erase(op)


@dataclass(frozen=True)
class ConvertConstant(RewritePattern):
    """Read a constant from a global of the module."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.ConstantOp, rewriter: PatternRewriter, /) -> None:
        type = self.state.types.of(op.result)
        read_global(op, self.state.constant(op.value, type), rewriter)


@dataclass(frozen=True)
class ConvertParam(RewritePattern):
    """Read a param from a global whose contents come from elsewhere."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.ParamOp, rewriter: PatternRewriter, /) -> None:
        type = self.state.types.of(op.result)
        read_global(op, self.state.param(op.param, type), rewriter)


def read_global(op: Operation, found: memref.GlobalOp, rewriter: PatternRewriter) -> None:
    """Replace a constant by what is in the global `found`."""
    rewriter.replace(op, memref.GetGlobalOp(found.sym_name.data, found.type))
