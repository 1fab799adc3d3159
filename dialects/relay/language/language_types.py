"""Types of Relay's functional language: references, data types, and variables for types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Self, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, NoneAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, Region, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ...device import DeviceCarrier, VirtualDeviceAttr, parse_device, with_device
from ...type_algebra import CompositeType, parts, rebuild
from ...xdsl_extras.walking import walk
from ...xdsl_extras.xdsl_internals import set_type

MaybeDevice = VirtualDeviceAttr | NoneAttr


def _device(value: VirtualDeviceAttr | NoneAttr | None) -> MaybeDevice:
    return NoneAttr() if value is None else value


def _parse_optional_device(parser: AttrParser) -> MaybeDevice:
    """Parse `, #relay.device<…>`, if present."""
    if parser.parse_optional_punctuation(",") is None:
        return NoneAttr()
    return parse_device(parser)


def _print_device(device: MaybeDevice, printer: Printer) -> None:
    if isinstance(device, VirtualDeviceAttr):
        printer.print_string(", ")
        printer.print_attribute(device)


@irdl_attr_definition
class RefType(ParametrizedAttribute, TypeAttribute, CompositeType):
    """
    A mutable cell that holds one value, on the device of its contents.

    ```mlir
    !relay.ref<tensor<4xf32>>
    ```
    """

    name = "relay.ref"

    contents: Attribute

    @property
    def parts(self) -> tuple[Attribute, ...]:
        return (self.contents,)

    def with_parts(self, parts: Sequence[Attribute]) -> Self:
        (contents,) = parts
        return type(self)(contents)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (parser.parse_type(),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.contents)


@irdl_attr_definition
class AdtType(ParametrizedAttribute, TypeAttribute, DeviceCarrier, CompositeType):
    """
    The data type defined by `relay.type_data @adt`, instantiated at type arguments.

    ```mlir
    !relay.adt<@List, [tensor<4xf32>]>
    !relay.adt<@List, [tensor<4xf32>], #relay.device<cpu:0>>
    ```

    All tensors in a value of the type are on its device; the arguments carry no device.
    """

    name = "relay.adt"

    adt: SymbolRefAttr
    args: ArrayAttr[Attribute]
    device: VirtualDeviceAttr | NoneAttr = param_def()

    def __init__(
        self,
        adt: str | SymbolRefAttr,
        args: Sequence[Attribute] | ArrayAttr[Attribute] = (),
        device: VirtualDeviceAttr | NoneAttr | None = None,
    ):
        super().__init__(
            SymbolRefAttr(adt) if isinstance(adt, str) else adt,
            args if isinstance(args, ArrayAttr) else ArrayAttr(args),
            _device(device),
        )

    @property
    def parts(self) -> tuple[Attribute, ...]:
        return self.args.data

    def with_parts(self, parts: Sequence[Attribute]) -> Self:
        return type(self)(self.adt, parts, self.device)

    def has_form_of(self, other: Attribute) -> bool:
        return isinstance(other, AdtType) and self.adt == other.adt

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            adt = SymbolRefAttr(parser.parse_symbol_name())
            args: Sequence[Attribute] = ()
            device: MaybeDevice = NoneAttr()
            if parser.parse_optional_punctuation(",") is not None:
                args = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_type)
                device = _parse_optional_device(parser)
            return (adt, ArrayAttr(args), device)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.adt)
            printer.print_string(", ")
            with printer.in_square_brackets():
                printer.print_list(self.args, printer.print_attribute)
            _print_device(self.device, printer)


@irdl_attr_definition
class TypeVarType(ParametrizedAttribute, TypeAttribute, DeviceCarrier):
    """
    A type parameter of the enclosing generic function or data type.

    ```mlir
    !relay.type_var<A>
    ```
    """

    name = "relay.type_var"

    parameter: StringAttr
    device: VirtualDeviceAttr | NoneAttr = param_def()

    def __init__(
        self, parameter: str | StringAttr, device: VirtualDeviceAttr | NoneAttr | None = None
    ):
        super().__init__(
            StringAttr(parameter) if isinstance(parameter, str) else parameter, _device(device)
        )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (
                StringAttr(parser.parse_identifier_or_str_literal()),
                _parse_optional_device(parser),
            )

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_identifier_or_string_literal(self.parameter.data)
            _print_device(self.device, printer)


def substituted(type: Attribute, given: Mapping[str, Attribute]) -> Attribute:
    """`type` with type variables replaced as in `given`, on the variable's device if it has one."""
    if not given:
        return type
    if isinstance(type, TypeVarType):
        replacement, device = given.get(type.parameter.data, type), type.carried_device
        return replacement if device is None else with_device(replacement, device)
    inner = parts(type)
    return rebuild(type, [substituted(part, given) for part in inner]) if inner else type


Replace: TypeAlias = Callable[[Attribute], Attribute]
"""Returns the type in place of a type."""


def replaced_in(attribute: Attribute, replace: Replace) -> Attribute:
    """Replace all types in `attribute`."""
    if isinstance(attribute, TypeAttribute):
        return replace(attribute)
    if isinstance(attribute, ArrayAttr):
        old = cast("ArrayAttr[Attribute]", attribute)
        return ArrayAttr([replaced_in(part, replace) for part in old])
    if isinstance(attribute, ParametrizedAttribute):
        parts = [replaced_in(part, replace) for part in attribute.parameters]
        if any(a is not b for a, b in zip(parts, attribute.parameters, strict=True)):
            return attribute.new(parts)
    return attribute


def replace_types(where: Region | Operation, replace: Replace) -> None:
    """Replace all types in `where`: of values, and in properties."""
    for op in walk(where):
        for name, attribute in op.properties.items():
            op.properties[name] = replaced_in(attribute, replace)
        inner = (argument for r in op.regions for block in r.blocks for argument in block.args)
        for value in (*op.results, *inner):
            set_type(value, replace(value.type))


def substitute(where: Region | Operation, given: Mapping[str, Attribute]) -> None:
    """Replace type variables in `where` by the types `given`."""
    replace_types(where, lambda type: substituted(type, given))
