"""Type rules of operators that permute, join, part, repeat or pad."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ...tensors import Tensor
from .broadcast import like
from .operands import (
    divided,
    known,
    normalized_axes,
    normalized_axis,
    ranked,
    require_rank,
    require_same_element,
    tensor_operands,
)
from .properties import int_from, int_of, ints_from, ints_of, optional_ints_of, word_of

MAX_PARTS = 2**16
"""The most results of a split."""


def transpose(op: Operation) -> Sequence[Attribute]:
    """`data` with its dims in the order `axes`, or reversed."""
    (data,) = tensor_operands(op, 1)
    dims = data.get_shape()
    given = optional_ints_of(op, "axes")
    if given is None:
        return (ranked(data.element_type, dims[::-1]),)
    if len(given) != len(dims):
        raise VerifyException(f"axes must have {len(dims)} entries, but has {len(given)}")
    axes = normalized_axes(given, len(dims), "axes entry")
    return (ranked(data.element_type, tuple(dims[axis] for axis in axes)),)


def reverse(op: Operation) -> Sequence[Attribute]:
    """`data` with an axis `axis`; the result is like it."""
    (data,) = tensor_operands(op, 1)
    normalized_axis(int_of(op, "axis"), data.get_num_dims())
    return (like(data),)


def _tensors(op: Operation) -> tuple[list[Tensor], Attribute, int]:
    """Operands that may be joined, their element type and their rank."""
    tensors = tensor_operands(op)
    if not tensors:
        raise VerifyException(f"{op.name} takes at least 1 operand, but has 0")
    element = require_same_element(tensors, op)
    rank = tensors[0].get_num_dims()
    for i, tensor in enumerate(tensors):
        require_rank(tensor, rank, f"operand {i} of {op.name}")
    return tensors, element, rank


def _joined(dims: list[int], tensors: Sequence[Tensor], along: int | None) -> None:
    """Fill in `dims`, which all of `tensors` have, except at the axis `along`."""
    for i, tensor in enumerate(tensors):
        for axis, dim in enumerate(tensor.get_shape()):
            if axis == along:
                continue
            if dim != dims[axis] and DYNAMIC_INDEX not in (dim, dims[axis]):
                raise VerifyException(
                    f"dim {axis} of operand {i} must be {dims[axis]} as in those before it, "
                    f"but is {dim}"
                )
            dims[axis] = known(dims[axis], dim)


def concatenate(op: Operation) -> Sequence[Attribute]:
    """Tensors that differ at most in the dim `axis`; there the result has their sum."""
    tensors, element, rank = _tensors(op)
    axis = normalized_axis(int_of(op, "axis"), rank)
    dims = list(tensors[0].get_shape())
    _joined(dims, tensors, axis)
    along = [tensor.get_shape()[axis] for tensor in tensors]
    dims[axis] = DYNAMIC_INDEX if DYNAMIC_INDEX in along else sum(along)
    return (ranked(element, tuple(dims)),)


def stack(op: Operation) -> Sequence[Attribute]:
    """Tensors of one shape; the result has their number as a new dim `axis`."""
    tensors, element, rank = _tensors(op)
    axis = normalized_axis(int_of(op, "axis"), rank + 1)
    dims = list(tensors[0].get_shape())
    _joined(dims, tensors, None)
    dims.insert(axis, len(tensors))
    return (ranked(element, tuple(dims)),)


def _parts(op: Operation, dim: int) -> list[int]:
    """The dims that a split gives to its results."""
    if not isinstance(op.properties.get("indices_or_sections"), DenseArrayBase):
        sections = int_from(op, "indices_or_sections", 1)
        if sections > MAX_PARTS:
            raise VerifyException(
                f"indices_or_sections must be at most {MAX_PARTS}, but is {sections}"
            )
        return [divided(dim, sections, "the dim", "sections")] * sections
    points = ints_of(op, "indices_or_sections")
    if list(points) != sorted(points) or min(points, default=0) < 0:
        raise VerifyException(f"split points must ascend from 0, but are {list(points)}")
    if dim != DYNAMIC_INDEX and points and points[-1] > dim:
        raise VerifyException(f"split points must be at most {dim}, but are {list(points)}")
    edges = [0, *points]
    last = DYNAMIC_INDEX if dim == DYNAMIC_INDEX else dim - edges[-1]
    return [*(b - a for a, b in zip(edges, points, strict=False)), last]


def split(op: Operation) -> Sequence[Attribute]:
    """Parts of `data` along `axis`: so many equal ones, or between split points."""
    (data,) = tensor_operands(op, 1)
    dims = data.get_shape()
    axis = normalized_axis(int_of(op, "axis"), len(dims))
    parts = _parts(op, dims[axis])
    return [ranked(data.element_type, (*dims[:axis], p, *dims[axis + 1 :])) for p in parts]


def tile(op: Operation) -> Sequence[Attribute]:
    """`data` repeated as a whole `reps[i]` times along axis i, aligned at the last axis."""
    (data,) = tensor_operands(op, 1)
    dims, reps = data.get_shape(), ints_from(op, "reps", 0)
    rank = max(len(dims), len(reps))
    dims = (1,) * (rank - len(dims)) + dims
    reps = (1,) * (rank - len(reps)) + reps
    result = tuple(
        dim if rep == 1 else DYNAMIC_INDEX if dim == DYNAMIC_INDEX else dim * rep
        for dim, rep in zip(dims, reps, strict=True)
    )
    return (ranked(data.element_type, result),)


def repeat(op: Operation) -> Sequence[Attribute]:
    """`data` with every slice along `axis` repeated `repeats` times."""
    (data,) = tensor_operands(op, 1)
    dims = list(data.get_shape())
    axis = normalized_axis(int_of(op, "axis"), len(dims))
    repeats = int_from(op, "repeats", 1)
    if dims[axis] != DYNAMIC_INDEX:
        dims[axis] *= repeats
    return (ranked(data.element_type, tuple(dims)),)


def pad(op: Operation) -> Sequence[Attribute]:
    """`data` with `pad_width` = before 0, after 0, before 1, … more elements on each axis."""
    data, value = types = tensor_operands(op, 2)
    element = require_same_element(types, op)
    require_rank(value, 0, "pad_value")
    dims = data.get_shape()
    width = ints_from(op, "pad_width", 0, 2 * len(dims))
    mode = word_of(op, "pad_mode", ("constant", "edge", "reflect"))
    result: list[int] = []
    for axis, dim in enumerate(dims):
        before, after = width[2 * axis], width[2 * axis + 1]
        if dim == DYNAMIC_INDEX:
            result.append(dim)
            continue
        if mode == "reflect" and max(before, after) > max(dim - 1, 0):
            raise VerifyException(
                f"pad_width at axis {axis} must be at most {max(dim - 1, 0)} to reflect a dim "
                f"of {dim}, but is {max(before, after)}"
            )
        if mode == "edge" and dim == 0 and before + after:
            raise VerifyException(f"dim {axis} is 0: it has no edge to repeat")
        result.append(dim + before + after)
    return (ranked(element, tuple(result)),)
