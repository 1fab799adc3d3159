"""
The memory of a run beside the plan: what was planned for its shapes, and what the machine counted.

    memory that the run of @main used
      device  peak of the run            planned, with calls        allocations  allocated
      cpu:0        3,932,576 B  3.8 MiB         3,932,576 B  3.8 MiB            2  …
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...passes.memory_report.model import MemoryUse
from ...passes.memory_report.report import (
    DeviceReport,
    json_of,
    planned_with_calls,
    report_of,
    text_lines,
)
from ...runtime.memory.allocations import LineAllocations, allocation_lines, allocations_by_line
from ...runtime.plain_text import human, printable, table
from .executables import Compiled


@dataclass(frozen=True)
class DeviceRun:
    """The counts of the machine on a device."""

    device: str
    peak: int
    planned: int | None
    """The planned peak of the function and those that it calls, if it is known."""
    allocations: int
    allocated: int


@dataclass(frozen=True)
class MemoryOfRun:
    """A memory report for the shapes of a run, and the run's own figures."""

    function: str
    planned: Sequence[DeviceReport]
    devices: Sequence[DeviceRun]
    allocations: Sequence[LineAllocations]

    def lines(self, format: str | None) -> list[str]:
        """Return the report as lines of text, or of JSON."""
        if format == "json":
            return [json.dumps(self._json(), indent=2)]
        return [*text_lines(self.planned), "", *self._table()]

    def _table(self) -> list[str]:
        rows = [["device", "peak of the run", "", "planned", "", "allocations", "allocated"]]
        for device in self.devices:
            known = device.planned is not None
            rows.append(
                [
                    device.device,
                    f"{device.peak:,} B",
                    human(device.peak),
                    f"{device.planned:,} B" if known else "not known",
                    human(device.planned) if device.planned is not None else "",
                    f"{device.allocations:,}",
                    f"{device.allocated:,} B",
                ]
            )
        head = f"memory of this run of @{self.function}, with the functions that it calls"
        lines = [printable(head), *table(rows, "<>>>>>>", "  ")]
        if self.allocations:
            what = f"allocations of this run of @{self.function}, by line of the source"
            lines += ["", printable(what)]
            lines += [f"  {printable(line)}" for line in allocation_lines(self.allocations)]
        return lines

    def _json(self) -> dict[str, Any]:
        return {
            "functions": json_of(self.planned),
            "run": {
                "function": f"@{self.function}",
                "devices": [asdict(device) for device in self.devices],
                "lines": [
                    {
                        "line": line.where,
                        "device": line.device,
                        "storages": line.storages,
                        "allocated": line.allocated,
                    }
                    for line in self.allocations
                ],
            },
        }


def dims_of_run(
    use: MemoryUse, function: str, shapes: Sequence[tuple[int, ...]]
) -> Mapping[str, Mapping[str, int]]:
    """Return the dims of the function that is run, by its name, from the shapes of its inputs."""
    sizes: dict[str, int] = {}
    for candidate in use.functions:
        if candidate.name != f"@{function}":
            continue
        for variable in candidate.formulas.variables:
            at = variable.parameter
            if at is not None and at < len(shapes) and variable.axis < len(shapes[at]):
                sizes[variable.name] = shapes[at][variable.axis]
    return {f"@{function}": sizes}


def memory_of_run(
    use: MemoryUse, function: str, shapes: Sequence[tuple[int, ...]], executable: Compiled
) -> MemoryOfRun:
    """Return the report for a run of `function` on inputs of these shapes."""
    dims = dims_of_run(use, function, shapes)
    assert executable.machine is not None, "the program was run"
    counters = executable.machine.counters
    devices = [
        DeviceRun(
            name,
            counters.peak.get(index, 0),
            planned_with_calls(use, f"@{function}", name, dims),
            counters.allocations[index],
            counters.allocated[index],
        )
        for index, name in enumerate(executable.program.devices)
        if counters.allocations[index]
    ]
    lines = allocations_by_line(executable.program, counters)
    return MemoryOfRun(function, report_of(use, {}, dims), devices, lines)
