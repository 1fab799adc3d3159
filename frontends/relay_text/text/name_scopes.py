"""Names in nested scopes, one declaration of a name shadowing another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

V = TypeVar("V")


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
