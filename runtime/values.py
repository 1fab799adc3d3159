"""
Arguments and results of programs: arrays, tuples and data.

Nothing here recurses, as data (a long list, say) may be nested deeper than Python's stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np

from .errors import MachineError
from .kernels.memory import Owner
from .objects import Data, Object, Tensor
from .program import Array, spec_of


class Tagged(tuple["Value", ...]):
    """The fields of data whose constructor has this `tag`; compares like a tuple."""

    tag: int

    def __new__(cls, tag: int, fields: Iterable[Value]) -> Tagged:
        made = super().__new__(cls, fields)
        made.tag = tag
        return made

    def __repr__(self) -> str:
        return f"Tagged({self.tag}, {tuple(self)!r})"


Value: TypeAlias = "Array | tuple[Value, ...]"
"""A tensor, or data; data of tag 0 is a plain tuple, and the reverse."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor in a `FlatValue`."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """Data in a `FlatValue`; its `count` fields follow."""

    tag: int
    count: int


@dataclass(frozen=True, slots=True)
class FlatValue:
    """
    A flattened value: its structure, depth first, and its arrays.

    Values of equal structure can use the same memory.
    """

    structure: tuple[Leaf | Node, ...]
    arrays: list[Array]


def flatten(argument: object) -> FlatValue:
    """Flatten an array (or anything NumPy converts to one), a tuple or list, or `Tagged` data."""
    structure: list[Leaf | Node] = []
    arrays: list[Array] = []
    rest = [argument]
    while rest:
        item = rest.pop()
        if isinstance(item, tuple | list):
            fields = cast(Sequence[object], item)
            tag = item.tag if isinstance(item, Tagged) else 0
            structure.append(Node(tag, len(fields)))
            rest.extend(reversed(fields))
        else:
            array: Array = np.asarray(cast(Any, item))
            structure.append(Leaf(array.dtype, array.shape))
            arrays.append(array)
    return FlatValue(tuple(structure), arrays)


def allocate_like(value: FlatValue, device: int, owner: Owner) -> tuple[Object, list[Tensor]]:
    """
    Allocate an object on `device` with the structure of `value`, charged to `owner`.

    Also returns its tensors, in order.
    """
    done: list[Object] = []
    tensors: list[Tensor] = []
    for item in reversed(value.structure):
        if isinstance(item, Leaf):
            size = prod(item.shape) * item.dtype.itemsize
            owner.reserve(size, f"{item.dtype}{list(item.shape)}")
            tensor = Tensor(np.empty(item.shape, item.dtype), device)
            tensors.append(tensor)
            done.append(tensor)
            continue
        parts = tuple(done.pop() for _ in range(item.count))
        done.append(Data(item.tag, parts))
    return done.pop(), tensors[::-1]


def copy_out(result: Object, owner: Owner) -> Value:
    """
    Return a copy of `result` that shares no memory with the machine, charged to `owner`.

    Raises `MachineError` if `result` contains anything but tensors and data.
    """
    order: list[Object] = []  # each before its fields, the last field first
    rest = [result]
    while rest:
        item = rest.pop()
        order.append(item)
        if isinstance(item, Data):
            rest.extend(item.parts)
    done: list[Value] = []
    for item in reversed(order):
        if isinstance(item, Tensor):
            owner.reserve(item.array.nbytes, f"{spec_of(item.array)}")
            done.append(item.array.copy())
        elif isinstance(item, Data):
            fields = done[len(done) - len(item.parts) :]
            del done[len(done) - len(item.parts) :]
            done.append(Tagged(item.tag, fields) if item.tag else tuple(fields))
        else:
            raise MachineError(f"the result contains {item.kind}, which cannot leave the machine")
    return done.pop()


def leaves(value: Value) -> Iterator[Array]:
    """Yield the arrays in `value`, depth first."""
    rest = [value]
    while rest:
        item = rest.pop()
        if isinstance(item, tuple):
            rest.extend(reversed(item))
        else:
            yield item
