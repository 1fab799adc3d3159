"""
Buffers of a function on memrefs: their aliases, and how long they live.

    %a = memref.alloc() : memref<4xf32>            class {%a, %v, %r}, live in [0, 6)
    %v = memref.subview %a[0] [2] [1] : …
    %r = scf.for … iter_args(%x = %a) { … }        and all through the loop, as %a is from outside
    "test.use"(%r)
    memref.dealloc %a                              not a use

Positions are numbers in program order, blocks in reverse postorder. A class lives from its first
mention to its last one; if it is older than a loop, of ops or of blocks, in which it is mentioned,
to the end of the loop. So nothing but `Loops` knows of jumps. What ops do to memrefs is asked of
their traits: effects, `Aliasing`, `PassesValues`, `RunsRegions`, `CallsFunction`,
`CapturesOperands`. A class *escapes* if its bytes may be used by what this function does not see:
it is returned, stored into memory, or an operand of an op whose effects are not known. Linear in
ops, nearly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.interfaces import Runs
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from ..analysis.dominance import postorder
from ..support.walk import run_nested
from .buffer_facts import RETURNED, Kept, callees_first, facts_of, flow_of, runs_of
from .op_facts import has_bytes

Allocation = memref.AllocOp | memref.AllocaOp


class Loops:
    """Loops as ranges of positions: from before the first op to after the last one."""

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        pairs = np.array(sorted(ranges), np.int64).reshape(-1, 2)
        self.starts, self.stops = pairs[:, 0], pairs[:, 1]

    def furthest(self, low: int, high: int) -> int:
        """Return the greatest end of the loops that start in [low, high)."""
        i, j = self.starts.searchsorted((low, high))
        return int(self.stops[i:j].max(initial=0))

    def extended(self, first: int, last: int) -> int:
        """Return the last position at which what is mentioned in [first, last] is live."""
        while (stop := self.furthest(first, last) - 1) > last:
            last = stop
        return last


def worse(one: str | None, other: str | None) -> str | None:
    """Return that reason of two which says more: what is returned may be captured, too."""
    return other if one is None or (other and one == RETURNED) else one


@dataclass(eq=False)
class Alias:
    """A class of values that may name the same bytes, by its representative."""

    first: int
    last: int
    is_foreign: bool = False
    """True if some of its bytes are not of an allocation in this function."""
    escape: str | None = None
    """Why its bytes may be used elsewhere."""
    frees: list[Operation] = field(default_factory=list[Operation])
    above: Alias | None = None

    def root(self) -> Alias:
        at = self
        while at.above is not None:
            if at.above.above is not None:
                at.above = at.above.above
            at = at.above
        return at


@dataclass(eq=False)
class Buffers:
    """The buffers of a function."""

    function: func.FuncOp
    summaries: Mapping[str, Kept]
    position: dict[Operation, int] = field(default_factory=dict[Operation, int])
    regions: dict[Block, Nested] = field(default_factory=lambda: {})
    allocs: list[Allocation] = field(default_factory=list[Allocation])
    loops: Loops = field(default_factory=Loops)
    at: int = 0
    _ranges: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """The loops met so far."""
    _aliases: dict[int, Alias] = field(default_factory=dict[int, Alias])
    """By the identity of a value: xDSL's hash is slow."""

    def of(self, value: SSAValue) -> Alias:
        """Return the class of a value that names bytes."""
        alias = self._aliases.get(id(value))
        if alias is None:
            alias = self._aliases[id(value)] = Alias(self.at, self.at)
        return alias.root()

    def mention(self, value: SSAValue) -> None:
        alias = self.of(value)
        alias.first, alias.last = min(alias.first, self.at), max(alias.last, self.at)

    def unite(self, one: SSAValue, other: SSAValue) -> None:
        """Put two values into one class, unless one of them names no bytes."""
        if not (has_bytes(one.type) and has_bytes(other.type)):
            return
        a, b = self.of(one), self.of(other)
        if a is b:
            return
        a.first, a.last = min(a.first, b.first), max(a.last, b.last)
        a.is_foreign |= b.is_foreign
        a.escape = worse(a.escape, b.escape)
        a.frees += b.frees
        b.above = a

    def escape(self, value: SSAValue, why: str) -> None:
        if has_bytes(value.type):
            alias = self.of(value)
            alias.escape = worse(alias.escape, why)

    # ----------------------------------------------------------------- reading

    def read(self) -> Buffers:
        """Read the function."""
        run_nested(self._region(self.function.body, None, None, 0))
        for argument in self.entry.args:
            if has_bytes(argument.type):
                self.of(argument).is_foreign = True
        self.loops = Loops(self._ranges)
        return self

    @property
    def entry(self) -> Block:
        return self.function.body.blocks[0]

    def _region(
        self, region: Region, around: Nested | None, holder: Operation | None, arm: int
    ) -> Iterator[Any]:
        """Read a region; yields what reads the regions in it."""
        blocks, starts = in_order(region), dict[Block, int]()
        entry: Nested | None = None
        for block in blocks:
            if entry is None:
                nested = entry = Nested.of(block, around, holder, arm)
            else:
                last = entry.block.last_op
                nested = replace(entry, block=block, parent=entry, holder=last, is_arm=False)
            self.regions[block] = nested
            starts[block] = self.at
            for argument in block.args:
                if has_bytes(argument.type):
                    self.mention(argument)
            self.at += 1
            op = block.first_op
            while op is not None:
                start = self.at
                self.visit(op, nested)
                for i, inner in enumerate(op.regions):
                    if inner.blocks:
                        yield self._region(inner, nested, op, i)
                if op.regions:
                    for region_block in (b for inner in op.regions for b in inner.blocks):
                        self.regions[region_block].end = self.at
                    if runs_of(op) not in (Runs.ONE, Runs.LATER):
                        self._ranges.append((start, self.at))
                    self._link(op)
                for target in op.successors:
                    if target in starts:  # a jump back
                        self._ranges.append((starts[target], self.at))
                op = op.next_op
            nested.stop = self.at
        for block in blocks:
            self.regions[block].end = self.at

    def visit(self, op: Operation, nested: Nested) -> None:
        """Read an op, but for what is in its regions."""
        self.position[op] = self.at
        facts, operands = facts_of(op), [v for v in operands_of(op) if has_bytes(v.type)]
        results = [result for result in op.results if has_bytes(result.type)]
        if facts.deallocates and not op.results:
            for value in operands:
                self.of(value).frees.append(op)
            operands = []
        for value in (*operands, *results):
            self.mention(value)
        if isinstance(op, Allocation):
            self.allocs.append(op)
        elif operands or results:
            if not op.regions:
                self._link(op)
            if (holder := nested.opaque) is not None and not facts_of(holder).is_known:
                for value in (*operands, *results):
                    self.escape(value, f"used in a region of {holder.name}")
        if (holder := nested.later) is not None:
            for value in operands:
                if not holder.is_ancestor(value.owner):
                    self.escape(value, f"used in a region of {holder.name}")
        self.at += 1

    def _link(self, op: Operation) -> None:
        """Unite what shares bytes by what `op` does, and note what escapes."""
        named, captured, is_foreign = flow_of(op, self.summaries)
        for name, value in named:
            self.unite(name, value)
        for value, why in captured:
            self.escape(value, why)
        for result in op.results if is_foreign else ():
            if has_bytes(result.type):
                self.of(result).is_foreign = True

    # ----------------------------------------------------------------- results

    def region(self, op: Operation) -> Nested:
        assert op.parent is not None, "an op of a function"
        return self.regions[op.parent]

    def stop_of(self, home: Nested) -> int:
        """Return the position up to which a storage that is allocated in `home` is there."""
        is_first = home.parent is None or home.parent.block.parent is not home.block.parent
        return home.end if is_first else home.stop

    def summary(self) -> Kept:
        """Return what the function does with its parameters."""
        captures, returns = set[int](), set[int]()
        for i, argument in enumerate(self.entry.args):
            if not has_bytes(argument.type):
                continue
            alias = self.of(argument)
            if alias.escape is not None:
                (returns if alias.escape == RETURNED else captures).add(i)
            if alias.frees:
                captures.add(i)
        return Kept(frozenset(captures), frozenset(returns))


@dataclass(eq=False)
class Nested:
    """A block of a function, as `storages.Scope` says."""

    block: Block
    parent: Nested | None
    holder: Operation | None
    number: int
    is_arm: bool
    body: Block
    """The first block of the function, or of the parallel body, that it is in."""
    opaque: Operation | None
    """The op that runs it, or a block around it, in unknown ways."""
    later: Operation | None
    """The op that may run it, or a block around it, at once with what follows."""
    end: int = 0
    stop: int = 0
    """The position after its last op."""

    @staticmethod
    def of(block: Block, around: Nested | None, holder: Operation | None, arm: int) -> Nested:
        """Return the first block of a region of `holder`, which is in `around`."""
        if around is None or holder is None:
            return Nested(block, None, None, arm, False, block, None, None)
        runs = runs_of(holder)
        body = block if runs is not None and runs.shares_time else around.body
        opaque = holder if runs is None else around.opaque
        later = holder if runs is Runs.LATER else around.later
        return Nested(block, around, holder, arm, runs is Runs.ONE, body, opaque, later)


def in_order(region: Region) -> list[Block]:
    """Return the blocks of a region in reverse postorder, those not reached at the end."""
    found = dict.fromkeys(reversed(postorder(region.blocks[0])))
    return [*(found | dict.fromkeys(region.blocks))]


def buffers_in(module: ModuleOp) -> list[Buffers]:
    """Read the functions of a module that have bodies, callees first."""
    from ...dialects.foreign.buffer_interfaces import attach_buffer_interfaces  # if there are any

    attach_buffer_interfaces()
    summaries, read = dict[str, Kept](), list[Buffers]()
    for name, function in callees_first(module):
        if not function.body.blocks:
            summaries[name] = Kept.by_declaration(function)
            continue
        buffers = Buffers(function, summaries).read()
        read.append(buffers)
        summaries[name] = buffers.summary()
    return read
