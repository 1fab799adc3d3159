"""Signals: Fourier transforms, as products with matrices of cosines and sines."""

from __future__ import annotations

import numpy as np

from ..convert.computed import Computed
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Constant, Value, dims_of, dtype_of, rank_of
from .linear import product
from .rule import Rule, Rules, since

INT64 = np.dtype(np.int64)


def _count(node: Node, b: Builder, index: int, what: str, default: Value | None = None) -> Computed:
    """Return input `index`, an integer of at least 1, or `default`."""
    given = node.optional(index) or default
    count = b.cast(b.reshape(node.input(index) if given is None else given, ()), INT64)
    if isinstance(count, Constant) and count.array < 1:
        raise node.error(f"{what} is {count.array}; supported: 1 and more")
    return Computed(count, b)


def _transformed(
    node: Node, b: Builder, x: Value, length: Computed, inverse: bool, onesided: bool
) -> Value:
    """
    Transform the numbers along the axis before the last, which has their parts.

    They are cut to `length`, or zeros follow. A one-sided spectrum has the first half: for real
    numbers, the other half has its conjugates.
    """
    parts, dtype = dims_of(x)[-1], dtype_of(x).name
    if parts not in (1, 2):
        shown = parts if isinstance(parts, int) else "?"
        raise node.error(f"the last dim is {shown}; supported: 1 (real) and 2 (complex)")
    half = length.call("floor_divide", 2) + 1
    rows = Computed(b.op("expand_dims", b.counting(dims_of(x)[-2]), axis=1), b)
    columns = Computed(b.counting((half if onesided and not inverse else length).value), b)
    count = length.cast("float64")
    angles = (rows * columns).floor_mod(length).cast("float64") * (count.like(2 * np.pi) / count)
    weight = rows.less(half if onesided and inverse else length).cast("float64")
    if inverse:
        weight = weight / count
    if inverse and onesided:
        is_own = (rows * 2).floor_mod(length).equal(0)
        weight = weight * (2 - is_own.cast("float64"))
    real, imaginary = angles.cos() * weight, angles.sin() * weight
    imaginary = imaginary if inverse else imaginary.negative()

    def part(i: int, matrix: Computed) -> Computed:
        numbers = b.op("take", x, b.scalar(i, INT64), axis=rank_of(x) - 1, mode="clip")
        return Computed(product(node, numbers, matrix.cast(dtype).value, b), b)

    sums = [part(0, real), part(0, imaginary)]
    if parts == 2:
        sums = [sums[0] - part(1, imaginary), sums[1] + part(1, real)]
    is_real = inverse and onesided
    return b.op("stack", *(each.value for each in sums[: 1 if is_real else 2]), axis=-1)


def _dft(node: Node, b: Builder, axis: int) -> Value:
    x, rank = node.input(0), rank_of(node.input(0))
    inverse, onesided = node.flag("inverse", False), node.flag("onesided", False)
    axis = node.axis(axis, rank - 1)
    order = [i for i in range(rank) if i != axis]
    order.insert(rank - 2, axis)
    length = b.size(dims_of(x)[axis])
    if inverse and onesided:
        length = ((Computed(length, b) - 1) * 2).value
    length = _count(node, b, 1, "the length", length)
    y = _transformed(node, b, b.transpose(x, order), length, inverse, onesided)
    return b.transpose(y, list(np.argsort(order)))


def dft_by_attribute(node: Node, b: Builder) -> Value:
    """Transform along an axis that is an attribute (opset 17)."""
    return _dft(node, b, node.integer("axis", 1))


def dft(node: Node, b: Builder) -> Value:
    """Transform along the axis that is an input."""
    axis = node.scalar_at(2, "the axis")
    axis = rank_of(node.input(0)) - 2 if axis is None else int(axis)
    return _dft(node, b, axis if axis >= 0 else axis + 1)


def stft(node: Node, b: Builder) -> Value:
    """Transform frames of a signal, each a step after the one before, times a window."""
    x, window = node.input(0), node.optional(2)
    node.require_rank(x, [3], "the signal")
    end, step = b.size(dims_of(x)[1]), _count(node, b, 1, "the step")
    length = _count(node, b, 3, "the length", end if window is None else b.size(dims_of(window)[0]))
    count = (Computed(end, b) - length).call("floor_divide", step) + 1
    starts = (Computed(b.counting(count.value), b) * step).expand_dims(axis=1)
    places = starts + Computed(b.counting(length.value), b)
    pieces = b.op("take", x, places.value, axis=1, mode="clip")
    if window is not None:
        pieces = b.op("multiply", pieces, b.op("expand_dims", window, axis=1))
    return _transformed(node, b, pieces, length, False, node.flag("onesided", True))


RULES: Rules = {"DFT": (Rule(dft_by_attribute, 17, 20), Rule(dft, 20)), "STFT": since(17, stft)}
