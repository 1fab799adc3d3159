"""Matrix products."""

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np

from .bind import Array, Attrs, Bind, Thunk, flag, widen_half


def product(a: Array, b: Array, out: Array) -> Thunk:
    """Return a thunk that writes a @ b to `out`, in `out`'s element type."""
    if a.dtype == b.dtype == out.dtype:
        return partial(np.matmul, a, b, out)
    return partial(np.matmul, a, b, out, dtype=out.dtype, casting="unsafe")


def dense(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Multiply data (…, k) by the transpose of weight (units, k)."""
    (data, weight), (y,) = ins, outs
    units, k = weight.shape
    rows = y.size // max(units, 1)
    return _by_columns(data.reshape(rows, k), weight.T, y.reshape(rows, units))


def _by_columns(x: Array, matrix: Array, out: Array) -> Thunk:
    """Multiply `x` by a matrix, by as many columns at a time as `_block` says."""
    (rows, k), units = x.shape, matrix.shape[1]
    block = _block(rows, units, k) if out.dtype.kind == "f" else units
    if block is units:
        return product(x, matrix, out)
    parts = out.reshape(rows, units // block, block).transpose(1, 0, 2)
    return product(x, matrix.reshape(k, units // block, block).transpose(1, 0, 2), parts)


MOST_ROWS = 8
"""The rows up to which a product is one of blocks that take one thread of a BLAS."""
ONE_THREAD = 1 << 18
"""The most multiplications of a product for which OpenBLAS uses one thread."""
LEAST_BLOCK = 16


def _block(rows: int, units: int, k: int) -> int:
    """
    Return how many of `units` columns a product computes at a time.

    OpenBLAS computes a product of few rows with several threads, which then wait in a loop for
    more: that is slower if anything else runs, and takes up to 30 times the CPU time.
    """
    if not (type(units) is int and type(k) is int and k) or rows > MOST_ROWS or not rows:
        return units
    limit = ONE_THREAD // rows // k
    if units <= limit:
        return units
    return next((n for n in range(limit, LEAST_BLOCK - 1, -1) if units % n == 0), units)


def packed_dense(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Multiply data (…, k) by the columns in panels (p, k, w)."""
    (data, panels), (y,) = ins, outs
    count, k, width = panels.shape
    rows = y.size // max(count * width, 1)
    parts = y.reshape(rows, count, width).transpose(1, 0, 2)
    return product(data.reshape(rows, k), panels, parts)


def matmul(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Multiply a by b, each optionally transposed (the last two axes); b may be one matrix."""
    a, b = ins
    y = outs[0]
    if b.ndim == 2 and a.ndim > 2:
        rows = prod(a.shape[:-1])
        a, y = a.reshape(rows, a.shape[-1]), y.reshape(rows, y.shape[-1])
    if flag(attrs, "transpose_a"):
        a = a.swapaxes(-1, -2)
    if flag(attrs, "transpose_b"):
        b = b.swapaxes(-1, -2)
    return _by_columns(a, b, y) if b.ndim == 2 else product(a, b, y)


def batch_matmul(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Multiply as `matmul` for each index of the first axis; b is transposed by default."""
    return matmul({"transpose_b": True, **attrs}, ins, outs)


KERNELS: dict[str, Bind] = {
    "relay.nn.batch_matmul": widen_half(batch_matmul),
    "relay.nn.dense": widen_half(dense),
    "relay.nn.matmul": widen_half(matmul),
    "relay.nn.packed_dense": widen_half(packed_dense),
}
