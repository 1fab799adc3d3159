"""
The memory of an executable, for readers: what its functions plan, and what its calls used.

    device  planned  peak of a call  allocations  allocated
    cpu:0     96 B             96 B            3      288 B
    weights 1,024 B, in use 4,288 B of 8,589,934,592 B
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ..memory.allocations import LineAllocations, allocations_by_line
from ..observe.counters import Counters
from ..program.dtypes import element_type
from ..program.planned_memory import PlannedMemory
from ..program.program import Constant, Late, Program


@dataclass(frozen=True)
class DeviceMemory:
    """The storages on a device, in bytes."""

    planned: Mapping[str, int | None]
    """
    By function, the most bytes of its storages at once, without those of functions that it calls;
    None if shapes of arguments, or data, decide how large some are. A program that was compiled
    from bytecode has no plan: then it is the sum of all storages.
    """
    peak: int
    """The largest number of bytes that were live at once in a call."""
    allocations: int
    """Number of storages allocated, in all calls."""
    allocated: int
    """Bytes allocated, in all calls."""


@dataclass(frozen=True)
class MemoryUse:
    """
    The memory of an executable, in bytes: `devices` by name, and all that it holds.

    `in_use` are the arguments, arenas and results that it holds now, and `limit` bounds them.
    """

    devices: Mapping[str, DeviceMemory]
    weights: int
    in_use: int
    limit: int
    lines: Sequence[LineAllocations] = ()
    """The lines of the source that allocate, those of most bytes first."""

    def __str__(self) -> str:
        rows = [("device", "planned", "peak of a call", "allocations", "allocated")]
        for name, device in self.devices.items():
            known = [size for size in device.planned.values() if size is not None]
            dynamic = len(known) < len(device.planned)
            planned = f"{max(known, default=0):,} B{' and more' * dynamic}"
            if dynamic and not any(known):
                planned = "by shapes"
            sizes = (f"{device.peak:,} B", f"{device.allocations:,}", f"{device.allocated:,} B")
            rows.append((name, planned, *sizes))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) if i else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        total = f"weights {self.weights:,} B, in use {self.in_use:,} B of {self.limit:,} B"
        return "\n".join([*lines, total])


def memory_use(
    program: Program,
    entries: Sequence[str],
    plans: Sequence[PlannedMemory],
    counters: Counters,
    in_use: int,
    limit: int,
) -> MemoryUse:
    """Return the memory of `program`, planned and after the runs that `counters` are of."""
    devices = {
        name: DeviceMemory(
            {function: _planned(plans, function, name) for function in entries},
            counters.peak.get(device, 0),
            counters.allocations[device],
            counters.allocated[device],
        )
        for device, name in enumerate(program.devices)
    }
    weights = sum(_size(constant) for constant in program.constants)
    return MemoryUse(devices, weights, in_use, limit, allocations_by_line(program, counters))


def _planned(plans: Sequence[PlannedMemory], function: str, device: str) -> int | None:
    """Return the bytes planned for `function` on a device or in a pool of one, in all scopes."""
    total = 0
    for plan in plans:
        if plan.function == function and plan.device.partition(" ")[0] == device:
            size, _ = plan.planned
            if size is None:
                return None
            total += size
    return total


def _size(constant: Constant) -> int:
    if not isinstance(constant, Late):
        return constant.nbytes
    shape = (dim for dim in constant.spec.shape if dim is not None)
    return prod(shape) * element_type(constant.spec.dtype).itemsize
