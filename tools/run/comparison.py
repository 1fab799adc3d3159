"""
The comparison of a program's outputs with expected ones, as by `--expect`.

    y: 3 of 1000 elements differ by more than 1e-05 + 0.001 * |expected|; worst at [0, 7]: 1.5,
    expected 1.25 (difference 0.25)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from ...operators.spelling import known_names
from ...runtime.program.program import Array, spec_of
from ..array_files.array_files import ArrayFiles
from ..errors import FileError, UsageError


def faults(
    outputs: Mapping[str, Any], expected: ArrayFiles, rtol: float, atol: float
) -> Sequence[str]:
    """
    Return a line for each output that is not as `expected`.

    Raises `FileError` for an array that is not one of the outputs.
    """
    found: list[str] = []
    for name, array in expected.with_names(list(outputs), "output").items():
        if name not in outputs:
            known = known_names(name, outputs)
            raise FileError(array.path, f"{array.what} is not an output; the outputs are: {known}")
        value = outputs[name]
        if not isinstance(value, np.ndarray):
            raise UsageError(f"'{name}' is not a tensor, but {array.path} holds one")
        fault = difference(cast(Array, value), array.read(), rtol, atol)
        if fault is not None:
            found.append(f"{name}: {fault}")
    return found


def difference(actual: Array, expected: Array, rtol: float, atol: float) -> str | None:
    """
    Describe where and by how much `actual` differs from `expected`; return None if it does not.

    Elements may differ by `atol + rtol * |expected|`; NaN is equal to NaN only.
    """
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"is {spec_of(actual)}, but {spec_of(expected)} is expected"
    with np.errstate(all="ignore"):
        is_close = np.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
        if is_close.all():
            return None
        is_inexact = actual.dtype.kind == "f"
        gap = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        gap[is_close] = -1
        gap[np.isnan(gap)] = np.inf
    at = np.unravel_index(int(gap.argmax()), gap.shape)
    count = int(is_close.size - np.count_nonzero(is_close))
    place = f" at [{', '.join(str(int(i)) for i in at)}]" if at else ""
    got, wanted = actual[at].item(), expected[at].item()
    far = f" (difference {gap[at]:.6g})" if is_inexact else ""
    return (
        f"{count} of {actual.size} elements differ by more than {atol:g} + {rtol:g} * |expected|; "
        f"worst{place}: {_shown(got)}, expected {_shown(wanted)}{far}"
    )


def _shown(number: object) -> str:
    return f"{number:.9g}" if isinstance(number, float) else str(number)
