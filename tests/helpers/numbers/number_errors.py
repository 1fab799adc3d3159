"""The errors of results in units in the last place, against references of higher precision."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from helpers.operators.kernel_results import as_type

Array: TypeAlias = Any


def is_exact(out: Array, values: Any, either_zero: bool) -> Array:
    """Test where `out` has the bits of `values`, rounded; a NaN equals a NaN."""
    want = as_type(values, out.dtype.name)
    assert want.shape == out.shape, f"{out.shape}, not {want.shape}"
    if out.dtype.kind != "f":
        return out == want
    same = (out == want) & (either_zero | (np.signbit(out) == np.signbit(want)))
    return same | (np.isnan(out) & np.isnan(want))


def ulps(out: Array, values: Any, terms: Any = 0.0, may_underflow: bool = False) -> Array:
    """
    The error of each of `out` in units in the last place of the exact value, or of its terms if
    they are greater; infinite where one of both is NaN, or one is infinite and the other too far.

    Beyond the greatest number, the next power of two counts as infinite. If the result
    `may_underflow`, its unit is at least the least normal number where it is below that.
    """
    info = np.finfo(out.dtype)
    exact = np.asarray(values).astype(np.longdouble)
    assert exact.shape == out.shape, f"{out.shape}, not {exact.shape}"
    greatest = np.longdouble(info.max)
    last = np.longdouble(np.spacing(np.nextafter(info.max, info.dtype.type(0))))
    size = np.fmin(np.maximum(np.abs(exact), np.asarray(terms).astype(np.longdouble)), greatest)
    with np.errstate(over="ignore"):
        unit = np.fmin(np.spacing(size.astype(out.dtype)).astype(np.longdouble), last)
    top = greatest + last
    got = np.clip(out.astype(np.longdouble), -top, top)
    if may_underflow:
        unit = np.where(np.abs(exact) < info.tiny, np.longdouble(info.tiny), unit)
    error = np.abs(got - np.clip(exact, -top, top)) / unit
    error = np.where(np.isnan(exact) | np.isnan(out), np.inf, error)
    error = np.where(np.isinf(exact) & (out != exact), np.inf, error)
    return np.where(np.isnan(exact) & np.isnan(out), 0.0, error).astype(np.float64)
