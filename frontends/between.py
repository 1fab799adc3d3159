"""
Interpolation between the elements of a tensor, of numbers of Relay text and of ONNX alike.

    place 1.25 along a dim, linear    ->    0.75 · element 1 + 0.25 · element 2
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import floor
from operator import add, mul

from .program_numbers import N

Tap = tuple[N, N | None]
"""The coordinate of an element along a dim, and its weight; None for 1."""


def cubic(t: N, is_inner: bool, a: float) -> N:
    """Return the weight of an element `t` from a place: up to 1, or from 1 to 2."""
    if is_inner:
        return (t * (a + 2.0) - (a + 3.0)) * t * t + 1.0
    return ((t * a - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a


def taps(at: N, mode: str, a: float = -0.75) -> list[Tap[N]]:
    """Return the elements around a place along a dim: `nearest`, `linear` or `cubic`."""
    if mode == "nearest":
        return [(at.round(), None)]
    low = at.floor()
    part = at - low
    if mode == "linear":
        return [(low, 1.0 - part), (low + 1.0, part)]
    near = [(i, (part - float(i)).abs()) for i in range(-1, 3)]
    return [(low + float(i), cubic(t, i in (0, 1), a)) for i, t in near]


def filtered(distance: N, mode: str, a: float) -> N:
    """Return the weight of an element at a distance from a place, which a filter may stretch."""
    if mode == "linear":
        return 1.0 - distance.minimum(1.0)
    outer = cubic(distance.minimum(2.0), False, a)
    return cubic(distance, True, a).where(distance.less(1.0), outer)


def wide_taps(at: N, mode: str, a: float, scale: float) -> list[tuple[N, N]]:
    """Return as many elements as `1 / scale` requires, if that is more, with unscaled weights."""
    scale, reach = min(scale, 1.0), 1 if mode == "linear" else 2
    low, first = at.floor(), floor(-reach / scale) + 1
    elements = [(low + float(i), (at - low - float(i)) * scale) for i in range(first, 2 - first)]
    return [(element, filtered(far.abs(), mode, a)) for element, far in elements]


def clamped(at: N, size: N | float) -> N:
    """Return the nearest place that a dim of `size` has."""
    return at.clamped(0.0, size - 1.0)


def reflected(at: N, size: N | float, aligned: bool) -> N:
    """Reflect places at the first and the last element, or (unless `aligned`) at their edges."""
    low = 0.0 if aligned else -0.5
    length = size - 1.0 if aligned else size
    if isinstance(length, float):
        length = max(length, 2.0**-14)
    turns: N = (at - low).abs().mod(length * 2.0)
    apart: N = (turns - length).abs()
    return clamped(length - apart + low, size)


def terms(
    x: N, along: Sequence[Sequence[Tap[N]]], sizes: Sequence[N | int], zeros: bool
) -> list[N]:
    """
    Return the weighted elements around each place of each batch, with channels last.

    Those outside of the tensor are 0, with `zeros`; otherwise, the nearest one inside. The sizes
    are those of the dims after batch and channel, of i64.
    """
    lines = x.reshape(newshape=(0, 0, -1)).transpose(axes=(0, 2, 1))
    elements: list[N] = []
    for each in product(*along):
        index: N | None = None
        insides: list[N] = []
        for (at, _), size in zip(each, sizes, strict=True):
            inside = clamped(at, float(size) if isinstance(size, int) else size.cast(at.dtype))
            insides.append(at.equal(inside))
            place = inside.cast("int64")
            index = place if index is None else index * size + place
        term: N = lines.take(index, axis=1, batch_dims=1)
        weights = [weight for _, weight in each if weight is not None]
        if weights:
            term = term * reduce(mul, weights).cast(x.dtype).expand_dims(axis=-1)
        if zeros:
            is_inside = reduce(lambda one, other: one.logical_and(other), insides)
            term = term.where(is_inside.expand_dims(axis=-1), 0.0)
        elements.append(term)
    return elements


def sampled(
    x: N, grid: Sequence[N], sizes: Sequence[N | int], mode: str, padding: str, aligned: bool
) -> N:
    """Sample `x` at places of a grid, given along each dim, from -1 to 1; channels are last."""

    def padded(at: N, size: N | float) -> N:
        if padding == "zeros":
            return at
        return reflected(at, size, aligned) if padding == "reflection" else clamped(at, size)

    along: list[list[Tap[N]]] = []
    for place, count in zip(grid, sizes, strict=True):
        size = float(count) if isinstance(count, int) else count.cast(place.dtype)
        at = (place + 1.0) * 0.5
        at = at * (size - 1.0) if aligned else at * size - 0.5
        around = taps(at if mode == "cubic" else padded(at, size), mode)
        along.append([(padded(tap, size), weight) for tap, weight in around])
    return reduce(add, terms(x, along, sizes, padding == "zeros"))
