"""Patterns of `relay.match`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


@irdl_attr_definition
class WildcardPattern(ParametrizedAttribute):
    """Matches any value: `#relay.wildcard`, in custom syntax `_`."""

    name = "relay.wildcard"


@irdl_attr_definition
class VarPattern(ParametrizedAttribute):
    """Matches any value of a type and names it: `#relay.var<T>`, in custom syntax `%x: T`."""

    name = "relay.var"

    type: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (parser.parse_type(),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.type)


@irdl_attr_definition
class ConstructorPattern(ParametrizedAttribute):
    """Matches a constructor's values and their fields: `@List::@Cons(%h: T, _)`."""

    name = "relay.constructor_pattern"

    adt: SymbolRefAttr
    constructor: StringAttr
    fields: ArrayAttr[Attribute]

    def __init__(
        self,
        adt: str | SymbolRefAttr,
        constructor: str | StringAttr,
        fields: Sequence[Attribute] | ArrayAttr[Attribute],
    ):
        super().__init__(
            SymbolRefAttr(adt) if isinstance(adt, str) else adt,
            StringAttr(constructor) if isinstance(constructor, str) else constructor,
            fields if isinstance(fields, ArrayAttr) else ArrayAttr(fields),
        )


@irdl_attr_definition
class TuplePattern(ParametrizedAttribute):
    """Matches tuples and their fields: `(%a: T, _)`."""

    name = "relay.tuple_pattern"

    fields: ArrayAttr[Attribute]

    def __init__(self, fields: Sequence[Attribute] | ArrayAttr[Attribute]):
        super().__init__(fields if isinstance(fields, ArrayAttr) else ArrayAttr(fields))


def subpatterns(pattern: Attribute) -> tuple[Attribute, ...]:
    """The patterns of the fields."""
    if isinstance(pattern, ConstructorPattern | TuplePattern):
        return pattern.fields.data
    return ()


def variables(pattern: Attribute) -> Iterator[VarPattern]:
    """The variables, from left to right, which are the arguments of the case's region."""
    stack = [pattern]
    while stack:
        pattern = stack.pop()
        if isinstance(pattern, VarPattern):
            yield pattern
        stack += reversed(subpatterns(pattern))
