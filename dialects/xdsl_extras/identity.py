"""
Functions of attributes, computed once for each object.

Entries hold attributes: `forget_attributes`, which runs before each pass and each verification,
lets those go that no program has any more.
"""

from collections.abc import Callable
from typing import Any, TypeVar

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
