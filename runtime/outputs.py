"""
Arrays of the caller that receive a result: `out=` of a call.

Each must have the element type and shape of its part of the result, be writeable, and not overlap
with another. Nothing is written unless all fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from .errors import MachineError
from .program import Array, spec_of
from .values import Value

OVERLAP_WORK = 10_000
"""Candidates that NumPy tries before two arrays count as overlapping."""


def _overlap(a: Array, b: Array) -> bool:
    """Test whether the arrays have bytes in common; in doubt, they do."""
    overlap: Any = np.shares_memory
    try:
        return overlap(a, b, max_work=OVERLAP_WORK)
    except np.exceptions.TooHardError:
        return True


def _targets(out: object, function: str) -> list[Array]:
    """Return the arrays in `out`, depth first; raise `MachineError` if one cannot be written."""
    found: list[Array] = []
    rest = [out]
    while rest:
        item = rest.pop()
        if isinstance(item, tuple | list):
            rest.extend(reversed(cast("Sequence[object]", item)))
            continue
        if not isinstance(item, np.ndarray):
            kind = type(item).__name__
            raise MachineError(f"out of {function} must hold NumPy arrays, but has a {kind}")
        array = cast(Array, item)
        if not array.flags.writeable:
            raise MachineError(f"out of {function} has an array that is read-only")
        if any(n > 1 and not step for n, step in zip(array.shape, array.strides, strict=True)):
            raise MachineError(f"out of {function} has an array whose elements overlap")
        found.append(array)
    for i, array in enumerate(found):
        if any(_overlap(array, other) for other in found[:i]):
            raise MachineError(f"out of {function} has arrays that overlap")
    return found


def check_out(out: object, function: str) -> None:
    """Raise `MachineError` if `out` has anything but arrays that can be written."""
    _targets(out, function)


def write_out(result: Value, out: object, function: str) -> None:
    """Copy `result` into the arrays of `out`; raise `MachineError` if they do not fit it."""
    pairs: list[tuple[Array, Array]] = []
    rest: list[tuple[Value, object]] = [(result, out)]
    while rest:
        part, target = rest.pop()
        if isinstance(part, tuple):
            fields = cast("Sequence[object]", target) if isinstance(target, tuple | list) else None
            if fields is None or len(fields) != len(part):
                given = "one array" if fields is None else f"{len(fields)} parts"
                raise MachineError(
                    f"out of {function} must be a tuple of {len(part)}, but has {given}"
                )
            rest.extend(reversed(list(zip(part, fields, strict=True))))
            continue
        if not isinstance(target, np.ndarray):
            raise MachineError(f"out of {function} must have an array for {spec_of(part)}")
        array = cast(Array, target)
        if array.dtype != part.dtype or array.shape != part.shape:
            found = spec_of(array)
            raise MachineError(f"out of {function} must be {spec_of(part)}, but is {found}")
        pairs.append((array, part))
    for target, part in pairs:
        np.copyto(target, part)
