"""The picture of a plan of `xrelay-plan`: a panel per pool, a box per span of each buffer."""

from __future__ import annotations

from itertools import accumulate

from ...planning import Plan, Problem
from ...runtime.plain_text import counted
from .panels import Box, Panel
from .svg import document


def draw(problem: Problem, plan: Plan) -> str:
    """Return `plan` as SVG text."""
    spans = [
        (row, start, stop, size)
        for row, buffer in enumerate(problem.buffers)
        for start, stop, size in buffer.needs()
        if size > 0 and stop > start
    ]
    times = sorted({t for _, start, stop, _ in spans for t in (start, stop)}) or [0, 1]
    column = {time: i for i, time in enumerate(times)}
    panels: list[Panel] = []
    for pool, declared in enumerate(problem.pools):
        mine = [span for span in spans if plan.pools[span[0]] == pool]
        loads = _loads([(column[a], column[b], size) for _, a, b, size in mine], len(times) - 1)
        peak = loads.index(max(loads))
        alone = len(problem.pools) == 1
        room = "" if declared.capacity is None else f" of {declared.capacity:,}"
        panel = Panel(
            "Memory plan" if alone else declared.name,
            _facts(problem, plan) if alone else f"{plan.heights[pool]:,}{room} bytes",
            [f"time {times[i]}: {load:,} bytes alive" for i, load in enumerate(loads)],
            [str(time) for time in times],
            loads=loads,
            time="time",
            height=plan.heights[pool],
            bound=plan.lower_bound if alone and not plan.is_optimal else None,
            peak=peak,
            peak_text=f"peak: {loads[peak]:,} bytes at time {times[peak]}",
        )
        for row, start, stop, size in mine:
            buffer, low = problem.buffers[row], plan.offsets[row]
            alive = column[start] <= peak < column[stop]
            lines = (
                buffer.id,
                f"{size:,} bytes at {low:,}",
                f"alive [{buffer.lifetime[0]}, {buffer.lifetime[1]})",
            )
            panel.boxes.append(
                Box(row, column[start], column[stop], low, size, buffer.id, lines, alive)
            )
        panels.append(panel)
    return document(panels)


def _facts(problem: Problem, plan: Plan) -> str:
    proof = "proved smallest" if plan.is_optimal else f"lower bound {plan.lower_bound:,}"
    return f"{counted(len(problem.buffers), 'buffer')} in {plan.height:,} bytes ({proof})"


def _loads(spans: list[tuple[int, int, int]], columns: int) -> list[int]:
    """Return the bytes alive in each column, as if no arms excluded each other."""
    change = [0] * (columns + 1)
    for start, stop, size in spans:
        change[start] += size
        change[stop] -= size
    return [*accumulate(change[:columns])] or [0]
