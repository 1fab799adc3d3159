"""
Names in scope, and uses of locals, whose names may contain `-`, `.`, `/` and `:`, which are also
operators.

    %x.0     field 0 of %x, if no variable is called %x.0
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from ..errors import RelayTextError, nearest
from .syntax import Expr, Local, Projection, Use
from .token_stream import TokenStream

V = TypeVar("V")
_LONG = 1000
"""Length from which a name is handled without quadratic work."""


class NameScopes(Generic[V]):
    """The values that the names in scope denote."""

    def __init__(self) -> None:
        self._values: dict[str, V | None] = {}
        self._undo: list[tuple[str, V | None]] = []

    def __iter__(self) -> Iterator[str]:
        return (name for name, value in self._values.items() if value is not None)

    def get(self, name: str) -> V | None:
        """Return what `name` denotes; None if it is not declared."""
        return self._values.get(name)

    def declare(self, name: str, value: V) -> None:
        """Declare `name` in the current scope."""
        self._undo.append((name, self._values.get(name)))
        self._values[name] = value

    def declare_everywhere(self, name: str, value: V) -> None:
        """Declare `name` beyond the end of the current scope."""
        self._values[name] = value

    def open(self) -> int:
        """Open a scope; `close` of the returned mark ends it."""
        return len(self._undo)

    def close(self, mark: int) -> None:
        """Forget the names declared since `mark`."""
        while len(self._undo) > mark:
            name, before = self._undo.pop()
            self._values[name] = before


class LocalNames:
    """Resolves names of locals."""

    def __init__(self, tokens: TokenStream):
        self.tokens = tokens
        self.names = NameScopes[Local]()

    def error(self, message: str, local: Local) -> RelayTextError:
        """Return the error `message` about the declaration of `local`."""
        return self.tokens.error(message, local.offset, len(local.name) + 1)

    def use(self, at: int) -> Expr:
        """Parse a use of a local, or of fields of one."""
        name = self.tokens.take("local")
        local = self.names.get(name)
        if local is not None:
            return Use(at, local)
        for end in self._ends(name, _fields_of(name)):
            local = self.names.get(name[:end])
            if local is not None:
                return projected(Use(at, local), name[end:], at, self.tokens)
        raise self._unknown(name, at)

    def _ends(self, name: str, start: int) -> Iterator[int]:
        """
        Yield the possible ends of `name`, last first: before each `-`, `.`, `/` or `:` from `start`
        on.
        """
        last = len(name) - 1
        if last > _LONG:  # lengths beyond the longest name need not be tried
            last = min(last, max(map(len, self.names), default=0))
        return (end for end in range(last, max(start, 1) - 1, -1) if name[end] in "-./:")

    def _unknown(self, name: str, at: int) -> RelayTextError:
        ends = self._ends(name, 0)
        before = next((name[:e] for e in ends if self.names.get(name[:e]) is not None), None)
        if before is not None:
            hint = (
                f" ('{name[len(before)]}' is part of the name; "
                f"put blanks around it to compute with %{before})"
            )
        else:
            hint = nearest(name, self.names, "%")
        return self.tokens.error(f"unknown variable %{name}{hint}", at, len(name) + 1)


def projected(value: Expr, fields: str, at: int, tokens: TokenStream) -> Expr:
    """Return the field of `value` that `fields` selects: `.0`, or `.0.1` for a field of a field."""
    for digits in fields[1:].split("."):
        if len(digits) > 9:
            raise tokens.error(f"the field index {digits[:20]} is too large", at)
        value = Projection(at, value, int(digits))
    return value


def _fields_of(name: str) -> int:
    """Return where the trailing `.0.1` of `name` begins: its length if there is none."""
    start = end = len(name)
    while True:
        while end and name[end - 1].isdigit():
            end -= 1
        if end == start or not end or name[end - 1] != ".":
            return start
        start = end = end - 1
