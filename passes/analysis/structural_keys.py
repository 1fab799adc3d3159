"""Keys that are equal for blocks that compute the same, whatever their names and locations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.ir import Attribute, Block, SSAValue

from ...dialects.xdsl_extras.identity import by_identity
from ...dialects.xdsl_extras.xdsl_internals import operands_of

Key: TypeAlias = tuple[str | int, ...]


class StructuralKeys:
    """
    The keys of blocks, which may be compared with each other, while attributes stay as they are.

    `type_of` maps each type to one that is compared instead.
    """

    def __init__(self, type_of: Callable[[Attribute], Attribute] = lambda type: type):
        numbers: dict[Attribute, int] = {}
        self._number = by_identity(lambda a: numbers.setdefault(a, len(numbers)), {})
        self._type_number = by_identity(lambda type: self._number(type_of(type)), {})

    def key(self, block: Block) -> Key:
        """Return the ops, attributes, wiring and types of `block`."""
        number = self._type_number
        values: dict[SSAValue, int] = {}
        key: list[str | int] = [len(block.args)]
        for argument in block.args:
            key.append(number(argument.type))
            values[argument] = len(values)
        for op in block.ops:
            operands, results = operands_of(op), op.results
            key += (op.name, len(operands), *[values[operand] for operand in operands])
            self._add(op.properties, key)
            self._add(op.attributes, key)
            key.append(len(results))
            for result in results:
                key.append(number(result.type))
                values[result] = len(values)
        return tuple(key)

    def _add(self, attributes: Mapping[str, Attribute], key: list[str | int]) -> None:
        key.append(len(attributes))
        if attributes:
            for name in sorted(attributes):
                key += (name, self._number(attributes[name]))
