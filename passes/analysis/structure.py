"""Keys that are equal for blocks that compute the same, whatever their names and locations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Attribute, Block, SSAValue

from ...dialects.xdsl_internals import operands_of

Key: TypeAlias = tuple[str | int, ...]


@dataclass
class StructuralKeys:
    """The keys of blocks, which may be compared with each other, while attributes stay as are."""

    type_of: Callable[[Attribute], Attribute] = lambda type: type
    """Maps types to what is compared of them."""
    numbers: dict[Attribute, int] = field(default_factory=dict[Attribute, int])
    """A number for each attribute: hashing one hashes all its parts."""
    by_identity: dict[int, tuple[Attribute, int]] = field(
        default_factory=dict[int, tuple[Attribute, int]]
    )
    """The same, by the identity of an attribute, which is kept alive."""

    def key(self, block: Block) -> Key:
        """Return the ops, attributes, wiring and types of `block`."""
        number, type_of = self._number, self.type_of
        values: dict[SSAValue, int] = {}
        key: list[str | int] = [len(block.args)]
        for argument in block.args:
            key.append(number(type_of(argument.type)))
            values[argument] = len(values)
        for op in block.ops:
            operands, results = operands_of(op), op.results
            key += (op.name, len(operands), *[values[operand] for operand in operands])
            self._add(op.properties, key)
            self._add(op.attributes, key)
            key.append(len(results))
            for result in results:
                key.append(number(type_of(result.type)))
                values[result] = len(values)
        return tuple(key)

    def _add(self, attributes: Mapping[str, Attribute], key: list[str | int]) -> None:
        key.append(len(attributes))
        if attributes:
            for name in sorted(attributes):
                key += (name, self._number(attributes[name]))

    def _number(self, attribute: Attribute) -> int:
        known = self.by_identity.get(id(attribute))
        if known is None:
            number = self.numbers.setdefault(attribute, len(self.numbers))
            known = self.by_identity[id(attribute)] = attribute, number
        return known[1]
