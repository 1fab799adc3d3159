"""Transposed convolutions over one, two and three sides: rules and meanings."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from .convolution import require_groups, weighted
from .matmul import product_element
from .meaning.forms import Folded, defined
from .meaning.number import Number, Source, clamped, element_or
from .operands import require_rank
from .rules import Ints, Work, rule
from .signature import Element, Tensor, ranked
from .sizes import SignatureError, Size, require_equal
from .windows import SIDES, Groups, of_sides, require_side


class Transposed(NamedTuple):
    """The attributes of a transposed convolution: numbers for each side, both paddings, layouts."""

    strides: Ints
    padding: Ints
    output_padding: Ints
    dilation: Ints
    groups: Groups
    data_layout: str
    kernel_layout: str


TRANSPOSED = {
    n: of_sides(n, data_layout=Literal[layout], kernel_layout=Literal[kernel_layout])
    for n, layout, kernel_layout in (
        *((1, "NCW", "IOW"), (2, "NCHW", "IOHW")),
        (3, "NCDHW", "IODHW"),
    )
}


@rule("relay.nn.conv1d_transpose", work=Work.PRODUCTS, types=TRANSPOSED[1])
@rule("relay.nn.conv3d_transpose", work=Work.PRODUCTS, types=TRANSPOSED[3])
def conv_transpose(
    data: Tensor, weight: Tensor, *, conv: Transposed, out_dtype: Element | None
) -> Tensor:
    """Infer (n, o, …) from `data` (n, c, …) and `weight` (c, o / groups, …)."""
    element = product_element((data, weight), out_dtype)
    require_rank(data, len(conv.data_layout), "data")
    n, c, *sizes = data.dims
    require_rank(weight, data.rank, "weight")
    i, o, *windows = weight.dims
    require_groups(c, conv.groups, "channels")
    require_equal(i, c, "weight's input channels must be {1}, but is {0}")
    result: list[Size] = []
    for side, letter in enumerate(conv.data_layout[2:]):
        name, stride, dilation = SIDES[letter], conv.strides[side], conv.dilation[side]
        bound, extra = max(stride, dilation), conv.output_padding[side]
        if extra >= bound:
            raise SignatureError(
                f"output_padding must be below the larger of stride and dilation, {bound}, "
                f"but is {extra}"
            )
        require_side(sizes[side], "data's", name)
        require_side(windows[side], "the window's", name)
        rest = 1 + extra - conv.padding[side] - conv.padding[side + len(sizes)]
        spread = (sizes[side] - 1) * stride + (windows[side] - 1) * dilation
        require_side(spread + rest, "the result's", name)
        result.append(spread + rest)
    return ranked(element, (n, o * conv.groups, *result))


@rule("relay.nn.conv2d_transpose", work=Work.PRODUCTS, types=TRANSPOSED[2])
def conv2d_transpose(data: Tensor, weight: Tensor, *, conv: Transposed) -> Tensor:
    """Infer (n, o, h', w') from `data` (n, c, h, w) and `weight` (c, o / groups, kh, kw)."""
    return conv_transpose(data, weight, conv=conv, out_dtype=None)


def _sources(data: Sequence[Any], weight: Sequence[Any], *, groups: int) -> Sequence[Any]:
    """Return the input channels of a group (of all, if they are unknown), and the cells."""
    channels = weight[0] // groups if isinstance(weight[0], int) else weight[0]
    return [channels, *weight[2:]]


@defined(Folded, *(f"relay.nn.conv{n}d_transpose" for n in TRANSPOSED), box=_sources)
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
