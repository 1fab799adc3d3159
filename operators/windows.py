"""Signatures of operators that slide a window over height and width."""

from collections.abc import Sequence
from math import isfinite

from .attributes import flag_of, float_of, int_from, ints_from, word_of
from .matmul import product_element
from .operands import (
    divided,
    require_dim,
    require_number,
    require_rank,
)
from .signature import UNKNOWN, Call, Signature, SignatureError, Tensor, ranked

_SIDES = ("height", "width")
_DATA_AXES = {"NCHW": (0, 1, 2, 3), "NHWC": (0, 3, 1, 2)}
_KERNEL_AXES = {"OIHW": (0, 1, 2, 3), "HWIO": (3, 2, 0, 1)}


def _nchw(type: Tensor, layout: str) -> tuple[int, int, int, int]:
    dims = type.dims
    n, c, h, w = _DATA_AXES[layout]
    return dims[n], dims[c], dims[h], dims[w]


def _in_layout(n: int, c: int, h: int, w: int, layout: str) -> tuple[int, ...]:
    return (n, c, h, w) if layout == "NCHW" else (n, h, w, c)


def window_count(
    size: int, padding: int, window: int, stride: int, dilation: int, side: str, ceil: bool = False
) -> int:
    """
    Return the number of windows that fit: `floor((size + padding - reach) / stride) + 1`.

    `padding` is the sum of both ends; `reach` is `(window - 1) * dilation + 1`. With `ceil`,
    the last window may extend beyond the padded data.
    """
    if window == UNKNOWN or size == UNKNOWN:
        return UNKNOWN
    if window < 1:
        raise SignatureError(f"the window's {side} must be at least 1, but is {window}")
    reach = (window - 1) * dilation + 1
    slack = size + padding - reach
    if slack < 0:
        raise SignatureError(
            f"the dilated window's {side} must be at most that of the padded data, "
            f"{size + padding}, but is {reach}"
        )
    return (slack + (stride - 1 if ceil else 0)) // stride + 1


def conv2d(call: Call) -> Sequence[Tensor]:
    """Infer the result of a convolution, in the layout of `data`."""
    data, weight = operands = call.tensors(2)
    element = product_element(call, operands)
    layout = word_of(call, "data_layout", ("NCHW", "NHWC"))
    kernel = _KERNEL_AXES[word_of(call, "kernel_layout", ("OIHW", "HWIO"))]
    require_rank(data, 4, "data")
    require_rank(weight, 4, "weight")
    strides = ints_from(call, "strides", 1, 2)
    top, left, bottom, right = ints_from(call, "padding", 0, 4)
    dilation = ints_from(call, "dilation", 1, 2)
    groups = int_from(call, "groups", 1)
    n, c, h, w = _nchw(data, layout)
    dims = weight.dims
    o, i, kh, kw = (dims[axis] for axis in kernel)
    divided(o, groups, "output channels", "groups")
    require_dim(i, divided(c, groups, "channels", "groups"), "weight's input channels")
    h = window_count(h, top + bottom, kh, strides[0], dilation[0], "height")
    w = window_count(w, left + right, kw, strides[1], dilation[1], "width")
    return (ranked(element, _in_layout(n, o, h, w, layout)),)


def conv2d_transpose(call: Call) -> Sequence[Tensor]:
    """Infer (n, o, h', w') from `data` (n, c, h, w) and `weight` (c, o / groups, kh, kw)."""
    data, weight = operands = call.tensors(2)
    element = product_element(call, operands)
    word_of(call, "data_layout", ("NCHW",))
    word_of(call, "kernel_layout", ("IOHW",))
    require_rank(data, 4, "data")
    require_rank(weight, 4, "weight")
    strides = ints_from(call, "strides", 1, 2)
    padding = ints_from(call, "padding", 0, 4)
    extra = ints_from(call, "output_padding", 0, 2)
    dilation = ints_from(call, "dilation", 1, 2)
    groups = int_from(call, "groups", 1)
    n, c, *sizes = data.dims
    i, o, *window = weight.dims
    divided(c, groups, "channels", "groups")
    require_dim(i, c, "weight's input channels")
    result: list[int] = []
    for side in (0, 1):
        bound = max(strides[side], dilation[side])
        if extra[side] >= bound:
            raise SignatureError(
                f"output_padding must be below the larger of stride and dilation, {bound}, "
                f"but is {extra[side]}"
            )
        if UNKNOWN in (sizes[side], window[side]):
            result.append(UNKNOWN)
            continue
        dim = (
            (sizes[side] - 1) * strides[side]
            + (window[side] - 1) * dilation[side]
            + 1
            + extra[side]
            - padding[side]
            - padding[side + 2]
        )
        if dim < 1 or window[side] < 1 or sizes[side] < 1:
            raise SignatureError(f"the result's {_SIDES[side]} must be at least 1, but is {dim}")
        result.append(dim)
    channels = UNKNOWN if o == UNKNOWN else o * groups
    return (ranked(element, (n, channels, *result)),)


def pool2d(call: Call) -> Sequence[Tensor]:
    """Infer `data` with the number of windows in place of height and width."""
    (data,) = call.tensors(1)
    require_number(data.element, f"the operand of {call.name}")
    layout = word_of(call, "layout", ("NCHW", "NHWC"))
    require_rank(data, 4, "data")
    window = ints_from(call, "pool_size", 1, 2)
    strides = ints_from(call, "strides", 1, 2)
    dilation = ints_from(call, "dilation", 1, 2)
    top, left, bottom, right = ints_from(call, "padding", 0, 4)
    ceil = flag_of(call, "ceil_mode")
    n, c, h, w = _nchw(data, layout)
    h = window_count(h, top + bottom, window[0], strides[0], dilation[0], "height", ceil)
    w = window_count(w, left + right, window[1], strides[1], dilation[1], "width", ceil)
    return (ranked(data.element, _in_layout(n, c, h, w, layout)),)


def global_pool2d(call: Call) -> Sequence[Tensor]:
    """Infer `data` with height and width of 1."""
    (data,) = call.tensors(1)
    require_number(data.element, f"the operand of {call.name}")
    layout = word_of(call, "layout", ("NCHW", "NHWC"))
    require_rank(data, 4, "data")
    n, c, *sizes = _nchw(data, layout)
    for side, size in zip(_SIDES, sizes, strict=True):
        if size == 0:
            raise SignatureError(f"the {side} of data must be at least 1, but is 0")
    return (ranked(data.element, _in_layout(n, c, 1, 1, layout)),)


def upsampling(call: Call) -> Sequence[Tensor]:
    """Infer `data` with height and width times `scale_h` and `scale_w`, rounded."""
    (data,) = call.tensors(1)
    layout = word_of(call, "layout", ("NCHW", "NHWC"))
    word_of(call, "method", ("nearest_neighbor",))
    require_rank(data, 4, "data")
    n, c, *sizes = _nchw(data, layout)
    scaled: list[int] = []
    for name, size in zip(("scale_h", "scale_w"), sizes, strict=True):
        scale = float_of(call, name)
        if not (isfinite(scale) and 0 < scale <= 2**32):
            raise SignatureError(f"{name} must be above 0 and at most 2^32, but is {scale}")
        scaled.append(UNKNOWN if size == UNKNOWN else round(size * scale))
    return (ranked(data.element, _in_layout(n, c, scaled[0], scaled[1], layout)),)


SIGNATURES: dict[str, Signature] = {
    "relay.nn.conv2d": conv2d,
    "relay.nn.conv2d_transpose": conv2d_transpose,
    "relay.nn.max_pool2d": pool2d,
    "relay.nn.avg_pool2d": pool2d,
    "relay.nn.global_avg_pool2d": global_pool2d,
    "relay.nn.global_max_pool2d": global_pool2d,
    "relay.nn.upsampling": upsampling,
}
