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
from itertools import chain
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from .aliases import AliasClasses
from .numbered import Arm, Row

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

    row: Row
    rest: list[Arm]
    arms: list[tuple[Block, list[int], set[int]]] = field(
        default_factory=list[tuple[Block, list[int], set[int]]]
    )
    """Of each region scanned: the values from above that it uses, and the classes of its live ones
    besides those that are live after the choice."""


@dataclass(eq=False)
class _Open:
    """A block that is being scanned."""

    arm: Arm
    rows: Iterator[Row]
    choice: _Choice | None
    added: list[int] = field(default_factory=list[int])
    """The values that became live in the block and the blocks in it."""
    kills: list[Operation] = field(default_factory=list[Operation])
    """The kills below the current op, with nothing between; last first."""


class _Scan:
    def __init__(self, classes: AliasClasses) -> None:
        self.classes = classes
        self.deaths = Deaths()
        self.live = [False] * len(classes.values)
        self.live_in: list[dict[int, None]] = [{} for _ in classes.values]
        """The live values of each class."""
        self.open: list[_Open] = []

    def run(self) -> Deaths:
        self.enter(self.classes.body.body, None)
        class_of = self.classes.class_of
        while self.open:
            top = self.open[-1]
            row = next(top.rows, None)
            if row is None:
                self.open.pop()
                self.at_start(top)
            elif row.facts.frees:
                top.kills.append(row.op)
                if alive := self.live_in[class_of[row.uses[0]]]:
                    self.deaths.alive[row.op] = self.values(alive)
            else:
                self.note_kills(row.op, top)
                self.visit(row, top)
        return self.deaths

    def values(self, numbers: Iterable[int]) -> list[SSAValue]:
        values = self.classes.values
        return [values[number] for number in numbers]

    def enter(self, arm: Arm, choice: _Choice | None) -> None:
        self.open.append(_Open(arm, reversed(arm.rows), choice))

    def note_kills(self, point: Point, top: _Open) -> None:
        if top.kills:
            self.deaths.kills[point] = top.kills[::-1]
            top.kills = []

    def visit(self, row: Row, top: _Open) -> None:
        uses = () if row.arms else row.uses
        if row is not top.arm.rows[-1] or not row.op.has_trait(IsTerminator):
            self.die(row.op, (*uses, *row.results))
        for result in row.results:
            self.end(result)
        if row.arms:
            self.enter(row.arms[-1], _Choice(row, [*row.arms[:-1]]))
        else:
            self.begin(uses)

    def die(self, point: Point, numbers: Iterable[int]) -> None:
        """Note that the classes of values die at `point`, unless they are live after it."""
        last: dict[int, int] = {}
        classes, live_in = self.classes, self.live_in
        for number in numbers:
            found = classes.class_of[number]
            if not live_in[found] and classes.owned[found] and not classes.kept[found]:
                last[found] = max(number, last.get(found, 0))
        if last:
            self.deaths.names[point] = self.values(sorted(last.values()))

    def begin(self, numbers: Iterable[int]) -> None:
        """Make values live."""
        added = self.open[-1].added
        for number in numbers:
            if not self.live[number]:
                self.live[number] = True
                added.append(number)
                self.live_in[self.classes.class_of[number]][number] = None

    def end(self, number: int) -> None:
        """Make a value dead."""
        if self.live[number]:
            self.live[number] = False
            del self.live_in[self.classes.class_of[number]][number]

    def at_start(self, left: _Open) -> None:
        """Leave a block at its start."""
        self.note_kills(left.arm.block, left)
        choice = left.choice
        if choice is None:
            return
        args = [arg for arg in left.arm.args if self.live[arg]]
        for arg in args:
            self.end(arg)
        above = [number for number in left.added if self.live[number]]
        alive = {self.classes.class_of[number] for number in (*above, *args)}
        choice.arms.append((left.arm.block, above, alive))
        for number in above:
            self.end(number)
        if choice.rest:
            self.enter(choice.rest.pop(), choice)
        else:
            self.leave(choice)

    def leave(self, choice: _Choice) -> None:
        """Note the classes that live up to the choice, but not in each of its regions."""
        entering = dict.fromkeys(n for _, above, _ in reversed(choice.arms) for n in above)
        entering |= dict.fromkeys(choice.row.uses)
        class_of = self.classes.class_of
        for block, _, alive in choice.arms:
            self.die(block, (n for n in entering if class_of[n] not in alive))
        self.begin(entering)


def deaths(classes: AliasClasses) -> Deaths:
    """Find where the bytes of each class die that `ends_here`."""
    return _Scan(classes).run()


def names_alive_after_kills(classes: AliasClasses) -> Mapping[Operation, Sequence[SSAValue]]:
    """Return, for each kill, the names of the bytes that are used after it, if there are any."""
    used: set[int] = set()
    """The classes that are used below."""
    for row in reversed(classes.body.rows):
        found = [classes.class_of[number] for number in row.uses]
        if not row.facts.frees:
            used.update(found)
        elif not used.isdisjoint(found):
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
    class_of, kept = classes.class_of, classes.kept
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for number in classes.body.body.args:
        first[class_of[number]] = last[class_of[number]] = 0
    for row in classes.body.rows:
        uses = row.uses if to_kill or not row.facts.frees else ()
        for number in chain(uses, row.results, *(arm.args for arm in row.arms)):
            found = class_of[number]
            first.setdefault(found, row.at)
            last[found] = row.at
    end = max(len(classes.body.rows), 1)
    return {
        number: Interval(start, end if kept[number] else last[number] + 1)
        for number, start in first.items()
    }


class Kill(NamedTuple):
    """A kill on the current path, and its number in program order."""

    number: int
    op: Operation


@dataclass(eq=False)
class _Path:
    """A block on the path that is being checked."""

    rows: Iterator[Row]
    choice: Row | None
    """The op that chose the block; None for a body."""
    rest: list[Arm]
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


class _KillCheck:
    def __init__(self, classes: AliasClasses) -> None:
        self.classes = classes
        self.defined = [0] * len(classes.values)
        """The number in program order of each value's definition."""
        self.killed: dict[int, Kill] = {}
        """The last kill of each class on the path to here, or on one of the paths that meet."""
        self.first: dict[int, int] = {}
        """The number of the first definition of a value of each class; absent if none was met."""
        self.path: list[_Path] = []
        self.number = 0

    def first_fault(self) -> tuple[Operation, Operation] | None:
        class_of, killed, defined = self.classes.class_of, self.killed, self.defined
        self.path.append(_Path(iter(self.classes.body.body.rows), None, [], {}, 0))
        while self.path:
            self.number += 1
            row = next(self.path[-1].rows, None)
            if row is None:
                self.leave()
                continue
            for value in row.uses:
                kill = killed.get(class_of[value])
                if kill is not None and defined[value] < kill.number:
                    return row.op, kill.op
            if row.facts.frees:
                for value in row.uses:
                    self.kill(class_of[value], Kill(self.number, row.op))
            elif row.arms:
                self.enter(row, [*reversed(row.arms)], {})
            else:
                self.define(row.results)
        return None

    def define(self, values: Iterable[int]) -> None:
        for value in values:
            self.defined[value] = self.number
            self.first.setdefault(self.classes.class_of[value], self.number)

    def kill(self, number: int, kill: Kill) -> None:
        self.path[-1].before.setdefault(number, self.killed.get(number))
        self.killed[number] = kill

    def enter(self, choice: Row, arms: list[Arm], in_others: dict[int, Kill]) -> None:
        """Go on with the last of `arms`."""
        arm = arms.pop()
        self.define(arm.args)
        self.path.append(_Path(iter(arm.rows), choice, arms, in_others, self.number))

    def is_known_before(self, position: int, number: int) -> bool:
        """Test whether values of class `number` may be defined before `position`."""
        return self.first.get(number, 0) < position or self.classes.kept[number]

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
