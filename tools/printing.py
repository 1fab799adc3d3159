"""
Print a module as text, with the choices of the command line.

Constants with more elements than `elide_above` are printed as
`dense_resource<__elided__>`, as mlir-opt does: short, and not to be parsed again.
"""

from dataclasses import dataclass
from io import StringIO
from math import isfinite
from typing import IO, Any, cast

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer

LONGEST_LIST = 100
"""Longer constants are printed in hex anyway, by xDSL."""


@dataclass(frozen=True)
class PrintOptions:
    """How a module is printed."""

    generic: bool = False
    properties_as_attributes: bool = False
    debuginfo: bool = False
    colored: bool = False
    elide_above: int | None = None
    """The most elements that a constant may have to be printed; None is any number."""


class ElidingPrinter(Printer):
    """
    Leaves out the elements of big constants; puts what functions give in parentheses where needed.
    """

    elide_above: int | None = None

    @override
    def print_op(self, op: Operation) -> None:
        if not isinstance(op, FuncOp) or not _gives_function(op) or self.print_generic_format:
            super().print_op(op)
            return
        op.res_attrs = ArrayAttr([DictionaryAttr({})])
        try:
            super().print_op(op)
        finally:
            op.res_attrs = None

    @override
    def print_attribute(self, attribute: Attribute) -> None:
        if self.elide_above is not None:
            type_ = _type_if_long(attribute, self.elide_above)
            if type_ is not None:
                self.print_string("dense_resource<__elided__> : ")
                super().print_attribute(type_)
                return
        text = _hex_if_not_finite(attribute)
        if text is not None:
            self.print_string(f'dense<"0x{text}"> : ')
            attribute = cast("DenseIntOrFPElementsAttr[Any]", attribute).type
        super().print_attribute(attribute)


def _hex_if_not_finite(attribute: Attribute) -> str | None:
    """
    The bytes of a short constant that has an infinity or a NaN, in hex; None for others.

    xDSL prints `0xff800000` for such an element and reads that as the number 4286578688.0.
    """
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        return None
    elements = cast("DenseIntOrFPElementsAttr[Any]", attribute)
    if not isinstance(elements.type.element_type, AnyFloat) or len(elements) > LONGEST_LIST:
        return None
    if all(map(isfinite, elements.get_values())):
        return None
    return elements.data.data.hex().upper()


def _gives_function(op: FuncOp) -> bool:
    """
    Whether `op`'s one result is a function, without attributes.

    xDSL prints `-> (A) -> B` for it and reads that as the result `A`; with attributes, even
    none, it prints `-> ((A) -> B)`.
    """
    outputs = op.function_type.outputs.data
    return len(outputs) == 1 and isinstance(outputs[0], FunctionType) and op.res_attrs is None


def _type_if_long(attribute: Attribute, most: int) -> Attribute | None:
    """The type of a constant of more than `most` elements that are not all the same."""
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        return None
    elements = cast("DenseIntOrFPElementsAttr[Any]", attribute)
    count = len(elements)
    if count <= most:
        return None
    data = elements.data.data
    first = data[: len(data) // count]
    return None if first * count == data else elements.type


def print_module(ctx: Context, module: ModuleOp, stream: IO[str], options: PrintOptions) -> None:
    """Write `module` and the resources that it refers to, and an end of line."""
    kind = ElidingPrinter
    if options.colored:
        kind = _colored()
    printer = kind(
        stream=stream,
        print_generic_format=options.generic,
        print_properties_as_attributes=options.properties_as_attributes,
        print_debuginfo=options.debuginfo,
    )
    printer.elide_above = options.elide_above
    printer.print_op(module)
    printer.print_metadata(ctx.loaded_dialects)
    stream.write("\n")


def _colored() -> type[ElidingPrinter]:
    from xdsl.syntax_printer import SyntaxPrinter

    class ColoredPrinter(ElidingPrinter, SyntaxPrinter):
        """With colours for a terminal."""

    return ColoredPrinter


def module_text(ctx: Context, module: ModuleOp, options: PrintOptions) -> str:
    """The module as one string."""
    stream = StringIO()
    print_module(ctx, module, stream, options)
    return stream.getvalue()
