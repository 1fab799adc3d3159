"""
Print a module as text, with the choices of the command line.

    #cuda0 = #relay.device<cuda:0>
    builtin.module {
      func.func private @f(tensor<4xf32, #cuda0>)

Devices are abbreviated by attribute aliases, which are defined before the module in the order in
which the text first uses them. Constants with more elements than `elide_above` are printed as
`dense_resource<__elided__>`, as mlir-opt does: short, but it cannot be parsed again.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from math import isfinite
from typing import IO, Any, NamedTuple, cast

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IntAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i1,
)
from xdsl.ir import Attribute
from xdsl.printer import Printer

from ...dialects.device import VirtualDeviceAttr
from ...dialects.xdsl_extras.locations_at_ends import LocationsAtEnds
from ...operators.records import record

LONGEST_LIST = 100
"""Longer constants are printed in hex anyway, by xDSL."""

LONGEST_WORD = 24
"""An alias has at most this many characters of each field of its device."""


@record
class PrintOptions:
    """Options for printing a module."""

    generic: bool = False
    properties_as_attributes: bool = False
    debuginfo: bool = False
    colored: bool = False
    aliases: bool = True
    """Abbreviate devices by aliases."""
    elide_above: int | None = None
    """The maximum number of elements of a constant that is printed; None is no limit."""


def suggested_alias(device: VirtualDeviceAttr) -> str:
    """
    Return a readable name for `device`: `cuda0`, `cpu`, `cpu0_llvm_global`; `device` for `?`.

    Several devices may have the same.
    """
    kind = device.device_type.data if isinstance(device.device_type, StringAttr) else "device"
    number = str(device.device_id.data) if isinstance(device.device_id, IntAttr) else ""
    words = [kind + number]
    for text in (device.target, device.scope):
        if isinstance(text, StringAttr):
            words += text.data.split()[:1]
    return re.sub(r"\W", "_", "_".join(word[:LONGEST_WORD] for word in words), flags=re.ASCII)


@dataclass
class DeviceAliases:
    """The devices that a text uses, and the alias of each, in order of first use."""

    names: dict[VirtualDeviceAttr, str] = field(default_factory=dict[VirtualDeviceAttr, str])
    uses: dict[str, int] = field(default_factory=dict[str, int])
    """Number of devices for each name; all but the first have a number appended."""

    def name(self, device: VirtualDeviceAttr) -> str:
        """Return the alias of `device`, such as `#cuda0`."""
        name = self.names.get(device)
        if name is None:
            name = self.names[device] = self._unused(f"#{suggested_alias(device)}")
        return name

    def _unused(self, base: str) -> str:
        name = base
        while name in self.uses:
            name = f"{base}_{self.uses[base]}"
            self.uses[base] += 1
        self.uses[name] = 1
        return name

    def definitions(self) -> Iterator[str]:
        """Return the lines that define the aliases."""
        return (f"{name} = {device}\n" for device, name in self.names.items())


class _Printed(NamedTuple):
    """An attribute, which is kept so that no other has its address, and its text."""

    attribute: Attribute
    text: str


class ModulePrinter(LocationsAtEnds):
    """
    Print devices by their aliases and big constants without elements.

    The text of a tensor type is made once.
    """

    elide_above: int | None = None
    aliases: DeviceAliases | None = None

    @cached_property
    def _texts(self) -> dict[int, _Printed]:
        """The tensor types that were printed, by address, as hashing one takes as long."""
        return {}

    @override
    def print_attribute(self, attribute: Attribute) -> None:
        if type(attribute) is not TensorType:
            self._print_attribute(attribute)
            return
        printed = self._texts.get(id(attribute))
        if printed is None:
            stream, self.stream = self.stream, StringIO()
            self._print_attribute(attribute)
            printed = self._texts[id(attribute)] = _Printed(attribute, self.stream.getvalue())
            self.stream = stream
        self.print_string(printed.text)

    def _print_attribute(self, attribute: Attribute) -> None:
        if isinstance(attribute, VirtualDeviceAttr) and self.aliases is not None:
            self.print_string(self.aliases.name(attribute))
            return
        if isinstance(attribute, DenseResourceAttr):
            key = resource_key(attribute.resource_handle.data)
            if key.startswith('"'):  # xDSL would not quote it
                self.print_string(f"dense_resource<{key}> : ")
                super().print_attribute(attribute.type)
                return
        elements = _elements(attribute)
        if elements is not None:
            if self.elide_above is not None and _is_long(elements, self.elide_above):
                text = "dense_resource<__elided__>"
            else:
                text = _hex_if_not_finite(elements) or _list_if_bools(elements)
            if text is not None:
                self.print_string(f"{text} : ")
                super().print_attribute(elements.type)
                return
        super().print_attribute(attribute)


def resource_key(name: str) -> str:
    """Return the name of a resource as it is written: quoted unless it is an identifier."""
    stream = StringIO()
    Printer(stream=stream).print_identifier_or_string_literal(name)
    return stream.getvalue()


def _elements(attribute: Attribute) -> DenseIntOrFPElementsAttr[Any] | None:
    is_dense = isinstance(attribute, DenseIntOrFPElementsAttr)
    return cast("DenseIntOrFPElementsAttr[Any]", attribute) if is_dense else None


def _hex_if_not_finite(elements: DenseIntOrFPElementsAttr[Any]) -> str | None:
    """
    Return a short constant with an infinity or a NaN as its bytes, in hex; None for others.

    xDSL prints such an element as `0xff800000`, which it parses as the number 4286578688.0.
    """
    if not isinstance(elements.type.element_type, AnyFloat) or len(elements) > LONGEST_LIST:
        return None
    if all(map(isfinite, elements.get_values())):
        return None
    return f'dense<"0x{elements.data.data.hex().upper()}">'


def _list_if_bools(elements: DenseIntOrFPElementsAttr[Any]) -> str | None:
    """
    Return a long constant of bools as lists; None for others.

    xDSL prints a byte for each in hex, where MLIR reads a bit.
    """
    data = elements.data.data
    if elements.type.element_type != i1 or len(data) <= LONGEST_LIST or len(set(data)) == 1:
        return None
    words = ["true" if byte else "false" for byte in data]
    for dim in reversed(elements.type.get_shape()):
        words = [f"[{', '.join(words[i : i + dim])}]" for i in range(0, len(words), dim)]
    return f"dense<{words[0]}>"


def _is_long(elements: DenseIntOrFPElementsAttr[Any], most: int) -> bool:
    """Test whether a constant has more than `most` elements, and is not a splat."""
    count, data = len(elements), elements.data.data
    return count > most and data[: len(data) // count] * count != data


def print_module(ctx: Context, module: ModuleOp, stream: IO[str], options: PrintOptions) -> None:
    """Write `module`, the aliases and resources that it refers to, and an end of line."""
    body = StringIO()
    printer = (_colored() if options.colored else ModulePrinter)(
        stream=body,
        print_generic_format=options.generic,
        print_properties_as_attributes=options.properties_as_attributes,
        print_debuginfo=options.debuginfo,
    )
    printer.elide_above = options.elide_above
    printer.aliases = DeviceAliases() if options.aliases else None
    printer.print_op(module)
    if any(dialect.name == "builtin" for dialect in ctx.loaded_dialects):  # it has the resources
        printer.print_metadata(ctx.loaded_dialects)
    if printer.aliases is not None:
        stream.writelines(printer.aliases.definitions())
    stream.write(body.getvalue())
    stream.write("\n")


def _colored() -> type[ModulePrinter]:
    from xdsl.syntax_printer import SyntaxPrinter

    class ColoredPrinter(ModulePrinter, SyntaxPrinter):
        """A printer with colours for a terminal."""

    return ColoredPrinter


def module_text(ctx: Context, module: ModuleOp, options: PrintOptions) -> str:
    """Return the module as one string."""
    stream = StringIO()
    print_module(ctx, module, stream, options)
    return stream.getvalue()
