"""The fields of instructions as properties of ops: their attributes and their text, by kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    IRDLAttrConstraint,
    base,
    irdl_attr_definition,
    irdl_to_attr_constraint,
    param_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...runtime.program.instructions import Kind, Reg
from ..device import DeviceCarrier, VirtualDeviceAttr, parse_device
from ..integers import i64_array, integers_of
from ..tensors import dtype_name

Dims: TypeAlias = DenseArrayBase[I64]


@irdl_attr_definition
class RegisterAttr(Data[int]):
    """A register of the machine, by number: `#bytecode.register<3>`, in custom text `r3`."""

    name = "bytecode.register"

    def verify(self) -> None:
        if self.data < 0:
            raise VerifyException(f"a register's number must be at least 0, but is {self.data}")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        with parser.in_angle_brackets():
            return parser.parse_integer(allow_boolean=False)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


@irdl_attr_definition
class ObjectType(ParametrizedAttribute, TypeAttribute, DeviceCarrier):
    """
    The type of a register's value that is not a tensor: a tuple, data, a closure or a
    reference, on a device.
    """

    name = "bytecode.object"

    device: VirtualDeviceAttr | NoneAttr = param_def()

    @property
    def carried_device(self) -> VirtualDeviceAttr | None:
        return self.device if isinstance(self.device, VirtualDeviceAttr) else None

    def with_device(self, device: VirtualDeviceAttr | None) -> Self:
        return type(self)(NoneAttr() if device is None else device)


_REGISTER = base(RegisterAttr)
_INTEGER = IntegerAttr.constr()
_DIMS = Dims.constr()


def constraint_of(kind: Kind) -> IRDLAttrConstraint[Attribute]:
    """Return the constraint on the property for a field of this kind."""
    match kind:
        case Kind.READ | Kind.WRITE:
            return _REGISTER
        case Kind.READS | Kind.WRITES:
            return irdl_to_attr_constraint(ArrayAttr[RegisterAttr])
        case Kind.READ_OR_INTEGER:
            return _REGISTER | _INTEGER
        case Kind.READS_OR_INTEGERS:
            return irdl_to_attr_constraint(ArrayAttr[RegisterAttr | IntegerAttr[I64]])
        case Kind.READ_OR_DIMS:
            return _REGISTER | _DIMS
        case Kind.FUNCTION | Kind.KERNEL | Kind.CONSTANT:
            return base(SymbolRefAttr)
        case Kind.DEVICE:
            return base(VirtualDeviceAttr)
        case Kind.JUMP | Kind.INTEGER:
            return irdl_to_attr_constraint(IntegerAttr[I64])
        case Kind.INTEGERS | Kind.SHAPE:
            return _DIMS
        case Kind.DTYPE:
            return base(TypeAttribute)
        case Kind.TEXT:
            return base(StringAttr)


def _parse_register(parser: Parser) -> RegisterAttr:
    at = parser.pos
    word = parser.parse_identifier(" of a register")
    if re.fullmatch(r"r\d+", word) is None:
        parser.raise_error(f"expected a register like r3, but got {word}", at, parser.pos)
    return RegisterAttr(int(word[1:]))


def _parse_integer(parser: Parser) -> IntegerAttr[I64]:
    return IntegerAttr(parser.parse_integer(allow_boolean=False), i64)


def _parse_register_or_integer(parser: Parser) -> Attribute:
    value = parser.parse_optional_integer(allow_boolean=False)
    return _parse_register(parser) if value is None else IntegerAttr(value, i64)


def parse_integers(parser: Parser) -> Dims:
    """Parse a list of integers in brackets."""
    dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return i64_array(dims)


def _parse_register_or_dims(parser: Parser) -> Attribute:
    dims = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return _parse_register(parser) if dims is None else i64_array(dims)


def _parse_shape(parser: Parser) -> Dims:
    at = parser.pos
    dims = parser.parse_dimension_list()
    if DYNAMIC_INDEX in dims:
        parser.raise_error("expected static dims; alloc_tensor_reg has others", at, parser.pos)
    if dims:
        parser.parse_shape_delimiter()
    return i64_array(dims)


def _parse_list(item: Callable[[Parser], Attribute], parser: Parser) -> Attribute:
    return ArrayAttr(
        parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: item(parser))
    )


def parse_field(kind: Kind, parser: Parser) -> Attribute:
    """Parse a field of this kind."""
    match kind:
        case Kind.READ | Kind.WRITE:
            return _parse_register(parser)
        case Kind.READS | Kind.WRITES:
            return _parse_list(_parse_register, parser)
        case Kind.READ_OR_INTEGER:
            return _parse_register_or_integer(parser)
        case Kind.READS_OR_INTEGERS:
            return _parse_list(_parse_register_or_integer, parser)
        case Kind.READ_OR_DIMS:
            return _parse_register_or_dims(parser)
        case Kind.FUNCTION | Kind.KERNEL | Kind.CONSTANT:
            return SymbolRefAttr(parser.parse_symbol_name())
        case Kind.DEVICE:
            return parse_device(parser)
        case Kind.JUMP | Kind.INTEGER:
            return _parse_integer(parser)
        case Kind.INTEGERS:
            return parse_integers(parser)
        case Kind.SHAPE:
            return _parse_shape(parser)
        case Kind.DTYPE:
            return parser.parse_type()
        case Kind.TEXT:
            return StringAttr(parser.parse_str_literal())


def print_field(value: Attribute, kind: Kind, printer: Printer) -> None:
    """Print `value` so that `parse_field` accepts it."""
    match value:
        case RegisterAttr():
            printer.print_string(f"r{value.data}")
        case IntegerAttr():
            printer.print_string(str(cast(IntegerAttr[I64], value).value.data))
        case ArrayAttr():
            with printer.in_parens():
                printer.print_list(value, lambda item: print_field(item, kind, printer))
        case DenseArrayBase() if kind is Kind.SHAPE:
            printer.print_string("".join(f"{dim}x" for dim in cast(Dims, value).get_values()))
        case DenseArrayBase():
            printer.print_string(str(list(cast(Dims, value).get_values())))
        case _:
            printer.print_attribute(value)


Resolve: TypeAlias = Callable[[Kind, Attribute], int]
"""Returns the index of a function, kernel, constant or device."""


def _register(value: RegisterAttr, resolve: Resolve) -> int:
    return value.data


def _registers(value: ArrayAttr[RegisterAttr], resolve: Resolve) -> tuple[int, ...]:
    return tuple([register.data for register in value.data])


def _number(value: Attribute, resolve: Resolve) -> int | Reg:
    if isinstance(value, RegisterAttr):
        return Reg(value.data)
    return cast("IntegerAttr[I64]", value).value.data


def _numbers(value: ArrayAttr[Attribute], resolve: Resolve) -> tuple[int | Reg, ...]:
    return tuple([_number(item, resolve) for item in value.data])


def _integers(value: Dims, resolve: Resolve) -> tuple[int, ...]:
    return integers_of(value)


def _register_or_dims(value: RegisterAttr | Dims, resolve: Resolve) -> Reg | tuple[int, ...]:
    return Reg(value.data) if isinstance(value, RegisterAttr) else integers_of(value)


def _index_of(kind: Kind) -> Callable[[Attribute, Resolve], int]:
    return lambda value, resolve: resolve(kind, value)


def _dtype(value: Attribute, resolve: Resolve) -> str:
    name = dtype_name(value)
    if name is None:
        raise VerifyException(f"the machine has no elements of type {value}")
    return name


def _text(value: StringAttr, resolve: Resolve) -> str:
    return value.data


VALUE_OF: Mapping[Kind, Callable[[Any, Resolve], Any]] = {
    Kind.READ: _register,
    Kind.WRITE: _register,
    Kind.READS: _registers,
    Kind.WRITES: _registers,
    Kind.READ_OR_INTEGER: _number,
    Kind.READS_OR_INTEGERS: _numbers,
    Kind.READ_OR_DIMS: _register_or_dims,
    Kind.JUMP: _number,
    Kind.INTEGER: _number,
    Kind.INTEGERS: _integers,
    Kind.SHAPE: _integers,
    Kind.DTYPE: _dtype,
    Kind.TEXT: _text,
    **{kind: _index_of(kind) for kind in (Kind.FUNCTION, Kind.KERNEL, Kind.CONSTANT, Kind.DEVICE)},
}
"""
Functions that return the value of an instruction's field for the machine, by its kind.

They raise `VerifyException` for an element type that the machine does not have.
"""
