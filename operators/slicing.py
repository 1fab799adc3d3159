"""Signatures of operators that select elements."""

from collections.abc import Sequence

from .attributes import int_of, ints_of, optional_int_of, optional_ints_of, word_of
from .operands import (
    known,
    normalized_axes,
    normalized_axis,
    require_integer,
)
from .signature import UNKNOWN, Call, Signature, SignatureError, Tensor, ranked


def picked(dim: int, begin: int, end: int, stride: int, by_size: bool = False) -> range:
    """
    Return the indices that `strided_slice` selects along an axis of `dim` elements.

    Negative `begin` and `end` count from the back; both are clamped as in NumPy: to [0, dim],
    or to [-1, dim - 1] if `stride` is negative. With `by_size`, `end` is the maximum number of
    elements (-1: all that follow) and `stride` is ignored. (TVM: `CanonicalizeIndex`.)
    """
    if not by_size:
        return range(dim)[begin:end:stride]
    return range(dim)[begin:][: None if end == -1 else end]


def as_slice(indices: range) -> slice:
    """Return the slice that selects `indices`, none of which is negative."""
    if not indices:
        return slice(0, 0)
    stop = indices[-1] + (1 if indices.step > 0 else -1)
    return slice(indices.start, stop if stop >= 0 else None, indices.step)


def strided_slice(call: Call) -> Sequence[Tensor]:
    """
    Infer `data[begin:end:strides]` along `axes` (by default the first ones), as NumPy slices.

    Missing strides are 1. In mode "size", `end` holds sizes (-1: all that follow), and
    strides are ignored.
    """
    (data,) = call.tensors(1)
    dims = list(data.dims)
    begin, end = ints_of(call, "begin"), ints_of(call, "end")
    strides = optional_ints_of(call, "strides") or ()
    given = optional_ints_of(call, "axes")
    by_size = word_of(call, "slice_mode", ("end", "size")) == "size"
    bound = len(dims) if given is None else len(given)
    if len(begin) != len(end) or len(begin) > bound or (given is not None and len(begin) != bound):
        at_most = "at most " if given is None else ""
        raise SignatureError(
            f"begin and end must have {at_most}{bound} entries each, "
            f"but have {len(begin)} and {len(end)}"
        )
    if len(strides) > max(len(begin), 1):
        raise SignatureError(
            f"strides must have at most {max(len(begin), 1)} entries, but has {len(strides)}"
        )
    if 0 in strides:
        raise SignatureError("strides must not be 0")
    if by_size and min(end, default=0) < -1:
        raise SignatureError(f"a size must be at least -1, but is {min(end)}")
    axes = range(len(begin)) if given is None else normalized_axes(given, len(dims), "axes entry")
    for i, axis in enumerate(axes):
        stride = strides[i] if i < len(strides) else 1
        if dims[axis] != UNKNOWN:
            dims[axis] = len(picked(dims[axis], begin[i], end[i], stride, by_size))
    return (ranked(data.element, tuple(dims)),)


def take(call: Call) -> Sequence[Tensor]:
    """
    Infer the slices of `data` along `axis` at `indices`, or elements of flattened `data`.

    With an axis, the result has the dims of `data` before it, those of `indices` from
    `batch_dims`, and those of `data` after it. The first `batch_dims` dims are common to both.
    """
    data, indices = call.tensors(2)
    require_integer(indices.element, "indices")
    word_of(call, "mode", ("clip", "wrap", "fast"))
    axis, batch = optional_int_of(call, "axis"), int_of(call, "batch_dims")
    of_data, of_indices = data.dims, indices.dims
    if axis is None:
        if batch:
            raise SignatureError(f"batch_dims must be 0 without axis, but is {batch}")
        _require_some(0 if 0 in of_data else 1, of_indices)
        return (ranked(data.element, of_indices),)
    axis = normalized_axis(axis, len(of_data))
    bound = min(axis, len(of_indices))
    if not -len(of_indices) <= batch <= bound or (
        batch < 0 and (batch := batch + len(of_indices)) > bound
    ):
        raise SignatureError(f"batch_dims must be in [0, {bound}], but is {batch}")
    common: list[int] = []
    for i in range(batch):
        if of_data[i] != of_indices[i] and UNKNOWN not in (of_data[i], of_indices[i]):
            raise SignatureError(
                f"batch dim {i} of data and indices must be equal, "
                f"but are {of_data[i]} and {of_indices[i]}"
            )
        common.append(known(of_data[i], of_indices[i]))
    _require_some(of_data[axis], of_indices)
    dims = (*common, *of_data[batch:axis], *of_indices[batch:], *of_data[axis + 1 :])
    return (ranked(data.element, dims),)


def _require_some(dim: int, indices: Sequence[int]) -> None:
    """Reject indices into a dim of 0."""
    if dim == 0 and 0 not in indices and UNKNOWN not in indices:
        raise SignatureError("cannot take elements along an axis of 0 elements")


SIGNATURES: dict[str, Signature] = {
    "relay.strided_slice": strided_slice,
    "relay.take": take,
}
