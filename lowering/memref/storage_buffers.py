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
from math import prod

from xdsl.dialects import arith, gpu, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, IntegerAttr, StringAttr
from xdsl.ir import BlockArgument, SSAValue

from ...dialects import memory, relay, vm
from ...dialects.device import device_of
from ...dialects.tensors import as_tensor, element_size
from .conversion_state import Writer, converts
from .memref_types import as_memref, space_of
from .shape_elements import elements_of

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
    shape = type.get_shape()
    static = prod(dim for dim in shape if dim != DYNAMIC_INDEX) * element_size(type.element_type)
    dims: list[SSAValue] = []
    bytes: int | SSAValue = static
    if op.shape is not None:
        elements = elements_of(op.shape, w)
        sizes = [e for e, dim in zip(elements, shape, strict=True) if dim == DYNAMIC_INDEX]
        dims = [w.call("dim", size)[0] for size in sizes]
        bytes = product(static, sizes, w)
    w.replace_by(memref.ViewOp(op.storage, place(op, bytes, w), dims, type))


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
    found = [w.as_number(w.dim(op.data, i)) for i, dim in enumerate(before) if dim == DYNAMIC_INDEX]
    dynamic = [number for number, dim in zip(wanted, after, strict=True) if dim == DYNAMIC_INDEX]
    static = [prod(dim for dim in shape if dim != DYNAMIC_INDEX) for shape in (before, after)]
    pairs = zip(static, (found, dynamic), strict=True)
    w.call("same", *[product(number, sizes, w) for number, sizes in pairs])
    return wanted


@converts(memory.CopyOp)
def convert_copy(op: memory.CopyOp, w: Writer) -> None:
    """Copy bytes, to another device too."""
    spaces = [space_of(op.ins), space_of(op.outs)]
    devices = [s.data.partition(":")[0] for s in spaces if isinstance(s, StringAttr)]
    if all(device in HOSTS for device in devices):
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
    read_global(w.state.param(op.param, w.type_of(op.result)), w)


def read_global(found: memref.GlobalOp, w: Writer) -> None:
    """Replace a constant by what is in the global `found`."""
    w.rewriter.replace(w.at, memref.GetGlobalOp(found.sym_name.data, found.type))
