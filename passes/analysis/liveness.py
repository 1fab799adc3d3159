"""
Liveness of alias classes over structured control flow.

    %a = …                                  %a lives
    %r = relay.if %c {
      %z = f(%a)                            the class of %a dies after its last use …
      yield %z
    } else {
      …                                     … or at the start of a region that does not use it
    }

A class lives while one of its values does: from the definition to the last use on the path. One
walk from the end to the start finds each point where a class is live before and dead after. At
the start of a region, only the values that one of its sibling regions uses are considered, so the
walk is linear in ops, and in the deaths that it finds. `memory.kill` is not a use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.xdsl_internals import operands_of
from .aliases import AliasClasses, facts_of, is_choice

Point = Operation | Block
"""Right after an op, or the start of a block."""


@dataclass(frozen=True)
class Deaths:
    """The last names of the classes that die at each point, and the kills that are there."""

    names: dict[Point, list[SSAValue]] = field(default_factory=dict[Point, list[SSAValue]])
    """One name per class, in the order of their definitions."""
    kills: dict[Point, list[Operation]] = field(default_factory=dict[Point, list[Operation]])
    """The kills that directly follow each point, in order; an op is never a kill."""
    alive: dict[Operation, list[SSAValue]] = field(default_factory=dict[Operation, list[SSAValue]])
    """Of each kill, the names of the bytes that are used after it, if there are any."""


@dataclass(eq=False)
class _Choice:
    """A choice whose regions are being scanned, the last one first."""

    op: Operation
    rest: list[Block]
    arms: list[tuple[Block, list[SSAValue], set[int]]] = field(
        default_factory=list[tuple[Block, list[SSAValue], set[int]]]
    )
    """Of each region scanned: the values from above that it uses, and the classes of its live ones
    besides those that are live after `op`."""


@dataclass(eq=False)
class _Open:
    """A block that is being scanned."""

    block: Block
    ops: Iterator[Operation]
    choice: _Choice | None
    added: list[SSAValue] = field(default_factory=list[SSAValue])
    """The values that became live in the block and the blocks in it."""
    kills: list[Operation] = field(default_factory=list[Operation])
    """The kills below the current op, with nothing between; last first."""


@dataclass(eq=False)
class _Scan:
    classes: AliasClasses
    deaths: Deaths = field(default_factory=Deaths)
    live: set[SSAValue] = field(default_factory=set[SSAValue])
    live_in: dict[int, dict[SSAValue, None]] = field(
        default_factory=dict[int, dict[SSAValue, None]]
    )
    """The live values of each class."""
    open: list[_Open] = field(default_factory=list[_Open])

    def run(self) -> Deaths:
        self.enter(self.classes.block, None)
        while self.open:
            top = self.open[-1]
            op = next(top.ops, None)
            if op is None:
                self.open.pop()
                self.at_start(top)
            elif facts_of(op).frees:
                top.kills.append(op)
                if alive := self.live_in.get(self.classes.of(op.operands[0])):
                    self.deaths.alive[op] = list(alive)
            else:
                self.note_kills(op, top)
                self.visit(op)
        return self.deaths

    def enter(self, block: Block, choice: _Choice | None) -> None:
        self.open.append(_Open(block, reversed(block.ops), choice))

    def note_kills(self, point: Point, top: _Open) -> None:
        if top.kills:
            self.deaths.kills[point] = top.kills[::-1]
            top.kills = []

    def visit(self, op: Operation) -> None:
        is_last = op.next_op is None and op.has_trait(IsTerminator)
        enters = bool(op.regions) and is_choice(op)
        uses, results = () if enters else self.classes.uses(op), op.results
        if not is_last:
            self.die(op, (*uses, *results))
        for result in results:
            self.end(result)
        if enters:
            blocks = [region.block for region in op.regions]
            choice = _Choice(op, blocks[:-1])
            self.enter(blocks[-1], choice)
        else:
            self.begin(uses)

    def die(self, point: Point, names: Iterable[SSAValue]) -> None:
        """Note that the classes of `names` die at `point`, unless they are live after it."""
        last: dict[int, SSAValue] = {}
        class_of, position_of = self.classes.of, self.classes.position_of
        for name in names:
            number = class_of(name)
            if self.live_in.get(number) or not self.classes.class_ends_here(number):
                continue
            other = last.get(number)
            if other is None or position_of(other) < position_of(name):
                last[number] = name
        if last:
            self.deaths.names[point] = sorted(last.values(), key=position_of)

    def begin(self, values: Iterable[SSAValue]) -> None:
        """Make `values` live."""
        added = self.open[-1].added
        for value in values:
            if value not in self.live:
                self.live.add(value)
                added.append(value)
                number = self.classes.of(value)
                names = self.live_in.get(number)
                if names is None:
                    self.live_in[number] = {value: None}
                else:
                    names[value] = None

    def end(self, value: SSAValue) -> None:
        """Make `value` dead."""
        if value in self.live:
            self.live.remove(value)
            del self.live_in[self.classes.of(value)][value]

    def at_start(self, block: _Open) -> None:
        """Leave a block at its start."""
        self.note_kills(block.block, block)
        choice = block.choice
        if choice is None:
            return
        args = [arg for arg in block.block.args if arg in self.live]
        for arg in args:
            self.end(arg)
        above = [value for value in block.added if value in self.live]
        alive = {self.classes.of(value) for value in (*above, *args)}
        choice.arms.append((block.block, above, alive))
        for value in above:
            self.end(value)
        if choice.rest:
            self.enter(choice.rest.pop(), choice)
        else:
            self.leave(choice)

    def leave(self, choice: _Choice) -> None:
        """Note the classes that live up to the choice, but not in each of its regions."""
        entering = dict.fromkeys(v for _, above, _ in reversed(choice.arms) for v in above)
        entering |= dict.fromkeys(self.classes.uses(choice.op))
        for block, _, alive in choice.arms:
            self.die(block, (v for v in entering if self.classes.of(v) not in alive))
        self.begin(entering)


def deaths(classes: AliasClasses) -> Deaths:
    """Find where the bytes of each class die that `ends_here`."""
    return _Scan(classes).run()


def names_alive_after_kills(classes: AliasClasses) -> Mapping[Operation, Sequence[SSAValue]]:
    """Return, for each kill, the names of the bytes that are used after it, if there are any."""
    ends = (
        (op.operands[0], position) for position, op in enumerate(classes.ends) if facts_of(op).frees
    )
    if any(classes.used_after(value, position) for value, position in ends):
        return deaths(classes).alive
    return {}  # nothing is used after a kill, on any path


class Interval(NamedTuple):
    """A half-open interval of positions in program order."""

    start: int
    stop: int

    def meets(self, other: Interval) -> bool:
        return self.start < other.stop and other.start < self.stop


def live_ranges(classes: AliasClasses, to_kill: bool = False) -> dict[int, Interval]:
    """
    Return the positions at which each class is live, from its first definition to its last use.

    Ops are numbered in program order, an op before those in its regions. A class that is kept is
    live to the end. With `to_kill`, a class is live up to its kills too.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    position = 0
    for argument in classes.block.args:
        first[classes.of(argument)] = last[classes.of(argument)] = 0
    for position, op in enumerate(classes.ops):
        uses = operands_of(op) if to_kill and facts_of(op).frees else classes.uses(op)
        values = (*uses, *op.results)
        if op.regions and is_choice(op):
            values += tuple(a for region in op.regions for a in region.block.args)
        for number in map(classes.of, values):
            if number not in first:
                first[number] = position
            last[number] = position
    return {
        number: Interval(start, (position if classes.class_is_kept(number) else last[number]) + 1)
        for number, start in first.items()
    }


class Kill(NamedTuple):
    """A kill on the current path, and its number in program order."""

    number: int
    op: Operation


@dataclass(eq=False)
class _Path:
    """A block on the path that is being checked."""

    ops: Iterator[Operation]
    choice: Operation | None
    """The op that chose the block; None for a body."""
    rest: list[Block]
    """The regions of `choice` to check after it, the next one last."""
    in_others: dict[int, Kill]
    """
    The kills in the regions of `choice` before it, by class; not of classes whose values are all
    defined in one of them, which nothing uses outside.
    """
    start: int
    """The number in program order at which the block starts."""
    before: dict[int, Kill | None] = field(default_factory=dict[int, "Kill | None"])
    """The entries of `killed` that the block's kills replaced."""


@dataclass(eq=False)
class _KillCheck:
    classes: AliasClasses
    defined: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """The number in program order of each value's definition."""
    killed: dict[int, Kill] = field(default_factory=dict[int, Kill])
    """The last kill of each class on the path to here, or on one of the paths that meet here."""
    first: dict[int, int] = field(default_factory=dict[int, int])
    """The number of the first definition of a value of each class; absent if none was met."""
    path: list[_Path] = field(default_factory=list[_Path])
    number: int = 0

    def first_fault(self) -> tuple[Operation, Operation] | None:
        self.path.append(_Path(iter(self.classes.block.ops), None, [], {}, 0))
        while self.path:
            self.number += 1
            op = next(self.path[-1].ops, None)
            if op is None:
                self.leave()
                continue
            frees = facts_of(op).frees
            for value in op.operands if frees else self.classes.uses(op):
                kill = self.killed.get(self.classes.of(value))
                if kill is not None and self.defined.get(value, 0) < kill.number:
                    return op, kill.op
            if frees:
                for value in op.operands:
                    self.kill(self.classes.of(value), Kill(self.number, op))
            elif is_choice(op) and op.regions:
                self.enter(op, [region.block for region in reversed(op.regions)], {})
            else:
                self.define(op.results)
        return None

    def define(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            self.defined[value] = self.number
            self.first.setdefault(self.classes.of(value), self.number)

    def kill(self, number: int, kill: Kill) -> None:
        self.path[-1].before.setdefault(number, self.killed.get(number))
        self.killed[number] = kill

    def enter(self, choice: Operation, blocks: list[Block], in_others: dict[int, Kill]) -> None:
        """Go on with the last of `blocks`."""
        block = blocks.pop()
        self.define(block.args)
        self.path.append(_Path(iter(block.ops), choice, blocks, in_others, self.number))

    def is_known_before(self, position: int, number: int) -> bool:
        """Test whether values of class `number` may be defined before `position`."""
        first = self.first.get(number, 0)
        return first < position or self.classes.class_is_kept(number)

    def leave(self) -> None:
        """Leave a block at its end, for the next region of its choice, or for what follows."""
        left = self.path.pop()
        if left.choice is None:
            return
        for number, before in left.before.items():
            if self.is_known_before(left.start, number):
                left.in_others[number] = self.killed[number]
            if before is None:
                del self.killed[number]
            else:
                self.killed[number] = before
        if left.rest:
            self.enter(left.choice, left.rest, left.in_others)
            return
        for number, kill in left.in_others.items():
            self.kill(number, kill)
        self.define(left.choice.results)


def used_after_kill(classes: AliasClasses) -> tuple[Operation, Operation] | None:
    """Find an op that uses bytes after a kill of them, on some path; return it and the kill."""
    return _KillCheck(classes).first_fault()
