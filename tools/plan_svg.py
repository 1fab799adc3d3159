"""
Draw a plan as SVG: time runs to the right, offsets run up, a box is bytes in use.

Every distinct time has the same width, so short lives stay visible. A box is labelled
with its id and size if they fit, and its tooltip has the exact numbers. In each pool the
busiest time is shaded and labelled with its load; lines mark the height and the bound.
"""

from collections.abc import Iterator
from html import escape

from ..planning import Plan, Problem

_WIDTH, _PANEL = 1200, 640
_LEFT, _RIGHT, _TOP, _BOTTOM = 96, 24, 56, 40
_FONT = 11
_COLOURS = (
    "#8dd3c7", "#fdd58a", "#bebada", "#fb9a8b", "#8cc0e0", "#c5e08b", "#f4c6e0",
    "#b9d7ea", "#e2cfa6", "#a8dcb5",
)  # fmt: skip

Box = tuple[int, int, int, int, int]  # row, start, stop, offset, bytes


def draw(problem: Problem, plan: Plan) -> str:
    """Return `plan` as SVG text: a panel per pool, a box per span of each buffer."""
    boxes = list(_boxes(problem, plan))
    times = sorted({t for _, start, stop, _, _ in boxes for t in (start, stop)}) or [0, 1]
    panels = len(problem.pools)
    height = _TOP + panels * (_PANEL + _BOTTOM)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="{_FONT}">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{_LEFT}" y="22" font-size="15">{_headline(problem, plan)}</text>',
    ]
    for pool in range(panels):
        top = _TOP + pool * (_PANEL + _BOTTOM)
        mine = [box for box in boxes if plan.pools[box[0]] == pool]
        out += _panel(problem, plan, pool, mine, times, top)
    out.append("</svg>")
    return "\n".join(out) + "\n"


def _headline(problem: Problem, plan: Plan) -> str:
    proof = "proved smallest" if plan.is_optimal else f"lower bound {plan.lower_bound:,}"
    return f"{len(problem.buffers):,} buffers in {plan.height:,} bytes ({proof})"


def _boxes(problem: Problem, plan: Plan) -> Iterator[Box]:
    for row, buffer in enumerate(problem.buffers):
        for start, stop, size in buffer.needs():
            if size > 0 and stop > start:
                yield row, start, stop, plan.offsets[row], size


def _panel(
    problem: Problem, plan: Plan, pool: int, boxes: list[Box], times: list[int], top: int
) -> Iterator[str]:
    ceiling = max(plan.heights[pool], 1)
    if len(problem.pools) == 1:
        ceiling = max(ceiling, plan.lower_bound)
    index = {time: i for i, time in enumerate(times)}
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(times) - 1, 1)
    base = top + _PANEL

    def x(time: int) -> float:
        return _LEFT + index[time] * step

    def y(offset: int) -> float:
        return base - offset * (_PANEL - 20) / ceiling

    if len(problem.pools) > 1:
        name = escape(problem.pools[pool].name)
        yield f'<text x="8" y="{top + 12}" font-weight="bold">{name}</text>'
    peak, load = _peak(boxes, times)
    at = index[peak]
    wide = max(step, 2.0)
    yield (
        f'<rect class="peak" x="{x(peak):.2f}" y="{top:.2f}" width="{wide:.2f}" '
        f'height="{_PANEL}" fill="#d62728" fill-opacity="0.18"/>'
    )
    thin = step < 3 or len(boxes) > 2000
    stroke = "" if thin else ' stroke="#555" stroke-width="0.5"'
    for row, start, stop, low, size in boxes:
        buffer = problem.buffers[row]
        left, right, upper, lower = x(start), x(stop), y(low + size), y(low)
        title = (
            f"{escape(buffer.id)}: {size:,} bytes at {low:,}, "
            f"alive [{buffer.lifetime[0]}, {buffer.lifetime[1]})"
        )
        yield (
            f'<rect x="{left:.2f}" y="{upper:.2f}" width="{right - left:.2f}" '
            f'height="{lower - upper:.2f}" fill="{_COLOURS[row % len(_COLOURS)]}" '
            f'fill-opacity="0.85"{stroke}><title>{title}</title></rect>'
        )
        label = _label(buffer.id, size, right - left, lower - upper)
        if label:
            yield (
                f'<text x="{(left + right) / 2:.2f}" y="{(upper + lower) / 2 + 4:.2f}" '
                f'text-anchor="middle">{escape(label)}</text>'
            )
    anchor = "end" if at > len(times) / 2 else "start"
    yield (
        f'<text x="{x(peak) + wide / 2:.2f}" y="{top - 6}" fill="#d62728" '
        f'text-anchor="{anchor}">peak: {load:,} bytes at time {peak}</text>'
    )
    yield _line(y(plan.heights[pool]), f"{plan.heights[pool]:,}", "#222", "")
    bound = plan.lower_bound
    if len(problem.pools) == 1 and bound < plan.heights[pool]:
        yield _line(y(bound), f"{bound:,}", "#d62728", ' stroke-dasharray="6 4"')
    yield _line(base, "0", "#222", "")
    ticks = min(len(times), 12)
    for i in sorted({round(k * (len(times) - 1) / max(ticks - 1, 1)) for k in range(ticks)}):
        yield (
            f'<text x="{x(times[i]):.2f}" y="{base + 16}" text-anchor="middle" '
            f'fill="#444">{times[i]}</text>'
        )


def _line(y: float, label: str, colour: str, dash: str) -> str:
    return (
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.2f}" y2="{y:.2f}" '
        f'stroke="{colour}"{dash}/>'
        f'<text x="{_LEFT - 6}" y="{y + 4:.2f}" text-anchor="end" fill="{colour}">{label}</text>'
    )


def _label(name: str, size: int, width: float, height: float) -> str:
    """Return the label that fits into a box of this many pixels: id and size, id, or nothing."""
    if height < _FONT + 1:
        return ""
    for text in (f"{name} {size:,}", name):
        if len(text) * _FONT * 0.58 <= width - 4:
            return text
    return ""


def _peak(boxes: list[Box], times: list[int]) -> tuple[int, int]:
    """Return the first time at which the most bytes are alive, and their number."""
    change = dict.fromkeys(times, 0)
    for _, start, stop, _, size in boxes:
        change[start] += size
        change[stop] -= size
    best, load, now = times[0], 0, 0
    for time in times:
        now += change[time]
        if now > load:
            best, load = time, now
    return best, load
