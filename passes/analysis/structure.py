"""Keys that are equal for blocks that compute the same, whatever their names and locations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.ir import Attribute, Block, SSAValue

Key: TypeAlias = tuple[object, ...]


def structural_key(block: Block, type_of: Callable[[Attribute], Attribute]) -> Key:
    """Return the ops, attributes, wiring and types of `block`, each type as `type_of` has it."""
    number: dict[SSAValue, int] = {}
    for argument in block.args:
        number[argument] = len(number)
    key: list[object] = [tuple(type_of(a.type) for a in block.args)]
    for op in block.ops:
        key.append(
            (
                op.name,
                tuple(number[operand] for operand in op.operands),
                tuple(sorted(op.properties.items())),
                tuple(sorted(op.attributes.items())),
                tuple(type_of(result.type) for result in op.results),
            )
        )
        for result in op.results:
            number[result] = len(number)
    return tuple(key)
