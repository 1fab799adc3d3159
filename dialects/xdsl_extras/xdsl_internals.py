"""
All uses of private parts of xDSL, with the reason for each.

This is the one file to check when xDSL is upgraded. It has what its public interface lacks as
public names, and functions that replace methods of xDSL while a command runs.
"""

# pyright: reportPrivateUsage=false

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from inspect import getattr_static, getclosurevars
from typing import Any, NamedTuple, cast, get_args

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyFloat,
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    RankedStructure,
    StringAttr,
)
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Dialect,
    Operation,
    OpResult,
    Region,
    SSAValue,
    SSAValues,
    Use,
)
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr
from xdsl.ir.core import IRWithName
from xdsl.irdl import IRDLOperation, OpDef, OptionalDef
from xdsl.irdl.declarative_assembly_format import FunctionalTypeDirective, PrintingState
from xdsl.parser import AttrParser, Parser, ParserState
from xdsl.parser.affine_parser import AffineParser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, OpTrait
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Position, Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

from .walking import walk

XDSL = "0.74"
"""The release of xDSL that this file relies on."""


# ---------------------------------------------------------------------------- IR


def set_type(value: SSAValue, type: Attribute) -> None:
    """
    Change the type of `value` in place; its users stay.

    xDSL can only replace the value by a new one, which rebuilds the results of its op and the
    operands of all its users; a sweep that types every value would do that to each op.
    """
    value._type = type


def file_location(file: StringAttr, line: IntAttr, column: IntAttr) -> FileLineColLoc:
    """
    Return a place in a file.

    The constructor checks the classes of the three parts, which takes most of its time, and a text
    has a place for each op and argument.
    """
    location = FileLineColLoc.__new__(FileLineColLoc)
    vars(location).update(filename=file, line=line, column=column)
    return location


def operands_of(op: Operation) -> tuple[SSAValue, ...]:
    """
    Return the operands of `op` as a tuple.

    `Operation.operands` is a view, all of whose methods are in Python: several times slower, which
    shows where every op of a program is read.
    """
    return tuple(op._operands)


def successors_of(op: Operation) -> tuple[Block, ...]:
    """Return the successors of `op` as a tuple, for the same reason."""
    return tuple(op._successors)


OPERANDS, SUCCESSORS, TYPE = "_operands", "_successors", "_type"
"""The fields of ops, and that of values, that generated code reads."""


def replace_operands(op: Operation, by: Mapping[SSAValue, SSAValue]) -> None:
    """Replace the operands of `op` that are in `by`; `op.operands = …` makes all uses anew."""
    operands = [by.get(operand, operand) for operand in op._operands]
    for old, new, use in zip(op._operands, operands, op._operand_uses, strict=True):
        if new is not old:
            old.remove_use(use)
            new.add_use(use)
    op._operands = SSAValues(operands)


def exchange_results(one: Operation, other: Operation) -> None:
    """
    Give each of two ops the results, with their uses, of the other.

    For a new op that takes the place of another one: no user is changed.
    """
    one.results, other.results = other.results, one.results
    for op in (one, other):
        for result in op.results:
            result.op = op


def append_arguments(block: Block, arguments: Sequence[BlockArgument]) -> None:
    """
    Append arguments that were made for `block` and numbered after those that it has.

    `Block.insert_arg` copies all arguments each time, which is quadratic.
    """
    block._args = (*block.args, *arguments)


def interfaces_of(dialect: Dialect) -> list[Any]:
    """Return the interfaces of `dialect`; xDSL can only look one up by its class."""
    return list(dialect._interfaces)


def add_op(dialect: Dialect, op: type[Operation]) -> None:
    """Add an op to a dialect of xDSL, in place of one of its name; again changes nothing."""
    ops = dialect._operations
    if op not in ops:
        ops[:] = [other for other in ops if other.name != op.name]
        ops.append(op)


def parse_affine_expression(
    parser: Parser, parse_operand: Callable[[], AffineExpr | None]
) -> AffineExpr:
    """Parse an affine expression of operands; xDSL's parser has it only for lists in brackets."""
    return AffineParser(parser._parser_state)._parse_affine_expr(parse_operand)


def add_attribute(dialect: Dialect, attribute: type[Attribute]) -> None:
    """Add an attribute to a dialect of xDSL; again changes nothing."""
    attributes = dialect._attributes
    if attribute not in attributes:
        attributes.append(attribute)


class Verification(NamedTuple):
    """The steps of the method `verify_` that xDSL generates for an op class, in this order."""

    definition: OpDef
    """Checks operands, results, regions, properties and attributes, then all traits."""
    further: Callable[[Any], object] | None
    """The method that the class had before: written in it, or inherited."""


@cache
def verification_of(verify: Callable[[Any], object]) -> Verification | None:
    """Return what the method `verify` of an op class does; None unless xDSL generated it."""
    if verify.__module__ != OpDef.__module__ or verify.__qualname__ != _GENERATED:
        return None
    captured = getclosurevars(verify).nonlocals
    return Verification(captured["op_def"], captured.get("custom_verify"))


_GENERATED = "get_accessors_from_op_def.<locals>.verify_"


@cache
def expected_classes(match: Callable[..., None]) -> tuple[type[Operation], ...] | None:
    """Return the op classes that a method decorated by `op_type_rewrite_pattern` expects."""
    if match.__qualname__ != _DECORATED:
        return None
    expected = getclosurevars(match).nonlocals["expected_type"]
    return get_args(expected) or (expected,)


_DECORATED = "op_type_rewrite_pattern.<locals>.impl"


# ------------------------------------------------------------------------ parsing


UNFORMATTED: Mapping[str, Callable[[Any], object]] = {
    "{first_char}": lambda char: char,
    "{len(self.inputs)}": lambda op: len(op.inputs),
    "{len(self.input_widths)}": lambda op: len(op.input_widths),
}
"""
Placeholders in messages that xDSL does not format, for lack of an `f`, each with its value: of the
character before a name that is missing (its lexer), and of an op (`riscv.parallel_mov`).
"""


def formatted(message: str, subject: object) -> str:
    """Return a message of xDSL about `subject` with values for its placeholders."""
    for placeholder, value in UNFORMATTED.items():
        if placeholder in message:
            message = message.replace(placeholder, str(value(subject)))
    return message


class LinearLexer(MLIRLexer):
    """
    Lex strings in linear time, and every string that is printed as a string; format all errors.

    The expression of xDSL's lexer backtracks: n characters after a quote that is not closed take
    2^n steps. This one never goes back. xDSL's lexer also makes bytes of a string of escapes that
    are UTF-8, which is how every string beyond ASCII is printed.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    @override
    def _lex_prefixed_ident(self, start_pos: Position) -> MLIRToken:
        try:
            return super()._lex_prefixed_ident(start_pos)
        except ParseError as error:
            char = self.input.content[start_pos]
            raise ParseError(error.span, formatted(error.msg, char)) from None

    @override
    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT:
            literal = StringLiteral.from_span(token.span)
            try:
                literal.bytes_contents.decode()
            except UnicodeDecodeError:
                return token
            return Token(MLIRTokenKind.STRING_LIT, literal)
        return token


class Mark(NamedTuple):
    """The number of names in a table."""

    size: int


class ScopedNames(dict[str, tuple[SSAValue, ...]]):
    """
    The names that are visible, a table that grows and goes back to a mark.

    xDSL's parser copies the table at every region, which is quadratic for a function with many
    small regions. It does so by two lines, which find here a table whose copy is a mark, and a
    parser that goes back to the mark:

        old = self.ssa_values.copy()   # remember how many names there are
        ...                            # parse the region
        self.ssa_values = old          # drop the names that came after
    """

    @override
    def copy(self) -> Mark:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the mark to go back to; a `dict` keeps its keys in order of insertion."""
        return Mark(len(self))

    def go_back(self, mark: Mark) -> None:
        """Forget the names that were added since `mark`."""
        for _ in range(len(self) - mark.size):
            self.popitem()


class HookedParser(Parser):
    """
    xDSL's parser with a linear lexer and scoped names, whose steps can be overridden.

    xDSL has no hooks between the text and the op: the steps below are private methods of its
    parser.
    """

    def __init__(self, ctx: Context, text: str, name: str):
        self._names = ScopedNames()
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(LinearLexer(Input(text, name)))

    @property
    def ssa_values(self) -> ScopedNames:
        """The values that have a name here."""
        return self._names

    @ssa_values.setter
    def ssa_values(  # pyright: ignore[reportIncompatibleVariableOverride]
        self, names: Mark | dict[str, tuple[SSAValue, ...]]
    ) -> None:
        if isinstance(names, Mark):
            self._names.go_back(names)
        else:
            self._names = ScopedNames(names)

    @property
    def token(self) -> MLIRToken:
        """The token that is parsed next."""
        return self._current_token

    @property
    def dialect_stack(self) -> list[str]:
        """The dialects of the enclosing ops, whose names may be omitted."""
        return self._parser_state.dialect_stack

    def skip_to(self, position: int) -> None:
        """Go on with the token that is at `position`, or is the first after it."""
        self._resume_from(position)

    def read_alias_definition(self) -> None:
        """Parse the definition of an alias."""
        super()._parse_alias_def()

    def read_block(self) -> Block:
        """Parse a block that has a label."""
        return super()._parse_block()

    def read_result_names(self) -> list[tuple[Span, int]]:
        """Parse the names before `=`, if any; called once for each op, before its name."""
        return super()._parse_op_result_list()

    def read_dense_type(self) -> RankedStructure[Any]:
        """Parse the type of a dense constant."""
        return super()._parse_dense_literal_type()

    def find_op(self, name: str) -> type[Operation]:
        """Return the op class of the name that was just parsed."""
        return super()._get_op_by_name(name)

    def define(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        """Bind `%name` to `values`."""
        super()._register_ssa_definition(name, values, span)

    @override
    def _parse_alias_def(self) -> None:
        self.read_alias_definition()

    @override
    def _parse_block(self) -> Block:
        return self.read_block()

    @override
    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        return self.read_result_names()

    @override
    def _parse_dense_literal_type(self) -> RankedStructure[Any]:
        return self.read_dense_type()

    @override
    def _get_op_by_name(self, name: str) -> type[Operation]:
        return self.find_op(name)

    @override
    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        self.define(name, values, span)


# --------------------------------------------------------------------- replacements


def holds(op: Operation, block: Block) -> bool:
    """
    Return whether `block` is in `op`.

    Climbs from the block and descends from the op at once, until one of the ways ends.
    """
    holder = enclosing = block.parent_op()
    for inner in walk(op):
        if enclosing is None:
            return False
        if inner is holder or enclosing is op:
            return True
        enclosing = enclosing.parent_op()
    return False


def attach(block: Block, op: Operation) -> None:
    """Replace `Block._attach_op`, which climbs to the module even for an op without regions."""
    if op.parent is not None:
        raise ValueError("Can't add to a block an operation already attached to a block.")
    if op.regions and holds(op, block):
        raise ValueError("Can't add an operation to a block contained in the operation.")
    op.parent = block


def initialize(
    op: Operation,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = {},
    attributes: Mapping[str, Attribute] = {},
    location: LocationAttr | None = None,
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> None:
    """Replace `Operation.__init__`, without assigning absent successors and regions."""
    op._operands = SSAValues(operands)
    op._operand_uses = tuple([Use(op, index) for index in range(len(op._operands))])
    for operand, use in zip(op._operands, op._operand_uses, strict=True):
        operand.add_use(use)
    op.results = SSAValues([OpResult(type, op, i) for i, type in enumerate(result_types)])
    op.properties = dict(properties)
    op.attributes = dict(attributes)
    op.location = UNKNOWN_LOC if location is None else location
    if successors:
        op.successors = successors
    op.regions = ()
    for region in regions:
        op.add_region(region)
    op.__post_init__()


@cache
def _defaults(kind: type[IRDLOperation]) -> Sequence[tuple[bool, str, Attribute]]:
    definition = kind.get_irdl_definition()
    return [
        (is_property, name, attribute.default_value)
        for is_property, attributes in (
            (True, definition.properties),
            (False, definition.attributes),
        )
        for name, attribute in attributes.items()
        if not isinstance(attribute, OptionalDef) and attribute.default_value is not None
    ]


def fill_defaults(op: IRDLOperation) -> None:
    """Replace `IRDLOperation.__post_init__`, which reads the whole definition for each op."""
    for is_property, name, value in _defaults(type(op)):
        (op.properties if is_property else op.attributes).setdefault(name, value)
    Operation.__post_init__(op)  # which xDSL's `ImplicitBuilder` replaces


_PRINT = Printer.print_string


def print_string(printer: Printer, text: str, *, indent: int | None = None) -> None:
    """Replace `Printer.print_string`, which takes five times as long by calling `print`."""
    if "\n" in text or printer.stream is None:
        _PRINT(printer, text, indent=indent)
        return
    printer._current_column += len(text)
    printer.stream.write(text)


def replace_all_uses_with(value: SSAValue, by: SSAValue) -> None:
    """Replace `SSAValue.replace_all_uses_with`, which lists the uses, and views their ops."""
    if by is value:
        return
    use = value.first_use
    while use is not None:
        following, op, index = use._next_use, use._operation, use._index
        operands = op._operands
        op._operands = SSAValues((*operands[:index], by, *operands[index + 1 :]))
        by.add_use(use)
        use = following
    value.first_use = None
    if by.name_hint is None:
        by.name_hint = value.name_hint


def erase_value(value: SSAValue, safe_erase: bool = True) -> None:
    """Replace `SSAValue.erase`, which makes a placeholder for the uses of every value."""
    if value.first_use is None:
        return
    _ERASE(value, safe_erase)


_ERASE = SSAValue.erase

_EXTRACT: Any = getattr_static(IRWithName, "extract_valid_name").__func__

extract_valid_name = cast(
    "classmethod[Any, ..., str | None]", classmethod(lru_cache(4096)(_EXTRACT))
)
"""Replaces `IRWithName.extract_valid_name`, which reads a name again each time it is passed on."""


def isolated(trait: IsolatedFromAbove, op: Operation) -> None:
    """Replace `IsolatedFromAbove.verify`: our verifier checks every operand once."""


_TABLE = "_found_traits"


def get_trait(kind: type[Operation], trait: type[OpTrait] | OpTrait) -> OpTrait | None:
    """Replace `Operation.get_trait`, which compares all traits of a class at every call."""
    traits = kind.traits.traits
    known: tuple[object, dict[Any, OpTrait | None]] | None = kind.__dict__.get(_TABLE)
    if known is None or known[0] is not traits:  # a trait was added
        known = traits, {}
        setattr(kind, _TABLE, known)
    by_class = known[1]
    try:
        return by_class[trait]
    except KeyError:
        if isinstance(trait, type):
            having = (t for t in traits if isinstance(t, trait))
        else:
            having = (t for t in traits if t == trait)
        by_class[trait] = next(having, None)
        return by_class[trait]


def print_functional_type(
    self: FunctionalTypeDirective, printer: Printer, state: PrintingState, op: IRDLOperation
) -> None:
    """Replace `FunctionalTypeDirective.print`, whose only result may not be a function type."""
    state.print_whitespace(printer)
    operands = self.operand_typeable_directive.get_types(op)
    printer.print_function_type(operands, self.result_typeable_directive.get_types(op))


_Literal = AttrParser._TensorLiteralElement  # pyright: ignore[reportPrivateUsage]
_value_of_type = _Literal.to_type


def value_of_type(literal: _Literal, parser: AttrParser, type: Any) -> Any:
    """Replace `_TensorLiteralElement.to_type`, which reads the bits of a float as an integer."""
    text = literal.span.text
    if not isinstance(type, AnyFloat) or text[:2].lower() != "0x":
        return _value_of_type(literal, parser, type)
    bits = int(text, 16)
    if bits.bit_length() > type.bitwidth:
        parser.raise_error(f"{text} has more than the {type.bitwidth} bits of {type}", literal.span)
    return type.unpack(bits.to_bytes(type.size, "little"), 1)[0]


def semi_affine(name: str, kind: AffineBinaryOpKind) -> Callable[[AffineExpr, Any], AffineExpr]:
    """Replace an operation of `AffineExpr`, which takes no symbols where MLIR does."""
    operate: Callable[[AffineExpr, Any], AffineExpr] = getattr(AffineExpr, name)

    def operate_on_symbols(one: AffineExpr, other: Any) -> AffineExpr:
        try:
            return operate(one, other)
        except NotImplementedError:
            return AffineBinaryOpExpr(kind, one, other)

    return operate_on_symbols


SEMI_AFFINE = {
    "__mul__": AffineBinaryOpKind.Mul,
    "__floordiv__": AffineBinaryOpKind.FloorDiv,
    "ceil_div": AffineBinaryOpKind.CeilDiv,
    "__mod__": AffineBinaryOpKind.Mod,
}
"""Operations of which the second operand may be a symbol."""

REPLACED: tuple[tuple[type, str, object], ...] = (
    *((AffineExpr, name, semi_affine(name, kind)) for name, kind in SEMI_AFFINE.items()),
    (Operation, "get_trait", classmethod(get_trait)),
    (Operation, "walk", walk),
    (Region, "walk", walk),
    (Block, "walk", walk),
    (Block, "_attach_op", attach),
    (Operation, "__init__", initialize),
    (IRDLOperation, "__post_init__", fill_defaults),
    (Printer, "print_string", print_string),
    (SSAValue, "replace_all_uses_with", replace_all_uses_with),
    (SSAValue, "erase", erase_value),
    (IRWithName, "extract_valid_name", extract_valid_name),
    (IsolatedFromAbove, "verify", isolated),
    (_Literal, "to_type", value_of_type),
)
"""
Methods of xDSL, and their replacements, which are correct, take linear time, or save most of it.

n nested regions take xDSL n² steps: `walk` costs each op its depth, and two checks climb from
every op to the module. Making an op and replacing a value are a tenth of the time of a pipeline.
"""
