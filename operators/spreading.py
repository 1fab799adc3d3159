"""Operators that move elements between channels and space, or apart: rules and meanings."""

from collections.abc import Sequence
from math import prod
from typing import Annotated, Literal, TypeAlias

from .meaning.forms import ByIndex, defined
from .meaning.number import Number, Source, element_or
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
def dilate(
    data: Tensor, *, strides: Annotated[Ints, AtLeast(1)], dilation_value: float = 0.0
) -> Tensor:
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


Blocks: TypeAlias = Annotated[Ints, AtLeast(1)]
Widths: TypeAlias = Annotated[Ints, AtLeast(0)]


def _require_sides(data: Tensor, block_shape: Ints, widths: Ints, name: str) -> None:
    """Check that `data` has a batch, and a dim for each of the blocks."""
    if data.rank <= len(block_shape):
        raise SignatureError(
            f"data must have rank at least {1 + len(block_shape)}, but has rank {data.rank}"
        )
    if len(widths) != 2 * len(block_shape):
        raise SignatureError(
            f"{name} must have {2 * len(block_shape)} entries, but has {len(widths)}"
        )


@rule("relay.nn.space_to_batch_nd", work=Work.LINEAR)
def space_to_batch_nd(
    data: Tensor, *, block_shape: Blocks, paddings: Widths, pad_value: float = 0.0
) -> Tensor:
    """Infer a batch of parts of `data`, one for each place in a block."""
    _require_sides(data, block_shape, paddings, "paddings")
    dims = list(data.dims)
    for axis, block in enumerate(block_shape, 1):
        require_at_least(dims[axis], 1, f"axis {axis} of data must be at least 1, but is {{0}}")
        padded = dims[axis] + (paddings[2 * axis - 2] + paddings[2 * axis - 1])
        message = f"the padded axis {axis} must be divisible by its block, {{1}}, but is {{0}}"
        dims[axis] = divided(padded, block, message)
    dims[0] *= prod(block_shape)
    return ranked(data.element, tuple(dims))


@defined(ByIndex, "relay.nn.space_to_batch_nd")
def batch_of_places(
    index: Sequence[Number], data: Source, *, block_shape: Ints, paddings: Ints, pad_value: float
) -> Number:
    """data[n % N, i b + n / N - p, …] of a batch of N, for the digits of n / N in the blocks b"""
    at, batch = list(index), data.dims[0]
    place = at[0].apply("quotient", batch)
    at[0] = at[0].apply("remainder", batch)
    for axis in range(len(block_shape), 0, -1):
        block = data.integer(block_shape[axis - 1])
        offset = place.apply("remainder", block)
        at[axis] = at[axis] * block + offset - paddings[2 * axis - 2]
        place = place.apply("quotient", block)
    return element_or(data, at, range(1, 1 + len(block_shape)), pad_value)


@rule("relay.nn.batch_to_space_nd", work=Work.LINEAR)
def batch_to_space_nd(data: Tensor, *, block_shape: Blocks, crops: Widths) -> Tensor:
    """Infer the images whose parts are a batch, one for each place in a block, without `crops`."""
    _require_sides(data, block_shape, crops, "crops")
    dims = list(data.dims)
    message = "the batch must be divisible by the size of blocks, {1}, but is {0}"
    dims[0] = divided(dims[0], prod(block_shape), message)
    for axis, block in enumerate(block_shape, 1):
        cut = crops[2 * axis - 2] + crops[2 * axis - 1]
        message = f"axis {axis} of the blocks must be at least as large as its crops, {cut}, "
        dims[axis] = require_at_least(dims[axis] * block, cut, message + "but is {0}") - cut
    return ranked(data.element, tuple(dims))


@defined(ByIndex, "relay.nn.batch_to_space_nd")
def places_of_batch(
    index: Sequence[Number], data: Source, *, block_shape: Ints, crops: Ints
) -> Number:
    """data[n + N d, (i + crop) / b, …] of N images, where d has the digits (i + crop) % b"""
    at = list(index)
    count = data.dims[0].apply("quotient", data.integer(prod(block_shape)))
    place = data.integer(0)
    for axis, size in enumerate(block_shape, 1):
        block, moved = data.integer(size), at[axis] + crops[2 * axis - 2]
        place = place * block + moved.apply("remainder", block)
        at[axis] = moved.apply("quotient", block)
    at[0] = place * count + at[0]
    return data[at]


@rule("relay.nn.mirror_pad", work=Work.LINEAR)
def mirror_pad(data: Tensor, *, pad_width: Widths, mode: Literal["SYMMETRIC", "REFLECT"]) -> Tensor:
    """Infer `data` with its mirrored elements at the ends of each axis."""
    if len(pad_width) != 2 * data.rank:
        raise SignatureError(
            f"pad_width must have {2 * data.rank} entries, but has {len(pad_width)}"
        )
    dims = list(data.dims)
    for axis, dim in enumerate(dims):
        before, after = pad_width[2 * axis], pad_width[2 * axis + 1]
        least = max(before, after) + (mode == "REFLECT" and max(before, after) > 0)
        message = f"axis {axis} of data must have at least {least} elements, but has {{0}}"
        dims[axis] = require_at_least(dim, least, message) + (before + after)
    return ranked(data.element, tuple(dims))


@defined(ByIndex, "relay.nn.mirror_pad")
def mirrored(index: Sequence[Number], data: Source, *, pad_width: Ints, mode: str) -> Number:
    """data[…, |i - before|, …] from both ends; the last element is repeated if SYMMETRIC"""
    at, once = list(index), 1 if mode == "SYMMETRIC" else 0
    for axis, dim in enumerate(data.dims):
        place = at[axis] - pad_width[2 * axis]
        if pad_width[2 * axis]:
            place = (place < 0).select(-place - once, place)
        if pad_width[2 * axis + 1]:
            place = (place < dim).select(place, dim * 2 - place - (2 - once))
        at[axis] = place
    return data[at]
