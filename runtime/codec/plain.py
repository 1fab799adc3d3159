"""
Values of annotated types as plain data: numbers, texts, lists and dictionaries, as in JSON.

    @record
    class Param:
        name: str
        spec: TensorSpec | None
        dims: tuple[str, ...] = ()
        type: Annotated[int, at_least(0)] = 0          checked when it is read

    PLAIN.of(Param).put(param)    ->    {"name": "x", "spec": null, "dims": ["n"], "type": 0}

The form follows from the annotations. `put` returns plain data, and `take` raises an error of
`DAMAGED` for what it did not return; the error names the fields that lead to the fault.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from math import prod
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import numpy as np

from ..errors import MachineError
from ..memory.limits import MAX_EXTENT
from ..program.dtypes import element_type
from ..program.program import Array, TensorSpec, spec_of
from .notes import ELSEWHERE, Check, NoneAs

DAMAGED = (ValueError, KeyError, TypeError, AttributeError, MachineError)
"""The errors of `take` for plain data that `put` did not return."""


class Codec:
    """Functions that turn a value into plain data, and back."""

    __slots__ = ("put", "take")

    def __init__(self, put: Callable[[Any], Any], take: Callable[[Any], Any]) -> None:
        self.put, self.take = put, take


def _exactly(type_: type[Any]) -> Codec:
    def take(data: Any) -> Any:
        if type(data) is not type_:
            raise ValueError(f"expected {type_.__name__}, but got {data!r:.80}")
        return data

    return Codec(type_, take)


_list, _dictionary, _any_integer, _any_text = (
    _exactly(type_).take for type_ in (list, dict, int, str)
)


def _integer(data: Any) -> int:
    if type(data) is not int or not -(1 << 63) <= data < 1 << 63:
        raise ValueError(f"{_any_integer(data)} needs more than 64 bits")
    return data


def _natural(data: Any) -> int:
    if _integer(data) < 0:
        raise ValueError(f"must be at least 0, but is {data}")
    return data


def _text(data: Any) -> str:
    if not _any_text(data).isascii():
        data.encode()  # half a pair of surrogates is not a character
    return data


def _is_record(hint: Any) -> bool:
    return get_origin(hint) is None and is_dataclass(hint)


class PlainFormat:
    """
    Codecs of types: of each, always the same one.

    Records are dictionaries, tuples lists, floats and bytes hexadecimal, arrays base64: JSON has no
    infinities, and the bits of a float must not change. A record of several that a value may be is
    in a dictionary under the name of its class. In a record, what is missing has its default, and
    what has no field is ignored, so that fields can be added.

    In attributes, which have no None, a number stands for it, and fields that have their default
    are omitted.
    """

    def __init__(self, *, for_attributes: bool = False) -> None:
        self.for_attributes = for_attributes
        self._known: dict[Any, Codec] = {
            int: Codec(_integer, _integer),
            bool: _exactly(bool),
            str: Codec(lambda value: _text(str(value)), _text),  # it may be an enum
            bytes: Codec(bytes.hex, bytes.fromhex),
            float: Codec(
                lambda value: {"float": cast(float, value).hex()},
                lambda data: float.fromhex(_dictionary(data)["float"]),
            ),
        }

    def of(self, hint: Any) -> Codec:
        """Return the codec of a type."""
        codec = self._known.get(hint)
        if codec is None:
            notes: Sequence[object] = ()
            plain = hint
            if get_origin(hint) is Annotated:
                plain, *notes = get_args(hint)
            codec = self._none_as(notes) or self._known.get(plain) or self._of(plain)
            checks = [note for note in notes if isinstance(note, Check)]
            codec = self._known[hint] = _checked(codec, checks) if checks else codec
        return codec

    def _none_as(self, notes: Sequence[object]) -> Codec | None:
        """Return the codec of numbers from 0 on, or None, if a note says so."""
        for number in (note.number for note in notes if isinstance(note, NoneAs)):
            absent = number if self.for_attributes else None
            return Codec(
                lambda value: absent if value is None else _integer(value),
                lambda data: None if data == absent else _natural(data),
            )
        return None

    def _of(self, hint: Any) -> Codec:
        origin, args = get_origin(hint), get_args(hint)
        if origin is Literal:
            listed = Check(f"be one of {', '.join(map(str, args))}", lambda value: value in args)
            return _checked(self.of(type(args[0])), [listed])
        if origin in (Union, UnionType):
            parts = [part for part in args if part is not NoneType]
            if len(parts) == len(args):
                return self._union(parts)
            return _optional(self.of(Union[tuple(parts)]))  # noqa: UP007
        if origin is tuple and args[-1:] == (...,):
            item = self.of(args[0])
            return Codec(
                lambda values: list(map(item.put, values)),
                lambda data: tuple(map(item.take, _list(data))),
            )
        if origin is tuple:
            return _product([self.of(part) for part in args], lambda *values: values)
        if (names := getattr(hint, "_fields", None)) is not None:
            return _product([self.of(hint.__annotations__[name]) for name in names], hint)
        if origin is not None and issubclass(origin, Mapping):
            return self._mapping(self.of(args[1]))
        if origin is np.ndarray:
            return self._array()
        if _is_record(hint):
            return self._record(hint)
        raise TypeError(f"values of type {hint} cannot be stored")

    def _mapping(self, item: Codec) -> Codec:
        return Codec(
            lambda values: {_text(name): item.put(value) for name, value in values.items()},
            lambda data: {_text(n): item.take(v) for n, v in _dictionary(data).items()},
        )

    def _array(self) -> Codec:
        spec = self.of(TensorSpec)

        def put(array: Array) -> dict[str, Any]:
            data = b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
            return {**spec.put(spec_of(array)), "data": data}

        return Codec(put, lambda data: array_of(spec.take(data), b64decode(data["data"])))

    def _union(self, parts: Sequence[Any]) -> Codec:
        hints: dict[type[Any], Any] = {get_origin(part) or part: part for part in parts}
        named = {cls.__name__: cls for cls in hints if _is_record(cls)}

        def put(value: Any) -> Any:
            plain = self.of(hints[type(value)]).put(value)  # late: programs use few instructions
            return {type(value).__name__: plain} if type(value).__name__ in named else plain

        def take(data: Any) -> Any:
            if type(data) is not dict:
                return self.of(hints[tuple if type(data) is list else type(data)]).take(data)
            ((name, plain),) = cast("dict[str, Any]", data).items()
            if name in named:
                return self.of(hints[named[name]]).take(plain)
            if name != "float":
                raise ValueError(f"'{name:.80}' is unknown: use a newer version")
            return self.of(float).take(cast(Any, data))

        return Codec(put, take)

    def _record(self, cls: type[Any]) -> Codec:
        stored = {field.name: self.of(hint) for field, hint in stored_fields(cls)}
        parts = [
            (f.name, stored[f.name].take if f.name in stored else None, f) for f in fields(cls)
        ]
        omitted = {f.name: _default(f) for f in fields(cls) if self.for_attributes and _has_one(f)}

        def put(value: Any) -> dict[str, Any]:
            values = ((name, codec, getattr(value, name)) for name, codec in stored.items())
            return {
                name: codec.put(part)
                for name, codec, part in values
                if name not in omitted or part != omitted[name]
            }

        def take(data: Any) -> Any:
            entries, values, name = _dictionary(data), list[Any](), ""
            try:
                for name, take_field, field in parts:
                    if take_field is not None and name in entries:
                        values.append(take_field(entries[name]))
                    else:
                        values.append(_default(field))
            except DAMAGED as error:
                raise ValueError(f"{name}: {error}") from error
            return cls(*values)

        return Codec(put, take)


def _has_one(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _default(field: Field[Any]) -> Any:
    if not _has_one(field):
        raise ValueError("it is missing")
    return field.default if field.default_factory is MISSING else field.default_factory()


def _checked(inner: Codec, checks: Sequence[Check]) -> Codec:
    def take(data: Any) -> Any:
        value = inner.take(data)
        for fault in filter(None, (check.fault(value) for check in checks)):
            raise ValueError(fault)
        return value

    return Codec(inner.put, take)


def _optional(inner: Codec) -> Codec:
    def unless_none(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda value: None if value is None else function(value)

    return Codec(unless_none(inner.put), unless_none(inner.take))


def _product(items: Sequence[Codec], make: Callable[..., Any]) -> Codec:
    def put(values: Sequence[Any]) -> list[Any]:
        return [item.put(value) for item, value in zip(items, values, strict=True)]

    def take(data: Any) -> Any:
        return make(*[item.take(p) for item, p in zip(items, _list(data), strict=True)])

    return Codec(put, take)


def size_of(spec: TensorSpec) -> int:
    """Return the bytes of an array of a type; `ValueError` if there cannot be one."""
    if not spec.is_static or min(spec.dims, default=0) < 0:
        raise ValueError(f"a constant must have a static shape, but is {spec}")
    if prod(dim for dim in spec.dims if dim) * element_type(spec.dtype).itemsize > MAX_EXTENT:
        raise ValueError(f"{spec} exceeds NumPy's array size limit")
    return spec.size


def array_of(spec: TensorSpec, data: bytes | memoryview) -> Array:
    """Return an array of a type that views its bytes; `ValueError` if they are not one."""
    dtype = element_type(spec.dtype)
    if size_of(spec) != len(data):
        raise ValueError(f"{spec} has {size_of(spec)} bytes, but there are {len(data)}")
    if dtype == np.bool_ and np.any(np.frombuffer(data, np.uint8) > 1):
        raise ValueError("a bool must be 0 or 1")
    array = np.frombuffer(data, dtype.newbyteorder("<")).reshape(spec.dims)
    return array.astype(dtype, copy=False)


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


PLAIN = PlainFormat()
ATTRIBUTES = PlainFormat(for_attributes=True)
