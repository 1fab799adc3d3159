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
Positions are those of `live_ranges`. Linear in ops, and in what is live at each branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xdsl.ir import Operation, SSAValue

from ...dialects import memory
from ..bytes.aliases import AliasClasses
from ..bytes.liveness import Deaths, Point, deaths
from ..bytes.numbered import Arm, Row
from ..bytes.op_facts import facts_of, is_storage
from ..support.walk import run_nested

MAX_ARMS = 16
"""The maximum number of arms that a span carries; those of the first branches are dropped."""


Arms = tuple[memory.Arm, ...]
"""Arms of branches, which are numbered by their ends."""


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

Live = dict[int, dict[Holder, tuple[int, Arms]]]
"""By alias class, the tensors that it keeps alive: since when, and in which arms."""


@dataclass(eq=False)
class _Walk:
    classes: AliasClasses
    deaths: Deaths
    spans: dict[Holder, list[Span]] = field(default_factory=lambda: {})
    branches: list[Branch] = field(default_factory=lambda: [])
    position: int = 0
    live: Live = field(default_factory=lambda: {})

    def run(self) -> None:
        run_nested(self.read(self.classes.body.body.rows))
        self.end([*self.live])

    def read(self, rows: Iterable[Row]) -> Iterator[Any]:
        """Read the ops of a block; yield what reads the branches in it."""
        for row in rows:
            self.position = row.at + 1
            if isinstance(row.op, memory.AllocTensorOp):
                self.begin(self.classes.of(row.op.tensor), (row.op, 0), (), row.at)
            for index in storages_used_by(row.op):  # as long as its result, or the call
                result = result_in(row.op, index, self.classes)
                if result is None:
                    self.spans[row.op, index] = [Span(row.at, row.at + 1, ())]
                else:
                    self.begin(self.classes.of(result), (row.op, index), (), row.at)
            if row.arms:
                yield self.choose(row)
            self.die(row.op)

    def choose(self, row: Row) -> Iterator[Any]:
        """Read the arms of a branch, one after the other, and begin the spans of what they left."""
        before, bounds = self.live, list[tuple[int, int]]()
        handed: dict[tuple[int, Holder, Arms], list[int]] = {}
        for number, arm in enumerate(row.arms):
            start = self.position
            self.live = {of: dict(tensors) for of, tensors in before.items()}
            self.die(arm.block)
            yield self.read(arm.rows)
            bounds.append((start, self.position))
            for to, tensor, arms in self.leave(row, arm, before):
                handed.setdefault((to, tensor, arms), []).append(number)
            is_last = arm is row.arms[-1]
            before = {
                of: {
                    tensor: since if tensor in self.live.get(of, ()) else (self.position, since[1])
                    for tensor, since in tensors.items()
                    if not is_last or tensor in self.live.get(of, ())
                }
                for of, tensors in before.items()
            }
        self.live, branch = before, len(self.branches)
        self.branches.append(Branch(row.op, row.at, tuple(bounds)))
        for (to, tensor, arms), taken in handed.items():
            for number in (None,) if len(set(taken)) == len(bounds) else dict.fromkeys(taken):
                carried = (
                    arms if number is None else (*arms, memory.Arm(branch, number))[-MAX_ARMS:]
                )
                self.begin(to, tensor, carried, self.position)

    def leave(self, row: Row, arm: Arm, before: Live) -> Iterator[tuple[int, Holder, Arms]]:
        """End the spans of what an arm hands over, and yield it with its class after the branch."""
        values = arm.rows[-1].op.operands if arm.rows else ()
        for result, value in zip(row.op.results, values, strict=False):
            if self.classes.bytes_in(result) and self.classes.bytes_in(value):
                to, of = self.classes.of(result), self.classes.of(value)
                if to != of:
                    yield from ((to, *ended) for ended in self.end([of]))
        for of, tensors in [*self.live.items()]:
            born = [tensor for tensor in tensors if tensor not in before.get(of, ())]
            yield from ((of, *ended) for ended in self.end([of], born))

    def begin(self, of: int, tensor: Holder, arms: Arms, at: int) -> None:
        self.live.setdefault(of, {})[tensor] = at, arms

    def end(
        self, classes: Iterable[int], only: Sequence[Holder] | None = None
    ) -> list[tuple[Holder, Arms]]:
        """End the spans of the tensors of classes here; return them with their arms."""
        ended: list[tuple[Holder, Arms]] = []
        for of in classes:
            tensors = self.live.get(of, {})
            for tensor in [*tensors] if only is None else only:
                start, arms = tensors.pop(tensor)
                if start < self.position:
                    self.spans.setdefault(tensor, []).append(Span(start, self.position, arms))
                ended.append((tensor, arms))
            if not tensors:
                self.live.pop(of, None)
        return ended

    def die(self, point: Point) -> None:
        self.end(map(self.classes.of, self.deaths.names.get(point, ())))


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
