"""
The types of arguments and results that are not just tensors: tuples and data.

    Tagged(0, (x, Tagged(1, ())))  of type  List<…>   ->   Cons(x, Nil)

Types refer to each other by their index in a table, so that a type may be deep, and may have parts
in common, and nothing that reads one recurses.
"""

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

from ...operators.records import record
from ..codec.notes import NoneAs, at_least, sized
from ..memory.limits import MAX_RANK

Natural: TypeAlias = Annotated[int, at_least(0)]
Shape: TypeAlias = Annotated[tuple[Annotated[int | None, NoneAs(-1)], ...], sized(0, MAX_RANK)]
"""The sizes of dims; None is one that is unknown until run time."""


@record
class OpaqueType:
    """A function or a reference: it has no parts with names."""


@record
class TensorType:
    """A tensor, by its element type (NumPy's name) and shape, None where a dim is unknown."""

    dtype: str
    shape: Shape


@record
class TupleType:
    """A tuple, by the types of its fields."""

    fields: tuple[int, ...]


@record
class DataType:
    """Data of `DataTypes.definitions[definition]`, for these values of its parameters."""

    definition: Natural
    args: tuple[int, ...]


@record
class TypeParameter:
    """The parameter with this number of the definition in which the type occurs."""

    number: Natural


ValueType: TypeAlias = OpaqueType | TupleType | DataType | TypeParameter | TensorType


@record
class Constructor:
    """A constructor: its name, and the types of its fields. Its tag is its position."""

    name: str
    fields: tuple[int, ...]


@record
class Definition:
    """A data type: its name, the number of its parameters, and its constructors."""

    name: str
    parameters: Natural
    constructors: tuple[Constructor, ...]


@record
class DataTypes:
    """
    The data types of a program, and the table of types.

    The parts of a tuple and the arguments of data are before it in the table.
    """

    definitions: tuple[Definition, ...] = ()
    types: tuple[ValueType, ...] = ()

    def faults(self) -> Iterator[str]:
        """Yield each index that is out of range, so that none contains itself."""
        for number, type in enumerate(self.types):
            if isinstance(type, TupleType | DataType):
                yield from _faults(
                    type.fields if isinstance(type, TupleType) else type.args, number
                )
            if isinstance(type, DataType) and not 0 <= type.definition < len(self.definitions):
                yield f"definition {type.definition} is out of range [0, {len(self.definitions)})"
        for definition in self.definitions:
            for constructor in definition.constructors:
                yield from _faults(constructor.fields, len(self.types))


def _faults(types: tuple[int, ...], limit: int) -> Iterator[str]:
    return (f"type {i} is out of range [0, {limit})" for i in types if not 0 <= i < limit)


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
    args: "tuple[Known | None, ...]" = ()


def resolved(type: int, args: tuple[Known | None, ...], data: DataTypes) -> Known | None:
    """Return a type where the parameters of its definition are `args`; None if it is unknown."""
    definition = data.types[type]
    if isinstance(definition, TypeParameter):
        return args[definition.number] if definition.number < len(args) else None
    return Known(type, args)
