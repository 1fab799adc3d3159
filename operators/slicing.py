"""Operators that select elements: rules and meanings."""

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import mul
from typing import Annotated, Literal

from .meaning.forms import ByIndex, defined
from .meaning.number import INT64, Number, Source, clamped
from .measures import MAX_SIZE
from .operands import normalized_axes, normalized_axis, require_integer, require_rank
from .rules import AtLeast, Ints, Work, rule
from .signature import Tensor, ranked
from .sizes import (
    SignatureError,
    Size,
    maximum,
    measure,
    minimum,
    product,
    require_at_most,
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


def cuts(
    rank: int,
    begin: Ints,
    end: Ints,
    strides: Ints | None = None,
    axes: Ints | None = None,
    slice_mode: str = "end",
) -> Iterator[tuple[int, int, int, int, bool]]:
    """Yield each axis that `strided_slice` slices, with the arguments of `picked` after the dim."""
    by_size = slice_mode == "size"
    steps = () if by_size or strides is None else strides
    chosen = range(len(begin)) if axes is None else normalized_axes(axes, rank, "axes entry")
    for i, axis in enumerate(chosen):
        yield axis, begin[i], end[i], steps[i] if i < len(steps) else 1, by_size


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


@rule("relay.slice_like", work=Work.LINEAR)
def slice_like(data: Tensor, shape_like: Tensor, *, axes: Ints | None) -> Tensor:
    """
    Infer the first elements of `data`, as many as `shape_like` has along `axes`.

    By default these are all axes that both have.
    """
    dims = list(data.dims)
    common = range(min(data.rank, shape_like.rank))
    for axis in common if axes is None else normalized_axes(axes, data.rank, "axes"):
        if axis >= shape_like.rank:
            raise SignatureError(f"shape_like has no axis {axis}: its rank is {shape_like.rank}")
        message = f"dim {axis} of shape_like must be at most {{1}}, that of data, but is {{0}}"
        dims[axis] = require_at_most(shape_like.dims[axis], dims[axis], message)
    return ranked(data.element, tuple(dims))


@defined(ByIndex, "relay.slice_like")
def sliced_like(index: Sequence[Number], data: Source, shape_like: Source) -> Number:
    """data[i, j]"""
    return data[index]


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


def _sized_length(dim: Size, begin: int, size: int, _stride: int) -> Size:
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
    for axis, *cut, by_size in cuts(len(dims), begin, end, strides, axes, slice_mode):
        length = _sized_length if by_size else _slice_length
        dims[axis] = length(dims[axis], *cut)
    return Tensor(data.element, tuple(dims))


@rule("relay.take", work=Work.LINEAR)
def take(
    data: Tensor,
    indices: Tensor,
    *,
    axis: int | None,
    batch_dims: int = 0,
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


@defined(ByIndex, "relay.take")
def taken(
    index: Sequence[Number],
    data: Source,
    indices: Source,
    *,
    axis: int | None,
    batch_dims: int,
    mode: str,
) -> Number:
    """data[i, …, indices[…], k, …]: the index is clamped to the axis, or wrapped around it."""
    rank = len(indices.dims)
    place = 0 if axis is None else axis % len(data.dims)
    batch = batch_dims + rank if batch_dims < 0 else batch_dims
    stop = place + rank - batch
    wanted = indices[[*index[:batch], *index[place:stop]]]
    extent = reduce(mul, data.dims) if axis is None else data.dims[place]
    if mode == "wrap":
        wide = wanted if wanted.element.bits == 64 else wanted.converted(INT64)
        size = extent.converted(wide.element)
        left = wide.apply("remainder", size)
        at = (left if wide.is_unsigned else (left < 0).select(left + size, left)).converted(INT64)
    else:
        at = clamped(wanted, extent)
    if axis is not None:
        return data[[*index[:place], at, *index[stop:]]]
    places: list[Number] = []
    for dim in reversed(data.dims):
        places.insert(0, at.apply("remainder", dim))
        at = at.apply("quotient", dim)
    return data[places]


_NO_SOURCE = "cannot take elements along an axis of 0 elements"

# ------------------------------------------------------------------------------------ by indices


@rule("relay.gather", work=Work.LINEAR)
def gather(data: Tensor, indices: Tensor, *, axis: int) -> Tensor:
    """Infer the dims of `indices`, which are at most those of `data` on all axes but `axis`."""
    require_integer(indices.element, "indices")
    axis = normalized_axis(axis, data.rank)
    require_rank(indices, data.rank, "indices")
    for i, (dim, most) in enumerate(zip(indices.dims, data.dims, strict=True)):
        if i != axis:
            message = f"dim {i} of indices must be at most {{1}}, as in data, but is {{0}}"
            require_at_most(dim, most, message)
    require_source(data.dims[axis], product(indices.dims), _NO_SOURCE)
    return Tensor(data.element, indices.dims)


@defined(ByIndex, "relay.gather")
def gathered(index: Sequence[Number], data: Source, indices: Source, *, axis: int) -> Number:
    """data[i, …, indices[i, …, k], …], with the index clamped to the axis."""
    at = list(index)
    at[axis] = clamped(indices[index], data.dims[axis])
    return data[at]


@rule("relay.gather_nd", work=Work.LINEAR)
def gather_nd(
    data: Tensor,
    indices: Tensor,
    *,
    batch_dims: Annotated[int, AtLeast(0)] = 0,
    index_rank: Annotated[int, AtLeast(0)] | None,
) -> Tensor:
    """
    Infer the dims of `indices` but the first, and those of `data` that are not indexed.

    Dim 0 of `indices` counts the indexed axes, which follow the first `batch_dims` of `data`; these
    are the first dims of the result, too. `index_rank`, if given, is that number.
    """
    require_integer(indices.element, "indices")
    if not indices.rank:
        raise SignatureError("indices must have rank at least 1, but has rank 0")
    count, rank = indices.dims[0] if index_rank is None else index_rank, indices.rank - 1
    if not isinstance(count, int):
        raise SignatureError("{op} needs index_rank: dim 0 of indices is dynamic")
    require_equal(indices.dims[0], count, "dim 0 of indices must be index_rank, {1}, but is {0}")
    if batch_dims > rank or batch_dims + count > data.rank:
        raise SignatureError(
            f"indices of {count} axes after {batch_dims} need ranks of at least "
            f"{batch_dims + count} and {batch_dims + 1}, but they are {data.rank} and {rank + 1}"
        )
    for i in range(batch_dims):
        message = f"batch dim {i} of data and indices must be equal, but are {{0}} and {{1}}"
        require_equal(data.dims[i], indices.dims[1 + i], message)
    for axis in range(batch_dims, batch_dims + count):
        require_source(data.dims[axis], product(indices.dims[1:]), _NO_SOURCE)
    return ranked(data.element, (*indices.dims[1:], *data.dims[batch_dims + count :]))


@defined(ByIndex, "relay.gather_nd")
def gathered_nd(
    index: Sequence[Number], data: Source, indices: Source, *, batch_dims: int
) -> Number:
    """data[i, …, indices[0, i, …], indices[1, i, …], …, k, …], with indices clamped to the axes."""
    rank = len(indices.dims) - 1
    count = len(data.dims) - len(index) + rank - batch_dims
    where, rest = index[:rank], index[rank:]
    found = [
        clamped(indices[[data.integer(i), *where]], data.dims[batch_dims + i]) for i in range(count)
    ]
    return data[[*index[:batch_dims], *found, *rest]]
