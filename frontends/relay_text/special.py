"""
What the text calls like an operator, but the dialect has as something else, or in other parts.

    nn.dropout(%x)                  (%x, a tensor of ones): there is no training here
    zeros(shape=[2], dtype="…")     relay.full of a scalar
    layout_transform(%x, …)         reshapes and a transposition (`layouts`)
    on_device(%x, …)                relay.on_device
    device_copy(%x, …)              two hints: the operand is on one device, the result on another
    shape_of(%x, dtype="int32")     vm.shape_of, whose result is cast
    vm.shape_of(%x), memory.kill    ops of the dialects `vm` and `memory` (`explicit_memory`)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.ir import SSAValue

from ...dialects.dense import Dense, scalar
from ...dialects.device import VirtualDeviceAttr
from ...dialects.relay.constants import ConstantOp
from ...dialects.relay.device_ops import OnDeviceOp
from ...dialects.tensors import as_tensor, dtype_name, is_static
from . import explicit_memory
from . import syntax as ast
from .arguments import attributes_given, not_a_tensor, problem, require_count, values_of
from .layouts import layout_transform
from .writer import Value

if TYPE_CHECKING:
    from .emit import Emitter

Emit: TypeAlias = Callable[["Emitter", ast.Call, Sequence[Value]], Value]


# --------------------------------------------------------------------- devices


def on_device(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
    """A hint where a value is."""
    require_count(emitter, call, len(args), 1)
    given = attributes_given(
        emitter,
        call,
        {"virtual_device": None, "constrain_result": False, "constrain_body": True},
    )
    device = given["virtual_device"]
    body, result = bool(given["constrain_body"]), bool(given["constrain_result"])
    if device is None and not body and not result:
        device = VirtualDeviceAttr()
    if not isinstance(device, VirtualDeviceAttr):
        raise problem(emitter, call, "virtual_device must be a meta[VirtualDevice] entry")
    if device.is_unconstrained and (body or result):
        raise problem(emitter, call, "a hint that constrains something must name a device")
    if explicit_memory.hinted(emitter, call, args[0], device, body or result):
        return args[0]
    return emitter.value(OnDeviceOp(emitter.ssa(args[0]), device, body, result), call.at)


def _device_copy(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
    """Types name no devices before planning: two hints say the same."""
    (value,) = values_of(emitter, call, args, 1)
    given = attributes_given(
        emitter, call, {"src_virtual_device": None, "dst_virtual_device": None}
    )
    devices: list[VirtualDeviceAttr] = []
    for name, device in given.items():
        if not isinstance(device, VirtualDeviceAttr) or device.is_unconstrained:
            raise problem(
                emitter, call, f"{name} must be a meta[VirtualDevice] entry with a device"
            )
        devices.append(device)
    source, destination = devices
    there = emitter.value(OnDeviceOp(value, source, True, True), call.at)
    return emitter.value(OnDeviceOp(there, destination, False, True), call.at)


# --------------------------------------------------------------------- tensors


def _dropout(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
    (data,) = values_of(emitter, call, args, 1)
    attributes_given(emitter, call, {"rate": 0.5})

    def build() -> Value:
        return emitter.several([data, _filled_like(emitter, call, data, 1)], call.at, results=True)

    return emitter.when_known([data], build, call.at)


def _filled(value: int) -> Emit:
    """`zeros` and `ones`."""

    def emit(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
        values_of(emitter, call, args, 0)
        given = attributes_given(emitter, call, {"shape": None, "dtype": "float32"})
        return _full(emitter, call, value, given["shape"], given["dtype"])

    return emit


def _like(value: int) -> Emit:
    """`zeros_like` and `ones_like`."""

    def emit(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
        (data,) = values_of(emitter, call, args, 1)
        attributes_given(emitter, call, {})
        return emitter.when_known([data], lambda: _filled_like(emitter, call, data, value), call.at)

    return emit


def _filled_like(emitter: Emitter, call: ast.Call, data: SSAValue, value: int) -> SSAValue:
    type = as_tensor(data.type)
    if type is None:
        raise not_a_tensor(emitter, call, data)
    if not is_static(type):
        given = emitter.text(type)
        raise problem(emitter, call, f"the shape must be static, but this is of type {given}")
    dtype = dtype_name(type.element_type) or ""
    return emitter.ssa(_full(emitter, call, value, type.get_shape(), dtype))


def _full(emitter: Emitter, call: ast.Call, value: int, shape: Any, dtype: Any) -> Value:
    from .calls import operator

    scalar = emitter.value(ConstantOp(_one(emitter, call, value, dtype)), call.at)
    return operator(emitter, "full", [scalar], {"shape": shape}, call.at)


def _one(emitter: Emitter, call: ast.Call, value: int, dtype: Any) -> Dense:
    """`value` as a scalar constant of `dtype`."""
    dense = scalar(value, str(dtype))
    if dense is None:
        raise problem(emitter, call, f'"{dtype}" is no dtype')
    return dense


def _full_of(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
    """`full`: TVM may also say the dtype, to which the value is cast."""
    from .calls import operator

    (value,) = values_of(emitter, call, args, 1)
    given = attributes_given(emitter, call, {"shape": None, "dtype": ""})
    dtype = given["dtype"] or ""

    def build() -> Value:
        type = as_tensor(value.type)
        scalar: Value = value
        if dtype and type is not None and dtype_name(type.element_type) != dtype:
            scalar = operator(emitter, "cast", [value], {"dtype": dtype}, call.at)
        return operator(emitter, "full", [scalar], {"shape": given["shape"]}, call.at)

    return emitter.when_known([value], build, call.at)


def _pad(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
    """`nn.pad`: the value is the second argument, or (before TVM 0.8) an attribute."""
    from .calls import operator

    attrs = dict(call.attrs)
    value = attrs.pop("pad_value", 0)
    if len(args) == 2:
        return operator(emitter, "nn.pad", args, attrs, call.at)
    (data,) = values_of(emitter, call, args, 1)

    def build() -> Value:
        type = as_tensor(data.type)
        dtype = "" if type is None else dtype_name(type.element_type)
        scalar = emitter.value(ConstantOp(_one(emitter, call, value, dtype)), call.at)
        return operator(emitter, "nn.pad", [data, scalar], attrs, call.at)

    return emitter.when_known([data], build, call.at)


def _shape_of(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
    """The dims of a tensor, in the dtype that is wanted."""
    from .calls import operator

    given = attributes_given(emitter, call, {"dtype": "int32"})
    plain = ast.Call(call.at, call.callee, call.args, {}, call.end)
    shape = explicit_memory.shape_of(emitter, plain, args)
    dtype = given["dtype"] or "int32"
    if dtype == "int64":
        return shape
    return operator(emitter, "cast", [shape], {"dtype": dtype}, call.at)


# ------------------------------------------------------------------- by name

SPECIAL: Mapping[str, Emit] = {
    "on_device": on_device,
    "device_copy": _device_copy,
    "nn.dropout": _dropout,
    "zeros": _filled(0),
    "ones": _filled(1),
    "zeros_like": _like(0),
    "ones_like": _like(1),
    "full": _full_of,
    "nn.pad": _pad,
    "layout_transform": layout_transform,
    "shape_of": _shape_of,
    "vm.shape_of": explicit_memory.shape_of,
    "vm.reshape_tensor": explicit_memory.reshape_tensor,
    "memory.alloc_storage": explicit_memory.alloc_storage,
    "memory.alloc_tensor": explicit_memory.alloc_tensor,
    "memory.kill": explicit_memory.kill,
}
"""How each is written, by its TVM name."""
