"""
Values that dominate the current op, found by what they compute, in a walk in program order.

    scopes.enter(op.parent)          before the first question at an op
    scopes.find("n*m")               a value of this key in an open block, if there is one
    scopes.add("n*m", value)

A block is open while the walk is in it or in a region below it; the first block of a region is
open in the others too, as it dominates them. A value outside a closure or an isolated op is not
found inside. Linear in the blocks and questions of a walk, whatever the nesting.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from xdsl.ir import Block, SSAValue
from xdsl.traits import IsolatedFromAbove

from ...dialects import relay


def outer_block(block: Block) -> Block | None:
    """Return the nearest block that dominates `block`, by structure alone."""
    region = block.parent
    if region is None:
        return None
    first = region.first_block
    if first is not block:
        return first
    return None if region.parent is None else region.parent.parent


def starts_function(block: Block) -> bool:
    """Test whether `block` is the entry of a function, a closure or an isolated op."""
    op = block.parent_op()
    if op is None:
        return True
    entry = op.regions[0].first_block is block
    return entry and (isinstance(op, relay.FnOp) or op.has_trait(IsolatedFromAbove))


@dataclass
class Scopes:
    """The open blocks, the innermost last, and the values known by key."""

    _open: list[Block] = field(default_factory=list[Block])
    _function: list[int] = field(default_factory=list[int])
    """For each open block, the index of the entry of its function."""
    _index: dict[Block, int] = field(default_factory=dict[Block, int])
    _known: dict[Hashable, list[tuple[SSAValue, Block]]] = field(
        default_factory=dict[Hashable, list[tuple[SSAValue, Block]]]
    )

    def enter(self, block: Block) -> None:
        """Move to `block`; the walk must not return to a block that it has left."""
        if self._open and self._open[-1] is block:
            return
        path: list[Block] = []
        node: Block | None = block
        while node is not None and node not in self._index:
            path.append(node)
            node = outer_block(node)
        keep = 0 if node is None else self._index[node] + 1
        while len(self._open) > keep:
            self._function.pop()
            del self._index[self._open.pop()]
        for node in reversed(path):
            at = len(self._open)
            self._index[node] = at
            self._open.append(node)
            self._function.append(at if starts_function(node) else self._function[-1])

    @property
    def function(self) -> Block:
        """The entry block of the function that the walk is in."""
        return self._open[self._function[-1]]

    def is_local(self, block: Block) -> bool:
        """Test whether `block` is open, in the same function."""
        return self._index.get(block, -1) >= self._function[-1]

    def find(self, key: Hashable) -> SSAValue | None:
        """Return the value of `key` that dominates, if there is one."""
        entries = self._known.get(key)
        while entries and entries[-1][1] not in self._index:
            entries.pop()
        if not entries or not self.is_local(entries[-1][1]):
            return None
        return entries[-1][0]

    def add(self, key: Hashable, value: SSAValue, block: Block | None = None) -> None:
        """Record the value of `key`, visible in `block`, which is open: by default its own."""
        if block is None:
            block = value.owner if isinstance(value.owner, Block) else value.owner.parent
        assert block is not None, "a detached value dominates nothing"
        self._known.setdefault(key, []).append((value, block))
