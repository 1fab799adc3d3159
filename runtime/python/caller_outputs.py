"""Arrays of the caller that receive a result, `out=` of a call, must not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..errors import MachineError
from ..program.program import Array

OVERLAP_WORK = 10_000
"""Candidates that NumPy tries before two arrays count as overlapping."""


def _overlap(a: Array, b: Array) -> bool:
    """Test whether the arrays have bytes in common; in doubt, they do."""
    overlap: Any = np.shares_memory
    try:
        return overlap(a, b, max_work=OVERLAP_WORK)
    except np.exceptions.TooHardError:
        return True


def require_disjoint(out: object) -> None:
    """Raise `MachineError` if two elements of the arrays in `out` have bytes in common."""
    if type(out) is np.ndarray and 0 not in out.strides:
        return
    arrays: list[Array] = []
    rest = [out]
    while rest:
        item = rest.pop()
        if isinstance(item, tuple | list):
            rest.extend(cast("Sequence[object]", item))
        elif isinstance(item, np.ndarray):
            arrays.append(cast(Array, item))
    for i, array in enumerate(arrays):
        if any(n > 1 and not step for n, step in zip(array.shape, array.strides, strict=True)):
            raise MachineError("out has an array whose elements overlap")
        if any(_overlap(array, other) for other in arrays[:i]):
            raise MachineError("out has arrays that overlap")
