"""The results of functions, with the names of constructors that their recorded types know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from ...operators.records import record
from ..calls.values import Tagged, Value, leaves
from .data_types import DataType, DataTypes, DataValue, Known, TupleType, resolved
from .program import Function

NamedValue: TypeAlias = Any
"""An array, a tuple, or a `DataValue`."""


@record
class _Build:
    """Make a tuple, or data of `constructor`, of the last `count` finished values."""

    constructor: str | None
    count: int


def results_of(function: Function, data: DataTypes, value: Value) -> list[NamedValue]:
    """
    Return the results of `function` for the `value` that the machine returned.

    If they are not recorded, these are its tensors.
    """
    results = function.results
    if results is None:
        return list(leaves(value))
    if len(results) == 1:
        return [named(value, results[0].type, data)]
    if not isinstance(value, tuple) or len(value) != len(results):
        return list(leaves(value))
    return [named(part, result.type, data) for part, result in zip(value, results, strict=True)]


def output_names(function: Function, count: int) -> list[str]:
    """Return unique names for the `count` outputs of `function`, `output_<number>` by default."""
    given = [result.name for result in function.results or ()]
    return unique_names(given if len(given) == count else [None] * count)


def unique_names(given: Sequence[str | None], default: str = "output_") -> list[str]:
    """Return `given` with `<default><number>` for names that are missing, empty or taken."""
    left, names = set(given), dict[str, None]()
    for i, name in enumerate(given):
        if not name or name in names:
            name = f"{default}{i}"
            while name in left or name in names:
                name += "_"
        names[name] = None
    return list(names)


def named(value: Value, type: int | None, data: DataTypes) -> NamedValue:
    """Return `value`, of a type in `data`, with the names of its constructors."""
    done: list[NamedValue] = []
    rest: list[tuple[Value, Known | None] | _Build] = [
        (value, None if type is None else Known(type))
    ]
    while rest:
        item = rest.pop()
        if isinstance(item, _Build):
            fields = tuple(done[len(done) - item.count :])
            del done[len(done) - item.count :]
            done.append(fields if item.constructor is None else DataValue(item.constructor, fields))
            continue
        here, known = item
        if not isinstance(here, tuple):
            done.append(here)
            continue
        parts = cast("tuple[Value, ...]", here)
        constructor, types = _fields(parts, known, data)
        rest.append(_Build(constructor, len(parts)))
        rest += reversed(list(zip(parts, types, strict=True)))
    (result,) = done
    return result


def _fields(
    value: tuple[Value, ...], known: Known | None, data: DataTypes
) -> tuple[str | None, Sequence[Known | None]]:
    """Return the constructor of data (None: it is a tuple) and the types of its fields."""
    unknown = None, [None] * len(value)
    type = None if known is None else data.types[known.type]
    if known is None:
        return unknown
    if isinstance(type, TupleType) and len(type.fields) == len(value):
        return None, [resolved(part, known.args, data) for part in type.fields]
    if not isinstance(type, DataType):
        return unknown
    constructors = data.definitions[type.definition].constructors
    tag = value.tag if isinstance(value, Tagged) else 0
    if not 0 <= tag < len(constructors) or len(constructors[tag].fields) != len(value):
        return unknown
    args = tuple(resolved(arg, known.args, data) for arg in type.args)
    constructor = constructors[tag]
    return constructor.name, [resolved(field, args, data) for field in constructor.fields]
