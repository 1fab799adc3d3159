"""Rules of reductions, which remove dims or make them 1, and of scans: rules and meanings."""

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

from .elementwise import ElementCheck
from .meaning.forms import Folded, Sums, define, defined
from .meaning.number import Number, Source
from .operands import (
    normalized_axes,
    normalized_axis,
    require_bool,
    require_float,
    require_integer,
    require_number,
    require_ordered,
)
from .rules import Ints, rule
from .signature import ELEMENTS, Element, ElementKind, Tensor, ranked
from .sizes import Shape, SignatureError, product, require_at_least

_OPERAND = "the operand of {op}"


def reduced_axes(axis: Ints | None, exclude: bool, rank: int) -> Ints:
    """
    Return the axes that are reduced, ascending.

    These are the axes in `axis` or, with `exclude`, all others. Without `axis`, all axes are
    reduced whatever `exclude` is; an empty `axis` names none.
    """
    if axis is None:
        return tuple(range(rank))
    axes = normalized_axes(axis, rank)
    if exclude:
        return tuple(axis for axis in range(rank) if axis not in axes)
    return tuple(sorted(axes))


def _without(data: Tensor, axes: Sequence[int], keepdims: bool) -> Shape:
    dims = enumerate(data.dims)
    if keepdims:
        return tuple(1 if axis in axes else dim for axis, dim in dims)
    return tuple(dim for axis, dim in dims if axis not in axes)


def _require_elements(data: Tensor, axes: Sequence[int]) -> None:
    for axis in axes:
        message = f"{{op}} cannot reduce axis {axis}: it has {{0}} elements"
        require_at_least(data.dims[axis], 1, message)


def _reduced(
    data: Tensor,
    check: ElementCheck,
    axis: Ints | None,
    keepdims: bool,
    exclude: bool,
    may_be_empty: bool = False,
) -> Tensor:
    check(data.element, _OPERAND)
    axes = reduced_axes(axis, exclude, data.rank)
    _require_elements(data, () if may_be_empty else axes)
    return Tensor(data.element, _without(data, axes, keepdims))


@rule("relay.sum", "relay.prod")
def of_numbers(data: Tensor, *, axis: Ints | None, keepdims: bool, exclude: bool) -> Tensor:
    """Infer `data` of numbers without the reduced axes, or with 1 there."""
    return _reduced(data, require_number, axis, keepdims, exclude, True)


@rule("relay.all", "relay.any")
def of_bools(data: Tensor, *, axis: Ints | None, keepdims: bool, exclude: bool) -> Tensor:
    """Infer `data` of i1 without the reduced axes, or with 1 there."""
    return _reduced(data, require_bool, axis, keepdims, exclude, True)


@rule("relay.mean")
def mean(data: Tensor, *, axis: Ints | None, keepdims: bool, exclude: bool) -> Tensor:
    """Infer `data` of floats without the reduced axes, or with 1 there; none may be empty."""
    return _reduced(data, require_float, axis, keepdims, exclude)


@rule("relay.max", "relay.min")
def extreme(data: Tensor, *, axis: Ints | None, keepdims: bool, exclude: bool) -> Tensor:
    """Infer `data` without the reduced axes, or with 1 there; none may be empty."""
    return _reduced(data, require_ordered, axis, keepdims, exclude)


def _box(dims: Sequence[Any], *, axis: Ints | None, exclude: bool) -> Sequence[Any]:
    return [dims[i] for i in reduced_axes(axis, exclude, len(dims))]


def _element(
    index: Sequence[Number], data: Source, *, axis: Ints | None, keepdims: bool, exclude: bool
) -> Number:
    """data[…, k, …] over all k along the reduced axes"""
    axes, rank = reduced_axes(axis, exclude, len(data.dims)), len(data.dims)
    left = [i for i in range(rank) if keepdims or i not in axes]
    at = dict(zip((*left, *axes), index, strict=True))  # a reduced axis of 1 is replaced
    return data[[at[i] for i in range(rank)]]


def _mean(
    total: Number, index: Sequence[Number], data: Source, *, axis: Ints | None, exclude: bool
) -> Number:
    """Divide by the number of elements."""
    count = reduce(mul, _box(data.dims, axis=axis, exclude=exclude), data.integer(1))
    return total / count.converted(total.element)


defined(Folded, "relay.sum", box=_box)(_element)
defined(Folded, "relay.prod", box=_box, by="multiply")(_element)
defined(Folded, "relay.mean", box=_box, finish=_mean)(_element)
defined(Folded, "relay.max", "relay.any", box=_box, by="maximum")(_element)
defined(Folded, "relay.min", "relay.all", box=_box, by="minimum")(_element)


@rule("relay.argmax", "relay.argmin")
def arg_reduction(
    data: Tensor,
    *,
    axis: Ints | None,
    keepdims: bool,
    exclude: bool,
    select_last_index: bool,
    dtype: Element,
) -> Tensor:
    """Infer `data` without one axis, or a scalar for all axes, with elements of `dtype`."""
    require_ordered(data.element, _OPERAND)
    axes = reduced_axes(axis, exclude, data.rank)
    if len(axes) not in (1, data.rank):
        raise SignatureError(
            f"{{op}} must reduce one axis or all {data.rank}, but reduces {len(axes)}"
        )
    _require_elements(data, axes)
    require_integer(dtype, "the result of {op}")
    return Tensor(dtype, _without(data, axes, keepdims))


@rule("relay.cumsum")
def cumsum(data: Tensor, *, axis: int | None, dtype: Element | None, exclusive: bool) -> Tensor:
    """Infer `data`, flattened without `axis`, of `dtype`; by default that of `data`, of i1 i32."""
    of_bools = data.element.kind is ElementKind.BOOL
    element = dtype or (ELEMENTS["int32"] if of_bools else data.element)
    require_ordered(data.element, "the operand of {op}")
    require_number(element, "the result of {op}")
    if axis is None:
        return ranked(element, (product(data.dims),))
    normalized_axis(axis, data.rank)
    return Tensor(element, data.dims)


define("relay.cumsum", means=Sums())
