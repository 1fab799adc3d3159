"""
The earliest places at which the sizes of a block can be computed.

    %x = …                          0
    relay.require eq %n, %m, …      1     available at 0: moves with the sizes after it
    %s = arith.muli %n, %c4         2     available at 0, as %n is a dim of a parameter
    %k = relay.measure …, %x        3     stays
    %z = arith.addi %k, %n          4     available after 3

Arithmetic moves up as far as its operands do, but not over a `relay.require` that stays behind: a
size may be meaningless where the program should have stopped. Linear in the ops of the block.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure

from ...dialects import relay
from ...dialects.interfaces import Aliasing
from ...dialects.xdsl_extras.xdsl_internals import operands_of


def may_move(op: Operation) -> bool:
    """Test whether `op` may be executed earlier, once its operands are available."""
    return not op.regions and computes(type(op))


@cache
def computes(kind: type[Operation]) -> bool:
    """Test whether ops of class `kind` compute new values, or check some, without effects."""
    is_pure = kind.get_trait(Pure) is not None and kind.get_trait(Aliasing) is None
    return is_pure or issubclass(kind, relay.RequireOp)


@dataclass(eq=False)
class Available:
    """For each op of a block, its index, and the index of the op that it can follow."""

    block: Block
    ops: list[Operation] = field(default_factory=lambda: [])
    index: dict[Operation, int] = field(default_factory=lambda: {})
    after: list[int] = field(default_factory=lambda: [])
    """By index; -1 is the start of the block. An op that stays is after itself."""

    @staticmethod
    def of(block: Block) -> Available:
        available = Available(block)
        required = -1
        for index, op in enumerate(block.ops):
            after = index
            if may_move(op):
                after = max([required, *map(available.after_value, operands_of(op))])
                if type(op) is relay.RequireOp:
                    required = after
            available.ops.append(op)
            available.index[op] = index
            available.after.append(after)
        return available

    def after_value(self, value: SSAValue) -> int:
        """Return the index of the op after which `value` can be available."""
        owner = value.owner
        if isinstance(owner, Block) or owner.parent is not self.block:
            return -1
        return self.after[self.index[owner]]

    def needed_before(self, index: int, values: Iterable[SSAValue]) -> list[Operation]:
        """Return the ops, in order, to move before op `index` so that `values` are available."""
        needed: set[Operation] = set()
        last = index
        for value in values:
            if isinstance(value.owner, Operation) and value.owner in self.index:
                needed.add(value.owner)
                last = max(last, self.index[value.owner])
        moved: list[Operation] = []
        for at in range(last, index, -1):
            op = self.ops[at]
            if self.after[at] >= index or not (op in needed or isinstance(op, relay.RequireOp)):
                continue
            moved.append(op)
            needed.update(v.owner for v in op.operands if isinstance(v.owner, Operation))
        return moved[::-1]
