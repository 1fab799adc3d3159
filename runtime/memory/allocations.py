"""
The storages that calls have allocated, by line of the source.

    allocated  storages  device  line
      1,024 B         4  cpu:0   net.relay:12
         64 B         1  cpu:0   main[3] alloc_storage
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import Location
from ..observe.counters import Counters
from ..plain_text import table
from ..program.program import Program

SHOWN = 10
"""Limit on the lines that are listed."""


@dataclass(frozen=True)
class LineAllocations:
    """
    The storages that one line of the source has allocated on a device, in all calls.

    `instruction` is the first one of the line. `location` has column 0; it is None if positions
    are not recorded, and then the line is the instruction.
    """

    device: str
    location: Location | None
    instruction: str
    storages: int
    allocated: int
    """Bytes."""

    @property
    def where(self) -> str:
        """The line, or the instruction."""
        at = self.location
        return self.instruction if at is None else at.of_line


def allocations_by_line(program: Program, counters: Counters) -> list[LineAllocations]:
    """Return the allocations of the runs that `counters` are of, those of most bytes first."""
    by_line: dict[object, LineAllocations] = {}
    for site in sorted(counters.storages):
        function = program.functions[site.function]
        exact = function.location(site.pc)
        line = None if exact is None else Location(exact.file, exact.line, 0)
        key = (site.device, line or site)
        old = by_line.get(key)
        storages, allocated = counters.storages[site], counters.storage_bytes[site]
        if old is not None:
            storages, allocated = storages + old.storages, allocated + old.allocated
        instruction = old.instruction if old else function.where(site.pc)
        device = program.devices[site.device]
        by_line[key] = LineAllocations(device, line, instruction, storages, allocated)
    return sorted(by_line.values(), key=lambda line: (-line.allocated, line.device, line.where))


def allocation_lines(allocations: Sequence[LineAllocations]) -> list[str]:
    """Return the first `SHOWN` of `allocations` as a table."""
    rows = [("allocated", "storages", "device", "line")]
    rows += [
        (f"{line.allocated:,} B", f"{line.storages:,}", line.device, line.where)
        for line in allocations[:SHOWN]
    ]
    lines, more = [*table(rows, ">><<", "")], len(allocations) - SHOWN
    return lines + [f"… and {more:,} more"] * (more > 0)
