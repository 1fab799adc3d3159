"""
A template that reads the clock: what its lines do, for a profile.

    t()                             the start
    s0 = a0_1                       sizes and guards
    t()
    k5(v4, v3, v4)                  a step of a kernel
    t()

The notes of `SegmentDetails` are about sizes that are traced: their numbers come with each call.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..observe.segment_details import MemoryEvent, Work, work_of
from ..program.program import Program, TensorSpec
from .places import Line
from .sizes import Traced, plain
from .tracer import Traces

SIZES = Work("sizes and guards", "", 0, None)


@dataclass(eq=False)
class Measured:
    """The intervals of the clock, each with its site by number; sizes have None."""

    traces: Traces
    groups: list[tuple[int | None, int]]
    """Each with the number of the line after its last one."""

    @property
    def program(self) -> Program:
        return self.traces.context.program

    def stamped(self, lines: Sequence[Line]) -> Iterator[str]:
        """Yield the code of `lines`, with a reading of the clock after those of each site."""
        site = None
        sites: list[int] = []
        for line in reversed(lines):  # a view belongs to the call that it is made for
            site = line.site if not line.name or site is None else site
            sites.append(site)
        sites.reverse()
        for number, line in enumerate(lines):
            yield line.code
            if number + 1 == len(lines) or sites[number] != sites[number + 1]:
                self.groups.append((sites[number], line.number + 1))
                yield "t()"

    def sizes(self) -> dict[str, Traced]:
        """Return the sizes, by name, in what is noted."""
        found: dict[str, Traced] = {}
        for _, details in self.traces.details:
            numbers: list[Any] = []
            for operands in details.operands.values():
                numbers += (dim for spec in operands.types for dim in spec.shape)
            for event in details.memory:
                numbers += (*event.live, *(event.allocated or ()))
            traced = [number for number in map(plain, numbers) if isinstance(number, Traced)]
            found |= {number.name: number for number in traced}
        return found

    def works(self, numbers: Mapping[str, int]) -> list[tuple[Work, int]]:
        """Return what is done, each with the number of the interval after it."""
        return [(self._work(site, numbers), at) for at, (site, _) in enumerate(self.groups, 1)]

    def _work(self, number: int | None, numbers: Mapping[str, int]) -> Work:
        if number is None:
            return SIZES
        site = self.traces.sites[number]
        assert site.details is not None, "it is measured"
        operands = site.details.operands.get(site.pc)
        if operands is not None:
            types = [_resolved_spec(spec, numbers) for spec in operands.types]
            operands = operands._replace(types=types)
        return work_of(self.program, site.function, site.pc, site.step, operands)

    def events(self, numbers: Mapping[str, int]) -> Iterator[tuple[int, MemoryEvent]]:
        """Yield the changes of memory, each with its function, at positions among intervals."""
        stops = [stop for _, stop in self.groups]
        for function, details in self.traces.details:
            for position, pc, live, allocated in details.memory:
                at = bisect_right(stops, position)
                live = tuple(_resolved(size, numbers) for size in live)
                if allocated is not None:
                    allocated = allocated[0], _resolved(allocated[1], numbers)
                yield function, MemoryEvent(at, pc, live, allocated)


def _resolved(number: Any, numbers: Mapping[str, int]) -> int:
    number = plain(number)
    return numbers[number.name] if isinstance(number, Traced) else number


def _resolved_spec(spec: TensorSpec, numbers: Mapping[str, int]) -> TensorSpec:
    return TensorSpec(spec.dtype, tuple(_resolved(dim, numbers) for dim in spec.dims))
