"""
Results in the buffers of arguments: caches, which grow by rows.

    buffer = np.empty((1024, 1, 8, 64), np.float32)      of the caller
    (logits, past) = exe(tokens, buffer[:0])             past is buffer[:5]
    (logits, past) = exe(token, past)                    past is buffer[:6], and no row is copied

The argument is the first rows of a buffer, and the result more of them, in the same memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import cast

import numpy as np

from ..errors import MachineError
from ..program.program import Array, Cache, Function
from .addresses import address
from .values import Value


def buffer_rows(function: Function, cache: Cache, past: object, rows: int) -> Array:
    """
    Return `rows` rows of the buffer whose first ones are `past`, the argument of a cache.

    Raises `MachineError` if the buffer has fewer.
    """
    if not isinstance(past, np.ndarray) or not past.flags.c_contiguous:
        raise MachineError(f"{_what(function, cache)}, so it must be a contiguous NumPy array")
    array = cast(Array, past)
    base, start = buffer_of(array)
    _, *dims = array.shape
    row = prod(dims) * array.itemsize
    if rows > cache.maximum:
        reason = f" of at most {cache.maximum} rows, but the result has {rows}"
    elif row * rows > base.nbytes - start:
        reason = (
            f", and the result in its memory has {rows} rows, but its buffer has room for "
            f"{(base.nbytes - start) // row}"
        )
    elif not base.flags.writeable:
        reason = ", but its buffer is read-only"
    else:
        return np.ndarray((rows, *dims), array.dtype, base, start)
    raise MachineError(_what(function, cache) + reason)


def _what(function: Function, cache: Cache) -> str:
    return f"parameter '{function.params[cache.parameter].name}' of {function.name} is a cache"


def buffer_of(array: Array) -> tuple[Array, int]:
    """Return the contiguous array that `array` is a part of, and the byte where it begins there."""
    base = array
    while isinstance(owner := base.base, np.ndarray) and owner.flags.c_contiguous:
        base = owner
    return base, 0 if base is array else address(array) - address(base)


def require_apart(function: Function, args: Sequence[object]) -> None:
    """Raise `MachineError` if two caches may grow into each other: each has bytes of its own."""
    rooms: list[tuple[int, int, str]] = []
    for cache in function.caches:
        past, name = args[cache.parameter], function.params[cache.parameter].name
        if isinstance(past, np.ndarray) and past.flags.c_contiguous:
            array = cast(Array, past)
            base, start = buffer_of(array)
            size = cache.maximum * prod(array.shape[1:]) * array.itemsize
            first = address(array)
            rooms.append((first, first + min(size, base.nbytes - start), name))
    rooms.sort()
    for (_, stop, name), (start, _, other) in pairwise(rooms):
        if start < stop:
            raise MachineError(f"'{name}' and '{other}' of {function.name} have one buffer")


def lent(function: Function, args: Sequence[object], result: Value, replaces: bool) -> Value:
    """
    Write the new rows of a result into the buffers of arguments.

    Returns the result with these buffers in place of its arrays, if it `replaces` them.
    """
    fields: list[Value] = [result] if isinstance(result, np.ndarray) else list(result)
    for cache in function.caches:
        array, past = cast(Array, fields[cache.result]), cast(Array, args[cache.parameter])
        if address(array) == address(past):
            continue  # computed in place
        room = buffer_rows(function, cache, past, len(array))
        room[len(past) :] = array[len(past) :]
        if replaces:
            fields[cache.result] = room
    if not replaces:
        return result
    return fields[0] if isinstance(result, np.ndarray) else tuple(fields)
