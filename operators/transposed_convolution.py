"""Transposed convolutions over one, two and three sides: rules and meanings."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from .convolution import require_groups, weighted
from .matmul import product_element
from .meaning.forms import Folded, defined
from .meaning.number import Number, Source, clamped, element_or
from .operands import require_rank
from .rules import AtLeast, Ints, Length, Work, rule
from .signature import Element, Tensor, ranked
from .sizes import Shape, SignatureError, Size, require_equal
from .windows import SIDES, Groups, Padding, Pair, of_sides, require_side


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
    require_groups(c, groups, "channels")
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
        require_side(sizes[side], "data's", name)
        require_side(windows[side], "the window's", name)
        rest = 1 + extra - padding[side] - padding[side + len(sizes)]
        spread = (sizes[side] - 1) * strides[side] + (windows[side] - 1) * dilation[side]
        require_side(spread + rest, "the result's", name)
        result.append(spread + rest)
    return (n, o * groups, *result)


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


@rule(
    "relay.nn.conv1d_transpose",
    work=Work.PRODUCTS,
    types=of_sides(1, data_layout=Literal["NCW"], kernel_layout=Literal["IOW"]),
)
@rule(
    "relay.nn.conv3d_transpose",
    work=Work.PRODUCTS,
    types=of_sides(3, data_layout=Literal["NCDHW"], kernel_layout=Literal["IODHW"]),
)
def conv_transpose(
    data: Tensor,
    weight: Tensor,
    *,
    strides: Ints,
    padding: Ints,
    output_padding: Ints,
    dilation: Ints,
    groups: Groups,
    data_layout: str,
    kernel_layout: str,
    out_dtype: Element | None,
) -> Tensor:
    """Infer (n, o, …) from `data` (n, c, …) and `weight` (c, o / groups, …)."""
    element = product_element((data, weight), out_dtype)
    dims = transposed(data, weight, data_layout, strides, padding, output_padding, dilation, groups)
    return ranked(element, dims)


def _sources(data: Sequence[Any], weight: Sequence[Any], *, groups: int) -> Sequence[Any]:
    """Return the input channels of a group (of all, if they are unknown), and the cells."""
    channels = weight[0] // groups if isinstance(weight[0], int) else weight[0]
    return [channels, *weight[2:]]


@defined(Folded, "relay.nn.conv1d_transpose", "relay.nn.conv3d_transpose", box=_sources)
def spread(
    index: Sequence[Number],
    data: Source,
    weight: Source,
    *,
    strides: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    out_dtype: Element | None,
) -> Number:
    """data[n, i, (y + p - k d) / s, …] * weight[i, o, k, …] over i and the k where s divides"""
    rank = len(strides) + 2
    at, (i, *cells), filters = list(index[:rank]), index[rank:], weight.dims[1]
    inside = data.integer(0).equals(0)
    group, o = at[1].apply("quotient", filters), at[1].apply("remainder", filters)
    channels = weight.dims[0].apply("quotient", data.integer(groups))
    if groups > 1:
        inside = i < channels
    at[1] = clamped(group * channels + i, weight.dims[0])
    for side, (axis, cell) in enumerate(zip(range(2, rank), cells, strict=True)):
        place = at[axis] + padding[side] - cell * dilation[side]
        stride = data.integer(strides[side])
        inside = inside & place.apply("remainder", stride).equals(0)
        at[axis] = place.apply("quotient", stride)
    x = inside.select(element_or(data, at, range(2, rank), 0), 0)
    return weighted(x, weight[[at[1], o, *cells]], out_dtype)
