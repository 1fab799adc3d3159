"""
Types made of other types: tuples, functions and `CompositeType`s, which a plug-in may add.

    parts(tuple<A, (B) -> C>)              A, (B) -> C
    leaves(tuple<A, (B) -> C>)             A, B, C
    rebuild(tuple<A, B>, [C, D])           tuple<C, D>
    pairs(tuple<A, B>, tuple<C, D>)        (A, C), (B, D)

All recursions over types use these functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Self, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType, TensorType, TupleType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute

from .xdsl_extras.identity import new_cache

R = TypeVar("R")


class CompositeType(ABC):
    """A type with other types as parameters, such as the contents of a reference."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Attribute, ...]: ...

    @abstractmethod
    def with_parts(self, parts: Sequence[Attribute]) -> Self:
        """Return this type with its parts replaced by as many others."""

    def has_form_of(self, other: Attribute) -> bool:
        """Test whether `other` differs from this type in its parts and its device at most."""
        return isinstance(other, type(self))


def tuple_of(types: Sequence[Attribute]) -> TupleType:
    """The tuple type of these fields."""
    return TupleType(cast("tuple[TypeAttribute, ...]", tuple(types)))


def parts(type: Attribute) -> tuple[Attribute, ...]:
    """The types of which `type` is directly composed, in order."""
    if isinstance(type, TensorType):  # the most frequent first; an element type is not a part
        return ()
    if isinstance(type, TupleType):
        return type.types.data
    if isinstance(type, FunctionType):
        return (*type.inputs.data, *type.outputs.data)
    if isinstance(type, CompositeType):
        return type.parts
    return ()


def rebuild(type: Attribute, new: Sequence[Attribute]) -> Attribute:
    """`type` with its parts replaced by `new`; the same object if no part changes."""
    old = parts(type)
    if all(a is b for a, b in zip(new, old, strict=True)):
        return type
    if isinstance(type, TupleType):
        return tuple_of(new)
    if isinstance(type, FunctionType):
        count = len(type.inputs)
        return FunctionType.from_lists(new[:count], new[count:])
    assert isinstance(type, CompositeType)
    return type.with_parts(new)


def leaves(type: Attribute) -> Iterator[Attribute]:
    """The types without parts of which `type` is composed, from left to right."""
    pending = [type]
    while pending:
        type = pending.pop()
        inner = parts(type)
        if inner:
            pending += reversed(inner)
        else:
            yield type


def pairs(a: Attribute, b: Attribute) -> Sequence[tuple[Attribute, Attribute]] | None:
    """The parts of `a`, each with its counterpart in `b`; None if their forms differ."""
    if a.__class__ is not b.__class__:
        return None
    mine, theirs = parts(a), parts(b)
    if len(mine) != len(theirs):
        return None
    if isinstance(a, FunctionType) and len(a.inputs) != len(cast(FunctionType, b).inputs):
        return None
    if isinstance(a, CompositeType) and not a.has_form_of(b):
        return None
    return tuple(zip(mine, theirs, strict=True))


MAX_PARTS = 100_000
"""The largest type of a result or of a subpattern: types can double in size at every step."""


def folded(
    root: Attribute,
    known: dict[int, tuple[Attribute, R]],
    inside: Callable[[Attribute], Sequence[Attribute]],
    value: Callable[[Attribute, Sequence[R]], R],
) -> R:
    """
    Return the `value` of an attribute, which follows from the values of those `inside` it.

    Each object is visited once: a type of many parts may share most of them with others. `known`
    is of `new_cache`, and has the values by identity.
    """
    pending = [root]
    while pending:
        at = pending[-1]
        within = () if id(at) in known else inside(at)
        if missing := [part for part in within if id(part) not in known]:
            pending += missing
            continue
        pending.pop()
        if id(at) not in known:
            known[id(at)] = at, value(at, [known[id(part)][1] for part in within])
    return known[id(root)][1]


def _attributes_in(attribute: Attribute) -> Sequence[Attribute]:
    if isinstance(attribute, ArrayAttr):
        return cast("ArrayAttr[Attribute]", attribute).data
    return attribute.parameters if isinstance(attribute, ParametrizedAttribute) else ()


_COUNTS = new_cache()


def has_more_parts(type: Attribute, most: int) -> bool:
    """Test whether `type` consists of more than `most` attributes."""
    return folded(type, _COUNTS, _attributes_in, lambda _, counts: 1 + sum(counts)) > most
