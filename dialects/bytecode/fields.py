"""The fields of instructions as properties of ops: their attributes and their text, by kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias, cast

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

from ...operators.records import record
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


def print_field(value: Attribute, kind: Kind, printer: Printer) -> None:
    """Print `value` as the form of its kind parses it."""
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


def _number(value: Attribute, resolve: Resolve) -> int | Reg:
    if isinstance(value, RegisterAttr):
        return Reg(value.data)
    return cast("IntegerAttr[I64]", value).value.data


def _numbers(value: ArrayAttr[Attribute], resolve: Resolve) -> tuple[int | Reg, ...]:
    return tuple([_number(item, resolve) for item in value.data])


def _register_or_dims(value: RegisterAttr | Dims, resolve: Resolve) -> Reg | tuple[int, ...]:
    return Reg(value.data) if isinstance(value, RegisterAttr) else integers_of(value)


def _dtype(value: Attribute, resolve: Resolve) -> str:
    name = dtype_name(value)
    if name is None:
        raise VerifyException(f"the machine has no elements of type {value}")
    return name


@record
class FieldForm:
    """A field of an instruction: its attribute, its text, and its value for the machine."""

    constraint: IRDLAttrConstraint[Attribute]
    parse: Callable[[Parser], Attribute]
    value: Callable[[Any, Resolve], Any]
    """Raises `VerifyException` for an element type that the machine does not have."""


def _forms() -> Iterator[tuple[Kind, FieldForm]]:
    register, dims, integer = base(RegisterAttr), Dims.constr(), IntegerAttr.constr()
    i64s = irdl_to_attr_constraint(IntegerAttr[I64])
    registers = irdl_to_attr_constraint(ArrayAttr[RegisterAttr])
    either = irdl_to_attr_constraint(ArrayAttr[RegisterAttr | IntegerAttr[I64]])
    for kind in (Kind.READ, Kind.WRITE):
        yield kind, FieldForm(register, _parse_register, lambda value, _: value.data)
    for kind in (Kind.READS, Kind.WRITES):
        items = partial(_parse_list, _parse_register)
        yield (
            kind,
            FieldForm(registers, items, lambda value, _: tuple([r.data for r in value])),
        )
    for kind in (Kind.JUMP, Kind.INTEGER):
        yield kind, FieldForm(i64s, _parse_integer, _number)
    for kind in (Kind.FUNCTION, Kind.KERNEL, Kind.CONSTANT):
        yield (
            kind,
            FieldForm(
                base(SymbolRefAttr),
                lambda parser: SymbolRefAttr(parser.parse_symbol_name()),
                lambda value, resolve, kind=kind: resolve(kind, value),
            ),
        )
    device = base(VirtualDeviceAttr)
    yield Kind.DEVICE, FieldForm(device, parse_device, lambda value, of: of(Kind.DEVICE, value))
    yield Kind.READ_OR_INTEGER, FieldForm(register | integer, _parse_register_or_integer, _number)
    items = partial(_parse_list, _parse_register_or_integer)
    yield Kind.READS_OR_INTEGERS, FieldForm(either, items, _numbers)
    yield Kind.READ_OR_DIMS, FieldForm(register | dims, _parse_register_or_dims, _register_or_dims)
    yield Kind.INTEGERS, FieldForm(dims, parse_integers, lambda value, _: integers_of(value))
    yield Kind.SHAPE, FieldForm(dims, _parse_shape, lambda value, _: integers_of(value))
    yield Kind.DTYPE, FieldForm(base(TypeAttribute), Parser.parse_type, _dtype)
    yield (
        Kind.TEXT,
        FieldForm(
            base(StringAttr),
            lambda parser: StringAttr(parser.parse_str_literal()),
            lambda value, _: value.data,
        ),
    )


FORMS: Mapping[Kind, FieldForm] = dict(_forms())
"""The forms of fields, by kind."""
