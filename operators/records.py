"""
Frozen data classes that take little time to make.

`dataclass(frozen=True)` compiles six functions for a class, which takes 0.6 ms; a program that runs
for a tenth of a second imports almost a hundred such classes. Those of `record` share theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import partial
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, eq: bool) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T] | None = None, /, *, eq: bool = True) -> Any:
    """
    Make a class of annotated fields what `dataclass(frozen=True, slots=True, eq=eq)` makes of it.

    `fields`, `replace` and `astuple` work as for dataclasses.
    """
    return partial(_made, eq=eq) if cls is None else _made(cls, eq)


def _made(cls: type[Any], eq: bool) -> type[Any]:
    made = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    all_fields = fields(made)
    names = [each.name for each in all_fields]
    stores = [getattr(made, name).__set__ for name in names]
    count = len(names)
    defaults = tuple(each.default for each in all_fields)
    needed = max((n for n, value in enumerate(defaults, 1) if value is MISSING), default=0)

    def __init__(self: object, *values: object, **named: object) -> None:
        if needed <= len(values) < count and not named:
            values += defaults[len(values) :]
        if named or len(values) != count:
            values = _completed(cls.__qualname__, all_fields, values, named)
        for store, value in zip(stores, values):
            store(self, value)

    def __repr__(self: object) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{cls.__qualname__}({shown})"

    def __reduce__(self: object) -> tuple[type, tuple[object, ...]]:
        return made, tuple(getattr(self, name) for name in names)

    made.__init__, made.__reduce__ = __init__, __reduce__
    if "__repr__" not in vars(cls):
        made.__repr__ = __repr__
    if eq:
        _add_equality(made, [each.name for each in all_fields if each.compare])
    made.__setattr__, made.__delattr__ = _refuse_to_set, _refuse_to_delete
    return made


def _add_equality(made: Any, names: Sequence[str]) -> None:
    compared: Callable[[object], object] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    def __hash__(self: object) -> int:
        return hash(compared(self))

    made.__eq__, made.__hash__ = __eq__, __hash__


def _completed(
    what: str,
    all_fields: Sequence[Field[Any]],
    values: Sequence[object],
    named: Mapping[str, object],
) -> tuple[object, ...]:
    """Return the values of all fields; raise `TypeError` if the arguments are not theirs."""
    if len(values) > len(all_fields):
        raise TypeError(f"{what} has {len(all_fields)} fields, but there are {len(values)} values")
    rest = dict(named)
    found = list(values)
    for each in all_fields[len(values) :]:
        if each.name in rest:
            found.append(rest.pop(each.name))
        elif each.default is not MISSING:
            found.append(each.default)
        elif each.default_factory is not MISSING:
            found.append(each.default_factory())
        else:
            raise TypeError(f"{what} needs a value for the field '{each.name}'")
    if rest:
        raise TypeError(f"{what} has no field '{next(iter(rest))}', or it is given twice")
    return tuple(found)


def _refuse_to_set(_: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field '{name}'")


def _refuse_to_delete(_: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field '{name}'")
