"""Types in place of others: of the type parameters of a generic function, or of unknown types."""

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, Region, TypeAttribute

from ...dialects.relay.language.language_types import substituted
from ...dialects.xdsl_extras.walking import walk
from ...dialects.xdsl_extras.xdsl_internals import set_type

Replace: TypeAlias = Callable[[Attribute], Attribute]
"""Returns the type in place of a type."""


def replaced_in(attribute: Attribute, replace: Replace) -> Attribute:
    """Replace all types in `attribute`."""
    if isinstance(attribute, TypeAttribute):
        return replace(attribute)
    if isinstance(attribute, ArrayAttr):
        old = cast("ArrayAttr[Attribute]", attribute)
        return ArrayAttr([replaced_in(part, replace) for part in old])
    if isinstance(attribute, ParametrizedAttribute):
        parts = [replaced_in(part, replace) for part in attribute.parameters]
        if any(a is not b for a, b in zip(parts, attribute.parameters, strict=True)):
            return attribute.new(parts)
    return attribute


def replace_types(where: Region | Operation, replace: Replace) -> None:
    """Replace all types in `where`: of values, and in properties."""
    for op in walk(where):
        for name, attribute in op.properties.items():
            op.properties[name] = replaced_in(attribute, replace)
        inner = (argument for r in op.regions for block in r.blocks for argument in block.args)
        for value in (*op.results, *inner):
            set_type(value, replace(value.type))


def substitute(where: Region | Operation, given: Mapping[str, Attribute]) -> None:
    """Replace type variables in `where` by the types `given`."""
    replace_types(where, lambda type: substituted(type, given))
