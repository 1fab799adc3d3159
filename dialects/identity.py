"""
Functions of attributes, computed once for each object.

What is known by identity is out of date once an attribute changed in place, which is forbidden, and
may happen. So the verifier starts with `forget`, and sees the attributes as they are.
"""

from collections.abc import Callable
from typing import TypeVar

from xdsl.ir import Attribute

_LIMIT = 4096

_FORGETTING: list[Callable[[], object]] = []


def on_forgetting(clear: Callable[[], object]) -> None:
    """Let `forget` call `clear`, which empties a cache of what is known of attributes."""
    _FORGETTING.append(clear)


def forget() -> None:
    """Forget all that is known of attributes by their identity."""
    for clear in _FORGETTING:
        clear()


_Value = TypeVar("_Value")


def by_identity(compute: Callable[[Attribute], _Value]) -> Callable[[Attribute], _Value]:
    """Return `compute` with a cache by object identity: hashing a type would cost more."""
    known: dict[int, tuple[Attribute, _Value]] = {}  # the attribute, so that its id stays its own
    on_forgetting(known.clear)

    def look_up(attr: Attribute) -> _Value:
        found = known.get(id(attr))
        if found is None:
            if len(known) >= _LIMIT:
                known.clear()
            found = known[id(attr)] = attr, compute(attr)
        return found[1]

    return look_up
