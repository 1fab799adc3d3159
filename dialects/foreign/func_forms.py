"""
Properties of functions and calls that xDSL lacks.

    func.func @f(%x: f32) attributes {no_inline} { … }
    %r = func.call @f(%x) {arg_attrs = [{llvm.nocapture}], no_inline} : (f32) -> f32

`no_inline` of a function is printed among its attributes, as by `mlir-opt`. Of a declaration, xDSL
drops the attributes of parameters and results.
"""

from functools import cache

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, LocationAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import ParsePropInAttrDict, base
from xdsl.parser import Parser
from xdsl.printer import Printer

from ..xdsl_extras.late_definitions import add_properties, replaced, use_form, use_format
from .form_parts import print_group

NO_INLINE = "no_inline"

Dictionaries = list[dict[str, Attribute]]

_parse, _print = func.FuncOp.parse, func.FuncOp.print


def parse_function(cls: type[func.FuncOp], parser: Parser) -> func.FuncOp:
    """Parse a function; the first dictionaries, each before a location, are of its parameters."""
    listed, parse_attributes = Dictionaries(), parser.parse_optional_dictionary_attr_dict
    at_end = -1

    def parse_listed() -> dict[str, Attribute]:
        nonlocal at_end
        start, attributes = parser.pos, parse_attributes()
        if start != at_end:
            listed.append(attributes)
        return attributes

    def parse_location() -> LocationAttr | None:
        nonlocal at_end
        location = find_location()
        at_end = -1 if location is None else parser.pos
        return location

    find_location = parser.parse_optional_location
    with (
        replaced(parser, "parse_optional_dictionary_attr_dict", parse_listed, parse_attributes),
        replaced(parser, "parse_optional_location", parse_location, find_location),
    ):
        op = _parse(parser)
    attributes = listed[: len(op.function_type.inputs)]
    if not op.body.blocks and any(attributes):
        op.arg_attrs = ArrayAttr(map(DictionaryAttr, attributes))
    if NO_INLINE in op.attributes:
        op.properties[NO_INLINE] = op.attributes.pop(NO_INLINE)
    return op


def print_function(self: func.FuncOp, printer: Printer) -> None:
    """Print a function."""
    inherent = {k: v for k, v in self.properties.items() if k == NO_INLINE}
    self.attributes |= inherent
    if self.body.blocks or not (self.arg_attrs or self.res_attrs):
        _print(self, printer)
    else:
        print_declaration(self, printer)
    for name in inherent:
        del self.attributes[name]


def print_declaration(op: func.FuncOp, printer: Printer) -> None:
    """Print a function without a body, whose parameters or results have attributes."""

    def print_entry(entry: tuple[Attribute, DictionaryAttr]) -> None:
        printer.print_attribute(entry[0])
        printer.print_op_attributes(entry[1].data)

    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    printer.print_string(f" {op.sym_visibility.data} " if op.sym_visibility else " ")
    printer.print_symbol_name(op.sym_name.data)
    entries = op.arg_attrs or [DictionaryAttr({})] * len(inputs)
    print_group(printer, "", zip(inputs, entries, strict=True), print_entry)
    if outputs:
        entries = op.res_attrs or [DictionaryAttr({})] * len(outputs)
        print_group(printer, " -> ", zip(outputs, entries, strict=True), print_entry)
    printer.print_op_attributes(op.attributes, print_keyword=True)


@cache
def mend_func() -> None:
    """Give ops of func what they lack, once."""
    add_properties(func.FuncOp, no_inline=base(UnitAttr))
    use_form(func.FuncOp, parse_function, print_function)
    of_values = base(ArrayAttr)
    add_properties(func.CallOp, arg_attrs=of_values, res_attrs=of_values, no_inline=base(UnitAttr))
    func.CallOp.get_irdl_definition().options.append(ParsePropInAttrDict())
    use_format(
        func.CallOp, "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"
    )
