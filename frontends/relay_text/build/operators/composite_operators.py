"""
Operators of the text that the dialect expresses as others or several, or computes in another type
or layout than that of their operands.

    nn.dropout(%x)                  (%x, a tensor of ones): there is no training here
    zeros_like(%x)                  relay.full of a scalar, or dyn.full of the shape of %x
    layout_transform(%x, …)         reshapes and a transposition (`layouts`)
    on_device(%x, …)                relay.on_device
    device_copy(%x, …)              two hints: the operand is on one device, the result on another
    vm.shape_of(%x), memory.kill    ops of the dialects `vm` and `memory` (`explicit_memory`)
    nn.pad(%x, 0, pad_width=…)      the value, cast to the dtype of %x
    sum(%b), of bools               any(%b)
    argsort(%x, dtype="float32")    the indices, cast
    nn.conv2d(%x, %w, kernel_layout="OHWI")
                                    %w, transposed to a layout that relay.nn.conv2d has
    fast_exp(%x)                    exp(%x): as exact as the operator
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import OpResult, SSAValue

from .....dialects.attributes import ELEMENT_TYPES
from .....dialects.device import VirtualDeviceAttr
from .....dialects.tensors import as_tensor, is_static
from .....dialects.type_rules import rule_of
from ...text import syntax as ast
from ...tvm_layouts import parse_layout
from ...tvm_operators import BY_NAME, operand_count
from ...tvm_weights import WEIGHTS
from ..build_context import Context
from ..deferred import refine_dims, when_known
from . import explicit_memory
from .array_operators import ARRAYS
from .call_site import Attrs, Rule, Site, call_operator, dtype_of
from .decomposed_operators import DECOMPOSED, HINTS
from .image_operators import IMAGES
from .layouts import change_layout, layout_transform
from .signal_operators import SIGNALS

Conversion: TypeAlias = Callable[[Site, list[SSAValue], Attrs], SSAValue | None]
"""
Changes the operands and attributes of a call, or builds it as another operator, or on another
layout, and returns the result.
"""


def _converted(site: Site) -> SSAValue:
    """
    Build the call of an operator that is converted.

    What a conversion cannot expect, a wrong number of operands or one that is not a tensor, is left
    to the operator, which reports it.
    """
    values = [*site.args] if len(site.args) == operand_count(site.name) else []
    if not values or any(as_tensor(value.type) is None for value in values):
        return call_operator(site.context, site.call, site.args)
    convert, attrs = _CONVERSIONS.get(site.name), dict(site.call.attrs)
    converted = None if convert is None else convert(site, values, attrs)
    return site.build(site.name, values, attrs) if converted is None else converted


# ----------------------------------------------------------------------- dtypes


def _scalar(site: Site, value: SSAValue) -> SSAValue:
    """Return `value`, viewed as a scalar if it is a tensor of one element."""
    dims = site.tensor(value).get_shape()
    if not dims or any(dim != 1 for dim in dims):
        return value
    return site.value("reshape", value, newshape=())


def _padded(site: Site, args: list[SSAValue], attrs: Attrs) -> None:
    """Cast the value, the last operand, to the dtype of the data."""
    args[-1] = _scalar(site, site.cast(args[-1], dtype_of(args[0])))
    args[0] = _cropped(site, args[0], attrs)


def _cropped(site: Site, data: SSAValue, attrs: Attrs) -> SSAValue:
    """Return `data` without what negative widths in `attrs` cut off; these become 0."""
    widths = attrs.get("pad_width")
    pairs = list(cast("tuple[Any, ...]", widths)) if isinstance(widths, tuple) else []
    cut = [axis for axis, pair in enumerate(pairs) if _is_pair(pair) and min(pair) < 0]
    if not cut:
        return data
    ends = [pairs[axis][1] for axis in cut]
    slices: Attrs = {
        "begin": tuple(max(-pairs[axis][0], 0) for axis in cut),
        "end": tuple(end if end < 0 else _END for end in ends),
        "axes": tuple(cut),
    }
    for axis in cut:
        pairs[axis] = tuple(max(width, 0) for width in pairs[axis])
    attrs["pad_width"] = tuple(pairs)
    return site.value("strided_slice", data, **slices)


_END = 2**31 - 1
"""The end of a slice that ends with the tensor."""


def _is_pair(value: Any) -> bool:
    match value:
        case (int(), int()):
            return True
        case _:
            return False


def _one_hot(site: Site, args: list[SSAValue], attrs: Attrs) -> None:
    """Cast both values to `dtype`; a dynamic depth may be a vector of one."""
    dtype = attrs.get("dtype")
    if dtype in ELEMENT_TYPES:
        args[1:3] = [site.cast(value, dtype) for value in args[1:3]]
    args[1:] = [_scalar(site, value) for value in args[1:]]


def _where(site: Site, args: list[SSAValue], attrs: Attrs) -> None:
    """Cast the condition: one that is not bool is whether it is not 0."""
    args[0] = site.cast(args[0], "bool")


def _sum(site: Site, args: list[SSAValue], attrs: Attrs) -> SSAValue | None:
    """Build `any` of bools."""
    return site.build("any", args, attrs) if dtype_of(args[0]) == "bool" else None


def _integers(site: Site, args: list[SSAValue], attrs: Attrs) -> SSAValue | None:
    """Build `shape_of` or a selection, whose sizes or indices TVM may give as floats."""
    dtype = attrs.get("dtype")
    if not isinstance(dtype, str) or not dtype.startswith("float"):
        return None
    indices = site.build(site.name, args, {**attrs, "dtype": "int32"})
    fields = site.context.fields(indices)
    if fields is not None:
        converted = [fields[0], site.cast(fields[1], dtype)]
        return site.context.packed(converted, site.call.offset, from_operator=True)
    return indices if attrs.get("ret_type") == "values" else site.cast(indices, dtype)


def _suppression(site: Site, args: list[SSAValue], attrs: Attrs) -> None:
    """Replace indices that are not returned, as which TVM accepts anything."""
    dims, given = site.tensor(args[0]).get_shape(), site.tensor(args[2]).get_shape()
    is_ignored = attrs.get("return_indices") in (0, False) and DYNAMIC_INDEX not in dims[:2]
    if is_ignored and tuple(given) != tuple(dims[:2]):
        args[2] = site.value("zeros", shape=tuple(dims[:2]), dtype="int32")


# ---------------------------------------------------------------------- layouts


@cache
def _layouts(name: str, key: str) -> Sequence[str]:
    """Return the layouts that an operator accepts as an attribute, the default first."""
    rule = rule_of(BY_NAME[name])
    assert rule is not None, f"{name} has a rule"
    return rule.words(key)


def _has_axes(layout: Any, axes: str) -> bool:
    """Test whether `layout` is one of `axes`, in any order, some of them in blocks."""
    parsed = parse_layout(layout) if isinstance(layout, str) else None
    return parsed is not None and parsed.has_axes(axes)


def _on_images(site: Site, args: list[SSAValue], attrs: Attrs) -> SSAValue | None:
    """
    Build an operator on data in one of the layouts of images that it has, the first by default.

    `attrs` has the layout of the data, and as `out_layout` that of the result, if it is another.
    """
    key = "data_layout" if len(args) > 1 else "layout"
    layouts = _layouts(site.name, key)
    layout = attrs.get(key) or layouts[0]
    result = attrs.get("out_layout") or layout
    if not _has_axes(layout, layouts[0]) or not _has_axes(result, layouts[0]):
        return None
    inner = layout if layout in layouts else layouts[0]
    data = change_layout(site, args[0], layout, inner)
    attrs = {name: value for name, value in attrs.items() if name != "out_layout"}
    image = site.value(site.name, data, *args[1:], **{**attrs, key: inner})
    return change_layout(site, image, inner, result)


def _multiplied(site: Site, weight: SSAValue, attrs: Attrs) -> tuple[SSAValue, str]:
    """
    Return the weight of a depthwise `conv2d` as one that has one input channel a group.

    TVM's has the channels and, as I, the number of results of each: a 3x3x4x2 HWOI weight becomes
    a 3x3x1x8 HWIO one, without being moved. Returns the layout, too.
    """
    layout = attrs.get("kernel_layout") or "OIHW"
    dims = site.tensor(weight).get_shape()
    groups, channels = attrs.get("groups", 1), attrs.get("channels")
    if len(dims) != 4 or sorted(layout) != sorted("OIHW") or groups == 1:
        return weight, layout
    count, factor = dims[layout.index("O")], dims[layout.index("I")]
    is_depthwise = DYNAMIC_INDEX not in dims and groups == count and channels == count * factor
    if not is_depthwise or (factor == 1 and layout in _layouts(site.name, "kernel_layout")):
        return weight, layout
    start, end = ("OIHW", "OIHW") if layout == "OIHW" else ("HWOI", "HWIO")
    size = dict(zip(layout, dims, strict=True)) | {"O": channels, "I": 1}
    weight = change_layout(site, weight, layout, start)
    return site.value("reshape", weight, newshape=tuple(size[axis] for axis in end)), end


def _convolution(site: Site, args: list[SSAValue], attrs: Attrs) -> SSAValue | None:
    """Build a convolution whose weight is in another layout than those that it has."""
    weight, known = WEIGHTS[site.name].operand, _layouts(site.name, "kernel_layout")
    layout = attrs.get("kernel_layout") or known[0]
    if layout not in known and _has_axes(layout, known[0]):
        is_last = attrs.get("data_layout") in _layouts(site.name, "data_layout")[1:]
        plain = known[1] if is_last else known[0]  # the channels of both are last
        args[weight] = change_layout(site, args[weight], layout, plain)
        attrs["kernel_layout"] = plain
    return _on_images(site, args, attrs)


def _conv2d(site: Site, args: list[SSAValue], attrs: Attrs) -> SSAValue | None:
    args[1], attrs["kernel_layout"] = _multiplied(site, args[1], attrs)
    return _convolution(site, args, attrs)


def _deformable(site: Site, args: list[SSAValue], attrs: Attrs) -> SSAValue | None:
    """Build `nn.deformable_conv2d`, whose offset has the layout of the data."""
    layout = attrs.get("data_layout") or "NCHW"
    if _has_axes(layout, "NCHW"):
        args[1] = change_layout(site, args[1], layout, "NCHW")
    return _convolution(site, args, attrs)


_POOLS = (
    *("global_max_pool2d", "global_avg_pool2d", "upsampling", "upsampling3d"),
    *(f"{kind}_pool{sides}d" for kind in ("max", "avg") for sides in (1, 2, 3)),
    *(f"adaptive_{kind}_pool{sides}d" for kind in ("max", "avg") for sides in (1, 2, 3)),
)
_CONVERSIONS: Mapping[str, Conversion] = {
    **dict.fromkeys(("nn.conv2d", "qnn.conv2d"), _conv2d),
    **dict.fromkeys(("nn.conv1d", "nn.conv3d", "qnn.conv2d_transpose"), _convolution),
    **{f"nn.conv{sides}d_transpose": _convolution for sides in (1, 2, 3)},
    "nn.deformable_conv2d": _deformable,
    "sum": _sum,
    "where": _where,
    **dict.fromkeys(("dyn.nn.pad", "nn.pad"), _padded),
    **dict.fromkeys(("dyn.one_hot", "one_hot"), _one_hot),
    **dict.fromkeys(("argsort", "dyn.topk", "shape_of", "topk"), _integers),
    **dict.fromkeys([f"nn.{name}" for name in _POOLS], _on_images),
    "vision.non_max_suppression": _suppression,
}


def _named(name: str) -> Rule:
    """Return a rule that builds the operator `name`."""

    def build(site: Site) -> SSAValue:
        call = site.call
        callee = ast.Name(call.callee.offset, name)
        renamed = ast.Call(call.offset, callee, call.args, call.attrs, call.end)
        return _converted(Site(site.context, renamed, site.args))

    return build


CONVERTED: Mapping[str, Rule] = {
    **dict.fromkeys(_CONVERSIONS, _converted),
    **dict.fromkeys(
        ("nn.contrib_conv2d_NCHWc", "nn.contrib_depthwise_conv2d_NCHWc"), _named("nn.conv2d")
    ),
    **{f"fast_{name}": _named(name) for name in ("exp", "tanh", "erf")},
    "nn.fast_softmax": _named("nn.softmax"),
}
"""The rule that builds each of these operators, by its TVM name."""


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
        return _converted(site)
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
