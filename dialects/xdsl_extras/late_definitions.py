"""
Ops that are defined when they are first used, and formats that are compiled then.

    with late_definitions():
        from . import family           its classes get their definitions when they are used

xDSL derives the definition of an op and its accessors when its class is made, and compiles its
declarative format: half of what importing a dialect takes, while most programs use few of its ops.
An op is first used when its definition or traits are asked for, as whatever makes one does, or when
one is parsed. Fields that the method `late_fields` of its class returns are declared then. xDSL can
do without this file once `irdl_op_definition` is as late.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

import xdsl.irdl
from xdsl.ir import Operation
from xdsl.irdl import AttrConstraint, IRDLOperation, OpDef, OptPropertyDef
from xdsl.irdl.declarative_assembly_format import CustomDirective, FormatProgram
from xdsl.parser import Parser
from xdsl.printer import Printer

_Op = TypeVar("_Op", bound=IRDLOperation)
_COMPILED = FormatProgram.from_str
_DEFINED = xdsl.irdl.irdl_op_definition
_OF_ANY_CLASS = ("__dict__", "__weakref__", "__abstractmethods__", "_abc_impl")
"""Attributes that Python adds to each class."""

_GENERATED = ("traits", "get_irdl_definition", "verify_")
"""Attributes that xDSL adds to each op class; with a format, also `parse` and `print`."""


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


def use_form(
    kind: Any, parse: Callable[[Any, Parser], Operation], print: Callable[[Any, Printer], None]
) -> None:
    """Let ops of a class be read and printed by functions."""
    kind.parse, kind.print = classmethod(parse), print


def use_format(kind: type[IRDLOperation], text: str, *custom: type[CustomDirective]) -> None:
    """Let ops of a class be read and printed by a declarative format."""
    definition = kind.get_irdl_definition()
    definition.custom_directives |= {each.__name__: each for each in custom}
    late = LateFormat(text, definition)

    def parse(cls: type[IRDLOperation], parser: Parser) -> Operation:
        return late.parse(parser, cls)

    def print(op: IRDLOperation, printer: Printer) -> None:
        late.print(printer, op)

    use_form(kind, parse, print)


def add_properties(kind: type[IRDLOperation], **constraints: AttrConstraint) -> None:
    """Let ops of a class have further properties, which its formats may name."""
    definition = kind.get_irdl_definition()
    for name, constraint in constraints.items():
        definition.properties[name] = OptPropertyDef(constraint)
        definition.accessor_names[name] = name, "property"


class _LateAttribute:
    """An attribute of an op class, of which looking it up defines the op."""

    def __init__(self, definition: _LateDefinition, name: str):
        self.definition = definition
        self.name = name

    def __get__(self, op: Any, kind: Any) -> Any:
        self.definition.complete()
        value: Any = self.definition.kind.__dict__[self.name]
        return value.__get__(op, kind) if hasattr(value, "__get__") else value


class _LateDefinition:
    """An op class that is not yet as `irdl_op_definition` makes it."""

    lock = RLock()

    def __init__(self, kind: Any):
        self.kind, self.done = kind, False
        attributes: Mapping[str, Any] = kind.__dict__
        self.written = {k: v for k, v in attributes.items() if k not in _OF_ANY_CLASS}
        names = _GENERATED if kind.assembly_format is None else (*_GENERATED, "parse", "print")
        self.late = {name: _LateAttribute(self, name) for name in names}
        for name, attribute in self.late.items():
            setattr(kind, name, attribute)

    def complete(self) -> None:
        """
        Define the op, unless it is defined; what was assigned to its class meanwhile remains.

        A copy of the class is defined, so that other threads see no half of it.
        """
        with self.lock:
            if self.done:
                return
            for base in self.kind.__mro__[1:]:
                late: Any = base.__dict__.get("get_irdl_definition")
                if isinstance(late, _LateAttribute):
                    late.definition.complete()
            late_fields: Callable[[], Mapping[str, Any]] = getattr(self.kind, "late_fields", dict)
            members = {**late_fields(), **self.written}
            copied = type(self.kind)(self.kind.__name__, self.kind.__bases__, members)
            with _replaced(FormatProgram, "from_str", LateFormat, staticmethod(_COMPILED)):
                defined: Mapping[str, Any] = _DEFINED(copied).__dict__
            for name, value in defined.items():
                before = self.late.get(name, self.written.get(name))
                if value is not before and self.kind.__dict__.get(name) is before:
                    setattr(self.kind, name, value)
            self.done = True


def _defined_late(kind: type[_Op]) -> type[_Op]:
    """Take the place of `irdl_op_definition`."""
    _LateDefinition(kind)
    return kind


@contextmanager
def _replaced(owner: Any, name: str, value: Any, before: Any) -> Generator[None]:
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextmanager
def late_definitions() -> Generator[None]:
    """Define the ops of modules that are imported in this block lazily; they must be valid."""
    with _replaced(xdsl.irdl, "irdl_op_definition", _defined_late, _DEFINED):
        yield
