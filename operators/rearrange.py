"""Signatures of operators that permute, join, split, repeat or pad."""

from collections.abc import Sequence

from .attributes import int_from, int_of, ints_from, ints_of, optional_ints_of, word_of
from .operands import (
    divided,
    known,
    normalized_axes,
    normalized_axis,
    require_rank,
    require_same_element,
)
from .signature import UNKNOWN, Call, Element, Signature, SignatureError, Tensor, ranked

MAX_PARTS = 2**16
"""Limit on the results of a split."""


def transpose(call: Call) -> Sequence[Tensor]:
    """Infer `data` with its dims in the order `axes`, or reversed."""
    (data,) = call.tensors(1)
    dims = data.dims
    given = optional_ints_of(call, "axes")
    if given is None:
        return (ranked(data.element, dims[::-1]),)
    if len(given) != len(dims):
        raise SignatureError(f"axes must have {len(dims)} entries, but has {len(given)}")
    axes = normalized_axes(given, len(dims), "axes entry")
    return (ranked(data.element, tuple(dims[axis] for axis in axes)),)


def reverse(call: Call) -> Sequence[Tensor]:
    """Infer the type of `data`, which must have axis `axis`."""
    (data,) = call.tensors(1)
    normalized_axis(int_of(call, "axis"), data.rank)
    return (data,)


def _tensors(call: Call) -> tuple[list[Tensor], Element, int]:
    """Return operands that can be joined, their element type and their rank."""
    tensors = call.tensors()
    if not tensors:
        raise SignatureError(f"{call.name} expects at least 1 operand, but got 0")
    element = require_same_element(tensors, call)
    rank = tensors[0].rank
    for i, tensor in enumerate(tensors):
        require_rank(tensor, rank, f"operand {i} of {call.name}")
    return tensors, element, rank


def _joined(dims: list[int], tensors: Sequence[Tensor], along: int | None) -> None:
    """Refine `dims` by those of `tensors`, which must be equal except at axis `along`."""
    for i, tensor in enumerate(tensors):
        for axis, dim in enumerate(tensor.dims):
            if axis == along:
                continue
            if dim != dims[axis] and UNKNOWN not in (dim, dims[axis]):
                raise SignatureError(
                    f"dim {axis} of operand {i} must be {dims[axis]}, as in operands before it, "
                    f"but is {dim}"
                )
            dims[axis] = known(dims[axis], dim)


def concatenate(call: Call) -> Sequence[Tensor]:
    """Infer the type of tensors joined along `axis`, their only dim that may differ."""
    tensors, element, rank = _tensors(call)
    axis = normalized_axis(int_of(call, "axis"), rank)
    dims = list(tensors[0].dims)
    _joined(dims, tensors, axis)
    along = [tensor.dims[axis] for tensor in tensors]
    dims[axis] = UNKNOWN if UNKNOWN in along else sum(along)
    return (ranked(element, tuple(dims)),)


def stack(call: Call) -> Sequence[Tensor]:
    """Infer the type of tensors of one shape joined along a new dim `axis`."""
    tensors, element, rank = _tensors(call)
    axis = normalized_axis(int_of(call, "axis"), rank + 1)
    dims = list(tensors[0].dims)
    _joined(dims, tensors, None)
    dims.insert(axis, len(tensors))
    return (ranked(element, tuple(dims)),)


def _parts(call: Call, dim: int) -> list[int]:
    """Return the dims of a split's results along its axis."""
    if not isinstance(call.attributes.get("indices_or_sections"), tuple):
        sections = int_from(call, "indices_or_sections", 1)
        if sections > MAX_PARTS:
            raise SignatureError(
                f"indices_or_sections must be at most {MAX_PARTS}, but is {sections}"
            )
        return [divided(dim, sections, "the dim", "sections")] * sections
    points = ints_of(call, "indices_or_sections")
    if list(points) != sorted(points) or min(points, default=0) < 0:
        raise SignatureError(f"split points must ascend from 0, but are {list(points)}")
    if dim != UNKNOWN and points and points[-1] > dim:
        raise SignatureError(f"split points must be at most {dim}, but are {list(points)}")
    edges = [0, *points]
    last = UNKNOWN if dim == UNKNOWN else dim - edges[-1]
    return [*(b - a for a, b in zip(edges, points, strict=False)), last]


def split(call: Call) -> Sequence[Tensor]:
    """Infer parts of `data` along `axis`: equal ones, or those between split points."""
    (data,) = call.tensors(1)
    dims = data.dims
    axis = normalized_axis(int_of(call, "axis"), len(dims))
    parts = _parts(call, dims[axis])
    return [ranked(data.element, (*dims[:axis], p, *dims[axis + 1 :])) for p in parts]


def tile(call: Call) -> Sequence[Tensor]:
    """Infer `data` repeated as a whole `reps[i]` times along axis i, aligned at the last axis."""
    (data,) = call.tensors(1)
    dims, reps = data.dims, ints_from(call, "reps", 0)
    rank = max(len(dims), len(reps))
    dims = (1,) * (rank - len(dims)) + dims
    reps = (1,) * (rank - len(reps)) + reps
    result = tuple(
        dim if rep == 1 else UNKNOWN if dim == UNKNOWN else dim * rep
        for dim, rep in zip(dims, reps, strict=True)
    )
    return (ranked(data.element, result),)


def repeat(call: Call) -> Sequence[Tensor]:
    """Infer `data` with every slice along `axis` repeated `repeats` times."""
    (data,) = call.tensors(1)
    dims = list(data.dims)
    axis = normalized_axis(int_of(call, "axis"), len(dims))
    repeats = int_from(call, "repeats", 1)
    if dims[axis] != UNKNOWN:
        dims[axis] *= repeats
    return (ranked(data.element, tuple(dims)),)


def pad(call: Call) -> Sequence[Tensor]:
    """Infer `data` padded by `pad_width`: before axis 0, after axis 0, before axis 1, …"""
    data, value = types = call.tensors(2)
    element = require_same_element(types, call)
    require_rank(value, 0, "pad_value")
    dims = data.dims
    width = ints_from(call, "pad_width", 0, 2 * len(dims))
    mode = word_of(call, "pad_mode", ("constant", "edge", "reflect"))
    result: list[int] = []
    for axis, dim in enumerate(dims):
        before, after = width[2 * axis], width[2 * axis + 1]
        if dim == UNKNOWN:
            result.append(dim)
            continue
        if mode == "reflect" and max(before, after) > max(dim - 1, 0):
            raise SignatureError(
                f"pad_width at axis {axis} must be at most {max(dim - 1, 0)} to reflect a dim "
                f"of {dim}, but is {max(before, after)}"
            )
        if mode == "edge" and dim == 0 and before + after:
            raise SignatureError(f"cannot edge-pad axis {axis}: it has 0 elements")
        result.append(dim + before + after)
    return (ranked(element, tuple(result)),)


SIGNATURES: dict[str, Signature] = {
    "relay.transpose": transpose,
    "relay.reverse": reverse,
    "relay.concatenate": concatenate,
    "relay.stack": stack,
    "relay.split": split,
    "relay.tile": tile,
    "relay.repeat": repeat,
    "relay.nn.pad": pad,
}
