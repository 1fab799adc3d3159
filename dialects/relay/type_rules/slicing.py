"""Type rules of operators that pick elements."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from .operands import (
    known,
    normalized_axes,
    normalized_axis,
    ranked,
    require_integer,
    tensor_operands,
)
from .properties import int_of, ints_of, optional_int_of, optional_ints_of, word_of


def _sliced(dim: int, begin: int, end: int, stride: int, by_size: bool) -> int:
    """The elements of `range(dim)[begin:end:stride]`; by size, `end` is how many at most."""
    if dim == DYNAMIC_INDEX:
        return DYNAMIC_INDEX
    if not by_size:
        return len(range(*slice(begin, end, stride).indices(dim)))
    first = slice(begin, None).indices(dim)[0]
    return dim - first if end == -1 else min(end, dim - first)


def strided_slice(op: Operation) -> Sequence[Attribute]:
    """
    `data[begin:end:strides]` along `axes` (the first ones when absent), as NumPy clamps it.

    Missing strides are 1. In the mode "size", `end` holds sizes, -1 for all that follow, and
    strides do not matter.
    """
    (data,) = tensor_operands(op, 1)
    dims = list(data.get_shape())
    begin, end = ints_of(op, "begin"), ints_of(op, "end")
    strides = optional_ints_of(op, "strides") or ()
    given = optional_ints_of(op, "axes")
    by_size = word_of(op, "slice_mode", ("end", "size")) == "size"
    bound = len(dims) if given is None else len(given)
    if len(begin) != len(end) or len(begin) > bound or (given is not None and len(begin) != bound):
        at_most = "at most " if given is None else ""
        raise VerifyException(
            f"begin and end must have {at_most}{bound} entries each, "
            f"but have {len(begin)} and {len(end)}"
        )
    if len(strides) > max(len(begin), 1):
        raise VerifyException(
            f"strides must have at most {max(len(begin), 1)} entries, but has {len(strides)}"
        )
    if 0 in strides:
        raise VerifyException("strides must not be 0")
    if by_size and min(end, default=0) < -1:
        raise VerifyException(f"a size must be at least -1, but is {min(end)}")
    axes = range(len(begin)) if given is None else normalized_axes(given, len(dims), "axes entry")
    for i, axis in enumerate(axes):
        stride = strides[i] if i < len(strides) else 1
        dims[axis] = _sliced(dims[axis], begin[i], end[i], stride, by_size)
    return (ranked(data.element_type, tuple(dims)),)


def take(op: Operation) -> Sequence[Attribute]:
    """
    The slices of `data` along `axis` that `indices` name, or elements of flattened `data`.

    With an axis the result has the dims of `data` before it, those of `indices` from
    `batch_dims` on, those of `data` after it. The first `batch_dims` dims are common to both.
    """
    data, indices = tensor_operands(op, 2)
    require_integer(indices.element_type, "indices")
    word_of(op, "mode", ("clip", "wrap", "fast"))
    axis, batch = optional_int_of(op, "axis"), int_of(op, "batch_dims")
    of_data, of_indices = data.get_shape(), indices.get_shape()
    if axis is None:
        if batch:
            raise VerifyException(f"batch_dims must be 0 without axis, but is {batch}")
        _require_some(0 if 0 in of_data else 1, of_indices)
        return (ranked(data.element_type, of_indices),)
    axis = normalized_axis(axis, len(of_data))
    bound = min(axis, len(of_indices))
    if not -len(of_indices) <= batch <= bound or (
        batch < 0 and (batch := batch + len(of_indices)) > bound
    ):
        raise VerifyException(f"batch_dims must be in [0, {bound}], but is {batch}")
    common: list[int] = []
    for i in range(batch):
        if of_data[i] != of_indices[i] and DYNAMIC_INDEX not in (of_data[i], of_indices[i]):
            raise VerifyException(
                f"batch dim {i} of data and indices must be equal, "
                f"but they are {of_data[i]} and {of_indices[i]}"
            )
        common.append(known(of_data[i], of_indices[i]))
    _require_some(of_data[axis], of_indices)
    dims = (*common, *of_data[batch:axis], *of_indices[batch:], *of_data[axis + 1 :])
    return (ranked(data.element_type, dims),)


def _require_some(dim: int, indices: Sequence[int]) -> None:
    """A dim of 0 has nothing to take."""
    if dim == 0 and 0 not in indices and DYNAMIC_INDEX not in indices:
        raise VerifyException("data is empty along axis: indices can take nothing from it")
