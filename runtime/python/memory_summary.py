"""
The memory of an executable, for readers: what its functions plan, and what its calls used.

    device  planned  peak of a call  allocations  allocated
    cpu:0     96 B             96 B            3      288 B
    weights 1,024 B, in use 4,288 B of 8,589,934,592 B

A notebook shows the table, and the picture of the plan if it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Protocol

from ..memory.allocations import LineAllocations, allocations_by_line
from ..observe.counters import Counters
from ..plain_text import table
from ..program.dtypes import element_type
from ..program.planned_memory import PlannedMemory
from ..program.program import Constant, Late, Program


class Pictures(Protocol):
    """Draws the memory plan of a program."""

    def svg(self) -> str:
        """Return a picture."""
        ...

    def html(self, dims: Mapping[str, int]) -> str:
        """Return a page, with pictures for these values of dims first."""
        ...


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


@dataclass(frozen=True, repr=False)
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
    pictures: Callable[[], Pictures] | None = field(default=None, compare=False)
    """Those of the plan, if it is known."""

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join([*table(self._rows(), "<>>>>", ""), self._total()])

    def _repr_html_(self) -> str:
        from base64 import b64encode
        from html import escape

        head, *rows = ("".join(f"<td>{escape(c)}</td>" for c in row) for row in self._rows())
        lines = "".join(f"<tr>{row}</tr>" for row in rows)
        html = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
        html += f"<p>{escape(self._total())}</p>"
        if self.pictures is not None:  # as an image, whose style is its own
            image = b64encode(self.pictures().svg().encode()).decode()
            html += f'<img alt="memory plan" src="data:image/svg+xml;base64,{image}">'
        return html

    def _total(self) -> str:
        return f"weights {self.weights:,} B, in use {self.in_use:,} B of {self.limit:,} B"

    def _rows(self) -> list[tuple[str, ...]]:
        rows = [("device", "planned", "peak of a call", "allocations", "allocated")]
        for name, device in self.devices.items():
            known = [size for size in device.planned.values() if size is not None]
            dynamic = len(known) < len(device.planned)
            planned = f"{max(known, default=0):,} B{' and more' * dynamic}"
            if dynamic and not any(known):
                planned = "by shapes"
            sizes = (f"{device.peak:,} B", f"{device.allocations:,}", f"{device.allocated:,} B")
            rows.append((name, planned, *sizes))
        return rows


def memory_use(
    program: Program,
    entries: Sequence[str],
    plans: Sequence[PlannedMemory],
    counters: Counters,
    in_use: int,
    limit: int,
    pictures: Callable[[], Pictures] | None = None,
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
    lines = allocations_by_line(program, counters)
    return MemoryUse(devices, weights, in_use, limit, lines, pictures)


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
