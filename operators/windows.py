"""Operators that slide a window over height and width: rules and meanings."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from .matmul import product_element
from .meaning.forms import Apply, Composed, defined
from .operands import require_float, require_number, require_rank, require_same_element
from .rules import AtLeast, Ints, Length, Work, rule
from .signature import Element, Tensor, ranked
from .sizes import (
    Check,
    Shape,
    SignatureError,
    Size,
    divided,
    require,
    require_at_least,
    require_at_most,
    require_equal,
)

Layout: TypeAlias = Literal["NCHW", "NHWC"]
Pair: TypeAlias = Annotated[Ints, Length(2), AtLeast(1)]
"""A number for the height and one for the width."""
Padding: TypeAlias = Annotated[Ints, Length(4), AtLeast(0)]
"""Elements added at the top, left, bottom and right."""
Groups: TypeAlias = Annotated[int, AtLeast(1)]

SIDES = {"D": "depth", "H": "height", "W": "width"}
"""The axes along which windows slide, by their letters in layouts, in order."""
_SIDES = ("height", "width")
_DATA_AXES = {"NCHW": (0, 1, 2, 3), "NHWC": (0, 3, 1, 2)}
_KERNEL_AXES = {"OIHW": (0, 1, 2, 3), "HWIO": (3, 2, 0, 1)}
WINOGRAD = "OHWI16o/F23"
"""
Panels of 3x3 filters w as G w Gᵀ, 4x4, for Winograd's F(2x2, 3x3):

    G = 1 0 0, 1/2 1/2 1/2, 1/2 -1/2 1/2, 0 0 1        w = L u Lᵀ, L = 1 0 0 0, 0 1 -1 0, 0 0 0 1
"""
PANELS = {"OHWI8o": 8, "OHWI16o": 16, "OHWI32o": 32, WINOGRAD: 16}
"""Filters side by side in the last dim of weights (TVM's notation): so many in each panel."""


def spatial(layout: str) -> list[int]:
    """Return the axes of depth, height and width in a layout."""
    return [layout.index(side) for side in SIDES if side in layout]


def _nchw(data: Tensor, layout: str) -> tuple[Size, Size, Size, Size]:
    require_rank(data, 4, "data")
    n, c, h, w = _DATA_AXES[layout]
    return data.dims[n], data.dims[c], data.dims[h], data.dims[w]


def _oihw(weight: Tensor, layout: str, groups: int) -> Sequence[Size]:
    """Return the number of filters, of input channels, and the sides of windows."""
    if layout not in PANELS:
        require_rank(weight, 4, "weight")
        return [weight.dims[axis] for axis in _KERNEL_AXES[layout]]
    require_rank(weight, 5, "weight")
    if groups != 1:
        raise SignatureError(f"kernel_layout {layout} has one group, but groups is {groups}")
    panels, height, width, channels, filters = weight.dims
    message = f"the last dim of a weight in {layout} must be {{1}}, but is {{0}}"
    require_equal(filters, PANELS[layout], message)
    if layout == WINOGRAD:
        for size in (height, width):
            require_equal(size, 4, f"filters in {layout} must be 4x4, but a side is {{0}}")
        height = width = 3
    return [panels * PANELS[layout], channels, height, width]


def _in_layout(n: Size, c: Size, h: Size, w: Size, layout: str) -> Shape:
    return (n, c, h, w) if layout == "NCHW" else (n, h, w, c)


def _require_side(size: Size, what: str, side: str) -> None:
    require_at_least(size, 1, f"{what} {side} must be at least 1, but is {{0}}")


def window_count(
    size: Size,
    padding: int,
    window: Size,
    stride: int,
    dilation: int,
    side: str,
    ceil: bool = False,
) -> Size:
    """
    Return the number of windows that fit: `floor((size + padding - reach) / stride) + 1`.

    `padding` is the sum of both ends; `reach` is `(window - 1) * dilation + 1`. With `ceil`,
    the last window may extend beyond the padded data.
    """
    _require_side(window, "the window's", side)
    reach = (window - 1) * dilation + 1
    require_at_most(
        reach,
        size + padding,
        f"the dilated window's {side} must be at most that of the padded data, {{1}}, but is {{0}}",
    )
    return (size + (padding - reach + (stride - 1 if ceil else 0))) // stride + 1


def _window_counts(
    sizes: Sequence[Size],
    padding: Ints,
    windows: Sequence[Size],
    strides: Ints,
    dilation: Ints,
    ceil: bool = False,
) -> tuple[Size, Size]:
    top, left, bottom, right = padding
    (h, w), (kh, kw) = sizes, windows
    return (
        window_count(h, top + bottom, kh, strides[0], dilation[0], "height", ceil),
        window_count(w, left + right, kw, strides[1], dilation[1], "width", ceil),
    )


def _require_groups(channels: Size, groups: int, what: str) -> None:
    message = f"groups must divide {what}: {{1}} does not divide {{0}}"
    require(Check.DIVISIBLE, channels, groups, message)


@rule("relay.nn.conv2d", work=Work.PRODUCTS)
def conv2d(
    data: Tensor,
    weight: Tensor,
    *,
    strides: Pair,
    padding: Padding,
    dilation: Pair,
    groups: Groups,
    data_layout: Layout,
    kernel_layout: Literal["OIHW", "HWIO", "OHWI8o", "OHWI16o", "OHWI32o", "OHWI16o/F23"],
    out_dtype: Element | None,
) -> Tensor:
    """Infer the result of a convolution, in the layout of `data`."""
    element = product_element((data, weight), out_dtype)
    n, c, *sizes = _nchw(data, data_layout)
    o, i, *windows = _oihw(weight, kernel_layout, groups)
    if kernel_layout == WINOGRAD:
        require_float(weight.element, f"weights in {kernel_layout}")
        require_same_element((data, weight))
    _require_groups(o, groups, "output channels")
    channels = divided(c, groups, "groups must divide channels: {1} does not divide {0}")
    require_equal(i, channels, "weight's input channels must be {1}, but is {0}")
    h, w = _window_counts(sizes, padding, windows, strides, dilation)
    return ranked(element, _in_layout(n, o, h, w, data_layout))


_LINES: Mapping[str, tuple[int, Layout]] = {"NCW": (2, "NCHW"), "NWC": (1, "NHWC")}
_KERNELS: Mapping[str, tuple[int, Literal["OIHW", "HWIO"]]] = {
    **{"OIW": (2, "OIHW"), "WIO": (0, "HWIO")}
}
"""For each layout of lines, where a dim of 1 makes them images, and the layout of these."""


def _image(tensor: Tensor, axis: int) -> Tensor:
    return Tensor(tensor.element, (*tensor.dims[:axis], 1, *tensor.dims[axis:]))


@rule("relay.nn.conv1d", work=Work.PRODUCTS)
def conv1d(
    data: Tensor,
    weight: Tensor,
    *,
    strides: Annotated[Ints, Length(1), AtLeast(1)],
    padding: Annotated[Ints, Length(2), AtLeast(0)],
    dilation: Annotated[Ints, Length(1), AtLeast(1)],
    groups: Groups,
    data_layout: Literal["NCW", "NWC"],
    kernel_layout: Literal["OIW", "WIO"],
    out_dtype: Element | None,
) -> Tensor:
    """Infer the result of a convolution of lines, in the layout of `data`."""
    require_rank(data, 3, "data")
    require_rank(weight, 3, "weight")
    (axis, layout), (row, order) = _LINES[data_layout], _KERNELS[kernel_layout]
    result = conv2d(
        _image(data, axis),
        _image(weight, row),
        strides=(1, *strides),
        padding=(0, padding[0], 0, padding[1]),
        dilation=(1, *dilation),
        groups=groups,
        data_layout=layout,
        kernel_layout=order,
        out_dtype=out_dtype,
    )
    return Tensor(result.element, (*result.dims[:axis], *result.dims[axis + 1 :]))


@defined(Composed, "relay.nn.conv1d")
def convolved(
    apply: Apply,
    data: Any,
    weight: Any,
    *,
    strides: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    data_layout: str,
    kernel_layout: str,
    out_dtype: str | None,
) -> Any:
    """The convolution of images of one row."""
    (axis, layout), (row, order) = _LINES[data_layout], _KERNELS[kernel_layout]
    y = apply(
        "nn.conv2d",
        apply("expand_dims", data, axis=axis, num_newaxis=1),
        apply("expand_dims", weight, axis=row, num_newaxis=1),
        strides=(1, *strides),
        padding=(0, padding[0], 0, padding[1]),
        dilation=(1, *dilation),
        groups=groups,
        data_layout=layout,
        kernel_layout=order,
        **({} if out_dtype is None else {"out_dtype": out_dtype}),
    )
    return apply("squeeze", y, axis=(axis,))


@rule("relay.nn.conv2d_transpose", work=Work.PRODUCTS)
def conv2d_transpose(
    data: Tensor,
    weight: Tensor,
    *,
    strides: Pair,
    padding: Padding,
    output_padding: Annotated[Ints, Length(2), AtLeast(0)],
    dilation: Pair,
    groups: Groups,
    data_layout: Literal["NCHW"],
    kernel_layout: Literal["IOHW"],
) -> Tensor:
    """Infer (n, o, h', w') from `data` (n, c, h, w) and `weight` (c, o / groups, kh, kw)."""
    element = product_element((data, weight), None)
    dims = transposed(data, weight, data_layout, strides, padding, output_padding, dilation, groups)
    return ranked(element, dims)


def transposed(
    data: Tensor,
    weight: Tensor,
    layout: str,
    strides: Ints,
    padding: Ints,
    output_padding: Ints,
    dilation: Ints,
    groups: int,
) -> Shape:
    """Infer (n, o, …) from `data` (n, c, …) and `weight` (c, o / groups, …)."""
    require_rank(data, len(layout), "data")
    n, c, *sizes = data.dims
    require_rank(weight, len(layout), "weight")
    i, o, *windows = weight.dims
    _require_groups(c, groups, "channels")
    require_equal(i, c, "weight's input channels must be {1}, but is {0}")
    result: list[Size] = []
    for side, letter in enumerate(layout[2:]):
        name, bound = SIDES[letter], max(strides[side], dilation[side])
        extra = output_padding[side]
        if extra >= bound:
            raise SignatureError(
                f"output_padding must be below the larger of stride and dilation, {bound}, "
                f"but is {extra}"
            )
        _require_side(sizes[side], "data's", name)
        _require_side(windows[side], "the window's", name)
        rest = 1 + extra - padding[side] - padding[side + len(sizes)]
        spread = (sizes[side] - 1) * strides[side] + (windows[side] - 1) * dilation[side]
        _require_side(spread + rest, "the result's", name)
        result.append(spread + rest)
    return (n, o * groups, *result)


@rule("relay.nn.max_pool2d")
def max_pool2d(
    data: Tensor,
    *,
    pool_size: Pair,
    strides: Pair,
    dilation: Pair,
    padding: Padding,
    layout: Layout,
    ceil_mode: bool,
) -> Tensor:
    """Infer `data` with the number of windows in place of height and width."""
    require_number(data.element, "the operand of {op}")
    n, c, *sizes = _nchw(data, layout)
    h, w = _window_counts(sizes, padding, pool_size, strides, dilation, ceil_mode)
    return ranked(data.element, _in_layout(n, c, h, w, layout))


@rule("relay.nn.avg_pool2d")
def avg_pool2d(
    data: Tensor,
    *,
    pool_size: Pair,
    strides: Pair,
    dilation: Pair,
    padding: Padding,
    layout: Layout,
    ceil_mode: bool,
    count_include_pad: bool,
) -> Tensor:
    """Infer the type of the maxima."""
    return max_pool2d(
        data,
        pool_size=pool_size,
        strides=strides,
        dilation=dilation,
        padding=padding,
        layout=layout,
        ceil_mode=ceil_mode,
    )


@rule("relay.nn.global_avg_pool2d", "relay.nn.global_max_pool2d")
def global_pool2d(data: Tensor, *, layout: Layout) -> Tensor:
    """Infer `data` with height and width of 1."""
    require_number(data.element, "the operand of {op}")
    n, c, *sizes = _nchw(data, layout)
    for side, size in zip(_SIDES, sizes, strict=True):
        require_at_least(size, 1, f"the {side} of data must be at least 1, but is {{0}}")
    return Tensor(data.element, _in_layout(n, c, 1, 1, layout))
