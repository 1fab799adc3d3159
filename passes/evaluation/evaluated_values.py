"""The values of evaluated programs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.memory import Packing
from ...runtime.program.data_types import DataValue as DataValue

Value: TypeAlias = Any
"""
An array, a tuple, a `DataValue`, a `ClosureValue`, a `GlobalClosure`, a `RefValue`, or a storage (a
flat array of bytes).
"""

Term: TypeAlias = tuple[str, tuple[Value, ...] | None]
"""The head of a value as text, and the fields in its parentheses (None: without them)."""

Frame: TypeAlias = dict[SSAValue, Value]
"""The values that are visible where an op is evaluated."""


@dataclass(frozen=True, eq=False)
class ClosureValue:
    """A function value: its body, and the values that it captured."""

    body: Block
    captured: Frame
    recursive: bool

    def term(self) -> Term:
        """Return the value as text."""
        return "<function>", None


@dataclass(frozen=True, eq=False)
class GlobalClosure:
    """A global function as a value, and the values of its first parameters."""

    name: str
    captured: tuple[Value, ...] = ()

    def term(self) -> Term:
        """Return the value as text."""
        return "<function>", None


@dataclass(eq=False)
class PackValue:
    """A `memory.pack`, and its totals once the sizes of its slices are known."""

    packing: Packing
    totals: Sequence[int] = ()


@dataclass(eq=False)
class RefValue:
    """A mutable cell; copies of the value share it."""

    value: Value

    def term(self) -> Term:
        """Return the head and the contents of the reference as text."""
        return "ref", (self.value,)


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
