"""
The objects that registers refer to. They are compared by identity and are immutable, except for
the bytes of tensors and the contents of references.

The `parts` of an object are the objects it keeps alive: a tensor its storage, data its fields, a
closure its captured values. A reference has none, as its contents change while a program runs.
`born` numbers objects and frames in order of creation, parts first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from ...operators.records import record
from ..errors import MachineError
from ..memory.regions import Bytes
from .program import Array
from .size_operations import Scalar

birth = count().__next__


@dataclass(eq=False, slots=True)
class Storage:
    """
    `size` bytes of `memory` from byte `start`, on a device.

    `memory` has the bytes of the storage that was allocated, byte `at` of the device's region and
    the following. It is `whole` for a slice, which has the storage that it is cut from as its part.
    """

    size: int
    device: int
    memory: Bytes
    at: int
    alignment: int = 1
    start: int = 0
    whole: Storage | None = None
    parts: tuple[Object, ...] = ()
    born: int = field(default_factory=birth)

    kind = "a storage"

    @property
    def root(self) -> Storage:
        """The storage that was allocated."""
        return self.whole or self

    @property
    def stop(self) -> int:
        return self.start + self.size


@record
class Computation:
    """An operation on sizes and its operands."""

    scalar: Scalar
    args: tuple[Tensor, ...]


@dataclass(eq=False, slots=True)
class Tensor:
    """
    `array` on a device. A `constant` tensor's elements never change.

    `parts` is the storage that it views; empty if the program did not allocate its memory
    (parameters, constants, sizes). `offset` is its first byte in the storage's memory. Elements
    that the program cannot write have a read-only array. `source` computes a size: once, when the
    path reaches it. `viewed` is the tensor that a reshaped one is a view of; `joined` are those
    that it is side by side.
    """

    array: Array
    device: int
    constant: bool = False
    parts: tuple[Object, ...] = ()
    offset: int = 0
    source: Computation | None = None
    viewed: Tensor | None = None
    joined: tuple[Tensor, ...] = ()
    born: int = field(default_factory=birth)

    kind = "a tensor"

    @property
    def origin(self) -> Tensor:
        """The tensor that was allocated: this one, or the one that it is a view of."""
        return self.viewed or self


@dataclass(eq=False, slots=True)
class Data:
    """A constructor's tag and fields; a tuple has tag 0."""

    tag: int
    parts: tuple[Object, ...]
    born: int = field(default_factory=birth)

    kind = "data"


@dataclass(eq=False, slots=True)
class Closure:
    """A function and its captured values, which are its first arguments."""

    function: int
    parts: tuple[Object, ...]
    born: int = field(default_factory=birth)

    kind = "a closure"


@dataclass(eq=False, slots=True)
class Ref:
    """A mutable cell. Its `contents` are set by every run, before they are read."""

    contents: Object | None = None
    parts: tuple[Object, ...] = ()
    born: int = field(default_factory=birth)

    kind = "a reference"

    def write(self, value: Object) -> None:
        self.contents = value


Object: TypeAlias = Storage | Tensor | Data | Closure | Ref


MAX_OPERANDS = 1 << 20
"""Limit on the items in the operands of a kernel."""


def fields_of(item: Object) -> tuple[Object, ...]:
    """Return the fields of data; nothing for any other object."""
    return item.parts if isinstance(item, Data) else ()


def tensors_in(roots: tuple[Object, ...]) -> list[Tensor] | None:
    """
    Return the tensors in `roots`, depth first; None if there is any other object.

    Raises `MachineError` if `roots` unfold to more than `MAX_OPERANDS` items.
    """
    tensors: list[Tensor] = []
    pending = list(reversed(roots))
    count = 0
    while pending:
        item = pending.pop()
        count += 1
        if count > MAX_OPERANDS:
            raise MachineError(f"operands have more than {MAX_OPERANDS} items")
        if isinstance(item, Tensor):
            tensors.append(item)
        elif isinstance(item, Data):
            pending.extend(reversed(item.parts))
        else:
            return None
    return tensors


def distinct_tensors(root: Object) -> list[Tensor] | None:
    """Return the tensors in `root`, each once; None if there is any other object."""
    tensors: list[Tensor] = []
    pending, seen = [root], {root}
    while pending:
        item = pending.pop()
        if isinstance(item, Tensor):
            tensors.append(item)
        elif isinstance(item, Data):
            new = [part for part in dict.fromkeys(item.parts) if part not in seen]
            seen.update(new)
            pending += reversed(new)
        else:
            return None
    return tensors
