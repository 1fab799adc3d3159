"""The values of evaluated programs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.ir import Block, Operation, SSAValue

Value: TypeAlias = Any
"""
An array, a tuple, a `DataValue`, a `ClosureValue`, a `GlobalClosure`, a `RefValue`, or a storage (a
flat array of bytes).
"""

Frame: TypeAlias = dict[SSAValue, Value]
"""The values that are visible where an op is evaluated."""


@dataclass(frozen=True)
class DataValue:
    """A value of a data type: its constructor and fields."""

    constructor: str
    fields: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class ClosureValue:
    """A function value: its body, and the values that it captured."""

    body: Block
    captured: Frame
    recursive: bool


@dataclass(frozen=True, eq=False)
class GlobalClosure:
    """A global function as a value, and the values of its first parameters."""

    name: str
    captured: tuple[Value, ...] = ()


@dataclass(eq=False)
class RefValue:
    """A mutable cell; copies of the value share it."""

    value: Value


@dataclass(frozen=True)
class Enter:
    """
    A request to evaluate `block` with `args` in `frame`.

    The op's results are those of the block, passed through `then` if there is one.
    """

    block: Block
    args: Sequence[Value]
    frame: Frame
    then: Callable[[Sequence[Value]], Sequence[Value]] | None = None
    caller: Operation | None = None
    """The op to name beside the place of an error in the block, if that block has many callers."""
