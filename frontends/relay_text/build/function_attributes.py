"""Attributes of functions, and of calls of functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, NoneType
from xdsl.ir import Attribute

from ....dialects.attributes import attribute_of as plain_attribute
from .build_context import Context


def attribute_of(value: Any) -> Attribute | None:
    """Convert a function attribute's value to the IR; None if it has no form there."""
    match value:
        case None:
            return NoneType()
        case tuple():
            parts = [attribute_of(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
            known = [part for part in parts if part is not None]
            return ArrayAttr(known) if len(known) == len(parts) else None
        case dict():
            given = cast("dict[str, Any]", value)
            entries = {key: attribute_of(part) for key, part in given.items()}
            known_entries = {key: part for key, part in entries.items() if part is not None}
            return DictionaryAttr(known_entries) if len(known_entries) == len(entries) else None
        case Attribute():
            return value
        case _:
            return plain_attribute(value)


def attributes_of(context: Context, attrs: Mapping[str, Any], at: int) -> DictionaryAttr | None:
    """Convert the attributes of a function; None if it has none."""
    if not attrs:
        return None
    made: dict[str, Attribute] = {}
    for name, value in attrs.items():
        attr = attribute_of(value)
        if attr is None:
            raise context.error(f"the function attribute {name} has an unsupported value", at)
        made[name] = attr
    return DictionaryAttr(made)
