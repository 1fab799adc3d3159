"""Operators that permute, join, split, repeat or pad: rules, and meanings of some."""

from collections.abc import Sequence
from typing import Annotated, Literal

from .meaning.forms import ByIndex, defined
from .meaning.number import Number, Source
from .operands import (
    StatedDims,
    normalized_axes,
    normalized_axis,
    require_rank,
    require_same_element,
    shape_from,
)
from .rules import AtLeast, Ints, Work, rule
from .signature import Data, Tensor, ranked
from .sizes import SignatureError, Size, divided, product, require_at_least, require_equal, total

MAX_PARTS = 2**16
"""Limit on the results of a split."""


@rule("relay.transpose", work=Work.LINEAR)
def transpose(data: Tensor, *, axes: Ints | None) -> Tensor:
    """Infer `data` with its dims in the order `axes`, or reversed."""
    if axes is None:
        return Tensor(data.element, data.dims[::-1])
    if len(axes) != data.rank:
        raise SignatureError(f"axes must have {data.rank} entries, but has {len(axes)}")
    order = normalized_axes(axes, data.rank, "axes entry")
    return Tensor(data.element, tuple(data.dims[axis] for axis in order))


@defined(ByIndex, "relay.transpose")
def transposed(index: Sequence[Number], data: Source, *, axes: Ints | None) -> Number:
    """data[k, j, i]: the axes in another order."""
    rank = len(index)
    order = range(rank)[::-1] if axes is None else [axis % rank for axis in axes]
    return data[[index[[*order].index(axis)] for axis in range(rank)]]


@rule("relay.reverse", work=Work.LINEAR)
def reverse(data: Tensor, *, axis: int = 0) -> Tensor:
    """Infer the type of `data`, which must have axis `axis`."""
    normalized_axis(axis, data.rank)
    return data


@defined(ByIndex, "relay.reverse")
def reversed_(index: Sequence[Number], data: Source, *, axis: int) -> Number:
    """data[…, n - 1 - i, …]"""
    at = list(index)
    at[axis] = data.dims[axis] - 1 - at[axis]
    return data[at]


def _joined(tensors: Sequence[Tensor], along: int | None) -> list[Size]:
    """Return the dims that all `tensors` have, except at axis `along`, where they may differ."""
    first = tensors[0]
    require_same_element(tensors)
    for i, tensor in enumerate(tensors):
        require_rank(tensor, first.rank, f"operand {i} of {{op}}")
    dims = list(first.dims)
    for i, tensor in enumerate(tensors):
        for axis, dim in enumerate(tensor.dims):
            if axis != along and dim is not dims[axis]:
                dims[axis] = require_equal(
                    dims[axis],
                    dim,
                    f"dim {axis} of operand {i} must be {{0}}, as in operands before it, "
                    "but is {1}",
                )
    return dims


@rule("relay.concatenate", work=Work.LINEAR)
def concatenate(first: Tensor, *rest: Tensor, axis: int) -> Tensor:
    """Infer the type of tensors joined along `axis`, their only dim that may differ."""
    axis = normalized_axis(axis, first.rank)
    dims = _joined((first, *rest), axis)
    dims[axis] = total([tensor.dims[axis] for tensor in (first, *rest)])
    return ranked(first.element, tuple(dims))


@rule("relay.stack", work=Work.LINEAR)
def stack(first: Tensor, *rest: Tensor, axis: int) -> Tensor:
    """Infer the type of tensors of one shape joined along a new dim `axis`."""
    axis = normalized_axis(axis, first.rank + 1)
    dims = _joined((first, *rest), None)
    dims.insert(axis, 1 + len(rest))
    return Tensor(first.element, tuple(dims))


def _sections(dim: Size, sections: int) -> list[Size]:
    """Return the dims of `sections` equal parts."""
    if not 1 <= sections <= MAX_PARTS:
        bound = "at least 1" if sections < 1 else f"at most {MAX_PARTS}"
        raise SignatureError(f"indices_or_sections must be {bound}, but is {sections}")
    message = "sections must divide the dim: {1} does not divide {0}"
    return [divided(dim, sections, message)] * sections


def _parts(dim: Size, points: Ints) -> list[Size]:
    """Return the dims of the parts between `points`."""
    if list(points) != sorted(points) or min(points, default=0) < 0:
        raise SignatureError(f"split points must ascend from 0, but are {list(points)}")
    if not points:
        return [dim]
    message = f"split points must be at most {{0}}, but are {list(points)}"
    require_at_least(dim, points[-1], message)
    inner = [b - a for a, b in zip((0, *points), points, strict=False)]
    return [*inner, dim - points[-1]]


@rule("relay.split", work=Work.LINEAR)
def split(data: Tensor, *, indices_or_sections: int | Ints, axis: int) -> Sequence[Tensor]:
    """Infer parts of `data` along `axis`: equal ones, or those between split points."""
    dims = data.dims
    axis = normalized_axis(axis, data.rank)
    if isinstance(indices_or_sections, int):
        parts = _sections(dims[axis], indices_or_sections)
    else:
        parts = _parts(dims[axis], indices_or_sections)
    return [Tensor(data.element, (*dims[:axis], part, *dims[axis + 1 :])) for part in parts]


@rule("relay.tile", work=Work.LINEAR)
@rule("relay.dyn.tile", types={"reps": Data})
def tile(data: Tensor, *, reps: StatedDims) -> Tensor:
    """Infer `data` repeated as a whole `reps[i]` times along axis i, aligned at the last axis."""
    counts = shape_from(reps, "reps")
    rank = max(data.rank, len(counts))
    dims = (1,) * (rank - data.rank) + data.dims
    counts = (1,) * (rank - len(counts)) + counts
    return ranked(data.element, tuple(map(product, zip(dims, counts, strict=True))))


@defined(ByIndex, "relay.tile", "relay.dyn.tile")
def tiled(index: Sequence[Number], data: Source, *_: Source, reps: Ints | None) -> Number:
    """data[i % n, …], aligned at the last axis"""
    at = index[len(index) - len(data.dims) :]
    counts = None if reps is None else ((1,) * len(at) + reps)[len(reps) :]
    return data[
        [
            i if counts is not None and counts[axis] == 1 else i.apply("remainder", dim)
            for axis, (i, dim) in enumerate(zip(at, data.dims, strict=True))
        ]
    ]


@rule("relay.repeat", work=Work.LINEAR)
def repeat(data: Tensor, *, repeats: Annotated[int, AtLeast(1)], axis: int = 0) -> Tensor:
    """Infer `data` with every slice along `axis` repeated `repeats` times."""
    dims = list(data.dims)
    axis = normalized_axis(axis, data.rank)
    dims[axis] *= repeats
    return ranked(data.element, tuple(dims))


@defined(ByIndex, "relay.repeat")
def repeated(index: Sequence[Number], data: Source, *, repeats: int, axis: int) -> Number:
    """data[…, i / repeats, …]"""
    at = list(index)
    at[axis] = at[axis].apply("quotient", data.integer(repeats))
    return data[at]


@rule("relay.nn.pad", work=Work.LINEAR)
def pad(
    data: Tensor,
    pad_value: Tensor,
    *,
    pad_width: Annotated[Ints, AtLeast(0)],
    pad_mode: Literal["constant", "edge", "reflect"],
) -> Tensor:
    """Infer `data` padded by `pad_width`: before axis 0, after axis 0, before axis 1, …"""
    element = require_same_element((data, pad_value))
    require_rank(pad_value, 0, "pad_value")
    if len(pad_width) != 2 * data.rank:
        raise SignatureError(
            f"pad_width must have {2 * data.rank} entries, but has {len(pad_width)}"
        )
    result: list[Size] = []
    for axis, dim in enumerate(data.dims):
        before, after = pad_width[2 * axis], pad_width[2 * axis + 1]
        widest = max(before, after)
        if pad_mode == "reflect" and widest:
            message = f"pad_width at axis {axis} must be below {{0}} to reflect a dim of {{0}}"
            require_at_least(dim, widest + 1, f"{message}, but is {widest}")
        if pad_mode == "edge" and widest:
            require_at_least(dim, 1, f"cannot edge-pad axis {axis}: it has {{0}} elements")
        result.append(dim + (before + after))
    return ranked(element, tuple(result))
