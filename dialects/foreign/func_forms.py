"""
Properties of functions and calls that xDSL lacks.

    func.func @f(%x: f32) attributes {no_inline} { … }
    %r = func.call @f(%x) {arg_attrs = [{llvm.nocapture}], no_inline} : (f32) -> f32

`no_inline` of a function is printed among its attributes, as by `mlir-opt`. Of a declaration, xDSL
drops the attributes of parameters and results. A function type that is the only result it prints as
`-> (A) -> B`, which it parses as the result `A`; here it is `-> ((A) -> B)`.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import ParsePropInAttrDict, base
from xdsl.irdl.declarative_assembly_format import FunctionalTypeDirective
from xdsl.parser import Parser
from xdsl.printer import Printer

from ..xdsl_extras.late_definitions import add_properties, use_form, use_format
from ..xdsl_extras.xdsl_internals import print_functional_type
from .form_parts import print_group

NO_INLINE = "no_inline"

Attributes = dict[str, Attribute]

LIST, DICTIONARY = "parse_comma_separated_list", "parse_optional_dictionary_attr_dict"
"""The methods of the parser that read parameters, and the attributes of each."""

_parse, _print = func.FuncOp.parse, func.FuncOp.print


@contextmanager
def listed_attributes(parser: Parser) -> Generator[list[Attributes]]:
    """List the attributes of each item of the next list that is parsed in this block."""
    listed, patched = list[Attributes](), vars(parser)
    parse_list, parse_attributes = (getattr(parser, name) for name in (LIST, DICTIONARY))

    def parse_items(delimiter: Parser.Delimiter, parse: Callable[[], Any]) -> Any:
        def parse_item() -> Any:
            begun = list[Attributes]()  # another one follows a location, or is in the first

            def parse_begun() -> Attributes:
                at = len(begun)
                begun.append({})
                begun[at] = parse_attributes()
                return begun[at]

            patched[DICTIONARY] = parse_begun
            item = parse()
            listed.append(begun[0] if begun else {})
            return item

        del patched[LIST]
        items = parse_list(delimiter, parse_item)
        patched.pop(DICTIONARY, None)
        return items

    patched[LIST] = parse_items
    try:
        yield listed
    finally:
        for name in (LIST, DICTIONARY):
            patched.pop(name, None)


def parse_function(cls: type[func.FuncOp], parser: Parser) -> func.FuncOp:
    """Parse a function."""
    with listed_attributes(parser) as listed:
        op = _parse(parser)
    if not op.body.blocks and any(listed):
        op.arg_attrs = ArrayAttr(map(DictionaryAttr, listed))
    if NO_INLINE in op.attributes:
        op.properties[NO_INLINE] = op.attributes.pop(NO_INLINE)
    return op


def print_function(self: func.FuncOp, printer: Printer) -> None:
    """Print a function."""
    inherent = {k: v for k, v in self.properties.items() if k == NO_INLINE}
    given, outputs = self.res_attrs, self.function_type.outputs.data
    self.attributes |= inherent
    if given is None and len(outputs) == 1 and isinstance(outputs[0], FunctionType):
        self.res_attrs = ArrayAttr([DictionaryAttr({})])  # even if empty, in parentheses
    try:
        if self.body.blocks or not (self.arg_attrs or self.res_attrs):
            _print(self, printer)
        else:
            print_declaration(self, printer)
    finally:
        self.res_attrs = given
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
    FunctionalTypeDirective.print = print_functional_type
    of_values = base(ArrayAttr)
    add_properties(func.CallOp, arg_attrs=of_values, res_attrs=of_values, no_inline=base(UnitAttr))
    func.CallOp.get_irdl_definition().options.append(ParsePropInAttrDict())
    use_format(
        func.CallOp, "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"
    )
