"""
Print explicit memory and kernels.

    %s = memory.alloc_storage 140 align 64          let %s = memory.alloc_storage(140i64, S, 64i64);
    %t = memory.alloc_tensor %s[0] : T              let %t = memory.alloc_tensor(%s, 0i64, S, …);
    %y = vm.invoke_tvm_op @f ins(%x) outs(%t) -> T  ->
    %z = relay.negative %y                          let %_ = vm.invoke_tvm_op(@f, (%x,), (%t,));
                                                    negative(%t)

A value that a kernel wrote is called by the name of the tensor it was written into. A kernel is a
`def` with `Primitive=1`. Static sizes and shapes are constants without a device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, DictionaryAttr, i64
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ....dialects import memory, vm
from ....dialects.device import VirtualDeviceAttr, device_of, tensor_type
from ....dialects.relay.language.annotations import ATTRS
from ....dialects.relay.language.primitive import CallLoweredOp, PrimFuncOp
from ....dialects.tensors import as_tensor, dtype_name
from ..errors import PrintingError, unprintable
from ..type_texts import dims_text, dtype_text, place_of, tuple_text
from .printer_body import Body

Head: TypeAlias = Callable[[Body, Any], str]


# --------------------------------------------------------------- sizes, shapes


def _size(body: Body, op: Operation, static: int | None, dynamic: SSAValue | None) -> str:
    """Return a number of bytes: an int64 literal, or a tensor whose element is used."""
    if static is not None:
        return f"{static}i64"
    tensor = None if dynamic is None else extracted(dynamic)
    if tensor is None:
        raise PrintingError(
            f"Relay text has no form for a number of bytes of {op.name} that is not the element of "
            "an int64 scalar",
            op,
        )
    return body.text(tensor, body.place(op))


def extracted(value: SSAValue) -> SSAValue | None:
    """Return the int64 scalar whose element `value` is, or None."""
    if not isinstance(value, OpResult) or not isinstance(value.op, ExtractOp):
        return None
    tensor = value.op.tensor
    return tensor if tensor.type == tensor_type(i64, [], device_of(tensor.type)) else None


def _shape_constant(body: Body, op: Operation, dims: Sequence[int]) -> str:
    """Return the metadata entry of the dims of a static shape."""
    type = cast(Any, tensor_type(i64, [len(dims)]))
    value = DenseIntOrFPElementsAttr.from_list(type, list(dims))
    return body.shared.table.constant(value, op)


def _dims(result: SSAValue) -> tuple[int, ...]:
    type = as_tensor(result.type)
    assert type is not None, "the verifier wants a tensor"
    return type.get_shape()


# ------------------------------------------------------------------------- ops


def alloc_storage(body: Body, op: memory.AllocStorageOp) -> str:
    """
    Return the call of TVM 0.14 and later, with the shape for allocators of devices with textures.

    It is that of the only tensor in the storage, or `[]` if there are more or it is not static.
    """
    size = _size(body, op, None if op.size is None else op.size.value.data, op.dynamic_size)
    users = [use.operation for use in op.storage.uses]
    tensors = [user for user in users if isinstance(user, memory.AllocTensorOp)]
    dims = _dims(tensors[0].tensor) if len(tensors) == 1 else ()
    shape = _shape_constant(body, op, () if DYNAMIC_INDEX in dims else dims)
    shown = [size, shape, f"{op.alignment.value.data}i64"]
    device = op.device or place_of(op.storage.type)
    if device is not None:
        shown.append(f"virtual_device={body.shared.table.device(device, op)}")
    return f"memory.alloc_storage({', '.join(shown)})"


def alloc_tensor(body: Body, op: memory.AllocTensorOp) -> str:
    place, dims = body.place(op), _dims(op.tensor)
    storage = body.text(op.storage, place)
    offset = _size(body, op, None if op.offset is None else op.offset.value.data, op.dynamic_offset)
    if op.shape is None:
        shape = _shape_constant(body, op, dims)
        known = [f"const_shape={shape}", "assert_shape=[]"]
    else:
        shape = body.text(op.shape, place)
        known = [f"assert_shape=[{dims_text(dims)}]"]
    type = as_tensor(op.tensor.type)
    assert type is not None
    if dtype_name(type.element_type) != "float32":
        known.insert(0, f'dtype="{dtype_text(type.element_type, op)}"')
    return f"memory.alloc_tensor({', '.join((storage, offset, shape, *known))})"


def reshape_tensor(body: Body, op: vm.ReshapeTensorOp) -> str:
    place, dims = body.place(op), _dims(op.result)
    data = body.text(op.data, place)
    shape = _shape_constant(body, op, dims) if op.shape is None else body.text(op.shape, place)
    return f"vm.reshape_tensor({data}, {shape}, newshape=[{dims_text(dims)}])"


def shape_of(body: Body, op: vm.ShapeOfOp) -> str:
    """Return a call of the shape of a tensor; operand and result may be on different devices."""
    (arg,) = body.texts(op.operands, place_of(op.operands[0].type))
    return f'vm.shape_of({arg}, dtype="int64")'


# ---------------------------------------------------------------------- calls


def _called(op: vm.DestinationCall, body: Body) -> list[str]:
    place = body.place(op)
    return [
        f"@{op.callee.string_value()}",
        tuple_text(body.texts(op.ins, place)),
        tuple_text(body.texts(op.outs, place)),
    ]


def shape_func(body: Body, op: vm.ShapeFuncOp) -> str:
    flags = ", ".join(map(str, op.is_input.get_values()))
    return f"vm.shape_func({', '.join(_called(op, body))}, is_input=[{flags}])"


def call_lowered(body: Body, op: CallLoweredOp) -> str:
    """
    Return a lowered call; nothing implies the devices of its operands, so non-variables state
    theirs.
    """
    shown = [f"@{op.callee.string_value()}", tuple_text(body.texts(op.args, None))]
    if op.reshape_only is not None:
        shown.append('metadata={"relay_attrs"={__dict__={"relay.reshape_only"=1}}}')
    return f"call_lowered({', '.join(shown)})"


HEADS: Mapping[type[Operation], Head] = {
    memory.AllocStorageOp: alloc_storage,
    memory.AllocTensorOp: alloc_tensor,
    memory.KillOp: lambda body, op: f"memory.kill({body.text(op.value, place_of(op.value.type))})",
    vm.InvokeTvmOp: lambda body, op: f"vm.invoke_tvm_op({', '.join(_called(op, body))})",
    vm.ShapeFuncOp: shape_func,
    vm.ReshapeTensorOp: reshape_tensor,
    vm.ShapeOfOp: shape_of,
    CallLoweredOp: call_lowered,
}
"""The rule for each op."""

# --------------------------------------------------------------------- kernels


def kernel_attributes(body: Body, op: PrimFuncOp) -> list[str]:
    """Return the attributes between the last parameter of a kernel and the bracket."""
    shown = ["Primitive=1"]
    if op.target is not None:
        shown += body.attributes({"target": op.target}, op)
    known: Mapping[str, Attribute] = {}
    for name, value in op.attributes.items():
        if name != ATTRS or not isinstance(value, DictionaryAttr):
            raise unprintable(f"the attribute {name} of a kernel", op)
        known = value.data
    shown += body.attributes(known, op)
    scopes = set(_scopes(op)[len(op.function_type.inputs) :])
    if len(scopes) > 1:
        raise unprintable("results of a kernel in different memory scopes", op)
    for scope in scopes - {""}:
        device = body.shared.table.device(VirtualDeviceAttr(scope=scope), op)
        shown.append(f"virtual_device={device}")
    return shown


def kernel_devices(op: PrimFuncOp) -> list[Attribute | None]:
    """Return a device that states the memory scope of each parameter of a kernel."""
    scopes = _scopes(op)[: len(op.function_type.inputs)]
    return [VirtualDeviceAttr(scope=scope) if scope else None for scope in scopes]


def _scopes(op: PrimFuncOp) -> list[str]:
    """Return the scopes of parameters and results."""
    if op.scopes is None:
        return [""] * (len(op.function_type.inputs) + len(op.function_type.outputs))
    return [scope.data for scope in op.scopes]
