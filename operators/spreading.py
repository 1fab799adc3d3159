"""Operators that move elements between channels and space, or apart: rules and meanings."""

from collections.abc import Sequence
from typing import Annotated, Literal

from .meaning.forms import ByIndex, defined
from .meaning.number import Number, Source
from .operands import require_number, require_rank
from .rules import AtLeast, Ints, Work, rule
from .signature import SignatureError, Tensor, ranked
from .sizes import divided, require_at_least
from .windows import Layout


def _axes(layout: str) -> tuple[int, int, int]:
    """Return the axes of channels, height and width."""
    return layout.index("C"), layout.index("H"), layout.index("W")


@rule("relay.nn.depth_to_space", work=Work.LINEAR)
def depth_to_space(
    data: Tensor,
    *,
    block_size: Annotated[int, AtLeast(1)],
    layout: Layout,
    mode: Literal["DCR", "CDR"],
) -> Tensor:
    """Infer `data` with `block_size`² times fewer channels and larger images."""
    require_rank(data, 4, "data")
    dims, (channels, *sides) = list(data.dims), _axes(layout)
    message = "channels must be divisible by block_size², {1}, but are {0}"
    dims[channels] = divided(dims[channels], block_size * block_size, message)
    for side in sides:
        dims[side] *= block_size
    return ranked(data.element, tuple(dims))


@defined(ByIndex, "relay.nn.depth_to_space")
def blocks_of_space(
    index: Sequence[Number], data: Source, *, block_size: int, layout: str, mode: str
) -> Number:
    """data[n, (h % b * b + w % b) C + c, h / b, w / b] of C channels; c b² + … with mode CDR"""
    at, (channels, h, w) = list(index), _axes(layout)
    block = data.integer(block_size)
    place = at[h].apply("remainder", block) * block_size + at[w].apply("remainder", block)
    area = data.integer(block_size * block_size)
    if mode == "DCR":
        at[channels] = place * data.dims[channels].apply("quotient", area) + at[channels]
    else:
        at[channels] = at[channels] * area + place
    at[h], at[w] = at[h].apply("quotient", block), at[w].apply("quotient", block)
    return data[at]


@rule("relay.nn.space_to_depth", work=Work.LINEAR)
def space_to_depth(
    data: Tensor, *, block_size: Annotated[int, AtLeast(1)], layout: Layout
) -> Tensor:
    """Infer `data` with smaller images and `block_size`² times more channels."""
    require_rank(data, 4, "data")
    dims, (channels, *sides) = list(data.dims), _axes(layout)
    for side, name in zip(sides, ("height", "width"), strict=True):
        message = f"the {name} must be divisible by block_size, {{1}}, but is {{0}}"
        dims[side] = divided(dims[side], block_size, message)
    dims[channels] *= block_size * block_size
    return ranked(data.element, tuple(dims))


@defined(ByIndex, "relay.nn.space_to_depth")
def blocks_of_depth(
    index: Sequence[Number], data: Source, *, block_size: int, layout: str
) -> Number:
    """data[n, c % C, h b + c / C / b, w b + c / C % b] of C channels"""
    at, (channels, h, w) = list(index), _axes(layout)
    count, block = data.dims[channels], data.integer(block_size)
    place = at[channels].apply("quotient", count)
    at[channels] = at[channels].apply("remainder", count)
    at[h] = at[h] * block_size + place.apply("quotient", block)
    at[w] = at[w] * block_size + place.apply("remainder", block)
    return data[at]


@rule("relay.nn.dilate", work=Work.LINEAR)
def dilate(data: Tensor, *, strides: Annotated[Ints, AtLeast(1)], dilation_value: float) -> Tensor:
    """Infer `data` with `strides[i]` - 1 elements between those along axis i."""
    require_number(data.element, "data of {op}")
    if len(strides) != data.rank:
        raise SignatureError(f"strides must have {data.rank} entries, but has {len(strides)}")
    message = "dims of data must be at least 1, but one is {0}"
    dims = [
        dim if stride == 1 else (require_at_least(dim, 1, message) - 1) * stride + 1
        for dim, stride in zip(data.dims, strides, strict=True)
    ]
    return ranked(data.element, tuple(dims))


@defined(ByIndex, "relay.nn.dilate")
def dilated(
    index: Sequence[Number], data: Source, *, strides: Ints, dilation_value: float
) -> Number:
    """data[i / s, …] where all i % s are 0, dilation_value elsewhere"""
    element = data[
        [
            i.apply("quotient", data.integer(s)) if s > 1 else i
            for i, s in zip(index, strides, strict=True)
        ]
    ]
    for i, stride in zip(index, strides, strict=True):
        if stride > 1:
            is_between = i.apply("remainder", data.integer(stride)).differs(0)
            element = is_between.select(dilation_value, element)
    return element
