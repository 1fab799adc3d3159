"""
Formats of ops that are compiled when an op is first parsed or printed.

xDSL compiles the declarative format of an op when its class is defined, which is a third of what
that takes; most programs use few ops of a dialect. xDSL can do without this file once
`irdl_op_definition` is as late.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

from xdsl.irdl import IRDLOperation, OpDef
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.parser import Parser
from xdsl.printer import Printer

_Op = TypeVar("_Op", bound=IRDLOperation)
_COMPILED = FormatProgram.from_str


class LateFormat:
    """The format `text` of the op `definition`."""

    def __init__(self, text: str, definition: OpDef):
        self.text = text
        self.definition = definition

    @cached_property
    def program(self) -> FormatProgram:
        """The compiled format; raises `ParseError` for a wrong one."""
        return _COMPILED(self.text, self.definition)

    def parse(self, parser: Parser, kind: type[_Op]) -> _Op:
        """Parse an op of this kind, after its name."""
        return self.program.parse(parser, kind)

    def print(self, printer: Printer, op: IRDLOperation) -> None:
        """Print `op`, after its name."""
        self.program.print(printer, op)


@contextmanager
def late_formats() -> Generator[None]:
    """Compile the assembly formats of ops defined in this block lazily; they must be valid."""
    program: Any = FormatProgram
    before = program.from_str
    program.from_str = LateFormat
    try:
        yield
    finally:
        program.from_str = staticmethod(before)
