"""
The properties of an op as Python values, for the type rules.

A rule may be asked before the op is verified: a property that is missing or of another kind
is a `VerifyException`.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException


def _wrong(op: Operation, name: str, kind: str) -> VerifyException:
    given = op.properties.get(name)
    if given is None:
        return VerifyException(f"{op.name} needs {name}, {kind}")
    return VerifyException(f"{name} of {op.name} must be {kind}, but is {given}")


def int_of(op: Operation, name: str) -> int:
    """The integer (or bool, as 0 or 1) `name`."""
    attr = op.properties.get(name)
    if not isinstance(attr, IntegerAttr):
        raise _wrong(op, name, "an integer")
    return cast(IntegerAttr[IntegerType], attr).value.data


def flag_of(op: Operation, name: str) -> bool:
    """The bool `name`."""
    return int_of(op, name) != 0


def ints_of(op: Operation, name: str, length: int | None = None) -> tuple[int, ...]:
    """The integers `name`, `length` of them."""
    attr = op.properties.get(name)
    if not isinstance(attr, DenseArrayBase):
        raise _wrong(op, name, "an array of integers")
    attr = cast(DenseArrayBase[IntegerType], attr)
    if not isinstance(attr.elt_type, IntegerType):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _wrong(op, name, "an array of integers")
    values = attr.get_values()
    if length is not None and len(values) != length:
        raise VerifyException(f"{name} must have {length} entries, but has {len(values)}")
    return values


def optional_ints_of(op: Operation, name: str) -> tuple[int, ...] | None:
    return None if op.properties.get(name) is None else ints_of(op, name)


def optional_int_of(op: Operation, name: str) -> int | None:
    return None if op.properties.get(name) is None else int_of(op, name)


def ints_from(op: Operation, name: str, least: int, length: int | None = None) -> tuple[int, ...]:
    """The integers `name`, each at least `least`, `length` of them."""
    values = ints_of(op, name, length)
    if min(values, default=least) < least:
        raise VerifyException(f"{name} must be at least {least}, but is {min(values)}")
    return values


def int_from(op: Operation, name: str, least: int) -> int:
    """The integer `name`, at least `least`."""
    value = int_of(op, name)
    if value < least:
        raise VerifyException(f"{name} must be at least {least}, but is {value}")
    return value


def float_of(op: Operation, name: str) -> float:
    """The float `name`."""
    attr = op.properties.get(name)
    if not isinstance(attr, FloatAttr):
        raise _wrong(op, name, "a float")
    return attr.value.data


def word_of(op: Operation, name: str, words: Sequence[str]) -> str:
    """The string `name`, one of `words`."""
    attr = op.properties.get(name)
    if not isinstance(attr, StringAttr):
        raise _wrong(op, name, "a string")
    if attr.data not in words:
        allowed = " or ".join(f'"{word}"' for word in words)
        raise VerifyException(f'{name} must be {allowed}, but is "{attr.data}"')
    return attr.data


def type_of(op: Operation, name: str) -> Attribute:
    """The type `name`."""
    attr = op.properties.get(name)
    if attr is None:
        raise _wrong(op, name, "a type")
    return attr
