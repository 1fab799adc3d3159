"""Columns of time and names, in which reports show memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import memory
from ...dialects.device import device_of
from ..support.diagnostics import Place, location_of
from .model import SourceLine
from .path_liveness import Span


def source_of(place: Place) -> SourceLine | None:
    """Return the source line of an op or value."""
    at = location_of(place)
    return None if at is None else SourceLine(at.filename.data, at.line.data)


def device_name(value: SSAValue) -> str:
    """Return the device of a storage: `cpu:0`, `cuda:0 (scope "texture")`, or a pool of one."""
    device = device_of(value.type)
    if device is None:
        return "no device"
    op = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
    if op is not None and (place := memory.place_of(device)) in memory.pools_of(op):
        return place
    scope = device.scope
    named = f' (scope "{scope.data}")' if isinstance(scope, StringAttr) else ""
    return f"{device.spec}{named}"


def kernel_of(op: Operation) -> str | None:
    """Return the name of the function or kernel that `op` calls."""
    symbol = op.properties.get("callee")
    return symbol.string_value() if isinstance(symbol, SymbolRefAttr) else None


def numbered(name: str, taken: dict[str, int]) -> str:
    """Return `name`, with a number if it was used before."""
    count = taken[name] = taken.get(name, -1) + 1
    return f"{name}_{count}" if count else name


def arm_names(branch: Operation) -> list[str]:
    """Return the names of the arms of a branch: `then`, `else`; `Cons`, `Nil`."""
    if branch.name in ("relay.if", "scf.if"):
        return ["then", "else"]
    return [f"arm {i}" for i in range(len(branch.regions))]


def function_name(block: Block) -> str:
    """Return the name of the function of a body: `@main`, `closure in @main`."""
    op = block.parent_op()
    prefix = ""
    while op is not None and not isinstance(op, func.FuncOp):
        prefix = "closure in "
        op = op.parent_op()
    return "closure" if op is None else f"{prefix}@{op.sym_name.data}"


@dataclass(eq=False)
class Timeline:
    """Turns positions in a body into columns."""

    bounds: list[int] = field(default_factory=lambda: [])
    """The position at which each column starts, the first at 0 or later."""

    @staticmethod
    def of(spans: Iterable[tuple[int, int]], steps: Sequence[int]) -> Timeline:
        """
        Return columns in which `spans` meet where they meet by positions.

        Bounds of spans with no position of `steps` between them are one, unless a span starts at
        one and another ends at the next.
        """
        starts, stops = set[int](), set[int]()
        for start, stop in spans:
            starts.add(start)
            stops.add(stop)
        bounds: list[int] = []
        starts_here = stops_here = False
        for at in sorted({*starts, *stops, *steps}):
            between = bounds and bisect_right(steps, at - 1) > bisect_right(steps, bounds[-1] - 1)
            if not bounds or between or (starts_here and at in stops):
                bounds.append(at)
                starts_here = stops_here = False
            starts_here = starts_here or at in starts
            stops_here = stops_here or at in stops
        return Timeline(bounds)

    def column(self, position: int) -> int:
        return max(0, bisect_right(self.bounds, position) - 1)

    def span(self, span: Span) -> Span:
        return Span(self.column(span.start), self.column(span.stop), span.arms)
