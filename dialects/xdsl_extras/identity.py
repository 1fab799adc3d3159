"""
Functions of attributes, computed once for each object.

Entries hold attributes: `forget_attributes`, which runs before each pass and each verification,
lets those go that no program has any more.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from xdsl.ir import Attribute

_LIMIT = 4096

_Value = TypeVar("_Value")

_CACHES: list[dict[Any, Any]] = []
"""Entries keep their attributes alive, so that an id is never reused."""


def new_cache() -> dict[Any, Any]:
    """Return a dictionary that `forget_attributes` clears, for keys and values of attributes."""
    _CACHES.append({})
    return _CACHES[-1]


def forget_attributes() -> None:
    """Forget what is known of attributes by their identity."""
    for known in _CACHES:
        known.clear()


def by_identity(
    compute: Callable[[Attribute], _Value],
    cache: dict[int, tuple[Attribute, _Value]] | None = None,
) -> Callable[[Attribute], _Value]:
    """
    Return `compute` with a cache by object identity: hashing a type would cost more.

    `forget_attributes` clears a cache that is not given.
    """
    known: dict[int, tuple[Attribute, _Value]] = new_cache() if cache is None else cache

    def look_up(attr: Attribute) -> _Value:
        entry = known.get(id(attr))
        if entry is None:
            if len(known) >= _LIMIT:
                known.clear()
            entry = known[id(attr)] = attr, compute(attr)
        return entry[1]

    return look_up


class Lasting(Generic[_Value]):
    """
    Values by keys of ids, which stay from pass to pass.

    Entries hold what their keys name; there are at most 4096.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[object, ...], tuple[_Value, object]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: tuple[object, ...]) -> _Value | None:
        """Return the value of `key`, if it is known."""
        entry = self._entries.get(key)
        return None if entry is None else entry[0]

    def put(self, key: tuple[object, ...], value: _Value, named: object) -> _Value:
        """Remember and return the value of `key`, which names what is in `named`."""
        if len(self._entries) >= _LIMIT:
            self._entries.clear()
        self._entries[key] = value, named
        return value
