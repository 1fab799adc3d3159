"""
Operators of the text that the dialect expresses as other or several ops.

    nn.dropout(%x)                  (%x, a tensor of ones): there is no training here
    zeros_like(%x)                  relay.full of a scalar, or dyn.full of the shape of %x
    layout_transform(%x, …)         reshapes and a transposition (`layouts`)
    on_device(%x, …)                relay.on_device
    device_copy(%x, …)              two hints: the operand is on one device, the result on another
    vm.shape_of(%x), memory.kill    ops of the dialects `vm` and `memory` (`explicit_memory`)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.ir import OpResult, SSAValue

from .....dialects.dense import Dense, scalar
from .....dialects.device import VirtualDeviceAttr
from .....dialects.relay.constants import ConstantOp
from .....dialects.relay.device_ops import OnDeviceOp
from .....dialects.tensors import as_tensor, dtype_name, is_static
from ...text import syntax as ast
from ..build_context import Context, Value
from ..declared_dims import refine_dims
from ..deferred import when_known
from . import explicit_memory
from .call_operands import attributes_given, not_a_tensor, problem, require_count, values_of
from .converted_operators import CONVERTED
from .layouts import layout_transform
from .relay_operators import operator

Emit: TypeAlias = Callable[[Context, ast.Call, Sequence[Value]], Value]


# --------------------------------------------------------------------- devices


def on_device(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    """Build a device hint."""
    require_count(context, call, len(args), 1)
    given = attributes_given(
        context,
        call,
        {"virtual_device": None, "constrain_result": False, "constrain_body": True},
    )
    device = given["virtual_device"]
    body, result = bool(given["constrain_body"]), bool(given["constrain_result"])
    if device is None and not body and not result:
        device = VirtualDeviceAttr()
    if not isinstance(device, VirtualDeviceAttr):
        raise problem(context, call, "virtual_device must be a meta[VirtualDevice] entry")
    if device.is_unconstrained and (body or result):
        raise problem(context, call, "a constraining hint must name a device")
    if explicit_memory.absorb_hint(context, call, args[0], device, body or result):
        return args[0]
    return context.value(OnDeviceOp(context.ssa(args[0]), device, body, result), call.offset)


def _device_copy(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    """Build a copy as two hints: types carry no devices before planning."""
    (value,) = values_of(context, call, args, 1)
    given = attributes_given(
        context, call, {"src_virtual_device": None, "dst_virtual_device": None}
    )
    devices: list[VirtualDeviceAttr] = []
    for name, device in given.items():
        if not isinstance(device, VirtualDeviceAttr) or device.is_unconstrained:
            raise problem(
                context, call, f"{name} must be a meta[VirtualDevice] entry with a device"
            )
        devices.append(device)
    source, destination = devices
    there = context.value(OnDeviceOp(value, source, True, True), call.offset)
    return context.value(OnDeviceOp(there, destination, False, True), call.offset)


# --------------------------------------------------------------------- tensors


def _dropout(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    (data,) = values_of(context, call, args, 1)
    attributes_given(context, call, {"rate": 0.5})
    mask = context.ssa(when_known(context, _mask, call, [data]))
    return context.tuple_value([data, mask], call.offset, from_operator=True)


def _mask(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    """Build ones like the one argument, which are erased if nothing uses them."""
    data = context.ssa(args[0])
    mask = _filled_like(context, call, data, 1)
    assert isinstance(mask, OpResult), "an op fills the mask"
    sources = [v.op for v in mask.op.operands if v is not data and isinstance(v, OpResult)]
    context.explicit.folded += [mask.op, *sources]
    return mask


def _zeros_or_ones_like(value: int) -> Emit:
    """Return the rule for `zeros_like` and `ones_like`."""

    def emit(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
        (data,) = values_of(context, call, args, 1)
        attributes_given(context, call, {})
        return _filled_like(context, call, data, value)

    return emit


def _filled_like(context: Context, call: ast.Call, data: SSAValue, value: int) -> SSAValue:
    type = as_tensor(data.type)
    if type is None:
        raise not_a_tensor(context, call, data)
    dtype = dtype_name(type.element_type) or ""
    if is_static(type):
        return context.ssa(_full(context, call, value, type.get_shape(), dtype))
    number = context.value(ConstantOp(_scalar_constant(context, call, value, dtype)), call.offset)
    shape = operator(context, "shape_of", [data], {"dtype": "int64"}, call.offset)
    filled = context.ssa(operator(context, "dyn.full", [number, shape], {}, call.offset))
    return refine_dims(context, filled, type, call.offset)


def _full(context: Context, call: ast.Call, value: int, shape: Any, dtype: Any) -> Value:
    one = context.value(ConstantOp(_scalar_constant(context, call, value, dtype)), call.offset)
    return operator(context, "full", [one], {"shape": shape}, call.offset)


def _scalar_constant(context: Context, call: ast.Call, value: int, dtype: Any) -> Dense:
    """Return `value` as a scalar constant of `dtype`."""
    constant = scalar(value, str(dtype))
    if constant is None:
        raise problem(context, call, f'unknown dtype "{dtype}"')
    return constant


def _full_call(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    """Build `full`; TVM may also state a dtype, to which the value is cast."""
    (value,) = values_of(context, call, args, 1)
    given = attributes_given(context, call, {"shape": None, "dtype": ""})
    dtype, type = given["dtype"] or "", as_tensor(value.type)
    scalar: Value = value
    if dtype and type is not None and dtype_name(type.element_type) != dtype:
        scalar = operator(context, "cast", [value], {"dtype": dtype}, call.offset)
    return operator(context, "full", [scalar], {"shape": given["shape"]}, call.offset)


def _pad(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    """Build `nn.pad`; the value is the second argument or (before TVM 0.8) an attribute."""
    attrs = dict(call.attrs)
    value = attrs.pop("pad_value", 0)
    if len(args) == 2:
        return CONVERTED["nn.pad"](context, call, args)
    (data,) = values_of(context, call, args, 1)
    type = as_tensor(data.type)
    dtype = "" if type is None else dtype_name(type.element_type)
    scalar = context.value(ConstantOp(_scalar_constant(context, call, value, dtype)), call.offset)
    return operator(context, "nn.pad", [data, scalar], attrs, call.offset)


# ------------------------------------------------------------------- by name

EAGER: Mapping[str, Emit] = {
    "on_device": on_device,
    "device_copy": _device_copy,
    "nn.dropout": _dropout,
    "memory.alloc_storage": explicit_memory.alloc_storage,
    "memory.alloc_tensor": explicit_memory.alloc_tensor,
    "memory.kill": explicit_memory.kill,
    "vm.reshape_tensor": explicit_memory.reshape_tensor,
}
"""The rule of each operator that need not know the types of its operands, by its TVM name."""

COMPOSITES: Mapping[str, Emit] = {
    "zeros_like": _zeros_or_ones_like(0),
    "ones_like": _zeros_or_ones_like(1),
    "full": _full_call,
    **CONVERTED,
    "nn.pad": _pad,
    "layout_transform": layout_transform,
    "vm.shape_of": explicit_memory.shape_of,
}
"""The rule of each other composite operator; the types of its arguments are known."""
