"""
The types of arguments and results that are not just tensors: tuples and data.

    Tagged(0, (x, Tagged(1, ())))  of type  List<…>   ->   Cons(x, Nil)

Types refer to each other by their index in a table, so that a type may be deep, and may have parts
in common, and nothing that reads one recurses.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from .records import record


@record
class OpaqueType:
    """A function or a reference: it has no parts with names."""


@record
class TensorType:
    """A tensor, by its element type (NumPy's name) and shape, None where a dim is unknown."""

    dtype: str
    shape: tuple[int | None, ...]


@record
class TupleType:
    """A tuple, by the types of its fields."""

    fields: tuple[int, ...]


@record
class DataType:
    """Data of `DataTypes.definitions[definition]`, for these values of its parameters."""

    definition: int
    args: tuple[int, ...]


@record
class TypeParameter:
    """The parameter with this number of the definition in which the type occurs."""

    number: int


ValueType: TypeAlias = OpaqueType | TensorType | TupleType | DataType | TypeParameter


@record
class Constructor:
    """A constructor: its name, and the types of its fields. Its tag is its position."""

    name: str
    fields: tuple[int, ...]


@record
class Definition:
    """A data type: its name, the number of its parameters, and its constructors."""

    name: str
    parameters: int
    constructors: tuple[Constructor, ...]


@record
class DataTypes:
    """
    The data types of a program, and the table of types.

    The parts of a tuple and the arguments of data are before it in the table.
    """

    definitions: tuple[Definition, ...] = ()
    types: tuple[ValueType, ...] = ()


@record
class DataValue:
    """A value of a data type: its constructor and fields."""

    constructor: str
    fields: tuple[Any, ...]

    def term(self) -> tuple[str, tuple[Any, ...] | None]:
        """Return the head and the fields of the value as text: `Cons`, (1, Nil)."""
        return self.constructor, self.fields or None


@record
class Known:
    """A type that is not a parameter, by its index, and the meaning of the parameters in it."""

    type: int
    args: tuple[Known | None, ...] = ()


def resolved(type: int, args: tuple[Known | None, ...], data: DataTypes) -> Known | None:
    """Return a type where the parameters of its definition are `args`; None if it is unknown."""
    found = data.types[type]
    if isinstance(found, TypeParameter):
        return args[found.number] if found.number < len(args) else None
    return Known(type, args)
