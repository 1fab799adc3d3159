"""
Measures: sizes that arithmetic on sizes cannot express, such as the length of a slice.

    measure("slice_length", dim, begin, end, stride)      of sizes
    measure_data("count_nonzero", mask)                   of an operand's elements

A measure is a function of integers, floats and arrays of rank 1 or more, NumPy's when it runs; this
room does not import NumPy. In a shape function it is the op `relay.measure`.
"""

from collections.abc import Callable, Sequence
from math import ceil, isfinite, prod
from typing import Any, TypeAlias, TypeVar

Measure: TypeAlias = Callable[..., int]

MAX_SIZE = 2**63 - 1
"""The maximum of a size, in elements or bytes: it is an i64 where a program computes it."""

MEASURES: dict[str, Measure] = {}
"""The measures by name. One that raises `ValueError` has no size for its arguments."""

SIGNED = ("rounded_product",)
"""The measures that may be below 0."""

_AnyMeasure = TypeVar("_AnyMeasure", bound=Measure)


def measure(function: _AnyMeasure) -> _AnyMeasure:
    """Make `function` the measure of its name."""
    MEASURES[function.__name__] = function
    return function


@measure
def slice_length(dim: int, begin: int, end: int, stride: int) -> int:
    """Return the length of `[begin:end:stride]` of `dim` elements, clamped as in NumPy."""
    try:
        return len(range(dim)[begin:end:stride])
    except ValueError:
        raise ValueError("strides must not be 0") from None


@measure
def sized_slice_length(dim: int, begin: int, size: int) -> int:
    """Return the length of `[begin:][:size]` of `dim` elements; all that follow if size is -1."""
    return len(range(dim)[begin:][: None if size == -1 else size])


@measure
def rounded_product(size: int, scale: float) -> int:
    """Return `size * scale` rounded to the nearest integer, halves to even."""
    return round(size * scale)


@measure
def count_nonzero(data: Any) -> int:
    """Return the number of elements of the array `data` that are not 0."""
    return int((data != 0).sum())


@measure
def arange_length(start: float, stop: float, step: float) -> int:
    """Return the number of elements of `arange`: ceil((stop - start) / step), at least 0."""
    if step == 0:
        raise ValueError("the step of arange must not be 0")
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return max(0, -((start - stop) // step))
    length = (stop - start) / step
    if not isfinite(length):
        raise ValueError(f"arange from {start} to {stop} by {step} has no length")
    return max(0, ceil(length))


@measure
def as_size(value: float) -> int:
    """
    Return an integer of any type as a size, which must be below 2^63.

    A float is truncated; it must not be negative.
    """
    if isinstance(value, float):
        if not 0 <= value < 2**63:
            raise ValueError(f"a size must be in [0, 2^63), but is {value}")
        return int(value)
    if value > MAX_SIZE:
        raise ValueError(f"a size must be below 2^63, but is {value}")
    return value


def _at(axis: int, dims: Sequence[int]) -> int:
    if not 0 <= axis < len(dims):
        raise ValueError(f"axis must be in [0, {len(dims)}), but is {axis}")
    return dims[axis]


@measure
def reshaped_dim(axis: int, allowzero: int, rank: int, *sizes: int) -> int:
    """
    Return dim `axis` of a tensor reshaped; `sizes` are its `rank` dims, then the wanted ones.

    Of these, 0 copies the dim at its index (unless `allowzero`), and one -1 is inferred.
    """
    dims, wanted = sizes[:rank], sizes[rank:]
    made = list(wanted)
    for i, entry in enumerate(wanted):
        if entry < -1 or (entry == 0 and not allowzero and i >= rank):
            raise ValueError(f"cannot reshape a tensor of {[*dims]}: entry {i} of shape is {entry}")
        if entry == 0 and not allowzero:
            made[i] = dims[i]
    if made.count(-1) > 1:
        raise ValueError(f"cannot reshape to {[*wanted]}: shape must have at most one -1")
    if -1 in made:
        copied = {i for i, entry in enumerate(wanted) if entry == 0 and not allowzero}
        before = prod(dim for i, dim in enumerate(dims) if i not in copied)
        after = prod(size for i, size in enumerate(made) if i not in copied and size != -1)
        if after == 0 or before % after:
            raise ValueError(f"cannot reshape a tensor of {[*dims]} to {[*wanted]}")
        made[made.index(-1)] = before // after
    if prod(made) != prod(dims):
        raise ValueError(f"cannot reshape a tensor of {[*dims]} to {[*wanted]}")
    return _at(axis, made)


@measure
def squeezed_dim(axis: int, rank: int, *sizes: int) -> int:
    """Return dim `axis` of a tensor of `rank` dims, the first `sizes`, without the axes after."""
    dims, axes = sizes[:rank], sizes[rank:]
    for i in axes:
        if len(dims) < rank or not -rank <= i < rank:
            raise ValueError(f"an axis of squeeze must be in [{-rank}, {rank}), but is {i}")
        if dims[i] != 1:
            raise ValueError(f"dim {i} must be 1 to be squeezed, but is {dims[i]}")
    removed = {i % rank for i in axes}
    if len(removed) < len(axes):
        raise ValueError(f"axes of squeeze must differ, but are {[*axes]}")
    return _at(axis, [dim for i, dim in enumerate(dims) if i not in removed])


@measure
def expanded_dim(axis: int, at: int, count: int, *dims: int) -> int:
    """Return dim `axis` of a tensor of `dims` with `count` dims of 1 inserted at `at`."""
    rank = len(dims)
    if not -rank - 1 <= at <= rank:
        raise ValueError(f"axis of expand_dims must be in [{-rank - 1}, {rank}], but is {at}")
    at = at if at >= 0 else at + rank + 1
    if at <= axis < at + count:
        return 1
    return _at(axis if axis < at else axis - count, dims)


@measure
def topk_length(k: int, dim: int) -> int:
    """Return the number of elements that `topk` selects of `dim`: `k`, or all if it is below 1."""
    if k > dim:
        raise ValueError(f"k of topk must be at most {dim}, but is {k}")
    return k if k > 0 else dim
