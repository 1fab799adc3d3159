"""
Values in the bytes of others, as the passes after the choice of stripes place them.

    %a = dense …                %y, a result, is written over %a: `reuse-in-place`
    %y = softmax %a

    %a = conv2d …               %a and %b are computed where %c has them: `join-tensors`
    %b = conv2d …
    %c = concatenate %a, %b

    %b = strided_slice %a       %b is rows of %a: `view-slices`

A chain of stripes that computes only some of such values computes them apart. So it has all of
the steps that a value ties, or none. What is not surely placed so counts as a value of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from xdsl.ir import Operation, SSAValue

from ...dialects.interfaces import Fusible
from ...dialects.relay.rearrange import ConcatenateOp, StackOp
from ...operators.orders import MIN_ALIGNMENT
from ...planning.stripes.network import Network
from ..view_slices import rows_taken
from .rows import dims_of

Group = Sequence[Operation]


def placed(net: Network, groups: Sequence[Group]) -> Network | None:
    """Return a network whose values are placed; None if none are."""
    copy = replace(net, values=[replace(value) for value in net.values], ties=[])
    places = Placing(copy, groups)
    for at in range(len(groups)):
        places.view(at)
    places.put_in_results()
    for at in range(len(groups)):
        places.join(at)
    return copy if copy.ties else None


def parts_of(group: Group) -> Sequence[SSAValue]:
    """Return the values that a step puts side by side; none if it does something else."""
    op = group[0]
    if len(group) > 1 or not isinstance(op, ConcatenateOp | StackOp):
        return ()
    dims = dims_of(op.results[0]) or ()
    is_contiguous = dims and all(dim == 1 for dim in dims[: op.axis.value.data % len(dims)])
    return op.operands if is_contiguous else ()


@dataclass
class Placing:
    """Places the values of a network, which it changes. Values are numbers."""

    net: Network
    groups: Sequence[Group]
    joins: dict[int, list[int]] = field(default_factory=lambda: {})
    """The parts of each join, itself where it has the copy of an operand."""
    chains: dict[int, list[int]] = field(default_factory=lambda: {})
    """All parts that are adjacent to each one, in order."""

    @cached_property
    def numbers(self) -> Mapping[SSAValue, int]:
        """The first results of steps."""
        steps = zip(self.groups, self.net.steps, strict=True)
        return {group[-1].results[0]: step.writes for group, step in steps}

    def view(self, at: int) -> None:
        """Let slices of rows be views of a storage if no more bytes are live for it."""
        net, group, step = self.net, self.groups[at], self.net.steps[at]
        reads = [*step.whole, *step.reads]
        if len(group) > 1 or len(reads) != 1 or rows_taken(group[0]) is None:
            return
        root = net.root_of(reads[0])
        slices = range(step.writes, step.writes + len(group[0].results))
        if not self.is_own(root) or any(net.values[v].is_returned for v in slices):
            return
        changed = (*slices, root)
        old, most = {v: replace(net.values[v]) for v in changed}, max(net.loads())
        for v in slices:
            net.values[v].viewed = root
            net.values[root].held = max(net.values[root].held, net.values[v].dead)
        if max(net.loads()) > most:
            for v, value in old.items():
                net.values[v] = value
        else:
            net.ties += [(net.values[root].start, at), (at, -1)]

    def put_in_results(self) -> None:
        """Place what a result of the function is written over in the memory of that."""
        values = self.net.values
        for at in reversed(range(len(self.groups))):
            result = values[self.net.steps[at].writes]
            if result.is_returned or result.placed:
                taken = self.taken(at)
                if len(taken) == 1 and self.is_own(taken[0]):
                    values[taken[0]].placed = result.bytes
                    self.net.ties.append((values[taken[0]].start, at))

    def taken(self, at: int) -> list[int]:
        """Return the values over one of which step `at` is written."""
        step, values = self.net.steps[at], self.net.values
        kept = {self.net.root_of(v) for v in (step.whole | step.reads.keys()) - step.over}
        roots = {self.net.root_of(v) for v in step.over} - kept
        size = values[step.writes].bytes
        return [v for v in roots if values[v].dead == at and values[v].bytes == size]

    def is_own(self, v: int) -> bool:
        """Test whether a value is all of a storage of its own, which a kernel writes."""
        value = self.net.values[v]
        if value.start < 0 or value.is_returned or value.placed or not value.bytes:
            return False
        group = self.groups[value.start]
        return len(group[-1].results) == 1 and all(op.has_trait(Fusible) for op in group)

    def is_overwritten(self, v: int) -> bool:
        """Test whether the last step that uses a value may write over it."""
        at = self.net.values[v].dead
        steps = self.net.steps[at : at + 1]
        return any(self.net.root_of(read) == v for step in steps for read in step.over)

    def born(self, v: int) -> int:
        """Return the first step in which the storage of a value is live."""
        start = self.net.values[v].start
        return min([start, *map(self.born, self.taken(start))]) if start >= 0 else start

    def join(self, at: int) -> None:
        """Place the parts of a concatenation side by side if no more bytes are live for it."""
        net, whole = self.net, self.net.steps[at].writes
        parts: list[int] = []
        for value in parts_of(self.groups[at]):
            mine = self.part(value)
            parts += mine if mine and mine[0] not in parts else [whole]
        chain = self.beside(parts)
        joins = {whole, *(j for j, of in self.joins.items() if of[0] in chain)}
        if {*chain} <= {whole} or not self.is_own(whole) or any(map(self.is_overwritten, joins)):
            return
        changed = {*chain, whole}
        old, most = {v: replace(net.values[v]) for v in changed}, max(net.loads())
        stop = max(net.values[v].dead for v in (*joins, *chain))
        since = [*accumulate(map(self.born, reversed(chain)), min)][::-1]
        for v, first in zip(chain, since, strict=True):
            net.values[v].since, net.values[v].held = first, stop
        net.values[whole].placed = sum(self.size(v) for v in parts if v != whole)
        if max(net.loads()) > most:
            for v, value in old.items():
                net.values[v] = value
            return
        self.joins[whole] = parts
        self.chains |= dict.fromkeys(chain, chain)
        net.ties += [(net.values[v].start, at) for v in parts if v != whole]

    def part(self, value: SSAValue) -> list[int]:
        """Return the parts that hold a value; none if it is copied, by the join itself."""
        number = self.numbers.get(value)
        if number is None:
            return []
        root, values = self.net.root_of(number), self.net.values
        parts = self.joins.get(root) or ([root] if self.is_own(root) else [])
        is_whole = values[root].bytes == values[number].bytes
        return parts if is_whole and not self.is_overwritten(root) else []

    def size(self, v: int) -> int:
        """Return the bytes of a part, which may be the copy in a join."""
        return self.net.values[v].bytes - self.net.values[v].placed

    def beside(self, parts: Sequence[int]) -> list[int]:
        """Return the chain of the parts of a join; none if they cannot be side by side."""
        old = self.chains.get(parts[0], []) if parts else []
        new = [v for v in parts if v not in old]
        chain = [*old, *new]
        is_free = len({*parts}) == len(parts) and self.chains.keys().isdisjoint(new)
        is_aligned = all(self.size(v) % MIN_ALIGNMENT == 0 for v in chain[:-1])
        return chain if is_free and is_aligned and chain[: len(parts)] == [*parts] else []
