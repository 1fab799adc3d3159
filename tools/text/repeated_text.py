"""
Tables in which a parser finds a text that it has read before.

    %5 = relay.add %4, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
         ---------        -----------------------------------------------------

Programs have thousands of ops, but few types and few operators on them. An op whose format is
`operands attr-dict : functional-type` is parsed by its format once. The next one with this text
differs only in its operands and the name of its result, which a regular expression finds; it gets
the types, properties and attributes of the first. Tensor types are found by their text as well.

Only what was parsed without an error is in the tables, and anything unusual (a comment, a location,
an operand that is not yet defined or has another type, a name that is taken) is left to xDSL's
parser. So results and errors are the same as without the tables.

Aliases in the input have a limit:

    #a1 = [#a0, #a0]
    #a2 = [#a1, #a1]
    …

An alias is one attribute however often it is used, but it is hashed, compared and verified as if it
were written out, which takes 2^n steps for n lines as above.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from typing_extensions import override
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import IRDLOperation

from ...dialects.xdsl_extras.xdsl_internals import HookedParser

AT_LEAST = 4_000_000
"""Aliases may expand to this many characters in any text, however short …"""

PER_CHARACTER = 32
"""… and for this many for each character of it."""


@dataclass
class Aliases(dict[str, Attribute]):
    """The aliases of one text; `fail` reports a use that exceeds the limit."""

    limit: int
    fail: Callable[[str, str], NoReturn]
    """Called with the name of the alias and what is wrong."""
    expanded: int = 0
    """Number of characters that the uses so far expand to."""
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    """Number of characters that each alias expands to."""

    @override
    def __getitem__(self, name: str) -> Attribute:
        self.expanded += self.sizes[name]
        if self.expanded > self.limit:
            self.fail(
                name,
                f"the uses of aliases up to here expand to {self.expanded} characters, but the "
                f"limit for this text is {self.limit}",
            )
        return super().__getitem__(name)


_NAME = r"%(?:[0-9]+|[A-Za-z$._-][\w$.-]*)"
LINE = re.compile(
    rf"(?:({_NAME}) = )?"  # the result
    r"([A-Za-z_][\w$]*\.[\w$.]+)"  # the op
    rf"(?: ({_NAME}(?:, {_NAME})*))?"  # its operands
    r"( (?:\{|: \()[^\n]{,2000}[>)])\r?\n",  # its attributes and types
    re.ASCII,
)
"""An op on a line of its own."""

TENSOR = re.compile(r'tensor<[^<>\n"/-]*(?:<[^<>\n"/-]*>[^<>\n"/-]*)?>', re.ASCII)
"""A tensor type; its device may have brackets too."""

_FORMAT = re.compile(r"(operands|\$\w+) attr-dict `:` functional-type\(operands, results\)")
"""The formats of ops that are kept in the table: all operands come first, in order."""

_MORE_THAN_A_VALUE = ("//", "loc(", "dense_resource")
"""Comments, locations, and references to resources, which the parser records."""


class Key(NamedTuple):
    """The common part of ops that differ only in the names of values."""

    name: str
    text: str
    """The text after the operands."""
    operands: int


@dataclass(slots=True)
class ReadOp:
    """The op that was read for a key, without its operands."""

    kind: type[Operation]
    operand_types: tuple[Attribute, ...]
    result_types: tuple[Attribute, ...]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    expanded: int
    """Number of characters that the aliases in the text expand to."""


def has_simple_format(op: Operation) -> bool:
    """Test whether `op` is read from its operands and a text that depends on nothing else."""
    if not isinstance(op, IRDLOperation):
        return False
    definition = op.get_irdl_definition()
    match = _FORMAT.fullmatch(definition.assembly_format or "")
    return match is not None and (match[1] == "operands" or len(definition.operands) == 1)


class RepeatedText:
    """
    The ops and tensor types that `parser` has read, which it need not parse again.

    `start_op` is called with the position of the name of an op that is found.
    """

    def __init__(
        self, parser: HookedParser, aliases: Aliases, start_op: Callable[[int], None]
    ) -> None:
        self.parser, self.aliases, self.start_op = parser, aliases, start_op
        self._text = parser.lexer.input.content
        self.ops: dict[Key, ReadOp] = {}
        self.types: dict[str, tuple[TypeAttribute, int]] = {}

    def operation(self, parse: Callable[[], Operation]) -> Operation:
        """Return the next op, by the tables or else by `parse`."""
        line = LINE.match(self._text, self.parser.pos)
        if line is None:
            return parse()
        names: list[str] = line[3].split(", ") if line[3] else []
        key = Key(line[2], line[4], len(names))
        read = self.ops.get(key)
        if read is not None:
            op = self._repeat(read, line, names)
            return parse() if op is None else op
        before = self.aliases.expanded
        op = parse()
        if self._has_read_up_to(line.end(4)):
            self._remember(op, key, self.aliases.expanded - before)
        return op

    def type(self, parse: Callable[[], TypeAttribute | None]) -> TypeAttribute | None:
        """Return the type that is next, if there is one, by the tables or else by `parse`."""
        text = TENSOR.match(self._text, self.parser.pos)
        if text is None:
            return parse()
        before = self.aliases.expanded
        read, expanded = self.types.get(text[0], (None, 0))
        if read is not None and before + expanded <= self.aliases.limit:
            self.aliases.expanded = before + expanded
            self.parser.skip_to(text.end())
            return read
        type = parse()
        if type is not None and self._has_read_up_to(text.end()) and "resource" not in text[0]:
            self.types[text[0]] = type, self.aliases.expanded - before
        return type

    def _repeat(self, read: ReadOp, line: re.Match[str], names: Sequence[str]) -> Operation | None:
        """Create the op of `line`; return None, with nothing changed, if it must be parsed."""
        values = self.parser.ssa_values
        operands: list[SSAValue] = []
        for name, type in zip(names, read.operand_types, strict=True):
            value = values.get(name[1:])
            if not value or (value[0].type is not type and value[0].type != type):
                return None
            operands.append(value[0])
        result: str | None = line[1]
        if result is not None:
            result = result[1:]
            is_taken = result in values or result in self.parser.forward_ssa_references
            if is_taken or len(read.result_types) != 1:
                return None
        expanded = self.aliases.expanded + read.expanded
        if expanded > self.aliases.limit:
            return None
        self.aliases.expanded = expanded
        self.start_op(line.start(2))
        op = read.kind.create(
            operands=operands,
            result_types=read.result_types,
            properties=read.properties,
            attributes=read.attributes,
        )
        self.parser.skip_to(line.end(4))
        location = self.parser.parse_optional_location()
        if location is not None:
            op.location = location
        if result is not None:
            values[result] = tuple(op.results)
            if SSAValue.is_valid_name(result):
                op.results[0].name_hint = result
        return op

    def _remember(self, op: Operation, key: Key, expanded: int) -> None:
        if op.name != key.name or len(op.operands) != key.operands or not has_simple_format(op):
            return
        if any(part in key.text for part in _MORE_THAN_A_VALUE):
            return
        self.ops[key] = ReadOp(
            type(op),
            tuple(operand.type for operand in op.operands),
            tuple(result.type for result in op.results),
            dict(op.properties),
            dict(op.attributes),
            expanded,
        )

    def _has_read_up_to(self, end: int) -> bool:
        """Test whether what was parsed ends at `end`."""
        return self.parser.pos >= end and not self._text[end : self.parser.pos].strip()
