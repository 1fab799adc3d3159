"""Signals: Fourier transforms, as products with constant matrices."""

from __future__ import annotations

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Array, Value, dims_of, dtype_of, rank_of
from .linear import product
from .rule import Rule, Rules
from .windows import known_dims


def _transform(parts: int, count: int, length: int, inverse: bool, onesided: bool) -> Array:
    """Return the matrix from `count` numbers, real and imaginary, to those of the result."""
    units = np.stack([np.eye(count), 1j * np.eye(count)][:parts], axis=1)
    if inverse and onesided:
        return np.fft.irfft(units, length).reshape(count * parts, length)
    made = (np.fft.ifft if inverse else np.fft.fft)(units, length)
    made = made[..., : length // 2 + 1] if onesided else made
    return np.stack([made.real, made.imag], axis=-1).reshape(count * parts, -1)


def _dft(node: Node, b: Builder, axis: int, inverse: bool, onesided: bool) -> Value:
    x, rank = node.input(0), rank_of(node.input(0))
    axis = node.axis(axis, rank - 1)
    count, parts = known_dims(node, (dims_of(x)[axis], dims_of(x)[-1]), "a transform")
    if parts not in (1, 2):
        raise node.error(f"the last dim is {parts}; supported: 1 (real) and 2 (complex)")
    length = node.scalar_at(1, "the length")
    whole = 2 * (count - 1) if inverse and onesided else count
    length = whole if length is None else int(length)
    out, made = length, 1 if inverse and onesided else 2
    if onesided and not inverse:
        out = length // 2 + 1
    if length < 1:
        raise node.error(f"the length is {length}; supported: 1 and more")
    b.require_size(count * parts * out * made, "the matrix of the transform")
    matrix = _transform(parts, count, length, inverse, onesided).astype(dtype_of(x))
    order = [i for i in range(rank) if i != axis]
    order.insert(rank - 2, axis)
    last = b.transpose(x, order)
    kept = dims_of(last)[:-2]
    rows = b.reshape(last, (*kept, count * parts))
    y = b.reshape(product(node, rows, b.constant(matrix), b), (*kept, out, made))
    return b.transpose(y, list(np.argsort(order)))


def dft_by_attribute(node: Node, b: Builder) -> Value:
    """Transform along an axis that is an attribute (opset 17)."""
    flags = node.flag("inverse", False), node.flag("onesided", False)
    return _dft(node, b, node.integer("axis", 1), *flags)


def dft(node: Node, b: Builder) -> Value:
    """Transform along the axis that is an input."""
    axis = node.scalar_at(2, "the axis")
    flags = node.flag("inverse", False), node.flag("onesided", False)
    axis = rank_of(node.input(0)) - 2 if axis is None else int(axis)
    return _dft(node, b, axis if axis >= 0 else axis + 1, *flags)


RULES: Rules = {"DFT": (Rule(dft_by_attribute, 17, 20), Rule(dft, 20))}
