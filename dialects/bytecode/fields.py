"""The syntax of the fields of `bytecode` ops: registers as `r3`, all others as in MLIR."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, member
from functools import cache
from typing import Any, ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import IRDLOperation, irdl_attr_definition, param_def
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..device import DeviceCarrier, VirtualDeviceAttr

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


def _parse_dims(parser: Parser) -> Dims:
    dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i64, dims)


def _parse_register_or_dims(parser: Parser) -> Attribute:
    dims = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return _parse_register(parser) if dims is None else DenseArrayBase.from_list(i64, dims)


def _parse_registers(parser: Parser) -> Attribute:
    return ArrayAttr(
        parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_register(parser))
    )


def _parse_registers_or_integers(parser: Parser) -> Attribute:
    return ArrayAttr(
        parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_register_or_integer(parser)
        )
    )


def _parse_types(parser: Parser) -> Attribute:
    return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))


def _parse_reference(parser: Parser) -> Attribute:
    return SymbolRefAttr(parser.parse_symbol_name())


def _parse_attribute(parser: Parser) -> Attribute:
    return parser.parse_attribute()


def _parse_type(parser: Parser) -> Attribute:
    return parser.parse_type()


def _parse_string(parser: Parser) -> Attribute:
    return StringAttr(parser.parse_str_literal())


def _parse_name(parser: Parser) -> Attribute:
    return parser.parse_symbol_name()


def _parse_attrs(parser: Parser) -> Attribute:
    return DictionaryAttr(parser.parse_optional_attr_dict())


def _parse_value(parser: Parser) -> Attribute:
    number = parser.parse_optional_integer(allow_boolean=False)
    return parser.parse_attribute() if number is None else IntegerAttr(number, i64)


class FieldKind(Enum):
    """The kinds of fields: their contents and their syntax."""

    REGISTER = member(_parse_register)
    REGISTERS = member(_parse_registers)
    INTEGER = member(_parse_integer)
    REGISTER_OR_INTEGER = member(_parse_register_or_integer)
    REGISTERS_OR_INTEGERS = member(_parse_registers_or_integers)
    DIMS = member(_parse_dims)
    REGISTER_OR_DIMS = member(_parse_register_or_dims)
    SYMBOL = member(_parse_reference)
    NAME = member(_parse_name)
    STRING = member(_parse_string)
    DEVICE = member(_parse_attribute)
    TYPE = member(_parse_type)
    TYPES = member(_parse_types)
    ATTRIBUTES = member(_parse_attrs)
    VALUE = member(_parse_value)

    def read(self, parser: Parser) -> Attribute:
        """Parse a field of this kind."""
        return cast(Callable[[Parser], Attribute], self.value)(parser)


_NAMES: Mapping[FieldKind, str] = {
    FieldKind.REGISTER: "dst src out result closure storage data ref tensor test target register "
    "lhs rhs total",
    FieldKind.REGISTERS: "args ins outs fields captured values offsets",
    FieldKind.INTEGER: "tag field alignment true_offset false_offset register_count",
    FieldKind.REGISTER_OR_INTEGER: "size offset",
    FieldKind.REGISTERS_OR_INTEGERS: "sizes",
    FieldKind.DIMS: "inputs outputs host_inputs lifetimes arms",
    FieldKind.REGISTER_OR_DIMS: "shape",
    FieldKind.SYMBOL: "function kernel constant",
    FieldKind.NAME: "sym_name",
    FieldKind.STRING: "op param operation check message",
    FieldKind.DEVICE: "device src_device dst_device",
    FieldKind.TYPE: "type element_type",
    FieldKind.TYPES: "types",
    FieldKind.ATTRIBUTES: "attrs",
    FieldKind.VALUE: "value",
}

FIELDS: Mapping[str, FieldKind] = {
    name: kind for kind, names in _NAMES.items() for name in names.split()
}
"""The kind of each field of an instruction, by the field's name."""


def print_field(value: Attribute, name: str, printer: Printer) -> None:
    """Print `value` so that it can be parsed as a field of its kind."""
    match value:
        case RegisterAttr():
            printer.print_string(f"r{value.data}")
        case IntegerAttr():
            printer.print_string(str(cast(IntegerAttr[I64], value).value.data))
        case ArrayAttr():
            with printer.in_parens():
                printer.print_list(value, lambda v: print_field(v, "", printer))
        case DenseArrayBase():
            dims = cast(tuple[int, ...], cast(Any, value).get_values())
            printer.print_string(str(list(dims)))
        case StringAttr() if name == "sym_name":
            printer.print_symbol_name(value.data)
        case _:
            printer.print_attribute(value)


@dataclass(frozen=True)
class Piece:
    """A part of a syntax: literal text, then a field (None at the end); it may be optional."""

    words: str
    field: str | None
    optional: bool

    @property
    def tokens(self) -> list[str]:
        return re.findall(r"->|\w+|[^\s\w]", self.words)


@cache
def _pieces(syntax: str) -> list[Piece]:
    pieces: list[Piece] = []
    for part in re.findall(r"\(\?[^)]*\)|(?:(?!\(\?).)+", syntax):
        optional = part.startswith("(?")
        body = part[2:-1] if optional else part
        for words, field in re.findall(r"([^$]*)(?:\$(\w+)|$)", body):
            if words or field:
                pieces.append(Piece(words, field or None, optional))
    return pieces


def _parse_literal(token: str, parser: Parser) -> None:
    if token[0].isalpha():
        parser.parse_keyword(token)
    else:
        parser.parse_punctuation(cast(Any, token))


def _found_literal(token: str, parser: Parser) -> bool:
    if token[0].isalpha():
        return parser.parse_optional_keyword(token) is not None
    return parser.parse_optional_punctuation(cast(Any, token)) is not None


def parse_by_syntax(syntax: str, parser: Parser) -> dict[str, Attribute]:
    """Parse the fields of `syntax` in order; an optional part is present if its first word is."""
    properties: dict[str, Attribute] = {}
    for piece in _pieces(syntax):
        tokens = piece.tokens
        if piece.optional and not _found_literal(tokens.pop(0), parser):
            continue
        for token in tokens:
            _parse_literal(token, parser)
        if piece.field is not None:
            properties[piece.field] = FIELDS[piece.field].read(parser)
    return properties


def print_by_syntax(syntax: str, properties: Mapping[str, Attribute], printer: Printer) -> None:
    """Print the fields of `syntax` in order, without the optional parts whose field is absent."""
    for piece in _pieces(syntax):
        if piece.optional and piece.field not in properties:
            continue
        printer.print_string(piece.words)
        if piece.field is not None:
            print_field(properties[piece.field], piece.field, printer)


class SyntaxOp(IRDLOperation):
    """An op whose custom syntax is declared in `SYNTAX`: literal text and `$fields`."""

    SYNTAX: ClassVar[str]
    """For example `$dst, $storage[$offset] : $type`; `(? …)` encloses an optional part."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = parse_by_syntax(cls.SYNTAX, parser)
        return cls.create(properties=properties, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        if self.SYNTAX:
            printer.print_string(" ")
        print_by_syntax(self.SYNTAX, self.properties, printer)
        printer.print_op_attributes(self.attributes)
