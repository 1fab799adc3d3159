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

from collections.abc import Mapping, Sequence

from xdsl.ir import OpResult, SSAValue

from .....dialects.device import VirtualDeviceAttr
from .....dialects.tensors import as_tensor, is_static
from ...text import syntax as ast
from ..build_context import Context
from ..deferred import refine_dims, when_known
from . import explicit_memory
from .array_operators import ARRAYS
from .call_site import Rule, Site, dtype_of
from .converted_operators import CONVERTED
from .decomposed_operators import DECOMPOSED, HINTS
from .image_operators import IMAGES
from .layouts import layout_transform
from .signal_operators import SIGNALS

# --------------------------------------------------------------------- devices


def on_device(site: Site) -> SSAValue:
    site.require_count(len(site.args), 1)
    given = site.attributes(virtual_device=None, constrain_result=False, constrain_body=True)
    device = given["virtual_device"]
    body, result = bool(given["constrain_body"]), bool(given["constrain_result"])
    if device is None and not body and not result:
        device = VirtualDeviceAttr()
    if not isinstance(device, VirtualDeviceAttr):
        raise site.problem("virtual_device must be a meta[VirtualDevice] entry")
    if device.is_unconstrained and (body or result):
        raise site.problem("a constraining hint must name a device")
    (value,) = site.args
    if explicit_memory.absorb_hint(site, value, device, body or result):
        return value
    return site.hint(value, device, body, result)


def _device_copy(site: Site) -> SSAValue:
    """Build a copy as two hints: types carry no devices before planning."""
    (value,) = site.values(1)
    given = site.attributes(src_virtual_device=None, dst_virtual_device=None)
    for name, device in given.items():
        if not isinstance(device, VirtualDeviceAttr) or device.is_unconstrained:
            raise site.problem(f"{name} must be a meta[VirtualDevice] entry with a device")
    source, destination = given.values()
    return site.hint(site.hint(value, source), destination, body=False)


# --------------------------------------------------------------------- tensors


def _dropout(site: Site) -> SSAValue:
    (data,) = site.values(1)
    site.attributes(rate=0.5)
    mask = when_known(site.context, _mask, site.call, [data])
    return site.context.packed([data, mask], site.call.offset, from_operator=True)


def _mask(context: Context, call: ast.Call, args: Sequence[SSAValue]) -> SSAValue:
    """Build ones like the one argument, which are erased if nothing uses them."""
    data = args[0]
    mask = _filled_like(Site(context, call, args), data, 1)
    assert isinstance(mask, OpResult), "an op fills the mask"
    sources = [v.op for v in mask.op.operands if v is not data and isinstance(v, OpResult)]
    context.explicit.folded += [mask.op, *sources]
    return mask


def _like(site: Site) -> SSAValue:
    """Build `zeros_like` or `ones_like`."""
    (data,) = site.values(1)
    site.attributes()
    return _filled_like(site, data, int(site.name == "ones_like"))


def _filled_like(site: Site, data: SSAValue, number: int) -> SSAValue:
    type = site.tensor(data)
    scalar = site.scalar(number, dtype_of(data))
    if is_static(type):
        return site.value("full", scalar, shape=type.get_shape())
    shape = site.value("shape_of", data, dtype="int64")
    filled = site.value("dyn.full", scalar, shape)
    return refine_dims(site.context, filled, type, site.call.offset)


def _full(site: Site) -> SSAValue:
    """Build `full`; TVM may also state a dtype, to which the value is cast."""
    (value,) = site.values(1)
    given = site.attributes(shape=None, dtype="")
    if given["dtype"] and as_tensor(value.type) is not None:
        value = site.cast(value, given["dtype"])
    return site.build("full", [value], {"shape": given["shape"]})


def _pad(site: Site) -> SSAValue:
    """Build `nn.pad`; the value is the second argument or (before TVM 0.8) an attribute."""
    if len(site.args) == 2:
        return CONVERTED["nn.pad"](site)
    (data,) = site.values(1)
    attrs = dict(site.call.attrs)
    value = site.scalar(attrs.pop("pad_value", 0), dtype_of(data))
    return site.build("nn.pad", [data, value], attrs)


# ------------------------------------------------------------------- by name

EAGER: Mapping[str, Rule] = {
    "on_device": on_device,
    "device_copy": _device_copy,
    "nn.dropout": _dropout,
    "memory.alloc_storage": explicit_memory.alloc_storage,
    "memory.alloc_tensor": explicit_memory.alloc_tensor,
    "memory.kill": explicit_memory.kill,
    "vm.reshape_tensor": explicit_memory.reshape_tensor,
    **HINTS,
}
"""The rule of each operator that need not know the types of its operands, by its TVM name."""

COMPOSITES: Mapping[str, Rule] = {
    **dict.fromkeys(("zeros_like", "ones_like"), _like),
    "full": _full,
    **CONVERTED,
    **ARRAYS,
    **DECOMPOSED,
    **IMAGES,
    **SIGNALS,
    "nn.pad": _pad,
    "layout_transform": layout_transform,
    "vm.shape_of": explicit_memory.shape_of,
}
"""The rule of each other composite operator; the types of its arguments are known."""


def composite(context: Context, call: ast.Call, args: Sequence[SSAValue]) -> SSAValue:
    """Build a composite operator on `args`, whose types are known."""
    site = Site(context, call, args)
    return COMPOSITES[site.name](site)
