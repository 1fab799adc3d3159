"""
The error function, which NumPy lacks.

Rational approximations of W. J. Cody, "Rational Chebyshev approximations for the error
function", Mathematics of Computation 23 (1969): one of erf for |x| <= 0.46875, one of
exp(x²) erfc(x) above; above 6, erf is 1 in float64.

For float32, one of erf(x) / x in x² up to `_LARGE`, above which erf is 1 in float32. Its relative
error is below 2^-28, and it is computed in float64, so that results are within 0.54 units in the
last place.
"""

from functools import partial

import numpy as np

from ..memory.scratch import scratch
from .bind import Array, Thunk

_SMALL = 0.46875
_ERF_OVER = (
    1.85777706184603153e-1,
    3.16112374387056560e0,
    1.13864154151050156e2,
    3.77485237685302021e2,
    3.20937758913846947e3,
)
_ERF_UNDER = (
    1.0,
    2.36012909523441209e1,
    2.44024637934444173e2,
    1.28261652607737228e3,
    2.84423683343917062e3,
)
_ERFC_OVER = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e0,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
)
_ERFC_UNDER = (
    1.0,
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)
_LARGE = 3.93
_OVER = (
    -1.2854780077481428e-8,
    4.6193790197859097e-6,
    3.7714520846952693e-4,
    3.8403767872011891e-3,
    5.4254677218459709e-2,
    1.8515160095771455e-1,
    1.1283791691791621,
)
_UNDER = (
    6.2494402106361033e-5,
    1.3023962437583639e-3,
    1.5434931303275161e-2,
    1.1388805199503809e-1,
    4.9741974109603181e-1,
    1.0,
)
BLOCK = 8192
"""Elements per block, so that intermediate results stay in the cache."""


def _polynomial(coefficients: tuple[float, ...], x: Array, out: Array) -> None:
    np.multiply(x, coefficients[0], out)
    for coefficient in coefficients[1:-1]:
        np.add(out, coefficient, out)
        np.multiply(out, x, out)
    np.add(out, coefficients[-1], out)


def bind_erf(x: Array, y: Array) -> Thunk:
    """Return a thunk that writes erf of `x` to `y`: floats of equal shape; `y` may be `x`."""
    count = min(BLOCK, x.size)
    if x.dtype == np.float32:
        return partial(_erf_float32, x.reshape(-1), y.reshape(-1), scratch((4, count), np.float64))
    work, is_small = scratch((5, count), np.float64), scratch((count,), np.bool_)
    return partial(_erf, x.reshape(-1), y.reshape(-1), work, is_small)


def _erf_float32(xs: Array, ys: Array, work: Array) -> None:
    """Write erf of `xs` to `ys`, block by block."""
    for start in range(0, len(xs), BLOCK):
        source, to = xs[start : start + BLOCK], ys[start : start + BLOCK]
        x, square, over, under = work[:, : len(source)]
        np.minimum(source, _LARGE, out=x)
        np.maximum(x, -_LARGE, out=x)
        np.multiply(x, x, square)
        _polynomial(_OVER, square, over)
        _polynomial(_UNDER, square, under)
        np.divide(over, under, over)
        np.multiply(over, x, to, casting="same_kind")


def _erf(xs: Array, ys: Array, work: Array, small: Array) -> None:
    """Write erf of `xs` to `ys`, block by block."""
    for start in range(0, len(xs), BLOCK):
        source, to = xs[start : start + BLOCK], ys[start : start + BLOCK]
        count = len(source)
        (size, square, over, under, near), is_small = work[:, :count], small[:count]
        np.absolute(source, size)
        np.less_equal(size, _SMALL, is_small)
        np.minimum(size, 6.0, out=size)
        np.multiply(size, size, square)
        # 1 - erfc(|x|)
        _polynomial(_ERFC_OVER, size, over)
        _polynomial(_ERFC_UNDER, size, under)
        np.divide(over, under, over)
        np.negative(square, under)
        np.exp(under, under)
        np.multiply(over, under, over)
        np.subtract(1.0, over, over)
        # erf(|x|) near 0, where the difference above would lose digits
        _polynomial(_ERF_OVER, square, near)
        _polynomial(_ERF_UNDER, square, under)
        np.divide(near, under, near)
        np.multiply(near, size, near)
        np.copyto(over, near, where=is_small)
        np.copysign(over, source, over)
        np.copyto(to, over, "same_kind")
