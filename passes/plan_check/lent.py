"""
The bytes that functions need in the storages that their callers lend them.

    func.func private @f(%x: tensor<?xf32>, %w: !memory.storage) {
      %t = memory.alloc_tensor %w[64] shape %s … tensor<?xf32>        64 + 4*dim(%x, 0) bytes of %w
    }
    func.call @f(%a, %s)                                              64 + 4*dim(%a, 0) bytes of %s

A need is in the sizes of the callee; `Sizes.translated` computes it from the arguments of a call.
What depends on more than the arguments' shapes and sizes cannot be translated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import lcm

from xdsl.ir import Operation

from ...operators.sizes.size_expressions import Expr


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
