"""A function of attributes that is computed once for each attribute object."""

from collections.abc import Callable
from typing import Generic, TypeVar

from xdsl.ir import Attribute

Result = TypeVar("Result")


class ByIdentity(Generic[Result]):
    """
    Remembers the results of `function` by the identity of its argument, which is kept alive.

    Ops share most attribute objects, and hashing an attribute hashes all its parts.
    """

    def __init__(self, function: Callable[[Attribute], Result]):
        self.function = function
        self.known: dict[int, tuple[Attribute, Result]] = {}

    def __call__(self, attribute: Attribute) -> Result:
        pair = self.known.get(id(attribute))
        if pair is None:
            pair = self.known[id(attribute)] = attribute, self.function(attribute)
        return pair[1]
