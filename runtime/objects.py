"""
What registers refer to. Objects are compared by identity and never change, except for the bytes
of tensors.

`parts` of an object are those it keeps alive: a tensor its storage, data its fields, a closure
what it captured. `born` numbers objects and frames in the order of their creation, parts first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from .arena import Block
from .program import Array

birth = count().__next__


@dataclass(eq=False, slots=True)
class Storage:
    """`size` bytes on a device: the first ones of `block`, which is of the frame `home`."""

    size: int
    device: int
    block: Block
    home: object
    parts: tuple[Object, ...] = ()
    born: int = field(default_factory=birth)

    kind = "a storage"


@dataclass(eq=False, slots=True)
class Tensor:
    """
    `array` on a device. A `constant` tensor's elements never change.

    `parts` is the storage it views, from byte `offset` on; empty when its memory is not the
    program's own (parameters, constants).
    """

    array: Array
    device: int
    constant: bool = False
    parts: tuple[Object, ...] = ()
    offset: int = 0
    born: int = field(default_factory=birth)

    kind = "a tensor"


@dataclass(eq=False, slots=True)
class Data:
    """Fields under a constructor's tag; a tuple has tag 0."""

    tag: int
    parts: tuple[Object, ...]
    born: int = field(default_factory=birth)

    kind = "data"


@dataclass(eq=False, slots=True)
class Closure:
    """A function and the first of its arguments."""

    function: int
    parts: tuple[Object, ...]
    born: int = field(default_factory=birth)

    kind = "a closure"


Object: TypeAlias = Storage | Tensor | Data | Closure


def tensors_in(roots: tuple[Object, ...]) -> list[Tensor] | None:
    """The tensors in `roots`, depth first through data; None when something else is there."""
    found: list[Tensor] = []
    rest = list(reversed(roots))
    while rest:
        item = rest.pop()
        if isinstance(item, Tensor):
            found.append(item)
        elif isinstance(item, Data):
            rest.extend(reversed(item.parts))
        else:
            return None
    return found
