"""
Check tuples and data that a program is called with: their types are recorded.

    t: (float32[2], int32[3])  given  (float32[2], float32[3])   ->   t[1] must be int32[3], but …

Nothing here recurses, as data may be nested deeper than Python's stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ..errors import MachineError
from ..program.data_types import DataType, DataTypes, Known, TensorType, TupleType, resolved
from ..program.objects import Data, Object, Tensor
from ..program.program import Function, Program, TensorSpec, spec_of

_Path: TypeAlias = "tuple[_Path, int] | str"
"""The name of an argument, or the path of what contains a field, and its number."""


def check_types(program: Program, function: Function, args: Sequence[Object]) -> None:
    """Raise `MachineError`, naming the field, if a tuple or data is not of its recorded type."""
    rest: list[tuple[Object, Known | None, _Path]] = [
        (arg, Known(param.type), param.name)
        for param, arg in zip(function.params, args, strict=True)
        if param.type is not None
    ]
    while rest:
        value, known, path = rest.pop()
        if known is None:
            continue
        fields = _fields(value, known, program.data)
        if isinstance(fields, str):
            raise MachineError(f"parameter '{_shown(path)}' of {function.name} {fields}")
        if isinstance(value, Data):
            parts = zip(value.parts, fields, strict=True)
            rest += [(part, type, (path, i)) for i, (part, type) in enumerate(parts)]


def _fields(value: Object, known: Known, data: DataTypes) -> Sequence[Known | None] | str:
    """Return the types of the fields of `value`, or what is wrong with it."""
    match data.types[known.type]:
        case TensorType(dtype, shape):
            spec = TensorSpec(dtype, shape)
            actual = spec_of(value.array) if isinstance(value, Tensor) else value.kind
            fits = isinstance(actual, TensorSpec) and spec.accepts(actual)
            return () if fits else f"must be {spec}, but is {actual}"
        case TupleType(fields):
            if not isinstance(value, Data) or value.tag or len(value.parts) != len(fields):
                return f"must be a tuple of {len(fields)}, but is {_described(value)}"
            return [resolved(field, known.args, data) for field in fields]
        case DataType(definition, args):
            actual = data.definitions[definition]
            name, constructors = actual.name, actual.constructors
            if not isinstance(value, Data) or not 0 <= value.tag < len(constructors):
                tags = f"a constructor of it (0 to {len(constructors) - 1})"
                return f"must be {name}, data with the tag of {tags}, but is {_described(value)}"
            constructor = constructors[value.tag]
            if len(value.parts) != len(constructor.fields):
                count = f"has {len(constructor.fields)} fields, but {len(value.parts)} are given"
                return f"is wrong: {constructor.name} of {name} {count}"
            given = tuple(resolved(arg, known.args, data) for arg in args)
            return [resolved(field, given, data) for field in constructor.fields]
        case _:
            return [None] * len(value.parts) if isinstance(value, Data) else ()


def _described(value: Object) -> str:
    if not isinstance(value, Data):
        return value.kind
    return f"data of tag {value.tag}" if value.tag else f"a tuple of {len(value.parts)}"


def _shown(path: _Path) -> str:
    """Return `t[1][0]` for a path."""
    numbers: list[int] = []
    while not isinstance(path, str):
        path, number = path
        numbers.append(number)
    return path + "".join(f"[{number}]" for number in reversed(numbers))
