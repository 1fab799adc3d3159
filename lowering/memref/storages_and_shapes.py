"""
Storages, the tensors in them, and shapes as their elements.

    %s = memory.alloc_storage 512 align 64      %s = memref.alloc() {…} : memref<512xi8>
    %t = memory.alloc_tensor %s[128] : T        %t = memref.view %s[%c128][] : … to memref<…>
    %v = vm.reshape_tensor %t : …          ->   %v = memref.reinterpret_cast %t to …
    %r = vm.slice_tensor %t[2] : …              %r = memref.view %s[%c160][] : … to memref<…>
    %j = vm.join_tensors %t, %u : …             %j = memref.view %s[%c128][] : … to memref<…>
    %y = memory.copy ins(%x) outs(%t)           memref.copy %x, %t
    memory.kill %y
    %s = vm.shape_of %x                         %0 = memref.dim %x, %c0
    %n = tensor.extract %s[%c0]                 %n = arith.index_cast %0 : index to i64

Freed is what is allocated where it dies; see `deallocation`. The size of a dynamic storage, its
tensors' dims and their ends are checked when the program runs. A shape that a kernel or function
reads is stored into a buffer on the stack. A shape function becomes a function that writes its
results into buffers. `checked_arithmetic` computes sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from xdsl.dialects import arith, func, gpu, memref, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    i64,
)
from xdsl.ir import BlockArgument, Operation, SSAValue, Use
from xdsl.rewriter import Rewriter

from ...dialects import memory, relay, vm
from ...dialects.dense import integer
from ...dialects.device import device_of
from ...dialects.interfaces import ShapedByOperand
from ...dialects.tensors import MIN_ALIGNMENT, as_tensor, element_size
from ...passes.support.diagnostics import PassError
from .conversion_state import Writer, converts
from .memref_types import as_memref, space_of

HOSTS = ("cpu", "hexagon", "ext_dev")
"""The types of devices between which memory is copied by `memref.copy`."""


@converts(memory.AllocStorageOp)
def convert_alloc_storage(op: memory.AllocStorageOp, w: Writer) -> None:
    """Allocate a storage as bytes."""
    sizes = () if op.dynamic_size is None else w.call("size", op.dynamic_size)
    type = w.state.types.storage(device_of(op.storage.type), _static(op.size, DYNAMIC_INDEX))
    w.replace_by(memref.AllocOp(sizes, [], type, op.alignment))


@converts(memory.SliceStorageOp)
def convert_slice_storage(op: memory.SliceStorageOp, w: Writer) -> None:
    """View a part of a storage."""
    size = _static(op.size, DYNAMIC_INDEX)
    sizes = () if op.dynamic_size is None else w.call("size", op.dynamic_size)
    offset = place(op, size if op.dynamic_size is None else op.dynamic_size, w)
    type = w.state.types.storage(device_of(op.slice.type), size)
    w.replace_by(memref.ViewOp(op.storage, offset, sizes, type))


def _static(value: IntegerAttr | None, otherwise: int) -> int:
    return otherwise if value is None else value.value.data


def place(
    op: memory.SliceStorageOp | memory.AllocTensorOp, bytes: int | SSAValue, w: Writer
) -> SSAValue:
    """
    Return the offset of `op`, of `bytes`, in its storage as an index; check that they fit in it.

    What has a static size fits in a storage of the caller: it allocates for this size.
    """
    offset = op.dynamic_offset
    if op.offset is not None:
        static = op.offset.value.data
        room = as_memref(op.storage.type).get_shape()[0]
        if isinstance(bytes, int):
            if isinstance(op.storage, BlockArgument) or static + bytes <= room:
                return w.index(static)
        offset = w.number64(static)
    assert offset is not None
    end = w.number64(bytes) if isinstance(bytes, int) else bytes
    return w.call("place", end, offset, w.dim(op.storage, 0))[0]


@converts(memory.AllocTensorOp)
def convert_alloc_tensor(op: memory.AllocTensorOp, w: Writer) -> None:
    """View bytes of a storage as a tensor."""
    type = w.type_of(op.tensor)
    dims, bytes = dims_and_bytes(type, op.shape, w)
    w.replace_by(memref.ViewOp(op.storage, place(op, bytes, w), dims, type))


def dims_and_bytes(
    type: MemRefType, shape: SSAValue | None, w: Writer
) -> tuple[Sequence[SSAValue], int | SSAValue]:
    """Return the dynamic dims of a tensor, and its size."""
    dims = type.get_shape()
    static = prod(dim for dim in dims if dim != DYNAMIC_INDEX) * element_size(type.element_type)
    if shape is None:
        return (), static
    elements = zip(elements_of(shape, w), dims, strict=True)
    sizes = [element for element, dim in elements if dim == DYNAMIC_INDEX]
    return [w.call("dim", size)[0] for size in sizes], product(static, sizes, w)


def product(static: int, sizes: Sequence[SSAValue], w: Writer) -> SSAValue:
    """Multiply sizes; overflow stops the program."""
    first, *others = sizes if static == 1 and sizes else (w.number64(static), *sizes)
    for size in others:
        (first,) = w.call("muli", size, first)
    return first


@converts(vm.ReshapeTensorOp)
def convert_reshape(op: vm.ReshapeTensorOp, w: Writer) -> None:
    """View a tensor with other dims."""
    data, type = op.data, w.type_of(op.result)
    before, after = as_memref(data.type).get_shape(), type.get_shape()
    if data.type == type and op.shape is None:
        w.replace(data)
        return
    sizes: list[SSAValue | int] = list(after)
    if op.shape is not None or DYNAMIC_INDEX in before:
        numbers = _checked_dims(op, after, w)
        sizes = [
            w.call("dim", number)[0] if dim == DYNAMIC_INDEX else dim
            for number, dim in zip(numbers, after, strict=True)
        ]
    strides: list[SSAValue | int] = []
    step: SSAValue | int = 1
    for size in reversed(sizes):
        strides.append(step)
        if isinstance(step, int) and isinstance(size, int):
            step *= size
            continue
        a, b = (f if isinstance(f, SSAValue) else w.index(f) for f in (size, step))
        step = w.value(arith.MuliOp(a, b))
    w.replace_by(memref.ReinterpretCastOp.from_dynamic(data, [0], sizes, strides[::-1], type))


def _checked_dims(op: vm.ReshapeTensorOp, after: Sequence[int], w: Writer) -> Sequence[SSAValue]:
    """Return the dims of the view, once it is checked that it keeps its elements."""
    before = as_memref(op.data.type).get_shape()
    wanted = [w.number64(max(dim, 0)) for dim in after]
    if op.shape is not None:
        wanted = elements_of(op.shape, w)
    measured = [
        w.as_number(w.dim(op.data, i)) for i, dim in enumerate(before) if dim == DYNAMIC_INDEX
    ]
    dynamic = [number for number, dim in zip(wanted, after, strict=True) if dim == DYNAMIC_INDEX]
    static = [prod(dim for dim in shape if dim != DYNAMIC_INDEX) for shape in (before, after)]
    pairs = zip(static, (measured, dynamic), strict=True)
    w.call("same", *[product(number, sizes, w) for number, sizes in pairs])
    return wanted


def view_of(tensor: SSAValue) -> memref.ViewOp | None:
    """Return the view of a storage that has the bytes of a tensor, from its first one on."""
    while isinstance(view := tensor.owner, memref.ReinterpretCastOp):
        tensor = view.source
    return view if isinstance(view, memref.ViewOp) else None


@converts(vm.SliceTensorOp)
def convert_slice(op: vm.SliceTensorOp, w: Writer) -> None:
    """View rows where their storage is known; copy those of other tensors, such as parameters."""
    data, type, before = op.data, w.type_of(op.result), as_memref(op.data.type)
    if op.start is None or DYNAMIC_INDEX in (*before.get_shape(), *type.get_shape()):
        raise PassError("rows of dynamic number, or from a dynamic start on, have no memref", op)
    start, shape, axis = op.start.value.data, type.get_shape(), op.along
    size = prod(shape[axis + 1 :]) * element_size(type.element_type)
    if (view := view_of(data)) is not None:
        offset, known = start * size if shape[axis] else 0, integer(view.byte_shift)
        byte = w.index((known or 0) + offset)
        if known is None:
            byte = w.value(arith.AddiOp(view.byte_shift, byte))
        return w.replace_by(memref.ViewOp(view.source, byte, [], type))
    first, ones = [0] * len(shape), [1] * len(shape)
    first[axis] = start if shape[axis] else 0
    part = memref.SubviewOp.infer_result_type(before, first, shape, ones)
    rows = memref.SubviewOp.get(data, first, shape, ones, part)
    copy = w.value(memref.AllocOp([], [], type, IntegerAttr(MIN_ALIGNMENT, i64)))
    w(memref.CopyOp(w.value(rows), copy))
    return w.replace(copy)


@converts(vm.JoinTensorsOp)
def convert_join(op: vm.JoinTensorsOp, w: Writer) -> None:
    """View the bytes from the start of the first part on."""
    part = next((p for p in op.parts if 0 not in as_memref(p.type).get_shape()), op.parts[0])
    if (view := view_of(part)) is None:
        raise PassError("cannot tell which bytes are joined", op)
    storage, byte, type = view.source, view.byte_shift, w.type_of(op.result)
    while isinstance(outer := storage.owner, memref.ViewOp):  # a part of a storage
        storage, byte = outer.source, w.value(arith.AddiOp(outer.byte_shift, byte))
    dims, bytes = dims_and_bytes(type, op.shape, w)
    if isinstance(bytes, SSAValue):
        (byte,) = w.call("place", bytes, w.as_number(byte), w.dim(storage, 0))
    w.replace_by(memref.ViewOp(storage, byte, dims, type))


@converts(memory.CopyOp)
def convert_copy(op: memory.CopyOp, w: Writer) -> None:
    """Copy bytes, to another device too."""
    spaces = [space_of(op.ins), space_of(op.outs)]
    devices = [s.data.partition(":")[0] for s in spaces if isinstance(s, StringAttr)]
    if memory.LENT in op.attributes:  # its bytes may be there
        here, there = (
            w.value(memref.ExtractAlignedPointerAsIndexOp.get(v)) for v in (op.ins, op.outs)
        )
        copy = [memref.CopyOp(op.ins, op.outs), scf.YieldOp()]
        w(scf.IfOp(w.value(arith.CmpiOp(here, there, "ne")), [], copy))
    elif all(device in HOSTS for device in devices):
        w(memref.CopyOp(op.ins, op.outs))
    else:
        source: SSAValue = op.ins
        if source.type != op.outs.type:  # xDSL's op has one type
            source = w.value(memref.MemorySpaceCastOp(source, as_memref(op.outs.type)))
        w(gpu.MemcpyOp(source, op.outs))
    w.replace(op.outs)


@converts(memory.KillOp)
def erase_kill(op: memory.KillOp, w: Writer) -> None:
    """Erase a kill: what is allocated is freed where its last use is."""
    w.rewriter.erase(op)


@converts(relay.ConstantOp, arith.ConstantOp)
def convert_constant(op: relay.ConstantOp | arith.ConstantOp, w: Writer) -> None:
    """Read a constant tensor from a global of the module."""
    if isinstance(op.value, DenseIntOrFPElementsAttr) and as_tensor(op.result.type) is not None:
        read_global(w.state.constant(op.value, w.type_of(op.result)), w)


@converts(relay.ParamOp)
def convert_param(op: relay.ParamOp, w: Writer) -> None:
    """Read a param from a global whose contents come from elsewhere."""
    read_global(w.state.param(op, w.type_of(op.result)), w)


def read_global(found: memref.GlobalOp, w: Writer) -> None:
    """Replace a constant by what is in the global `found`."""
    w.rewriter.replace(w.at, memref.GetGlobalOp(found.sym_name.data, found.type))


def reads_elements(use: Use) -> bool:
    """Test whether `use` reads the elements of a shape one by one, where they are known."""
    op = use.operation
    shaped = op.get_trait(ShapedByOperand)
    if shaped is not None:
        return shaped.shape(op) is op.operands[use.index] and use.index > 0
    if isinstance(op, tensor.ExtractOp):
        return all(integer(index) is not None for index in op.indices)
    return isinstance(op, relay.YieldOp) and isinstance(op.parent_op(), relay.ShapeFuncOp)


def elements_of(shape: SSAValue, w: Writer) -> Sequence[SSAValue]:
    """Return the elements of `shape`, a vector of i64; they are loaded if it is in memory."""
    if isinstance(shape.owner, tensor.FromElementsOp):
        return shape.owner.elements
    count = as_memref(shape.type).get_shape()[0]
    return [w.load(shape, w.index(i)) for i in range(count)]


@converts(vm.ShapeOfOp)
def convert_shape_of(op: vm.ShapeOfOp, w: Writer) -> None:
    """Read the dims of a tensor."""
    dims = enumerate(as_memref(op.data.type).get_shape())
    replace_shape(
        op,
        [
            w.as_number(w.dim(op.data, i)) if dim == DYNAMIC_INDEX else w.number64(dim)
            for i, dim in dims
        ],
        w,
    )


@converts(tensor.FromElementsOp)
def convert_from_elements(op: tensor.FromElementsOp, w: Writer) -> None:
    """Keep the elements of a shape; store those of one that is read as a tensor."""
    replace_shape(op, op.elements, w)


def replace_shape(op: Operation, elements: Sequence[SSAValue], w: Writer) -> None:
    """Replace `op`, a tensor of `elements`."""
    (result,) = op.results
    stored = [use for use in result.uses if not reads_elements(use)]
    if stored:
        type = w.type_of(result)
        rank = type.get_num_dims()
        if len(elements) != 1 and rank != 1:
            raise PassError(f"{op.name} must be of rank 0 or 1, but is {result.type}", op)
        buffer = w.value(memref.AllocaOp.get(type.element_type, None, type.get_shape()))
        buffer.name_hint = result.name_hint
        for i, element in enumerate(elements):
            w(memref.StoreOp.get(element, buffer, [w.index(i)] * rank))
        for use in stored:
            use.operation.operands[use.index] = buffer
    if not result.uses:
        w.rewriter.erase(op)
    elif not isinstance(op, tensor.FromElementsOp):
        types = [result.type]
        shape = tensor.FromElementsOp.create(operands=list(elements), result_types=types)
        w.rewriter.replace(op, shape)


@converts(tensor.ExtractOp)
def convert_extract(op: tensor.ExtractOp, w: Writer) -> None:
    """Read an element."""
    source = op.tensor.owner
    indices = [integer(index) for index in op.indices]
    if isinstance(source, tensor.FromElementsOp):
        (at,) = indices or [0]
        if at is None or not 0 <= at < len(source.elements):
            raise PassError(f"index {at} is out of range [0, {len(source.elements)})", op)
        w.replace(source.elements[at])
        return
    shape = as_memref(op.tensor.type).get_shape()
    for i, (index, known, dim) in enumerate(zip(op.indices, indices, shape, strict=True)):
        if known is not None and 0 <= known < dim:
            continue
        if known is not None and dim != DYNAMIC_INDEX:
            raise PassError(f"index {known} is out of range [0, {dim})", op)
        room = w.dim(op.tensor, i)
        ok = w.value(arith.CmpiOp(index, room, "ult"))
        numbers = [w.as_number(value) for value in (index, room)]
        w.require(ok, "index {0} is out of range [0, {1})", numbers)
    w.replace(w.load(op.tensor, *op.indices))


@converts(tensor.DimOp)
def convert_dim(op: tensor.DimOp, w: Writer) -> None:
    """Read a dim of a tensor."""
    known, type = integer(op.index), op.source.type
    if not isinstance(type, MemRefType):  # in a kernel
        return
    rank = type.get_num_dims()
    if known is None or not 0 <= known < rank:
        raise PassError(f"the dim must be a constant in [0, {rank}), but is {known}", op)
    w.rewriter.replace(op, memref.DimOp(op.source, op.index))


@converts(relay.ShapeFuncOp)
def convert_shape_function(op: relay.ShapeFuncOp, w: Writer) -> None:
    """Make a shape function a function that writes its results into buffers."""
    block = op.body.block
    end = block.last_op
    assert isinstance(end, relay.YieldOp), "verified: a shape function yields"
    before = w.before(end)
    for type, value in zip(op.function_type.outputs, end.values, strict=True):
        converted = w.state.types(type, op)
        out = w.rewriter.insert_block_argument(block, len(block.args), converted)
        for i, element in enumerate(elements_of(value, before)):
            before(memref.StoreOp.get(element, out, [before.index(i)]))
    w.rewriter.replace(end, func.ReturnOp())
    body = op.detach_region(op.body)
    w.rewriter.replace(
        op, func.FuncOp(op.sym_name.data, (block.arg_types, []), body, "private"), []
    )


def erase_unused_sizes(ops: Iterable[Operation]) -> None:
    """Erase those of `ops`, users first, that compute a size that nothing reads."""
    for op in ops:
        if isinstance(op, _SIZES) and not any(result.uses for result in op.results):
            Rewriter.erase_op(op)


_SIZES = (
    tensor.FromElementsOp,
    memref.DimOp,
    memref.GetGlobalOp,
    arith.IndexCastOp,
    arith.ConstantOp,
)
