"""
The panels of a program: one for each function and device, its storages in a stack.

The storage with most tensors is at the bottom; storages that outlive the function are at the top.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...passes.memory_report.loads import loads, peak_of
from ...passes.memory_report.model import DeviceUse, FunctionUse, MemoryUse, Segment
from ...passes.memory_report.path_liveness import Span
from ...passes.memory_report.report import DeviceReport, given_values, report_of, segments_on
from ...runtime.plain_text import counted, human
from .panels import Band, Box, Panel, Shelf

MAX_PANELS = 40
"""The number of functions and devices that are drawn: the first."""


@dataclass(frozen=True)
class View:
    """A panel, and the model that it shows."""

    panel: Panel
    function: FunctionUse
    report: DeviceReport
    dims: Mapping[str, int]
    """The values of the dims that sizes depend on."""
    stack: Sequence[int]
    """The storages from the bottom up."""
    boxes: Sequence[tuple[int, Span]]
    """The tensor and span of each box."""
    live: Sequence[Segment]
    held: Sequence[Segment]


def views_of(use: MemoryUse, dims: Mapping[str, int]) -> list[View]:
    """Return a view of each function and device that has storages, for these values of dims."""
    pairs = [(function, device) for function in use.functions for device in function.devices()]
    pairs = pairs[:MAX_PANELS]
    shown = {function.name: {**_examples(function, dims), **dims} for function, _ in pairs}
    reports = {(r.function, r.device): r for r in report_of(use, {}, shown)}
    return [
        _view(function, device, reports[function.name, device.device], shown[function.name])
        for function, device in pairs
    ]


def left_out(use: MemoryUse) -> str:
    """Return a sentence about the functions that are not drawn, "" if there are none."""
    count = sum(len(function.devices()) for function in use.functions) - MAX_PANELS
    return f"{count:,} more functions and devices are left out" if count > 0 else ""


def _examples(function: FunctionUse, dims: Mapping[str, int]) -> dict[str, int]:
    """Return values of the dims that are not in `dims` under any of their names."""
    return {
        variable.name: variable.example
        for variable in function.formulas.variables
        if not any(option in dims for option in variable.options)
    }


def _view(
    use: FunctionUse, device: DeviceUse, report: DeviceReport, dims: Mapping[str, int]
) -> View:
    values = use.formulas.evaluate([value or 0 for value in given_values(use, dims)])
    live, held = segments_on(use, device)
    column_loads = loads(live, len(use.columns), values)
    peak = peak_of(column_loads)
    stack = stack_of(use, device)
    at_peak = {s.row for s in live if s.start <= peak.column < s.stop}
    panel = Panel(
        f"{report.function} on {report.device}",
        facts(report),
        [
            f"column {i}: {column}, {load:,} bytes alive"
            for i, (column, load) in enumerate(zip(use.columns, column_loads, strict=True))
        ],
        [str(i) for i in range(len(use.columns) + 1)],
        bands=list(_bands(use)),
        loads=column_loads,
        height=report.planned.bytes or 0,
        bound=report.lower_bound.bytes or 0,
        peak=peak.column,
        time="time: ops that use tensors, in order",
        peak_text=f"peak: {peak.size:,} bytes alive{_at(report)}",
        moves=bool(report.dims),
    )
    bases: dict[int, int] = {}
    base = 0
    for row in stack:
        storage = use.storages[row]
        bases[row] = base
        where = " (from the caller)" if storage.is_given else ""
        panel.shelves.append(Shelf(base, values[storage.size], f"{storage.name}{where}"))
        base += values[storage.size]
    boxes = [(row, span) for row in device.tensors for span in use.tensors[row].spans]
    written = {(*_slot(use, row), span.start) for row, span in boxes}
    for row, span in boxes:
        tensor = use.tensors[row]
        # The op that writes over it reads it too: that column shows what it writes.
        is_over = span.stop - 1 > span.start and (*_slot(use, row), span.stop - 1) in written
        panel.boxes.append(
            Box(
                row,
                span.start,
                span.stop - 1 if is_over else span.stop,
                bases[tensor.storage] + values[tensor.offset],
                values[tensor.size],
                tensor.name,
                tuple(box_lines(use, row, span, values)),
                row in at_peak,
                span.arms[-1].arm if span.arms else None,
            )
        )
    return View(panel, use, report, report.dims, stack, boxes, live, held)


def _slot(use: FunctionUse, row: int) -> tuple[int, int]:
    """Return the storage of a tensor, and its offset there."""
    return use.tensors[row].storage, use.tensors[row].offset


def stack_of(use: FunctionUse, device: DeviceUse) -> list[int]:
    """Return the storages of a device from the bottom up."""
    count = dict.fromkeys(device.storages, 0)
    for row in device.tensors:
        count[use.tensors[row].storage] += 1
    return sorted(device.storages, key=lambda row: (use.storages[row].outlives, -count[row]))


def facts(report: DeviceReport) -> str:
    """Return the line of figures of a panel."""
    dims = ", ".join(f"{name} = {value}" for name, value in report.dims.items())
    ratio = "" if report.ratio is None else f" = {report.ratio:.3f} times the lower bound"
    capacity = None if report.pool is None else report.pool.capacity
    room = "" if capacity is None else f" of {human(capacity)}"
    return (
        f"{dims and f'{dims}: '}planned {human(report.planned.bytes or 0)}{room}{ratio}, "
        f"in {counted(report.allocations, 'allocation')}; {counted(report.tensors, 'tensor')} "
        f"need{'s' * (report.tensors == 1)} {human(report.sum.bytes or 0)} one by one"
    )


def _at(report: DeviceReport) -> str:
    source = f" ({report.peak_source})" if report.peak_source else ""
    return f" at {report.peak_op}{source}" if report.peak_op else ""


def box_lines(use: FunctionUse, row: int, span: Span, values: Sequence[int]) -> Iterator[str]:
    """Yield the text of a box; its size is in the second line."""
    tensor = use.tensors[row]
    storage = use.storages[tensor.storage]
    yield tensor.name
    size, offset = values[tensor.size], values[tensor.offset]
    yield f"{size:,} bytes ({human(size)}) at {offset:,} of {storage.name}"
    inside = f" ({', '.join(tensor.operators)})" if tensor.operators else ""
    yield f"written by {tensor.op}{inside}"
    if tensor.source is not None:
        yield str(tensor.source)
    first = use.columns[min(span.start, len(use.columns) - 1)].label
    last = use.columns[min(span.stop, len(use.columns)) - 1].label
    yield f"alive in columns {span.start} to {span.stop - 1}: {first} to {last}"
    if tensor.in_arm:
        yield f"allocated in the arm '{tensor.in_arm}' of a branch"
    if span.arms:
        yield "only on the path through one arm: other arms may use the same bytes"
    if tensor.outlives:
        yield "outlives the function"


def _bands(use: FunctionUse) -> Iterator[Band]:
    """Yield the arms of branches, with their nesting depth."""
    open_until: list[int] = []
    for branch in sorted(use.branches, key=lambda b: (b.arms[0][0], -b.arms[-1][1])):
        start, stop = branch.arms[0][0], branch.arms[-1][1]
        while open_until and open_until[-1] <= start:
            open_until.pop()
        depth = len(open_until)
        open_until.append(stop)
        where = f" ({branch.source})" if branch.source else ""
        for i, (left, right) in enumerate(branch.arms):
            if left < right:
                name = branch.names[i]
                yield Band(left, right, depth, i, name, f"{name} of {branch.label}{where}")
