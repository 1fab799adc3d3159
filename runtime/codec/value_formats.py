"""
Codecs of values, derived from the annotations of their types.

    @record
    class Param:
        name: str                                  text
        spec: TensorSpec | None                    optional record
        dims: tuple[str, ...] = ()                 sequence of texts
        type: Annotated[int, AtLeast(0)] = 0       number, checked when it is read

A `Format` has a method for each way in which types are made of others, and all records have their
form in it. Other facts are notes in `Annotated`, such as a check of what is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, cast, get_args, get_origin

from .notes import ELSEWHERE, Bytes, Check, NoneAs


class Codec(NamedTuple):
    """
    Functions that write and read the values of a type.

    `put` and `take` are called as the format says. A value takes at least `least` words.
    """

    put: Callable[..., Any]
    take: Callable[[Any], Any]
    least: int = 1


class Stored(NamedTuple):
    """A field of a record that is stored."""

    name: str
    codec: Codec
    default: object
    """`MISSING` if it must be there."""


def in_tuple(*values: Any) -> tuple[Any, ...]:
    """Return the values as a tuple."""
    return values


class Format(ABC):
    """
    A way to store values; `of` returns the codec of a type, always the same one.

    `scalars` are the codecs of int, float, bool and str. A format has a method for each way in
    which types are made of others, which returns the codec of such a type:

        checked     what `inner` reads, if it passes the checks
        bytes       so many bytes
        array       NumPy arrays, of the element types of programs
        optional    a value or None
        none_as     a number from 0 on, or None, for which `number` stands
        sequence    tuples of any length
        product     tuples of these items, or of a class of their own, which `make` makes
        mapping     mappings from names
        union       values of several classes, in the order of their numbers
        record      a record with these fields, in their order
    """

    def __init__(self, scalars: Mapping[type[Any], Codec]) -> None:
        self.scalars = scalars
        self._known: dict[object, Codec] = {}

    def of(self, hint: Any, what: str = "value") -> Codec:
        """Return the codec of a type, for a field that messages call `what`."""
        codec = self.scalars.get(hint) or self._known.get((hint, what))
        if codec is None:
            codec = self._known[hint, what] = self._checked(hint, what)
        return codec

    def _checked(self, hint: Any, what: str) -> Codec:
        notes: Sequence[object] = ()
        if get_origin(hint) is Annotated:
            hint, *notes = get_args(hint)
        codec = self.scalars.get(hint) or self._of(hint, what, notes)
        checks = [note for note in notes if isinstance(note, Check)]
        return self.checked(codec, checks, what) if checks else codec

    def _of(self, hint: Any, what: str, notes: Sequence[object]) -> Codec:
        origin, args = get_origin(hint), get_args(hint)
        if origin is Literal:
            return self.of(type(args[0]))
        if origin in (Union, UnionType):
            parts = [part for part in args if part is not NoneType]
            if len(parts) == len(args):
                return self.union({kind_of(part): self.of(part, what) for part in parts}, what)
            inner = self.of(Union[tuple(parts)], what)  # noqa: UP007
            absent = next((note.number for note in notes if isinstance(note, NoneAs)), None)
            return self.optional(inner) if absent is None else self.none_as(absent, what)
        if origin is tuple and args[-1:] == (...,):
            return self.sequence(self.of(args[0], what), what)
        if origin is tuple:
            return self.product([self.of(part, what) for part in args], in_tuple)
        if origin is not None and issubclass(origin, Mapping):
            return self.mapping(self.of(args[1], what), what)
        if origin is not None and origin.__name__ == "ndarray":  # NumPy takes long to import
            return self.array(what)
        if hint is bytes:
            return self.bytes(next(n.length for n in notes if isinstance(n, Bytes)), what)
        if origin is None and is_dataclass(hint):
            stored = [
                Stored(field.name, self.of(field_hint, _words(field.name)), _default(field))
                for field, field_hint in stored_fields(hint)
            ]
            return self.record(cast("type[Any]", hint), stored)
        if (names := getattr(hint, "_fields", None)) is not None:
            hints = hint.__annotations__
            return self.product([self.of(hints[name], _words(name)) for name in names], hint)
        raise TypeError(f"values of type {hint} cannot be stored")

    @abstractmethod
    def checked(self, inner: Codec, checks: Sequence[Check], what: str) -> Codec: ...

    @abstractmethod
    def bytes(self, length: int, what: str) -> Codec: ...

    @abstractmethod
    def array(self, what: str) -> Codec: ...

    @abstractmethod
    def optional(self, inner: Codec) -> Codec: ...

    @abstractmethod
    def none_as(self, number: int, what: str) -> Codec: ...

    @abstractmethod
    def sequence(self, item: Codec, what: str) -> Codec: ...

    @abstractmethod
    def product(self, items: Sequence[Codec], make: Callable[..., Any]) -> Codec: ...

    @abstractmethod
    def mapping(self, item: Codec, what: str) -> Codec: ...

    @abstractmethod
    def union(self, parts: Mapping[type[Any], Codec], what: str) -> Codec: ...

    @abstractmethod
    def record(self, cls: type[Any], stored: Sequence[Stored]) -> Codec: ...


@cache
def stored_fields(cls: type[Any]) -> list[tuple[Field[Any], Any]]:
    """
    Return the fields of a record that are stored with it, each with its type.

    Modules of records do not postpone annotations, as evaluating their texts takes milliseconds.
    """
    found: list[tuple[Field[Any], Any]] = []
    for field in fields(cls):
        hint: Any = field.type
        assert not isinstance(hint, str), f"the annotations of {cls.__name__} are postponed"
        notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        if ELSEWHERE not in notes:
            found.append((field, hint))
    return found


def kind_of(hint: Any) -> type[Any]:
    """Return the class of the values of a type."""
    plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return cast("type[Any]", get_origin(plain) or plain)


def _default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _words(name: str) -> str:
    return name.replace("_", " ")
