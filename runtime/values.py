"""
What goes into a program and comes out: arrays, tuples of them, data.

Data may be nested deeper than Python's stack is (a list is), so nothing here recurses.
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


@dataclass(frozen=True, slots=True)
class Cell:
    """A tensor's place in a `Packed` value."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """Data's place in a `Packed` value; its `count` fields follow."""

    tag: int
    count: int


@dataclass(frozen=True, slots=True)
class Packed:
    """
    A value as a list: its structure depth first, and the arrays in it.

    Values of one structure can use the same memory.
    """

    structure: tuple[Cell | Node, ...]
    arrays: list[Array]


def pack(argument: object) -> Packed:
    """`argument`: an array or what NumPy makes one of, a tuple or list, or `Tagged` data."""
    structure: list[Cell | Node] = []
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
            structure.append(Cell(array.dtype, array.shape))
            arrays.append(array)
    return Packed(tuple(structure), arrays)


def place(packed: Packed, device: int, owner: Owner) -> tuple[Object, list[Tensor]]:
    """
    Memory on `device` for values like `packed`, and the tensors in it in their order; `owner`
    pays.
    """
    done: list[Object] = []
    tensors: list[Tensor] = []
    for item in reversed(packed.structure):
        if isinstance(item, Cell):
            size = prod(item.shape) * item.dtype.itemsize
            owner.reserve(size, f"{item.dtype}{list(item.shape)}")
            tensor = Tensor(np.empty(item.shape, item.dtype), device)
            tensors.append(tensor)
            done.append(tensor)
            continue
        parts = tuple(done.pop() for _ in range(item.count))
        done.append(Data(item.tag, parts))
    return done.pop(), tensors[::-1]


def fetch(result: Object, owner: Owner) -> Value:
    """
    A copy of `result` that shares no memory with the machine; `owner` pays.

    Raises `MachineError` when there is something other than tensors and data in it.
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
            raise MachineError(f"the result holds {item.kind}, which cannot leave the machine")
    return done.pop()


def leaves(value: Value) -> Iterator[Array]:
    """The arrays in `value`, depth first."""
    rest = [value]
    while rest:
        item = rest.pop()
        if isinstance(item, tuple):
            rest.extend(reversed(item))
        else:
            yield item
