"""Convolutions over one, two and three sides, and what is like them: rules and meanings."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from .matmul import product_element, weighted
from .meaning.forms import Folded, defined
from .meaning.number import FLOAT64, INT64, Number, Source, clamped, element_or
from .operands import require_float, require_number, require_rank, require_same_element
from .rules import Ints, Work, rule
from .signature import Element, Tensor, ranked
from .sizes import Check, SignatureError, Size, divided, require, require_equal
from .windows import (
    PANELS,
    SIDES,
    WINOGRAD,
    Groups,
    Padding,
    Pair,
    Steps,
    dims_by_axis,
    of_sides,
    spatial,
    spatial_names,
    window_counts,
)


def require_groups(channels: Size, groups: int, what: str) -> None:
    message = f"groups must divide {what}: {{1}} does not divide {{0}}"
    require(Check.DIVISIBLE, channels, groups, message)


def _channels(sizes: Mapping[str, Size], filters: Mapping[str, Size], groups: int) -> None:
    """Check that `groups` divide the channels of data and of filters, which match."""
    require_groups(filters["O"], groups, "output channels")
    channels = divided(sizes["C"], groups, "groups must divide channels: {1} does not divide {0}")
    require_equal(filters["I"], channels, "weight's input channels must be {1}, but is {0}")


def _filter_dims(weight: Tensor, layout: str, groups: int) -> dict[str, Size]:
    """Return the number of filters, of input channels, and the sides of windows, by axis."""
    if layout not in PANELS:
        return dims_by_axis(weight, layout, "weight")
    require_rank(weight, 5, "weight")
    if groups != 1:
        raise SignatureError(f"kernel_layout {layout} has one group, but groups is {groups}")
    panels, height, width, channels, filters = weight.dims
    message = f"the last dim of a weight in {layout} must be {{1}}, but is {{0}}"
    require_equal(filters, PANELS[layout], message)
    if layout == WINOGRAD:
        require_float(weight.element, f"weights in {layout}")
        for size in (height, width):
            require_equal(size, 4, f"filters in {layout} must be 4x4, but a side is {{0}}")
        height = width = 3
    return {"O": panels * PANELS[layout], "I": channels, "H": height, "W": width}


class Convolution(NamedTuple):
    """The attributes of a convolution: numbers for each side, padding before and after, layouts."""

    strides: Ints
    padding: Ints
    dilation: Ints
    groups: Groups
    data_layout: str
    kernel_layout: str


def convolution(
    data: Tensor, weight: Tensor, *, conv: Convolution, out_dtype: Element | None
) -> Tensor:
    """Infer the result of a convolution, in the layout of `data`."""
    element = product_element((data, weight), out_dtype)
    sizes = dims_by_axis(data, conv.data_layout, "data")
    windows = _filter_dims(weight, conv.kernel_layout, conv.groups)
    if conv.kernel_layout == WINOGRAD:
        require_same_element((data, weight))
    _channels(sizes, windows, conv.groups)
    steps = conv.strides, conv.padding, conv.dilation
    counts = window_counts(sizes, windows, *steps, may_be_empty=len(conv.strides) < 3)
    result = {**sizes, "C": windows["O"], **counts}
    return ranked(element, tuple(result[axis] for axis in conv.data_layout))


_KERNEL_LAYOUTS = {
    1: Literal["OIW", "WIO"],
    2: Literal["OIHW", "HWIO", "OHWI8o", "OHWI16o", "OHWI32o", "OHWI16o/F23"],
    3: Literal["OIDHW", "DHWIO"],
}
OF_CONVOLUTION = {n: of_sides(n, kernel_layout=words) for n, words in _KERNEL_LAYOUTS.items()}
"""The types of attributes of a convolution along so many sides."""
for _n, _types in OF_CONVOLUTION.items():
    rule(f"relay.nn.conv{_n}d", work=Work.PRODUCTS, types=_types)(convolution)


def _filters(data: Sequence[Any], weight: Sequence[Any], *, kernel_layout: str) -> Sequence[Any]:
    """Return the input channels of a group, and the cells of a window."""
    return [weight[kernel_layout.index(axis)] for axis in ("I", *spatial_names(kernel_layout))]


@defined(Folded, "relay.nn.conv1d", "relay.nn.conv3d", box=_filters)
def convolved(
    index: Sequence[Number],
    data: Source,
    weight: Source,
    *,
    conv: Convolution,
    out_dtype: Element | None,
) -> Number:
    """data[n, i, z s + k d - p, …] * weight[o, i, k, …] over input channels i and cells k"""
    rank, channels = len(conv.data_layout), conv.data_layout.index("C")
    at, places = list(index[:rank]), dict(zip("O", [index[channels]], strict=True))
    places |= dict(zip(("I", *spatial_names(conv.kernel_layout)), index[rank:], strict=True))
    at[channels] = places["I"]
    if conv.groups > 1:
        inputs, outputs = (weight.dims[conv.kernel_layout.index(axis)] for axis in "IO")
        group = places["O"].apply("quotient", outputs.apply("quotient", data.integer(conv.groups)))
        at[channels] = group * inputs + at[channels]
    axes = spatial(conv.data_layout)
    for i, (axis, cell) in enumerate(zip(axes, index[rank + 1 :], strict=True)):
        at[axis] = at[axis] * conv.strides[i] + cell * conv.dilation[i] - conv.padding[i]
    x = element_or(data, at, axes, 0)
    return weighted(x, weight[[places[axis] for axis in conv.kernel_layout]], out_dtype)


@rule("relay.nn.conv2d_backward_weight", work=Work.PRODUCTS)
def conv2d_backward_weight(
    grad: Tensor,
    data: Tensor,
    *,
    strides: Steps,
    padding: Padding,
    dilation: Steps,
    groups: Groups,
    kernel_size: Pair,
    out_dtype: Element | None,
) -> Tensor:
    """Infer (o, c / groups, kh, kw) from `grad` (n, o, h', w') and `data` (n, c, h, w)."""
    element = product_element((grad, data), out_dtype)
    sizes, results = dims_by_axis(data, "NCHW", "data"), dims_by_axis(grad, "NCHW", "grad")
    require_equal(results["N"], sizes["N"], "grad's batch must be {1}, but is {0}")
    windows: dict[str, Size] = dict(zip("HW", kernel_size, strict=True))
    for side, count in window_counts(sizes, windows, strides, padding, dilation).items():
        require_equal(results[side], count, f"grad's {SIDES[side]} must be {{1}}, but is {{0}}")
    require_groups(results["C"], groups, "output channels")
    channels = divided(sizes["C"], groups, "groups must divide channels: {1} does not divide {0}")
    return ranked(element, (results["C"], channels, *kernel_size))


def _windows(grad: Sequence[Any], data: Sequence[Any]) -> Sequence[Any]:
    return [grad[0], *grad[2:]]


@defined(Folded, "relay.nn.conv2d_backward_weight", box=_windows)
def gradient_of_filters(
    index: Sequence[Number],
    grad: Source,
    data: Source,
    *,
    strides: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    out_dtype: Element | None,
) -> Number:
    """grad[n, o, y, x] * data[n, i, y s + k d - p, …] over the batch n and the windows y, x"""
    (o, i, *cells), (n, *windows) = index[:4], index[4:]
    outputs, inputs = (x.dims[1].apply("quotient", x.integer(groups)) for x in (grad, data))
    at = [n, o.apply("quotient", outputs) * inputs + i]
    for side, (window, cell) in enumerate(zip(windows, cells, strict=True)):
        at.append(window * strides[side] + cell * dilation[side] - padding[side])
    return weighted(grad[[n, o, *windows]], element_or(data, at, (2, 3), 0), out_dtype)


# ------------------------------------------------------------------- dilation, deformable


@rule("relay.image.dilation2d", work=Work.PRODUCTS)
def dilation2d(
    data: Tensor,
    weight: Tensor,
    *,
    strides: Steps,
    padding: Padding,
    dilations: Steps,
    data_layout: Literal["NCHW", "NHWC"],
    kernel_layout: Literal["IHW", "HWI"],
) -> Tensor:
    """Infer the maxima of windows plus `weight`, in the layout of `data`."""
    element = require_same_element((data, weight))
    require_number(element, "operands of {op}")
    sizes, windows = (
        dims_by_axis(data, data_layout, "data"),
        dims_by_axis(weight, kernel_layout, "weight"),
    )
    require_equal(windows["I"], sizes["C"], "weight's channels must be {1}, but are {0}")
    result = {**sizes, **window_counts(sizes, windows, strides, padding, dilations)}
    return ranked(element, tuple(result[axis] for axis in data_layout))


def _cells(data: Sequence[Any], weight: Sequence[Any], *, kernel_layout: str) -> Sequence[Any]:
    return [weight[axis] for axis in spatial(kernel_layout)]


@defined(Folded, "relay.image.dilation2d", box=_cells, by="maximum")
def dilated_image(
    index: Sequence[Number],
    data: Source,
    weight: Source,
    *,
    strides: Ints,
    padding: Ints,
    dilations: Ints,
    data_layout: str,
    kernel_layout: str,
) -> Number:
    """data[n, c, y s + k d - p, …] + weight[c, k, …] over the cells k; the padding is 0"""
    at, axes, cells = list(index[:4]), spatial(data_layout), index[4:]
    places = dict(zip("HWI", (*cells, at[data_layout.index("C")]), strict=True))
    for i, axis in enumerate(axes):
        at[axis] = at[axis] * strides[i] + cells[i] * dilations[i] - padding[i]
    return element_or(data, at, axes, 0) + weight[[places[axis] for axis in kernel_layout]]


@rule("relay.nn.deformable_conv2d", work=Work.PRODUCTS)
def deformable_conv2d(
    data: Tensor,
    offset: Tensor,
    weight: Tensor,
    *,
    strides: Steps,
    padding: Padding,
    dilation: Steps,
    deformable_groups: Groups,
    groups: Groups,
    data_layout: Literal["NCHW"],
    kernel_layout: Literal["OIHW"],
    out_dtype: Element | None,
) -> Tensor:
    """Infer the result of a convolution; `offset` has two numbers for each cell of each window."""
    element = product_element((data, weight), out_dtype)
    for operand in (data, offset):
        require_float(operand.element, "data and offset of {op}")
    sizes, windows = dims_by_axis(data, "NCHW", "data"), dims_by_axis(weight, "OIHW", "weight")
    offsets = dims_by_axis(offset, "NCHW", "offset")
    _channels(sizes, windows, groups)
    message = "deformable_groups must divide channels: {1} does not divide {0}"
    require(Check.DIVISIBLE, sizes["C"], deformable_groups, message)
    wanted = {
        **{"N": sizes["N"], "C": windows["H"] * windows["W"] * (2 * deformable_groups)},
        **window_counts(sizes, windows, strides, padding, dilation),
    }
    for axis, size in wanted.items():
        require_equal(offsets[axis], size, f"axis {axis} of offset must be {{1}}, but is {{0}}")
    return ranked(element, (sizes["N"], windows["O"], wanted["H"], wanted["W"]))


def _deformed(data: Sequence[Any], offset: Sequence[Any], weight: Sequence[Any]) -> Sequence[Any]:
    return weight[1:]


@defined(Folded, "relay.nn.deformable_conv2d", box=_deformed)
def deformed(
    index: Sequence[Number],
    data: Source,
    offset: Source,
    weight: Source,
    *,
    strides: Ints,
    padding: Ints,
    dilation: Ints,
    deformable_groups: int,
    groups: int,
    out_dtype: Element | None,
) -> Number:
    """weight[o, i, k, …] times data between the pixels at y s + k d - p + offset; 0 outside"""
    (n, o, *place), (i, *cells) = index[:4], index[4:]
    outputs = weight.dims[0].apply("quotient", data.integer(groups))
    channel = o.apply("quotient", outputs) * weight.dims[1] + i
    per_group = data.dims[1].apply("quotient", data.integer(deformable_groups))
    cell = channel.apply("quotient", per_group) * weight.dims[2] + cells[0]
    cell = (cell * weight.dims[3] + cells[1]) * 2
    inside, ends = data.integer(0).equals(0), list[list[tuple[Number, Number]]]()
    for side, dim in enumerate(data.dims[2:]):
        moved = offset[[n, cell + side, *place]].converted(FLOAT64)
        at = place[side] * strides[side] + cells[side] * dilation[side] - padding[side]
        exact = at.converted(FLOAT64) + moved
        inside = inside & exact.compared("ge", exact.lifted(0)) & (exact < dim.converted(FLOAT64))
        low = exact.math("floor")
        share = exact - low
        first = low.converted(INT64)
        ends.append([(clamped(first, dim), 1 - share), (clamped(first + 1, dim), share)])
    total: Any = None
    for y, of_y in ends[0]:
        for x, of_x in ends[1]:
            term = data[[n, channel, y, x]].converted(FLOAT64) * (of_y * of_x)
            total = term if total is None else total + term
    value = inside.select(total, 0).converted(data.element)
    return weighted(value, weight[[o, i, *cells]], out_dtype)
