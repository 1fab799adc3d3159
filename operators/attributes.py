"""
Read the attributes of a call, for signatures.

A missing attribute, or one of the wrong kind, raises `SignatureError`.
"""

from collections.abc import Sequence
from typing import cast

from .signature import ELEMENTS, Call, Element, ElementKind, SignatureError


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _wrong(call: Call, name: str, kind: str) -> SignatureError:
    given = call.attributes.get(name)
    if given is None:
        return SignatureError(f"{call.name} needs {name}, {kind}")
    return SignatureError(f"{name} of {call.name} must be {kind}, but is {_shown(given)}")


def int_of(call: Call, name: str) -> int:
    """Return the integer `name`; a bool counts as 0 or 1."""
    value = call.attributes.get(name)
    if not isinstance(value, int):
        raise _wrong(call, name, "an integer")
    return value


def flag_of(call: Call, name: str) -> bool:
    """Return the bool `name`."""
    return int_of(call, name) != 0


def ints_of(call: Call, name: str, length: int | None = None) -> tuple[int, ...]:
    """Return the integers `name`; check that there are `length`."""
    value = call.attributes.get(name)
    if not isinstance(value, tuple):
        raise _wrong(call, name, "an array of integers")
    values = cast("tuple[object, ...]", value)
    if not all(isinstance(v, int) for v in values):
        raise _wrong(call, name, "an array of integers")
    if length is not None and len(values) != length:
        raise SignatureError(f"{name} must have {length} entries, but has {len(values)}")
    return cast("tuple[int, ...]", values)


def optional_ints_of(call: Call, name: str) -> tuple[int, ...] | None:
    return None if call.attributes.get(name) is None else ints_of(call, name)


def optional_int_of(call: Call, name: str) -> int | None:
    return None if call.attributes.get(name) is None else int_of(call, name)


def ints_from(call: Call, name: str, least: int, length: int | None = None) -> tuple[int, ...]:
    """Return the integers `name`; check that each is at least `least` and there are `length`."""
    values = ints_of(call, name, length)
    if min(values, default=least) < least:
        raise SignatureError(f"{name} must be at least {least}, but is {min(values)}")
    return values


def int_from(call: Call, name: str, least: int) -> int:
    """Return the integer `name`; check that it is at least `least`."""
    value = int_of(call, name)
    if value < least:
        raise SignatureError(f"{name} must be at least {least}, but is {value}")
    return value


def float_of(call: Call, name: str) -> float:
    """Return the float `name`."""
    value = call.attributes.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(call, name, "a float")
    return float(value)


def word_of(call: Call, name: str, words: Sequence[str]) -> str:
    """Return the string `name`; check that it is one of `words`."""
    value = call.attributes.get(name)
    if not isinstance(value, str):
        raise _wrong(call, name, "a string")
    if value not in words:
        allowed = " or ".join(f'"{word}"' for word in words)
        raise SignatureError(f'{name} must be {allowed}, but is "{value}"')
    return value


def element_of(call: Call, name: str) -> Element:
    """Return the element type `name`; check that it is not opaque."""
    value = call.attributes.get(name)
    if value is None:
        raise _wrong(call, name, "an element type")
    found = ELEMENTS.get(value) if isinstance(value, str) else value
    if not isinstance(found, Element) or found.kind is ElementKind.OPAQUE:
        raise SignatureError(
            f"{name} must be an integer, index or float type, but is {_shown(value)}"
        )
    return found


def optional_element_of(call: Call, name: str) -> Element | None:
    return None if call.attributes.get(name) is None else element_of(call, name)
