"""
The values of a body, and which of them name bytes of which.

    %v = vm.reshape_tensor %y                   %v names bytes of %y
    %r = relay.if %c { yield %a } else { … }    %r names bytes of %a, on paths through region 0
    %r, %q = relay.if %c { yield %a, %v } …     %r and %q share bytes on paths through region 0

Values share bytes if a chain of such steps leads from one to the other, first up, then down, whose
regions can all be executed on one path. A chain remembers its last regions, a value a few chains:
what is forgotten may let values share that do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, starmap
from typing import NamedTuple

from xdsl.ir import Operation, Region, SSAValue

from .contents import End, How
from .names import names_bytes


class Via(NamedTuple):
    """A region of a choice."""

    choice: Operation
    region: int


Chain = tuple[Via, ...]
"""The regions that must all have been executed, the last ones first."""

MAX_VIAS = 16
"""The maximum number of regions of a chain."""

MAX_CHAINS = 4
"""The maximum number of chains to a value; of more, the regions that they have in common count."""

MAX_STEPS = 128
"""The maximum number of steps into regions; of more, no chain remembers a region."""


class Edge(NamedTuple):
    """A value that another one names, or is named by."""

    value: SSAValue
    regions: Chain
    """The regions that must have been executed for this."""


@dataclass(eq=False)
class Names:
    """The values met so far, and which of them name bytes of which."""

    above: dict[SSAValue, dict[SSAValue, None]] = field(
        default_factory=dict[SSAValue, dict[SSAValue, None]]
    )
    up: dict[SSAValue, list[Edge]] = field(default_factory=dict[SSAValue, list[Edge]])
    down: dict[SSAValue, list[Edge]] = field(default_factory=dict[SSAValue, list[Edge]])
    beside: dict[SSAValue, list[Edge]] = field(default_factory=dict[SSAValue, list[Edge]])
    """The other results of a choice that share bytes with one."""

    def add(self, name: SSAValue, source: SSAValue, regions: Chain = ()) -> None:
        if names_bytes(name) and names_bytes(source):
            self.above.setdefault(name, {})[source] = None
            self.up.setdefault(name, []).append(Edge(source, regions))
            self.down.setdefault(source, []).append(Edge(name, regions))

    def naming(self, value: SSAValue) -> list[SSAValue]:
        """Return all values that may name the contents of `value`, itself first."""
        found = {value: None}
        pending = [value]
        while pending:
            for edge in self.down.get(pending.pop(), ()):
                if edge.value not in found:
                    found[edge.value] = None
                    pending.append(edge.value)
        return list(found)

    def relate_results(
        self, choice: Operation, region: Region, killed: Mapping[SSAValue, End]
    ) -> None:
        """
        Note which results of `choice` share bytes on paths through `region`, at the end of it.

        Another region may kill what both name, and no chain leads past it then.
        """
        last, regions = region.block.last_op, regions_around(region)
        yielded = [
            (result, value)
            for result, value in zip(
                choice.results, () if last is None else last.operands, strict=False
            )
            if names_bytes(result) and names_bytes(value)
        ]
        shared = [set(self.sharing(value, region, killed)) for _, value in yielded[:-1]]
        for (i, (one, _)), (_, (other, value)) in combinations(enumerate(yielded), 2):
            if value in shared[i]:
                self.beside.setdefault(one, []).append(Edge(other, regions))
                self.beside.setdefault(other, []).append(Edge(one, regions))

    def sharing(
        self, value: SSAValue, region: Region | None, killed: Mapping[SSAValue, End]
    ) -> list[SSAValue]:
        """
        Return all values that may name the same bytes as `value`, in `region`.

        No chain is followed past a value that was killed before: that kill ended what shares bytes
        with it, but for the results of the choice that it was in.
        """
        found: dict[SSAValue, list[Chain]] = {value: [regions_around(region)]}
        self._spread(found, [value], (self.up,), killed)
        self._spread(found, list(found), (self.down, self.beside), killed)
        return list(found)

    @staticmethod
    def _spread(
        found: dict[SSAValue, list[Chain]],
        starts: Iterable[SSAValue],
        steps: Sequence[Mapping[SSAValue, list[Edge]]],
        killed: Mapping[SSAValue, End],
    ) -> None:
        """Add what `steps` lead to from `starts`, each with the chains that lead to it."""
        pending = [(value, chain) for value in starts for chain in found[value]]
        count = 0
        while pending:
            value, chain = pending.pop()
            end = killed.get(value)
            if end is not None and end.how is How.KILLED:
                continue
            for edges in steps:
                for other, regions in edges.get(value, ()):
                    longer = chain
                    if regions:
                        count += 1
                        longer = extended(chain, regions) if count < MAX_STEPS else ()
                    if longer is not None:
                        if (new := add_chain(found.setdefault(other, []), longer)) is not None:
                            pending.append((other, new))


def regions_around(region: Region | None) -> Chain:
    """Return `region` and the regions around it, as far as a chain remembers them."""
    found: list[Via] = []
    while region is not None and len(found) < MAX_VIAS and (parent := region.parent) is not None:
        found.append(Via(parent, parent.regions.index(region)))
        region = parent.parent_region()
    return tuple(found)


def extended(chain: Chain, regions: Chain) -> Chain | None:
    """Return `chain` through `regions` too; None if no path goes through all."""
    known = dict(chain)
    for choice, index in regions:
        if known.pop(choice, index) != index:
            return None
    return (*regions, *starmap(Via, known.items()))[:MAX_VIAS]


def add_chain(chains: list[Chain], new: Chain) -> Chain | None:
    """Add `new` to the chains to a value; return what to follow, if it is not followed yet."""
    known = set(new)
    if any(known.issuperset(chain) for chain in chains):
        return None
    if len(chains) == MAX_CHAINS or not new:
        new = tuple(via for via in new if all(via in chain for chain in chains))
        chains.clear()
    chains.append(new)
    return new
