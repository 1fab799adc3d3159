"""
The bytes that functions need in the storages that their callers lend them.

    func.func private @f(%x: tensor<?xf32>, %w: !memory.storage) {
      %t = memory.alloc_tensor %w[64] shape %s … tensor<?xf32>        64 + 4*dim(%x, 0) bytes of %w
    }
    func.call @f(%a, %s)                                              64 + 4*dim(%a, 0) bytes of %s

A need is in the sizes of the callee; `translated` computes it from the arguments of a call. What
depends on more than the arguments' shapes and sizes cannot be translated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import lcm

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...operators.sizes.size_expressions import DIM, Expr, Symbol
from ..sizes.program_sizes import Sizes


@dataclass
class Need:
    """The bytes that a function needs in a storage that is a parameter."""

    alignment: int = 1
    ends: dict[Expr, Operation] = field(default_factory=dict[Expr, Operation])
    """Ends of slots, each with an op that needs the bytes; of constant ones the greatest."""

    def add(self, end: Expr, alignment: int, op: Operation) -> None:
        self.alignment = lcm(self.alignment, alignment)
        if end.constant is not None:
            known = [other for other in self.ends if other.constant is not None]
            if known and (known[0].constant or 0) >= end.constant:
                return
            for other in known:
                del self.ends[other]
        self.ends.setdefault(end, op)


Needs = dict[int, Need]
"""The needs of a function by parameter."""


def translated(size: Expr, body: Block, sizes: Sizes, operands: Sequence[SSAValue]) -> Expr | None:
    """Return a size of the function of `body` as one of its caller; None if it has none there."""

    def value_of(symbol: Symbol) -> Expr | None:
        value, *rest = symbol.args or (None,)
        if not isinstance(value, BlockArgument) or value.block is not body:
            return None
        operand, position = operands[value.index], rest[0] if rest else None
        if symbol.kind == DIM and isinstance(position, int):
            return sizes.dims(operand)[position]
        if symbol.kind == "element" and isinstance(position, int):
            elements = sizes.elements(operand)
            return None if elements is None else elements[position]
        return sizes.size(operand) if operand.type == i64 else None

    return sizes.algebra.substitute(size, value_of)
