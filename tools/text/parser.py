"""
A parser that gives every op and block argument a location.

Without a `loc(...)` of its own, its location is the line and column of its name. Errors of
attributes and of op definitions, which xDSL raises without a place, get that of the op; an
undefined value is reported at its use.
"""

import bisect
import re
import struct
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn, TypeAlias, cast

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyDenseElement,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    RankedStructure,
    StringAttr,
)
from xdsl.ir import (
    Attribute,
    AttributeInvT,
    Block,
    BlockArgument,
    Dialect,
    Operation,
    SSAValue,
    TypeAttribute,
)
from xdsl.parser import ForwardDeclaredValue, UnresolvedOperand
from xdsl.utils.exceptions import (
    AlreadyRegisteredConstructException,
    DiagnosticException,
    MultipleSpansParseError,
    ParseError,
    UnregisteredConstructException,
)
from xdsl.utils.lexer import Span

from ...dialects.errors import TOO_DEEP
from ...dialects.foreign import mended_op, missing_op
from ...dialects.xdsl_extras.xdsl_internals import HookedParser
from ...operators.spelling import did_you_mean
from ..plugin_faults import modules_of
from .dense_text import AnyConstant, DenseText
from .repeated_text import AT_LEAST, PER_CHARACTER, Aliases, RepeatedText

AnySpan: TypeAlias = "Span[str] | Span[bytes]"

WRONG_TEXT = (
    DiagnosticException,
    UnregisteredConstructException,
    AlreadyRegisteredConstructException,
    NotImplementedError,
    ValueError,
    ArithmeticError,
    struct.error,  # an integer that its type cannot hold
)
"""Exceptions of op and attribute parsers for wrong text, besides `ParseError`."""


class LocatingParser(HookedParser):
    """
    Parses `text`, which starts after `line_offset` lines of the file `name`.

    Raises `ParseError` for any error in the text; its span has the offset.
    """

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0):
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self._line_offset = line_offset
        self._file = StringAttr(name)
        self._columns: dict[int, IntAttr] = {}
        self._op_starts: list[int] = []
        self._first_uses: dict[SSAValue, Span[str]] = {}
        self._defined_since: dict[SSAValue, SSAValue] = {}
        try:
            super().__init__(ctx, text, name)  # reads the first token
        except ParseError as error:
            raise self.shifted(error) from error.__cause__
        self._aliases = Aliases(max(AT_LEAST, PER_CHARACTER * len(text)), self._fail_at_alias)
        self.attribute_aliases = self._aliases
        self.repeated = RepeatedText(self, self._aliases, self._op_starts.append)
        self._dense = DenseText(self, self._aliases)

    def place(self, position: int) -> FileLineColLoc:
        """Return the location of a position in the text."""
        line = bisect.bisect_right(self._line_starts, position)
        column = position - self._line_starts[line - 1] + 1
        column_attr = self._columns.get(column)
        if column_attr is None:
            column_attr = self._columns[column] = IntAttr(column)
        return FileLineColLoc(self._file, IntAttr(line + self._line_offset), column_attr)

    @override
    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            module = super().parse_module(allow_implicit_module)
        except ParseError as error:
            error = _undefined_block(self._undefined_value(self._unread(error)))
            raise self.shifted(error) from error.__cause__
        except WRONG_TEXT as error:  # in an alias or in the resources at the end
            here = Span(self.pos, self.pos + 1, self.lexer.input)
            raise self.shifted(ParseError(here, str(error))) from error
        except RecursionError:
            here = Span(self.pos, self.pos + 1, self.lexer.input)
            raise self.shifted(ParseError(here, TOO_DEEP)) from None
        if module.location is UNKNOWN_LOC:
            module.location = self.place(0)
        return module

    def shifted(self, error: ParseError) -> ParseError:
        """Return `error` with its line in the whole file."""
        error.span = self._shifted_span(error.span)
        if isinstance(error, MultipleSpansParseError):
            error.refs = [(self._shifted_span(s), text) for s, text in error.refs]
        return error

    def _shifted_span(self, span: AnySpan) -> AnySpan:
        return replace(span, line_offset=self._line_offset)

    def _unread(self, error: ParseError) -> ParseError:
        """Say what the text has in place of an op."""
        if error.msg != "Could not parse entire input!":
            return error
        start = error.span.text.split("\n")[0][:40]
        got = f"'{start}'" if start else "the end of the text"
        return ParseError(error.span, f"expected an op, but got {got}")

    def _undefined_value(self, error: ParseError) -> ParseError:
        """Move an error about undefined values from the end of the file to the first use."""
        at_end = error.span.start >= len(self.lexer.input.content)
        if not at_end or not error.msg.startswith("values used but not defined"):
            return error
        spans = {
            self._first_uses[value].start: (name, self._first_uses[value])
            for name, values in self.forward_ssa_references.items()
            for value in values.values()
            if value in self._first_uses
        }
        if not spans:
            return error
        name, span = spans[min(spans)]
        return ParseError(span, f"value '%{name}' is used but not defined")

    @override
    def read_alias_definition(self) -> None:
        start, before = self.pos, self._aliases.expanded
        super().read_alias_definition()
        name = next(reversed(self._aliases))
        self._aliases.sizes[name] = self.pos - start + self._aliases.expanded - before

    def _fail_at_alias(self, name: str, message: str) -> NoReturn:
        """Raise an error at the use of an alias that has just been read."""
        at = self.lexer.input.content.rfind(name, 0, self.token.span.start)
        raise ParseError(Span(at, at + len(name), self.lexer.input), message)

    @override
    def read_block(self) -> Block:
        token = self.token
        name = token.text[1:]
        _, defined_at = self.blocks.get(name, (None, token.span))
        if defined_at is None and name not in self.forward_block_references:
            # A block that was used before it was defined; xDSL forgets that it was.
            self.raise_error(f"re-declaration of block '{name}'", token.span)
        return super().read_block()

    @override
    def read_result_names(self) -> list[tuple[Span, int]]:
        results = super().read_result_names()
        self._op_starts.append(self.pos)
        return results

    @override
    def parse_optional_type(self) -> TypeAttribute | None:
        return self.repeated.type(super().parse_optional_type)

    @override
    def read_dense_type(self) -> RankedStructure[Any]:
        return self._dense.type(super().read_dense_type)

    @override
    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> AnyConstant:
        parse = partial(super().parse_dense_int_or_fp_elements_attr, type)
        return self._dense.constant(parse) if type is None else parse()

    @override
    def parse_operation(self) -> Operation:
        depth = len(self._op_starts)
        try:
            op = self.repeated.operation(super().parse_operation)
        except (ParseError, RecursionError):
            raise
        except WRONG_TEXT as error:
            raise ParseError(self._op_span(depth), str(error)) from error
        except Exception as error:
            if next(modules_of(error)).startswith("xdsl."):  # what its parsers forget to check
                raise ParseError(self._op_span(depth), "the op is malformed") from error
            if not getattr(error, "__notes__", None):
                error.add_note(f"while parsing {self._where(depth)}")
            raise
        if self._defined_since:
            self._replace_defined(op)
        start = self._op_starts[depth]
        del self._op_starts[depth:]
        if op.location is UNKNOWN_LOC:
            op.location = self.place(start)
        return op

    def _replace_defined(self, op: Operation) -> None:
        """Replace operands of `op` that its own regions defined after they were resolved."""
        for i, operand in enumerate(op.operands):
            if operand in self._defined_since:
                op.operands[i] = self._defined_since[operand]

    def _op_span(self, depth: int) -> Span[str]:
        """Return the span of the name of the op that is being parsed."""
        text = self.lexer.input.content
        start = self._op_starts[depth] if depth < len(self._op_starts) else self.pos
        match = re.compile(r'"?[\w$.]+"?').match(text, start)
        return Span(start, match.end() if match else start + 1, self.lexer.input)

    def _where(self, depth: int) -> str:
        at = self.place(self._op_span(depth).start)
        return f"{at.filename.data}:{at.line.data}:{at.column.data}"

    @override
    def find_op(self, name: str) -> type[Operation]:
        op = self.ctx.get_optional_op(name, dialect_stack=self.dialect_stack)
        op = op or missing_op(name, self.dialect_stack)
        if op is not None:
            return mended_op(op)
        self.raise_error(self._unknown_op(name), self._op_span(len(self._op_starts) - 1))

    def _unknown_op(self, name: str) -> str:
        """Return the error for an unknown op name, with the nearest known one."""
        dialect_name, dot, _ = name.partition(".")
        if not dot:
            return f"operation '{name}' is not registered"
        dialect = self.ctx.get_optional_dialect(dialect_name)
        if dialect is None:
            known = sorted(self.ctx.registered_dialect_names)
            near = did_you_mean(dialect_name, known)
            return f"operation '{name}' is not registered: unknown dialect '{dialect_name}'{near}"
        near = did_you_mean(name, _op_names(dialect))
        return f"operation '{name}' is not registered{near}"

    @override
    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        value = super().resolve_operand(operand, type)
        if isinstance(value, ForwardDeclaredValue):
            self._first_uses.setdefault(cast("SSAValue[Attribute]", value), operand.span)
        return value

    @override
    def define(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        forward = self.forward_ssa_references.get(name, {})
        super().define(name, values, span)
        self._defined_since.update((cast(SSAValue, f), values[i]) for i, f in forward.items())
        if len(values) == 1:
            (value,) = values
            if isinstance(value, BlockArgument) and value.location is UNKNOWN_LOC:
                value.location = self.place(span.start)


def _undefined_block(error: ParseError) -> ParseError:
    """Move an error about undefined blocks from the end of the region to the first use."""
    if not isinstance(error, MultipleSpansParseError) or not error.refs:
        return error
    if not error.msg.startswith("region ends with missing block declarations"):
        return error
    span, _ = error.refs[0]
    return ParseError(span, f"block '{span.text}' is used but not defined")


def _op_names(dialect: Dialect) -> list[str]:
    return [op.name for op in dialect.operations]
