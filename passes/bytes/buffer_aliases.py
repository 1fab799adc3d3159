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

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.interfaces import Runs
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from ..analysis.dominance import postorder
from ..support.walk import run_nested
from .buffer_facts import (
    Facts,
    Kept,
    callees_first,
    facts_of,
    holds_names,
    is_yield,
    names_bytes,
    runs_of,
)

ALLOCATIONS = (memref.AllocOp, memref.AllocaOp)


@dataclass
class Loops:
    """Loops as ranges of positions: from before the first op to after the last one."""

    ranges: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    _starts: list[int] = field(default_factory=list[int])
    _rows: list[list[int]] = field(default_factory=list[list[int]])
    """The greatest end of 2^k loops, from each on."""

    def close(self) -> None:
        """Prepare for questions."""
        ordered = sorted(self.ranges)
        self._starts = [start for start, _ in ordered]
        self._rows = [[stop for _, stop in ordered]]
        width = 1
        while 2 * width <= len(ordered):
            row = self._rows[-1]
            self._rows.append([*map(max, row, row[width:])])
            width *= 2

    def furthest(self, low: int, high: int) -> int:
        """Return the greatest end of the loops that start in [low, high)."""
        i, j = bisect_left(self._starts, low), bisect_left(self._starts, high)
        if i >= j:
            return 0
        k = (j - i).bit_length() - 1
        return max(self._rows[k][i], self._rows[k][j - (1 << k)])

    def extended(self, first: int, last: int) -> int:
        """Return the last position at which what is mentioned in [first, last] is live."""
        while (stop := self.furthest(first, last) - 1) > last:
            last = stop
        return last


class Escape(NamedTuple):
    """Why the bytes of a class may be used elsewhere."""

    why: str
    op: Operation
    is_return: bool = False


def worse(one: Escape | None, other: Escape | None) -> Escape | None:
    """Return that of two which says more: what is returned may be captured, too."""
    return other if one is None or (other and one.is_return) else one


@dataclass(eq=False)
class Alias:
    """A class of values that may name the same bytes, by its representative."""

    first: int
    last: int
    is_foreign: bool = False
    """True if some of its bytes are not of an allocation in this function."""
    escape: Escape | None = None
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
    stops: dict[Block, int] = field(default_factory=dict[Block, int])
    """The position after the last op of each block."""
    bodies: dict[Block, Block] = field(default_factory=dict[Block, Block])
    """The first block of the function, or of the parallel body, that each block is in."""
    opaque: dict[Block, Operation] = field(default_factory=dict[Block, Operation])
    """The blocks of regions that are run in unknown ways, each with the op that does."""
    later: dict[Block, Operation] = field(default_factory=dict[Block, Operation])
    """The blocks of regions that may run at once with what follows, each with the outermost op."""
    allocs: list[Operation] = field(default_factory=list[Operation])
    loops: Loops = field(default_factory=Loops)
    at: int = 0
    _aliases: dict[int, Alias] = field(default_factory=dict[int, Alias])
    """By the identity of a value: xDSL's hash is slow."""

    def of(self, value: SSAValue) -> Alias:
        """Return the class of a value that names bytes."""
        alias = self._aliases.get(id(value))
        if alias is None:
            alias = self._aliases[id(value)] = Alias(self.at, self.at)
        return alias.root()

    def mention(self, value: SSAValue) -> Alias:
        alias = self.of(value)
        alias.first, alias.last = min(alias.first, self.at), max(alias.last, self.at)
        return alias

    def unite(self, one: SSAValue, other: SSAValue) -> None:
        """Put two values into one class, unless one of them names no bytes."""
        if not (names_bytes(one.type) and names_bytes(other.type)):
            return
        a, b = self.of(one), self.of(other)
        if a is b:
            return
        a.first, a.last = min(a.first, b.first), max(a.last, b.last)
        a.is_foreign |= b.is_foreign
        a.escape = worse(a.escape, b.escape)
        a.frees += b.frees
        b.above = a

    def escape(self, value: SSAValue, why: str, op: Operation) -> None:
        if names_bytes(value.type):
            alias, is_return = self.of(value), isinstance(op, func.ReturnOp)
            alias.escape = worse(alias.escape, Escape(why, op, is_return))

    # ----------------------------------------------------------------- reading

    def read(self) -> Buffers:
        """Read the function."""
        run_nested(self._region(self.function.body, None, None, 0))
        for argument in self.entry.args:
            if names_bytes(argument.type):
                self.of(argument).is_foreign = True
        self.loops.close()
        return self

    @property
    def entry(self) -> Block:
        return self.function.body.blocks[0]

    def _region(
        self, region: Region, around: Nested | None, holder: Operation | None, arm: int
    ) -> Iterator[Any]:
        """Read a region; yields what reads the regions in it."""
        runs = None if holder is None else runs_of(holder)
        blocks = in_order(region)
        starts: dict[Block, int] = {}
        entry: Nested | None = None
        for block in blocks:
            if entry is None:
                found = Nested(block, around, holder, arm, 0, runs is Runs.ONE)
                entry = found
                parent = None if around is None else around.block
                is_own = parent is None or (runs is not None and runs.shares_time)
                self.bodies[block] = block if is_own or parent is None else self.bodies[parent]
            else:
                last = entry.block.last_op
                found = Nested(block, entry, last, 0, 0, False)
                self.bodies[block] = self.bodies[entry.block]
            self.regions[block] = found
            for table, kind in ((self.later, Runs.LATER), (self.opaque, None)):
                if holder is not None and runs is kind:
                    table[block] = holder
                elif around is not None and around.block in table:
                    table[block] = table[around.block]
            starts[block] = self.at
            for argument in block.args:
                if names_bytes(argument.type):
                    self.mention(argument)
            self.at += 1
            op = block.first_op
            while op is not None:
                start = self.at
                self.visit(op, block)
                for i, inner in enumerate(op.regions):
                    if inner.blocks:
                        yield self._region(inner, found, op, i)
                if op.regions:
                    self._leave(op, start)
                for target in op.successors:
                    if target in starts:  # a jump back
                        self.loops.ranges.append((starts[target], self.at))
                op = op.next_op
            self.stops[block] = self.at
        for block in blocks:
            self.regions[block].end = self.at

    def _leave(self, op: Operation, start: int) -> None:
        """Read what an op with regions does with values, after its regions."""
        facts = facts_of(op)
        for region in op.regions:
            for block in region.blocks:
                if block in self.regions:
                    self.regions[block].end = self.at
        if runs_of(op) not in (Runs.ONE, Runs.LATER):
            self.loops.ranges.append((start, self.at))
        if facts.passes is not None:
            for name, value in facts.passes.passed(op):
                self.unite(name, value)

    def visit(self, op: Operation, block: Block) -> None:
        """Read an op, but for what is in its regions."""
        self.position[op] = self.at
        facts, operands = facts_of(op), [v for v in operands_of(op) if names_bytes(v.type)]
        results = [result for result in op.results if names_bytes(result.type)]
        if facts.frees and not op.results:
            for value in operands:
                self.of(value).frees.append(op)
            operands = []
        for value in (*operands, *results):
            self.mention(value)
        if isinstance(op, ALLOCATIONS):
            self.allocs.append(op)
        elif operands or results:
            self._link(op, facts, operands, results)
            if block in self.opaque and not facts_of(self.opaque[block]).is_known:
                holder = self.opaque[block]
                for value in (*operands, *results):
                    self.escape(value, f"used in a region of {holder.name}", holder)
        if (holder := self.later.get(block)) is not None:
            for value in operands:
                if not holder.is_ancestor(value.owner):
                    self.escape(value, f"used in a region of {holder.name}", holder)
        self.at += 1

    def _link(
        self, op: Operation, facts: Facts, operands: list[SSAValue], results: Sequence[SSAValue]
    ) -> None:
        """Unite what shares bytes by what `op` does, and note what escapes."""
        if isinstance(op, func.ReturnOp):
            for value in operands:
                self.escape(value, "returned", op)
        elif facts.passes is not None:
            if runs_of(op) is None:
                for name, value in facts.passes.passed(op):
                    self.unite(name, value)
        elif facts.calls is not None:
            self._link_call(op, facts.calls.callee(op))
        elif is_yield(op):
            return
        elif not facts.is_known or facts.captures or facts.frees:
            self._link_unknown(op, operands, results)
        else:
            if facts.aliasing is not None:
                for name, value in facts.aliasing.aliases(op):
                    self.unite(name, value)
            elif not facts.allocates:
                for result in results:
                    for value in operands:
                        self.unite(result, value)
            for result in results if facts.allocates or not operands else ():
                self.of(result).is_foreign = True
            values = [*operands, *results]
            if any(holds_names(value.type) for value in values) and len(values) > 1:
                for value in values:
                    if facts.aliasing is None:
                        self.escape(value, f"may be stored by {op.name}", op)

    def _link_unknown(
        self, op: Operation, operands: list[SSAValue], results: Sequence[SSAValue]
    ) -> None:
        for value in operands:
            self.unite(value, operands[0])
            self.escape(value, f"an operand of {op.name}, whose effects are not known", op)
        for value in results:
            if operands:
                self.unite(value, operands[0])
            self.of(value).is_foreign = True

    def _link_call(self, op: Operation, callee: str) -> None:
        summary = self.summaries.get(callee)
        for i, value in enumerate(operands_of(op)):
            if summary is None or i in summary.captured:
                why = "captured by" if summary else "an operand of a call of"
                self.escape(value, f"{why} @{callee}", op)
            if summary is None or i in summary.returned:
                for result in op.results:
                    self.unite(result, value)
        for result in op.results:
            if names_bytes(result.type):
                self.of(result).is_foreign = True

    # ----------------------------------------------------------------- results

    def stop_of(self, home: Nested) -> int:
        """Return the position up to which a storage that is allocated in `home` is there."""
        is_first = home.parent is None or home.parent.block.parent is not home.block.parent
        return home.end if is_first else self.stops[home.block]

    def summary(self) -> Kept:
        """Return what the function does with its parameters."""
        captures, returns = set[int](), set[int]()
        for i, argument in enumerate(self.entry.args):
            if not names_bytes(argument.type):
                continue
            alias = self.of(argument)
            if alias.escape is not None:
                (returns if alias.escape.is_return else captures).add(i)
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
    end: int
    is_arm: bool


def in_order(region: Region) -> list[Block]:
    """Return the blocks of a region in reverse postorder, those not reached at the end."""
    found = dict.fromkeys(reversed(postorder(region.blocks[0])))
    return [*(found | dict.fromkeys(region.blocks))]


def buffers_in(module: ModuleOp) -> list[Buffers]:
    """Read the functions of a module that have bodies, callees first."""
    summaries, read = dict[str, Kept](), list[Buffers]()
    for name, function in callees_first(module):
        if not function.body.blocks:
            summaries[name] = Kept.by_declaration(function)
            continue
        buffers = Buffers(function, summaries).read()
        read.append(buffers)
        summaries[name] = buffers.summary()
    return read
