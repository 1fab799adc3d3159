"""
Measures: sizes that arithmetic on sizes cannot express, such as the length of a slice.

    measure("slice_length", dim, begin, end, stride)      of sizes
    measure_data("count_nonzero", mask)                   of an operand's elements

A measure is a function of integers, floats and arrays of rank 1 or more, NumPy's when it runs; this
room does not import NumPy. In a shape function it is the op `relay.measure`.
"""

from collections.abc import Callable, Mapping
from math import ceil, isfinite
from typing import Any

Measure = Callable[..., int]


def slice_length(dim: int, begin: int, end: int, stride: int) -> int:
    """Return the length of `[begin:end:stride]` of `dim` elements, clamped as in NumPy."""
    return len(range(dim)[begin:end:stride])


def sized_slice_length(dim: int, begin: int, size: int) -> int:
    """Return the length of `[begin:][:size]` of `dim` elements; all that follow if size is -1."""
    return len(range(dim)[begin:][: None if size == -1 else size])


def rounded_product(size: int, scale: float) -> int:
    """Return `size * scale` rounded to the nearest integer, halves to even."""
    return round(size * scale)


def count_nonzero(data: Any) -> int:
    """Return the number of elements of the array `data` that are not 0."""
    return int((data != 0).sum())


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


def as_size(value: int) -> int:
    """Return an integer of any type as a size, which must be below 2^63."""
    if value >= 2**63:
        raise ValueError(f"a size must be below 2^63, but is {value}")
    return value


MEASURES: Mapping[str, Measure] = {
    measure.__name__: measure
    for measure in (
        slice_length,
        sized_slice_length,
        rounded_product,
        count_nonzero,
        arange_length,
        as_size,
    )
}
"""The measures by name. One that raises `ValueError` has no size for its arguments."""
