"""Functions of attributes, computed once for each object."""

from collections.abc import Callable
from typing import TypeVar

from xdsl.ir import Attribute

_LIMIT = 4096

_Value = TypeVar("_Value")


def by_identity(compute: Callable[[Attribute], _Value]) -> Callable[[Attribute], _Value]:
    """Return `compute` with a cache by object identity: hashing a type would cost more."""
    known: dict[int, tuple[Attribute, _Value]] = {}  # the attribute, so that its id stays its own

    def look_up(attr: Attribute) -> _Value:
        found = known.get(id(attr))
        if found is None:
            if len(known) >= _LIMIT:
                known.clear()
            found = known[id(attr)] = attr, compute(attr)
        return found[1]

    return look_up
