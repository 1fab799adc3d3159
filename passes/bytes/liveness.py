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
from dataclasses import field
from itertools import chain
from math import inf
from typing import Any

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects import memory
from ...dialects.tensors import as_tensor, static_size
from ...operators.intervals import Interval
from ...operators.records import record
from ..support.walk import run_nested
from .aliases import AliasClasses
from .numbered import Arm, Row
from .op_facts import is_storage, root_of

MAX_STARTS = 16
"""The number of classes up to which those that one arm does not use die at its start in kills."""

Point = Operation | Block
"""Right after an op, or the start of a block."""


@record
class Deaths:
    """The last names of the classes that die at each point, and the kills that are there."""

    names: dict[Point, list[SSAValue]] = field(default_factory=lambda: {})
    """One name per class, in the order of their definitions."""
    kills: dict[Point, list[Operation]] = field(default_factory=lambda: {})
    """The kills that directly follow each point, in order; an op is never a kill."""
    alive: dict[Operation, list[SSAValue]] = field(default_factory=lambda: {})
    """Of each kill, the names of the bytes that are used after it, if there are any."""


class _Scan:
    def __init__(
        self,
        classes: AliasClasses,
        kills_use: bool = False,
        held: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        self.classes = classes
        self.kills_use = kills_use
        self.held = held or {}
        """The values that live until a choice is left, for each by its position."""
        self.crowds: list[tuple[Row, list[int]]] = []
        """The choices with an arm at whose start many classes die, and values that enter others."""
        self.deaths = Deaths()
        self.live = [False] * len(classes.values)
        self.live_in: list[dict[int, None]] = [{} for _ in classes.values]
        """The live values of each class."""
        self.added: list[int] = []
        """The values that became live in the block that is being scanned and the blocks in it."""

    def run(self) -> Deaths:
        run_nested(self.scan(self.classes.body.body))
        return self.deaths

    def scan(self, arm: Arm) -> Iterator[Any]:
        """Scan a block from its end; yield what scans the arms of its choices."""
        class_of, kills = self.classes.class_of, list[Operation]()
        for row in reversed(arm.rows):
            if row.facts.frees:
                kills.append(row.op)
                if alive := self.live_in[class_of[row.uses[0]]]:
                    self.deaths.alive[row.op] = self.values(alive)
                if self.kills_use:
                    self.begin(row.uses)
                continue
            self.note_kills(row.op, kills)
            uses = self.held.get(row.at, ()) if row.arms else row.uses
            if row is not arm.rows[-1] or not row.op.has_trait(IsTerminator):
                self.die(row.op, (*uses, *row.results))
            for result in row.results:
                self.end(result)
            self.begin(uses)
            if row.arms:
                yield self.choose(row)
        self.note_kills(arm.block, kills)

    def choose(self, row: Row) -> Iterator[Any]:
        """Scan the arms of a choice, and note the classes that live up to it, but not in each."""
        class_of, around = self.classes.class_of, self.added
        arms = list[tuple[Block, list[int], set[int]]]()
        for arm in reversed(row.arms):
            self.added = []
            yield self.scan(arm)
            args = [arg for arg in arm.args if self.live[arg]]
            for arg in args:
                self.end(arg)
            above = [number for number in self.added if self.live[number]]
            arms.append((arm.block, above, {class_of[number] for number in (*above, *args)}))
            for number in above:
                self.end(number)
        self.added = around
        entering = dict.fromkeys(number for _, above, _ in reversed(arms) for number in above)
        entering |= dict.fromkeys(row.uses)
        if len(entering) > MAX_STARTS + min(len(alive) for _, _, alive in arms):
            everywhere = set[int].intersection(*(alive for _, _, alive in arms))
            self.crowds.append((row, [n for n in entering if class_of[n] not in everywhere]))
        for block, _, alive in arms:
            self.die(block, (number for number in entering if class_of[number] not in alive))
        self.begin(entering)

    def values(self, numbers: Iterable[int]) -> list[SSAValue]:
        values = self.classes.values
        return [values[number] for number in numbers]

    def note_kills(self, point: Point, kills: list[Operation]) -> None:
        """Note the kills that directly follow a point, which were met last one first."""
        if kills:
            self.deaths.kills[point] = kills[::-1]
            kills.clear()

    def die(self, point: Point, numbers: Iterable[int]) -> None:
        """Note that the classes of values die at `point`, unless they are live after it."""
        last: dict[int, int] = {}
        classes, live_in = self.classes, self.live_in
        for number in numbers:
            of = classes.class_of[number]
            if not live_in[of] and classes.owned[of] and not classes.kept[of]:
                last[of] = max(number, last.get(of, 0))
        if last:
            self.deaths.names[point] = self.values(sorted(last.values()))

    def begin(self, numbers: Iterable[int]) -> None:
        """Make values live."""
        for number in numbers:
            if not self.live[number]:
                self.live[number] = True
                self.added.append(number)
                self.live_in[self.classes.class_of[number]][number] = None

    def end(self, number: int) -> None:
        """Make a value dead."""
        if self.live[number]:
            self.live[number] = False
            del self.live_in[self.classes.class_of[number]][number]


def deaths(classes: AliasClasses, few: bool = False) -> Deaths:
    """
    Find where the bytes of each class die that is owned, and not kept.

    With `few`, the number of deaths is linear in ops: if more than `MAX_STARTS` classes would die
    at the start of an arm, they live until the choice is left, but for those that branches yield,
    and those that were planned: other tensors may lie in their bytes as soon as they are dead.
    """
    scan = _Scan(classes)
    ends = scan.run()
    if not few or not scan.crowds:
        return ends
    class_of = classes.class_of
    yields = (arm.rows[-1].uses for row in classes.body.choices for arm in row.arms if arm.rows)
    exempt = {class_of[number] for numbers in yields for number in numbers}
    exempt |= planned(classes)
    held: dict[int, list[int]] = {}
    outer: dict[int, int] = {}
    """The end of the outermost choice that holds each value."""
    for row, crowd in reversed(scan.crowds):
        held[row.at] = [n for n in crowd if row.at >= outer.get(n, 0) and class_of[n] not in exempt]
        outer.update(dict.fromkeys(held[row.at], row.stop))
    return _Scan(classes, held=held).run()


def planned(classes: AliasClasses) -> set[int]:
    """Return the classes with a tensor whose bytes are, or may be, another class's later."""
    tensors: dict[SSAValue, list[tuple[int, float, int]]] = {}
    """The start, end and class of tensors, by their storages."""
    lent: set[SSAValue] = set()
    number, class_of = classes.body.number, classes.class_of
    for row in classes.body.rows:
        if type(row.op) is memory.AllocTensorOp:
            storage, offset = row.op.start
            root, type_ = root_of(storage), as_tensor(row.op.results[0].type)
            size = None if type_ is None else static_size(type_)
            start, stop = 0, inf
            if root is storage and isinstance(offset, int) and size is not None:
                start, stop = offset, offset + size
            tensors.setdefault(root, []).append((start, stop, class_of[number(row.op.results[0])]))
        elif row.facts.views is None and not row.facts.frees:
            lent.update(root_of(value) for value in row.op.operands if is_storage(value))
    freed: set[int] = set()
    for root, members in tensors.items():
        highest, owner = 0.0, -1
        """The highest end of a tensor so far, and its class."""
        for start, stop, tensor in sorted(members):
            if root in lent or (start < highest and tensor != owner):
                freed |= {tensor, owner}
            if stop > highest:
                highest, owner = stop, tensor
    return freed


def names_alive_after_kills(
    classes: AliasClasses, kills_use: bool = False
) -> Mapping[Operation, Sequence[SSAValue]]:
    """
    Return, for each kill, the names of the bytes that are used after it, if there are any.

    With `kills_use`, a kill uses what it names.
    """
    used: set[int] = set()
    """The classes that are used below."""
    for row in reversed(classes.body.rows):
        read = [classes.class_of[number] for number in row.uses]
        if row.facts.frees and not used.isdisjoint(read):
            return _Scan(classes, kills_use).run().alive
        if kills_use or not row.facts.frees:
            used.update(read)
    return {}  # nothing is used after a kill, on any path


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
            of = class_of[number]
            first.setdefault(of, row.at)
            last[of] = row.at
    end = max(len(classes.body.rows), 1)
    return {
        number: Interval(start, end if kept[number] else last[number] + 1)
        for number, start in first.items()
    }


def used_after_kill(classes: AliasClasses) -> tuple[Operation, Operation] | None:
    """Find the first op that uses or kills bytes after a kill of them, and that kill."""
    number, rows = classes.body.number, classes.body.rows
    names = {
        kill: set(map(number, names))
        for kill, names in names_alive_after_kills(classes, kills_use=True).items()
    }
    killed: dict[int, list[Operation]] = {}
    for row in rows if names else ():
        for kill in (kill for value in row.uses for kill in killed.get(value, ())):
            if not exclude_each_other(kill, row.op):
                return row.op, kill
        for value in names.get(row.op, ()):
            killed.setdefault(value, []).append(row.op)
    return None


def exclude_each_other(one: Operation, other: Operation) -> bool:
    """Test whether two ops of a body are in different arms of a choice."""
    at: Operation | None = one
    while at is not None and at.parent is not None:
        around = at.parent.find_ancestor_op_in_block(other)
        if around is not None:
            return around is at is not one
        at = at.parent_op()
    return False
