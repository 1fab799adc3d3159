"""Types in place of the type parameters of a generic function."""

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, Region, TypeAttribute

from ...dialects.relay.language.language_types import substituted
from ...dialects.xdsl_extras.walking import walk
from ...dialects.xdsl_extras.xdsl_internals import set_type


def substituted_in(attribute: Attribute, given: Mapping[str, Attribute]) -> Attribute:
    """Replace type variables in all types in `attribute`."""
    if isinstance(attribute, TypeAttribute):
        return substituted(attribute, given)
    if isinstance(attribute, ArrayAttr):
        old = cast("ArrayAttr[Attribute]", attribute)
        return ArrayAttr([substituted_in(part, given) for part in old])
    if isinstance(attribute, ParametrizedAttribute):
        parts = [substituted_in(part, given) for part in attribute.parameters]
        if any(a is not b for a, b in zip(parts, attribute.parameters, strict=True)):
            return attribute.new(parts)
    return attribute


def substitute(where: Region | Operation, given: Mapping[str, Attribute]) -> None:
    """Replace type variables in `where` by the types `given`."""
    for op in walk(where):
        for name, attribute in op.properties.items():
            op.properties[name] = substituted_in(attribute, given)
        inner = (argument for r in op.regions for block in r.blocks for argument in block.args)
        for value in (*op.results, *inner):
            set_type(value, substituted(value.type, given))
