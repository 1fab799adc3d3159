"""
Operators that TVM computes in another type or layout than that of their operands.

    nn.pad(%x, 0, pad_width=…)                   the value, cast to the dtype of %x
    sum(%b), of bools                            any(%b)
    topk(%x, dtype="float32")                    the indices, cast
    nn.conv2d(%x, %w, kernel_layout="OHWI")      %w, transposed to a layout that relay.nn.conv2d has

The operators are those of the dialect, on operands that were converted, or with results that are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from .....dialects.attributes import ELEMENT_TYPES
from .....dialects.relay import BY_NAME
from .....dialects.tensors import Tensor, as_tensor, dtype_name
from ...text import syntax as ast
from ...tvm_layouts import parse_layout
from ..build_context import Context, TupleValue, Value
from .layouts import change_layout
from .relay_operators import call_operator, operator

Attrs: TypeAlias = dict[str, Any]
Emit: TypeAlias = Callable[[Context, ast.Call, Sequence[Value]], Value]
EmitTensors: TypeAlias = Callable[[Context, ast.Call, list[SSAValue], Attrs], Value]


def _operator(
    context: Context, call: ast.Call, name: str, args: Sequence[Value], attrs: Attrs
) -> Value:
    return operator(context, name, args, attrs, call.offset)


def _on_tensors(name: str, convert: EmitTensors) -> Emit:
    """
    Return the rule that calls `convert` with the operands.

    What `convert` cannot expect, a wrong number of operands or one that is not a tensor, is left to
    the operator, which reports it.
    """
    count = len(BY_NAME[name].get_irdl_definition().operands)

    def emit(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
        values = [context.ssa(arg) for arg in args] if len(args) == count else []
        if not values or any(as_tensor(value.type) is None for value in values):
            return call_operator(context, call, args)
        return convert(context, call, values, dict(call.attrs))

    return emit


# ----------------------------------------------------------------------- dtypes


def _tensor(value: SSAValue) -> Tensor:
    type = as_tensor(value.type)
    assert type is not None, "operands were checked"
    return type


def _dtype(value: SSAValue) -> str:
    return dtype_name(_tensor(value).element_type) or ""


def _cast(context: Context, call: ast.Call, value: SSAValue, dtype: str) -> SSAValue:
    """Return `value`, cast if it is not of `dtype`."""
    if _dtype(value) == dtype:
        return value
    return context.ssa(_operator(context, call, "cast", [value], {"dtype": dtype}))


def _scalar(context: Context, call: ast.Call, value: SSAValue) -> SSAValue:
    """Return `value`, viewed as a scalar if it is a tensor of one element."""
    dims = _tensor(value).get_shape()
    if not dims or any(dim != 1 for dim in dims):
        return value
    return context.ssa(_operator(context, call, "reshape", [value], {"newshape": ()}))


def _pad(name: str) -> EmitTensors:
    """Return the rule that casts the value, the last operand, to the dtype of the data."""

    def convert(context: Context, call: ast.Call, args: list[SSAValue], attrs: Attrs) -> Value:
        args[-1] = _scalar(context, call, _cast(context, call, args[-1], _dtype(args[0])))
        args[0] = _cropped(context, call, args[0], attrs)
        return _operator(context, call, name, args, attrs)

    return convert


def _cropped(context: Context, call: ast.Call, data: SSAValue, attrs: Attrs) -> SSAValue:
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
    return context.ssa(_operator(context, call, "strided_slice", [data], slices))


_END = 2**31 - 1
"""The end of a slice that ends with the tensor."""


def _is_pair(value: Any) -> bool:
    match value:
        case (int(), int()):
            return True
        case _:
            return False


def _one_hot(name: str) -> EmitTensors:
    """Return the rule that casts both values to `dtype`; a dynamic depth may be a vector of one."""

    def convert(context: Context, call: ast.Call, args: list[SSAValue], attrs: Attrs) -> Value:
        dtype = attrs.get("dtype")
        if dtype in ELEMENT_TYPES:
            args[1:3] = [_cast(context, call, value, dtype) for value in args[1:3]]
        args[1:] = [_scalar(context, call, value) for value in args[1:]]
        return _operator(context, call, name, args, attrs)

    return convert


def _where(context: Context, call: ast.Call, args: list[SSAValue], attrs: Attrs) -> Value:
    """Build `where`; a condition that is not bool is whether it is not 0."""
    args[0] = _cast(context, call, args[0], "bool")
    return _operator(context, call, "where", args, attrs)


def _sum(context: Context, call: ast.Call, args: list[SSAValue], attrs: Attrs) -> Value:
    """Build `sum`; that of bools is whether any is true."""
    name = "any" if _dtype(args[0]) == "bool" else "sum"
    return _operator(context, call, name, args, attrs)


def _indices(name: str) -> EmitTensors:
    """Return the rule of a selection whose indices may be floats."""

    def convert(context: Context, call: ast.Call, args: list[SSAValue], attrs: Attrs) -> Value:
        dtype = attrs.get("dtype")
        if not isinstance(dtype, str) or not dtype.startswith("float"):
            return _operator(context, call, name, args, attrs)
        selected = _operator(context, call, name, args, {**attrs, "dtype": "int32"})
        if isinstance(selected, TupleValue):
            values, indices = selected.values
            converted = [values, _cast(context, call, indices, dtype)]
            return context.tuple_value(converted, call.offset, from_operator=True)
        is_indices = attrs.get("ret_type") == "indices"
        return _cast(context, call, context.ssa(selected), dtype) if is_indices else selected

    return convert


def _shape_of(context: Context, call: ast.Call, args: list[SSAValue], attrs: Attrs) -> Value:
    """Build `shape_of`, whose result may be floats."""
    dtype = attrs.get("dtype")
    if not isinstance(dtype, str) or not dtype.startswith("float"):
        return _operator(context, call, "shape_of", args, attrs)
    sizes = _operator(context, call, "shape_of", args, {**attrs, "dtype": "int32"})
    return _cast(context, call, context.ssa(sizes), dtype)


# ---------------------------------------------------------------------- layouts

_DATA = ("NCHW", "NHWC")
_KERNELS = ("OIHW", "HWIO", "OHWI8o", "OHWI16o", "OHWI32o")


def _has_axes(layout: Any, axes: str) -> bool:
    """Test whether `layout` is one of `axes`, in any order, some of them in blocks."""
    parsed = parse_layout(layout) if isinstance(layout, str) else None
    return parsed is not None and parsed.has_axes(axes)


def _changed(
    context: Context, call: ast.Call, value: SSAValue, source: str, target: str
) -> SSAValue:
    return value if source == target else change_layout(context, call, value, source, target)


def _with_layout(
    context: Context,
    call: ast.Call,
    data: SSAValue,
    attrs: Attrs,
    key: str,
    known: Sequence[str],
    build: Callable[[SSAValue, Attrs], Value],
) -> Value:
    """
    Call `build` with `data` in one of the `known` layouts of images, the first by default.

    `attrs[key]` is that of `data`, `attrs["out_layout"]` that of the result, if it is another one.
    """
    layout = attrs.get(key) or "NCHW"
    result = attrs.get("out_layout") or layout
    if not _has_axes(layout, "NCHW") or not _has_axes(result, "NCHW"):
        return build(data, attrs)
    inner = layout if layout in known else known[0]
    data = _changed(context, call, data, layout, inner)
    inner_attrs = {name: value for name, value in attrs.items() if name != "out_layout"}
    image = context.ssa(build(data, {**inner_attrs, key: inner}))
    return _changed(context, call, image, inner, result)


def _multiplied(
    context: Context, call: ast.Call, weight: SSAValue, attrs: Attrs
) -> tuple[SSAValue, str]:
    """
    Return the weight of a depthwise `conv2d` as one that has one input channel a group.

    TVM's has the channels and, as I, the number of results of each: a 3x3x4x2 HWOI weight becomes
    a 3x3x1x8 HWIO one, without being moved. Returns the layout, too.
    """
    layout = attrs.get("kernel_layout") or "OIHW"
    dims = _tensor(weight).get_shape()
    groups, channels = attrs.get("groups", 1), attrs.get("channels")
    if len(dims) != 4 or sorted(layout) != sorted("OIHW") or groups == 1:
        return weight, layout
    count, factor = dims[layout.index("O")], dims[layout.index("I")]
    is_depthwise = DYNAMIC_INDEX not in dims and groups == count and channels == count * factor
    if not is_depthwise or (factor == 1 and layout in _KERNELS):
        return weight, layout
    start, end = ("OIHW", "OIHW") if layout == "OIHW" else ("HWOI", "HWIO")
    size = dict(zip(layout, dims, strict=True)) | {"O": channels, "I": 1}
    weight = _changed(context, call, weight, layout, start)
    shape = tuple(size[axis] for axis in end)
    return context.ssa(_operator(context, call, "reshape", [weight], {"newshape": shape})), end


def _conv2d(context: Context, call: ast.Call, args: list[SSAValue], attrs: Attrs) -> Value:
    """Build `nn.conv2d` in layouts that the dialect has."""
    data, weight = args
    weight, layout = _multiplied(context, call, weight, attrs)
    if layout not in _KERNELS and _has_axes(layout, "OIHW"):
        plain = "HWIO" if attrs.get("data_layout") == "NHWC" else "OIHW"
        weight, layout = _changed(context, call, weight, layout, plain), plain
    attrs["kernel_layout"] = layout

    def build(image: SSAValue, attrs: Attrs) -> Value:
        return _operator(context, call, "nn.conv2d", [image, weight], attrs)

    return _with_layout(context, call, data, attrs, "data_layout", _DATA, build)


def _conv2d_transpose(
    context: Context, call: ast.Call, args: list[SSAValue], attrs: Attrs
) -> Value:
    """Build `nn.conv2d_transpose` in the layouts that the dialect has."""
    data, weight = args
    layout = attrs.get("kernel_layout") or "IOHW"
    if _has_axes(layout, "IOHW"):
        weight = _changed(context, call, weight, layout, "IOHW")
        attrs["kernel_layout"] = "IOHW"

    def build(image: SSAValue, attrs: Attrs) -> Value:
        return _operator(context, call, "nn.conv2d_transpose", [image, weight], attrs)

    return _with_layout(context, call, data, attrs, "data_layout", ("NCHW",), build)


def _pool(name: str) -> EmitTensors:
    """Return the rule that builds a pooling, or `upsampling`, in a layout that the dialect has."""

    def convert(context: Context, call: ast.Call, args: list[SSAValue], attrs: Attrs) -> Value:
        def build(image: SSAValue, attrs: Attrs) -> Value:
            return _operator(context, call, name, [image], attrs)

        return _with_layout(context, call, args[0], attrs, "layout", _DATA, build)

    return convert


_POOLS = ("max_pool2d", "avg_pool2d", "global_max_pool2d", "global_avg_pool2d", "upsampling")
_RULES: dict[str, EmitTensors] = {
    "dyn.nn.pad": _pad("dyn.nn.pad"),
    "dyn.one_hot": _one_hot("dyn.one_hot"),
    "dyn.topk": _indices("dyn.topk"),
    "nn.conv2d": _conv2d,
    "nn.conv2d_transpose": _conv2d_transpose,
    "nn.pad": _pad("nn.pad"),
    "one_hot": _one_hot("one_hot"),
    "shape_of": _shape_of,
    "sum": _sum,
    "topk": _indices("topk"),
    "where": _where,
    **{f"nn.{name}": _pool(f"nn.{name}") for name in _POOLS},
}
CONVERTED: dict[str, Emit] = {name: _on_tensors(name, rule) for name, rule in _RULES.items()}
"""The rule that builds each of these operators, by its TVM name."""
