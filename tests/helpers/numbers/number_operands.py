"""
Operands at the edges of each element type, and random ones, for `number_rows`.

`numbers(dtype)` are a type's edges; `pairs` are all pairs of them. `matrices` are for reductions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from helpers.numbers.number_bounds import ELEMENTS, FLOATS

Array: TypeAlias = Any

HUGE = 1e30
"""Numbers of which sums and products of a few do not overflow have at most this size, or …"""
HUGE_HALF = 1e3
"""… this, in float16."""


def numbers(dtype: str) -> Array:
    """The edges of an element type: what is least, greatest, special, or a bound of other types."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype not in FLOATS:
        info = np.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        around = (high // 2, high // 2 + 1, 255, 256, 2**24 + 1, 2**53 + 1, 2**62 + 2**37)
        every = {low, low + 1, high - 1, high, 0, 1, 2, 3, 7, 10, -1, -2, -3, -7, *around}
        every |= {-n for n in around}
        return np.array(sorted(n for n in every if low <= n <= high), dtype)
    info = np.finfo(dtype)
    tiny, least = float(info.tiny), float(info.smallest_subnormal)
    bounds = [2.0**bits for bits in (7, 8, 15, 16, 31, 32, 63, 64)]
    ordinary = [0.1, 0.5, 1, 1.5, 2, 2.5, 3, 0.75, np.pi, np.e, 6, 10, 20, 88.8, 104, 710]
    spread = [least, least * 3, tiny, tiny * 0.75, float(info.eps), float(info.max), 0, np.inf]
    every = np.array([*bounds, *ordinary, *spread])
    with np.errstate(over="ignore"):
        plain = [*np.unique(every.astype(dtype)), *(np.array(bounds[:6]) + 0.5).astype(dtype)]
        limits = [np.array(x, dtype) for x in (*bounds, 1)]
    zero, infinity = np.array(0, dtype), np.array(np.inf, dtype)
    near = [np.nextafter(x, end) for x in limits for end in (zero, infinity)]
    positive = np.unique(np.array([*plain, *near], dtype))
    return np.array([*positive, *-positive, np.nan], dtype)


def random_numbers(rng: np.random.Generator, count: int, dtype: str) -> Array:
    """Numbers of all sizes: random bits, and ordinary ones."""
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    size = np.dtype(dtype).itemsize
    bits = np.frombuffer(rng.bytes(size * count), dtype)
    if dtype not in FLOATS:
        small = rng.integers(0 if dtype.startswith("u") else -9, 10, count)
        return np.where(rng.random(count) < 0.7, bits, small).astype(dtype)
    with np.errstate(invalid="ignore"):
        ordinary = (rng.standard_normal(count) * 10.0 ** rng.integers(-3, 3, count)).astype(dtype)
        return np.where(rng.random(count) < 0.5, bits, ordinary)


def every_half() -> Array:
    """All numbers of float16."""
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def vectors(dtypes: Sequence[str], count: int, rng: np.random.Generator) -> list[Array]:
    """Operands of an elementwise operator: all (pairs of) edges, and `count` random ones."""
    if len(dtypes) == 1 and count >= 1 << 16 and dtypes[0] == "float16":
        return [every_half()]
    edges = [numbers(dtype) for dtype in dtypes]
    rows = list(product(*(range(len(column)) for column in edges)))
    chosen = [column[[row[i] for row in rows]] for i, column in enumerate(edges)]
    return [
        np.concatenate([column, random_numbers(rng, count, dtype)])
        for column, dtype in zip(chosen, dtypes, strict=True)
    ]


def matrices(name: str, dtype: str, count: int, rng: np.random.Generator) -> list[Array]:
    """
    Operands of a reduction along axis 1, each of several widths.

    Those of `sum`, `mean` and `prod` of floats do not overflow on the way, whatever the order.
    """
    found: list[Array] = []
    for width in (1, 2, 3, 8, ELEMENTS):
        rows = 12 + min(count, 2000) // 5
        x = np.where(
            rng.random((rows, width)) < 0.5,
            rng.choice(numbers(dtype), (rows, width)),
            random_numbers(rng, rows * width, dtype).reshape(rows, width),
        ).astype(dtype)
        if dtype in FLOATS and name in ("sum", "mean", "prod"):
            most = {"float16": HUGE_HALF, "float32": HUGE, "float64": HUGE}[dtype]
            if name == "prod":
                most = 4.0
            with np.errstate(invalid="ignore"):
                special = ~np.isfinite(x) & (rng.random(x.shape) < 0.1)
                x = np.where(special | (np.abs(x) <= most), x, rng.standard_normal(x.shape))
            if name == "prod":
                x = np.where((np.abs(x) < 0.25) & (x != 0), np.copysign(0.5, x), x)
            x = x.astype(dtype)
        found.append(x)
    return found
