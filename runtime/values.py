"""What goes into a program and comes out: arrays, tuples of them, data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, cast

import numpy as np

from .errors import MachineError
from .objects import Data, Object, Tensor, tensors_in
from .program import Array


class Tagged(tuple["Value", ...]):
    """The fields of data made by a constructor with this `tag`; equal as tuples are."""

    tag: int

    def __new__(cls, tag: int, fields: Iterable[Value]) -> Tagged:
        made = super().__new__(cls, fields)
        made.tag = tag
        return made

    def __repr__(self) -> str:
        return f"Tagged({self.tag}, {tuple(self)!r})"


Value: TypeAlias = "Array | tuple[Value, ...]"
"""A tensor, or data: a plain tuple is data of tag 0, and data of tag 0 a plain tuple."""


def leaves(value: Value) -> Iterator[Array]:
    """The arrays in `value`, depth first."""
    if isinstance(value, tuple):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def as_value(argument: object) -> Value:
    """`argument` with arrays for all that NumPy makes arrays of, and tuples for lists."""
    if isinstance(argument, np.ndarray):
        return cast(Array, argument)
    if isinstance(argument, Tagged):
        return argument
    if isinstance(argument, tuple | list):
        return tuple(as_value(part) for part in cast(tuple[object, ...], argument))
    return np.asarray(cast(Any, argument))


def signature(value: Value) -> object:
    """What two values that can use the same memory have in common: structure and types."""
    if isinstance(value, tuple):
        tag = value.tag if isinstance(value, Tagged) else 0
        return (tag, tuple(signature(part) for part in value))
    return (value.dtype, value.shape)


def place(value: Value, device: int) -> Object:
    """Memory on `device` for a value like `value`, whose arrays `leaves` gives in order."""
    if isinstance(value, tuple):
        tag = value.tag if isinstance(value, Tagged) else 0
        return Data(tag, tuple(place(part, device) for part in value))
    return Tensor(np.empty(value.shape, value.dtype), device)


def store(to: Object, value: Value) -> None:
    """Copy the arrays of `value` into memory that `place` made for a value like it."""
    if isinstance(to, Tensor):
        np.copyto(to.array, cast(Array, value))
        return
    for tensor, array in zip(tensors_in((to,)) or (), leaves(value), strict=True):
        np.copyto(tensor.array, array)


def fetch(result: Object) -> Value:
    """A copy of `result` that shares no memory with the machine."""
    if isinstance(result, Tensor):
        return result.array.copy()
    if isinstance(result, Data):
        fields = (fetch(part) for part in result.parts)
        return Tagged(result.tag, fields) if result.tag else tuple(fields)
    raise MachineError(f"the result holds {result.kind}, which cannot leave the machine")
