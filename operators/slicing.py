"""Rules of operators that select elements."""

from typing import Literal

from .measures import MAX_SIZE
from .operands import normalized_axes, normalized_axis, require_integer
from .rules import Ints, Work, rule
from .signature import Tensor
from .sizes import (
    SignatureError,
    Size,
    maximum,
    measure,
    minimum,
    product,
    require_equal,
    require_source,
)


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


def _from(dim: Size, begin: int) -> Size:
    """Return the length of `[begin:]` of `dim` elements."""
    if begin < 0:
        return dim if begin <= -MAX_SIZE else minimum(dim, -begin)
    return maximum(dim - begin, 0) if begin else dim


def _slice_length(dim: Size, begin: int, end: int, stride: int) -> Size:
    """Return the length of `[begin:end:stride]` of `dim` elements."""
    if stride < 0:
        return measure("slice_length", dim, begin, end, stride)
    if begin >= end and (begin < 0) == (end < 0):
        return 0
    length = _from(dim, begin)
    if end < 0:
        length = maximum(length + end, 0)
    elif end < MAX_SIZE:
        if begin >= 0:
            length = minimum(length, end - begin)
        else:
            length = maximum(minimum(dim, end) - maximum(dim + begin, 0), 0)
    return (length + (stride - 1)) // stride


def _sized_length(dim: Size, begin: int, size: int) -> Size:
    """Return the length of the first `size` (-1: all) of the elements from `begin`."""
    length = _from(dim, begin)
    return length if size == -1 else minimum(length, size)


@rule("relay.strided_slice", work=Work.LINEAR)
def strided_slice(
    data: Tensor,
    *,
    begin: Ints,
    end: Ints,
    strides: Ints | None,
    axes: Ints | None,
    slice_mode: Literal["end", "size"],
) -> Tensor:
    """
    Infer `data[begin:end:strides]` along `axes` (by default the first ones), as NumPy slices.

    Missing strides are 1. In mode "size", `end` holds sizes (-1: all that follow), and
    strides are ignored.
    """
    dims, strides = list(data.dims), strides or ()
    bound = len(dims) if axes is None else len(axes)
    if len(begin) != len(end) or len(begin) > bound or (axes is not None and len(begin) != bound):
        at_most = "at most " if axes is None else ""
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
    if slice_mode == "size" and min(end, default=0) < -1:
        raise SignatureError(f"a size must be at least -1, but is {min(end)}")
    chosen = range(len(begin)) if axes is None else normalized_axes(axes, len(dims), "axes entry")
    for i, axis in enumerate(chosen):
        if slice_mode == "size":
            dims[axis] = _sized_length(dims[axis], begin[i], end[i])
        else:
            stride = strides[i] if i < len(strides) else 1
            dims[axis] = _slice_length(dims[axis], begin[i], end[i], stride)
    return Tensor(data.element, tuple(dims))


@rule("relay.take", work=Work.LINEAR)
def take(
    data: Tensor,
    indices: Tensor,
    *,
    axis: int | None,
    batch_dims: int,
    mode: Literal["clip", "wrap", "fast"],
) -> Tensor:
    """
    Infer the slices of `data` along `axis` at `indices`, or elements of flattened `data`.

    With an axis, the result has the dims of `data` before it, those of `indices` from
    `batch_dims`, and those of `data` after it. The first `batch_dims` dims are common to both.
    """
    require_integer(indices.element, "indices")
    count = product(indices.dims)
    if axis is None:
        if batch_dims:
            raise SignatureError(f"batch_dims must be 0 without axis, but is {batch_dims}")
        require_source(product(data.dims), count, _NO_SOURCE)
        return Tensor(data.element, indices.dims)
    axis = normalized_axis(axis, data.rank)
    bound = min(axis, indices.rank)
    batch = batch_dims + indices.rank if batch_dims < 0 else batch_dims
    if not 0 <= batch <= bound:
        given = batch_dims if batch < 0 else batch
        raise SignatureError(f"batch_dims must be in [0, {bound}], but is {given}")
    common = [
        require_equal(
            data.dims[i],
            indices.dims[i],
            f"batch dim {i} of data and indices must be equal, but are {{0}} and {{1}}",
        )
        for i in range(batch)
    ]
    require_source(data.dims[axis], count, _NO_SOURCE)
    of_data = data.dims[batch:axis]
    dims = (*common, *of_data, *indices.dims[batch:], *data.dims[axis + 1 :])
    return Tensor(data.element, dims)


_NO_SOURCE = "cannot take elements along an axis of 0 elements"
