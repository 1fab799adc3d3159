"""
The values of a body, and which of them name bytes of which.

    %v = vm.reshape_tensor %y                   %v names bytes of %y
    %r = relay.if %c { yield %a } else { … }    %r names bytes of %a, on paths through region 0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from .contents import End, How
from .names import names_bytes


class Edge(NamedTuple):
    """A value that another one names, or is named by; in one region of a choice, if it is one."""

    value: SSAValue
    choice: Operation | None
    region: int


class Via(NamedTuple):
    """The region of a choice that must have been executed for two values to name the same."""

    choice: Operation
    region: int


@dataclass(eq=False)
class Names:
    """The values met so far, and which of them name bytes of which."""

    above: dict[SSAValue, dict[SSAValue, None]] = field(
        default_factory=dict[SSAValue, dict[SSAValue, None]]
    )
    up: dict[SSAValue, list[Edge]] = field(default_factory=dict[SSAValue, list[Edge]])
    down: dict[SSAValue, list[Edge]] = field(default_factory=dict[SSAValue, list[Edge]])

    def add(
        self, name: SSAValue, source: SSAValue, choice: Operation | None = None, region: int = 0
    ) -> None:
        if names_bytes(name) and names_bytes(source):
            self.above.setdefault(name, {})[source] = None
            self.up.setdefault(name, []).append(Edge(source, choice, region))
            self.down.setdefault(source, []).append(Edge(name, choice, region))

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

    def sharing(self, value: SSAValue, killed: Mapping[SSAValue, End]) -> list[SSAValue]:
        """
        Return all values that may name the same bytes as `value`.

        Two results of a choice share bytes only if what they are in the same region does. Past a
        value that was killed before, which ended what shares bytes with it, only the regions that
        lead to it are followed.
        """
        found: dict[SSAValue, set[Via | None]] = {value: {None}}
        self._spread(found, [value], self.up, killed)
        self._spread(found, list(found), self.down, killed)
        return list(found)

    @staticmethod
    def _spread(
        found: dict[SSAValue, set[Via | None]],
        pending: list[SSAValue],
        edges: Mapping[SSAValue, list[Edge]],
        killed: Mapping[SSAValue, End],
    ) -> None:
        """Add what `edges` lead to from `pending`, each with the regions that lead to it."""
        while pending:
            value = pending.pop()
            vias = found[value]
            end = killed.get(value)
            is_dead = end is not None and end.how is How.KILLED
            for other, choice, region in edges.get(value, ()):
                via = None if choice is None else Via(choice, region)
                if not may_follow(via, vias, is_dead):
                    continue
                into = found.setdefault(other, set())
                new = vias if via is None else {via}
                if not into or not new <= into:
                    into |= new
                    pending.append(other)


def may_follow(via: Via | None, vias: set[Via | None], is_dead: bool) -> bool:
    """Test whether an edge can lead to a value that shares bytes on some path."""
    if via is None or via in vias:
        return True
    if is_dead:
        return False
    return any(known is None or known.choice is not via.choice for known in vias)
