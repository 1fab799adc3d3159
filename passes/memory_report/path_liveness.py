"""
The positions at which the bytes of each tensor are live, path by path.

    %t = memory.alloc_tensor …      0    %t: [0, 3) and [5, 6): the `else` does not use it
    %a = … outs(%t)                 1
    %r = relay.if %c {              2
      use %a                        3
      %u = …                        4    %u: [4, 5), and from 8 on in arm 0
      yield %u
    } else {
      %v = …                        6    %v: [6, 8), and from 8 on in arm 1
      yield %v
    }
    use %r                          8

In an arm, the spans of what is live in other arms only are interrupted. After a branch, the spans
of what one arm handed over carry that arm; spans in different arms of a branch exclude each other.
Positions are those of `live_ranges`. Linear in ops and in the spans found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import memory
from ..bytes.aliases import AliasClasses
from ..bytes.liveness import Deaths, Point, deaths
from ..bytes.numbered import Arm, Row
from ..bytes.op_facts import facts_of, is_storage

MAX_ARMS = 16
"""The maximum number of arms that a span carries; those of the first branches are dropped."""


class TakenArm(NamedTuple):
    """An arm of a branch; branches are numbered by their ends."""

    branch: int
    arm: int


Arms = tuple[TakenArm, ...]


class Span(NamedTuple):
    """The positions from `start` until just before `stop`, on the paths through all `arms`."""

    start: int
    stop: int
    arms: Arms


@dataclass(frozen=True)
class Branch:
    """An op that executes one of its regions, and the positions at which each starts and ends."""

    op: Operation
    position: int
    bounds: tuple[tuple[int, int], ...]


Holder = tuple[Operation, int]
"""A tensor, as its `memory.alloc_tensor` and 0, or a storage that a call uses, as operand i."""


class _Live(NamedTuple):
    """A live tensor, and the alias class that keeps it alive."""

    number: int
    tensor: Holder


@dataclass(eq=False)
class _Choice:
    """A branch whose arms are being walked."""

    op: Operation
    position: int
    bounds: list[tuple[int, int]] = field(default_factory=lambda: [])
    ended: dict[_Live, Arms] = field(default_factory=lambda: {})
    """The tensors live at the start of the arm that are not any more."""
    born: dict[_Live, None] = field(default_factory=lambda: {})
    """The tensors that became live in the arm."""
    handed: dict[tuple[_Live, Arms], list[int]] = field(default_factory=lambda: {})
    """The tensors live after the branch, and the arms that left it so."""


@dataclass(eq=False)
class _Walk:
    classes: AliasClasses
    deaths: Deaths
    spans: dict[Holder, list[Span]] = field(default_factory=lambda: {})
    branches: list[Branch] = field(default_factory=lambda: [])
    position: int = 0
    live: dict[int, dict[Holder, tuple[int, Arms]]] = field(default_factory=lambda: {})
    """By class, the live tensors: since when, and in which arms."""
    open: list[_Choice] = field(default_factory=lambda: [])

    def run(self) -> None:
        pending: list[tuple[Iterator[Row], Sequence[Arm]]]
        pending = [(iter(self.classes.body.body.rows), ())]
        while pending:
            rows, rest = pending[-1]
            row = next(rows, None)
            if row is None:
                pending.pop()
                if not self.open:
                    break
                self.leave_arm()
                if rest:
                    pending.append((iter(rest[0].rows), rest[1:]))
                    self.enter_arm(rest[0].block)
                else:
                    choice = self.leave()
                    self.die(choice.op)
                continue
            op, at = row.op, row.at
            self.position = at + 1
            if isinstance(op, memory.AllocTensorOp):
                self.begin(_Live(self.classes.of(op.tensor), (op, 0)), (), at)
            for index in storages_used_by(op):
                self.use(op, index, at)
            if row.arms:
                self.open.append(_Choice(op, at))
                pending.append((iter(row.arms[0].rows), row.arms[1:]))
                self.enter_arm(row.arms[0].block)
            else:
                self.die(op)
        for number, tensors in self.live.items():
            for tensor in list(tensors):
                self.end(_Live(number, tensor))

    def use(self, call: Operation, index: int, at: int) -> None:
        """Begin the span of a storage that a call uses: as long as its result, or the call."""
        result = result_in(call, index, self.classes)
        if result is None:
            self.spans[call, index] = [Span(at, at + 1, ())]
        else:
            self.begin(_Live(self.classes.of(result), (call, index)), (), at)

    def begin(self, live: _Live, arms: Arms, at: int) -> None:
        self.live.setdefault(live.number, {})[live.tensor] = at, arms
        if self.open:
            self.open[-1].born[live] = None

    def end(self, live: _Live) -> Arms:
        """End the span of a tensor here; return its arms."""
        start, arms = self.live[live.number].pop(live.tensor)
        if start < self.position:
            self.spans.setdefault(live.tensor, []).append(Span(start, self.position, arms))
        if self.open:
            choice = self.open[-1]
            if live in choice.born:
                del choice.born[live]
            else:
                choice.ended[live] = arms
        return arms

    def die(self, point: Point) -> None:
        for name in self.deaths.names.get(point, ()):
            number = self.classes.of(name)
            for tensor in list(self.live.get(number, ())):
                self.end(_Live(number, tensor))

    def enter_arm(self, block: Block) -> None:
        self.open[-1].bounds.append((self.position, self.position))
        self.die(block)

    def leave_arm(self) -> None:
        """End the spans of what the arm hands over, and restore what was live at its start."""
        choice = self.open[-1]
        arm = len(choice.bounds) - 1
        choice.bounds[arm] = choice.bounds[arm][0], self.position
        block = choice.op.regions[arm].block
        values = () if block.last_op is None else block.last_op.operands
        for result, value in zip(choice.op.results, values, strict=False):
            if not (self.classes.bytes_in(result) and self.classes.bytes_in(value)):
                continue
            to, number = self.classes.of(result), self.classes.of(value)
            if to == number:
                continue
            for tensor in list(self.live.get(number, ())):
                arms = self.end(_Live(number, tensor))
                choice.handed.setdefault((_Live(to, tensor), arms), []).append(arm)
        for live in list(choice.born):
            arms = self.end(live)
            choice.handed.setdefault((live, arms), []).append(arm)
        ended, choice.ended = choice.ended, {}
        is_last = arm + 1 == len(choice.op.regions)
        outer = self.open[-2] if len(self.open) > 1 else None
        for live, arms in ended.items():
            if not is_last:
                self.live.setdefault(live.number, {})[live.tensor] = self.position, arms
            elif outer is None:
                continue
            elif live in outer.born:
                del outer.born[live]
            else:
                outer.ended[live] = arms

    def leave(self) -> _Choice:
        """Begin the spans of what the branch hands over."""
        choice = self.open.pop()
        branch = len(self.branches)
        self.branches.append(Branch(choice.op, choice.position, tuple(choice.bounds)))
        count = len(choice.bounds)
        for (live, arms), found in choice.handed.items():
            for arm in (None,) if len(set(found)) == count else dict.fromkeys(found):
                carried = arms if arm is None else (*arms, TakenArm(branch, arm))[-MAX_ARMS:]
                self.begin(live, carried, self.position)
        return choice


def storages_used_by(op: Operation) -> list[int]:
    """Return the operands of a call that are storages."""
    if facts_of(op).calls is None:
        return []
    return [i for i, value in enumerate(op.operands) if is_storage(value)]


def result_in(call: Operation, index: int, classes: AliasClasses) -> SSAValue | None:
    """Return the result of `call` that its callee writes into operand `index`."""
    calls = facts_of(call).calls
    assert calls is not None, "the op calls a function"
    returned = classes.returned.get(calls.callee(call))
    if returned is None or index not in returned.holds:
        return None
    results = [result for result in call.results if classes.bytes_in(result)]
    at = sorted(returned.holds).index(index)
    return results[min(at, len(results) - 1)] if results else None


def spans_of(
    classes: AliasClasses,
) -> tuple[dict[Holder, list[Span]], Sequence[Branch], int]:
    """
    Return the spans of each tensor that a body allocates and of each storage that its calls use,
    its branches by number, and its length.

    In `classes`, a branch hands bytes over to its results.
    """
    walk = _Walk(classes, deaths(classes))
    walk.run()
    return walk.spans, walk.branches, walk.position
