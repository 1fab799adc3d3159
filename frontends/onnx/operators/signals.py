"""Signals: Fourier transforms, as products with matrices of cosines and sines."""

from __future__ import annotations

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Constant, Value, dims_of, dtype_of, rank_of
from .linear import product
from .rule import Rule, Rules, since

INT64, FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)


def _count(node: Node, b: Builder, index: int, what: str, default: Value | None = None) -> Value:
    """Return input `index`, an integer of at least 1, or `default`."""
    given = node.optional(index) or default
    count = b.cast(b.reshape(node.input(index) if given is None else given, ()), INT64)
    if isinstance(count, Constant) and count.array < 1:
        raise node.error(f"{what} is {count.array}; supported: 1 and more")
    return count


def _counting(b: Builder, count: Value) -> Value:
    """Return the integers from 0 up to `count`."""
    return b.op("arange", b.scalar(0, INT64), count, b.scalar(1, INT64), dtype="int64")


def _transformed(
    node: Node, b: Builder, x: Value, length: Value, inverse: bool, onesided: bool
) -> Value:
    """
    Transform the numbers along the axis before the last, which has their parts.

    They are cut to `length`, or zeros follow. A one-sided spectrum has the first half: for real
    numbers, the other half has its conjugates.
    """
    parts, dtype = dims_of(x)[-1], dtype_of(x)
    if parts not in (1, 2):
        shown = parts if isinstance(parts, int) else "?"
        raise node.error(f"the last dim is {shown}; supported: 1 (real) and 2 (complex)")
    one, two = b.scalar(1, INT64), b.scalar(2, INT64)
    half = b.op("add", b.op("floor_divide", length, two), one)
    rows = b.op("expand_dims", b.counting(dims_of(x)[-2]), axis=1)
    columns = _counting(b, half if onesided and not inverse else length)
    turns = b.op("floor_mod", b.op("multiply", rows, columns), length)
    turn = b.op("divide", b.scalar(2 * np.pi, FLOAT64), b.cast(length, FLOAT64))
    angles = b.op("multiply", b.cast(turns, FLOAT64), turn)
    weight = b.cast(b.op("less", rows, half if onesided and inverse else length), FLOAT64)
    if inverse:
        weight = b.op("divide", weight, b.cast(length, FLOAT64))
    if inverse and onesided:
        twice = b.op("floor_mod", b.op("multiply", rows, two), length)
        is_own = b.op("equal", twice, b.scalar(0, INT64))
        both = b.op("subtract", b.scalar(2, FLOAT64), b.cast(is_own, FLOAT64))
        weight = b.op("multiply", weight, both)
    real = b.cast(b.op("multiply", b.op("cos", angles), weight), dtype)
    imaginary = b.op("multiply", b.op("sin", angles), weight)
    imaginary = b.cast(imaginary if inverse else b.op("negative", imaginary), dtype)

    def part(i: int, matrix: Value) -> Value:
        at = b.scalar(i, INT64)
        return product(node, b.op("take", x, at, axis=rank_of(x) - 1, mode="clip"), matrix, b)

    sums = [part(0, real), part(0, imaginary)]
    if parts == 2:
        sums[0] = b.op("subtract", sums[0], part(1, imaginary))
        sums[1] = b.op("add", sums[1], part(1, real))
    is_real = inverse and onesided
    return b.op("stack", *(sums[:1] if is_real else sums), axis=-1)


def _dft(node: Node, b: Builder, axis: int) -> Value:
    x, rank = node.input(0), rank_of(node.input(0))
    inverse, onesided = node.flag("inverse", False), node.flag("onesided", False)
    axis = node.axis(axis, rank - 1)
    order = [i for i in range(rank) if i != axis]
    order.insert(rank - 2, axis)
    length = b.size(dims_of(x)[axis])
    if inverse and onesided:
        length = b.op("multiply", b.op("subtract", length, b.scalar(1, INT64)), b.scalar(2, INT64))
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
    frames = b.op("floor_divide", b.op("subtract", end, length), step)
    frames = _counting(b, b.op("add", frames, b.scalar(1, INT64)))
    starts = b.op("expand_dims", b.op("multiply", frames, step), axis=1)
    pieces = b.op("take", x, b.op("add", starts, _counting(b, length)), axis=1, mode="clip")
    if window is not None:
        pieces = b.op("multiply", pieces, b.op("expand_dims", window, axis=1))
    return _transformed(node, b, pieces, length, False, node.flag("onesided", True))


RULES: Rules = {"DFT": (Rule(dft_by_attribute, 17, 20), Rule(dft, 20)), "STFT": since(17, stft)}
