"""
Draw panels as SVG: time runs to the right, offsets run up, a box is bytes in use.

Every column has the same width, so short lives stay visible. Boxes of tensors that are alive at the
peak have their full colour. Below a panel are the bytes alive in each column. A page moves what is
drawn here when a size changes; nothing is drawn a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from ...runtime.plain_text import human, printable
from .panels import LEVELS, Box, Panel
from .style import COUNT, svg_style

CELL = 2
"""The width and height of a cell in pixels."""


class Grid:
    """Columns and offsets as cells."""

    def __init__(self, columns: int, ceiling: int, wide: int, tall: int) -> None:
        self.wide, self.tall = wide // CELL, tall // CELL
        self.columns, self.ceiling = columns, ceiling

    def across(self, column: int) -> int:
        return column * self.wide // self.columns

    def up(self, offset: int) -> int:
        return offset * self.tall // self.ceiling


def rest_path(boxes: Sequence[Box], grid: Grid, left: float, base: float) -> str:
    """Return the path of the cells that `boxes` cover, in runs along each row."""
    covered = np.zeros((grid.tall + 1, grid.wide + 2), dtype=np.int8)
    for box in boxes:
        low, high = grid.up(box.low), grid.up(box.low + box.size)
        first, last = grid.across(box.left), grid.across(box.right)
        covered[low : max(high, low + 1), first + 1 : max(last, first + 1) + 1] = 1
    parts: list[str] = []
    for row in range(grid.tall + 1):
        change = np.flatnonzero(np.diff(covered[row]))
        y = base - (row + 1) * CELL
        for start, stop in zip(change[::2].tolist(), change[1::2].tolist(), strict=True):
            x, wide = left + start * CELL, (stop - start) * CELL
            parts.append(f"M{x:.0f} {y:.0f}h{wide}v{CELL}h-{wide}z")
    return "".join(parts)


WIDTH, PLOT, STRIP = 1200, 520, 56
LEFT, RIGHT, GAP, FOOT = 84, 150, 26, 44
BAND = 16
"""The height of a row of arms of branches."""

MAX_DEPTH = 3
"""The number of rows of arms."""

MAX_BOXES = 2500
"""The number of boxes of a panel that are drawn on their own: the largest."""

MAX_COLUMNS = 600
"""The number of columns up to which each can be pointed at."""

MAX_BANDS = 400

MAX_TICKS = 16
"""The number of columns whose number is shown at most."""

FONT = 11
CHARACTER = 6.6
"""The width of a bold character, at most, in pixels."""

MAX_PEAK = int((WIDTH - LEFT) / CHARACTER)
"""The characters of the text about the peak that have room."""


def text(value: str) -> str:
    """Return `value` as text of a document, without characters that are not printed."""
    return escape(printable(value))


VOID = ("input",)
"""The elements of HTML that have no end."""


def element(name: str, classes: str = "", content: str = "", **attributes: object) -> str:
    """Return an element; pixels have two digits, and `_` in names of attributes is `-`."""
    given = {"class": classes, **attributes} if classes else attributes
    shown = "".join(
        f' {key.replace("_", "-")}="{f"{value:.2f}" if isinstance(value, float) else value}"'
        for key, value in given.items()
    )
    if content:
        return f"<{name}{shown}>{content}</{name}>"
    return f"<{name}{shown}>" if name in VOID else f"<{name}{shown}/>"


def label(classes: str, x: float, y: float, content: str, **attributes: object) -> str:
    """Return a text; `content` is not escaped yet."""
    return element("text", classes, text(content), x=x, y=y, **attributes)


def line(classes: str, y: float, right: int = WIDTH - RIGHT, **attributes: Any) -> str:
    """Return a horizontal line."""
    return element("line", classes, x1=LEFT, x2=right, y1=y, y2=y, **attributes)


def titled(classes: str, title: str, x: float, y: float, width: float, height: float) -> str:
    """Return a rectangle that shows its title when it is pointed at."""
    shown = element("title", content=text(title))
    return element("rect", classes, shown, x=x, y=y, width=width, height=height)


class Frame:
    """The place of a panel: pixels of columns and offsets."""

    def __init__(self, panel: Panel, top: float) -> None:
        self.depth = min(MAX_DEPTH, max((band.depth + 1 for band in panel.bands), default=0))
        self.top = top + 64 + self.depth * BAND
        self.base = self.top + PLOT
        self.strip = self.base + GAP + STRIP
        self.bottom = self.strip + FOOT
        self.ceiling = panel.ceiling
        self.columns = max(len(panel.columns), 1)
        self.step = (WIDTH - LEFT - RIGHT) / self.columns
        self.load = max((*panel.loads, panel.bound or 0, 1))

    def x(self, column: float) -> float:
        return LEFT + column * self.step

    def y(self, offset: float) -> float:
        return self.base - offset * PLOT / self.ceiling


def document(panels: Sequence[Panel], left_out: str = "") -> str:
    """Return an SVG file of all panels, one below the other."""
    top, parts = 0.0, list[str]()
    for i, panel in enumerate(panels):
        frame = Frame(panel, top)
        parts += panel_lines(panel, frame, f"p{i}")
        top = frame.bottom
    if left_out:
        parts.append(f'<text class="soft" x="{LEFT}" y="{top + 12:.0f}">{text(left_out)}</text>')
        top += 28
    titles = "; ".join(f"{panel.title}: {panel.facts}" for panel in panels)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top:.0f}" '
            f'viewBox="0 0 {WIDTH} {top:.0f}" role="img" aria-labelledby="title">',
            f'<title id="title">{text(titles)}</title>',
            f"<style>{svg_style()}</style>",
            f'<rect class="paper" width="{WIDTH}" height="{top:.0f}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def panel_lines(panel: Panel, frame: Frame, key: str, has_head: bool = True) -> Iterator[str]:
    """Yield the elements of a panel; `key` starts its ids."""
    top = frame.top - 64 - frame.depth * BAND
    if has_head:
        yield label("head", LEFT, top + 20, panel.title)
        yield label("soft", LEFT, top + 37, panel.facts)
    yield from _hatches(key, panel)
    yield from _bands(panel, frame)
    yield from _levels(panel, frame)
    wide, tall = max(frame.step, 2.0), frame.strip - frame.top
    yield element("rect", "peak", x=frame.x(panel.peak), y=frame.top, width=wide, height=tall)
    drawn, others = chosen(panel)
    if others and not panel.moves:
        grid = Grid(frame.columns, frame.ceiling, WIDTH - LEFT - RIGHT, PLOT)
        title = element("title", content=f"{len(others):,} smaller boxes")
        yield element("path", "rest", title, d=rest_path(others, grid, LEFT, frame.base))
    thin = "thin" if frame.step < 3 or len(drawn) > 1000 else ""
    boxes = "\n".join(box_line(box, frame, key, panel.moves) for box in drawn)
    yield element("g", thin, f"\n{boxes}\n", id=f"{key}-boxes")
    yield from _lines(panel, frame)
    yield from _strip(panel, frame)


def _levels(panel: Panel, frame: Frame) -> Iterator[str]:
    """Yield the marks of offsets; a picture that moves has as many as it may need."""
    yield line("axis", frame.base)
    levels = panel.levels
    for i in range(LEVELS + 1 if panel.moves else len(levels)):
        hidden = _hidden(i >= len(levels))
        y = frame.y(levels[i]) if i < len(levels) else frame.base
        yield line("rule level", y, **hidden)
        shown = human(levels[i]) if i < len(levels) else ""
        yield label("soft end tick", LEFT - 8, y + 4, shown, **hidden)


def chosen(panel: Panel) -> tuple[list[Box], list[Box]]:
    """Return the boxes to draw on their own, in order, and the others."""
    if len(panel.boxes) <= MAX_BOXES:
        return panel.boxes, []
    areas = [(box.right - box.left) * box.size for box in panel.boxes]
    largest = sorted(range(len(areas)), key=lambda i: -areas[i])[:MAX_BOXES]
    kept = set(largest)
    return (
        [box for i, box in enumerate(panel.boxes) if i in kept],
        [box for i, box in enumerate(panel.boxes) if i not in kept],
    )


def _hatches(key: str, panel: Panel) -> Iterator[str]:
    if all(box.arm is None for box in panel.boxes):
        return
    stripe = element("line", "stripe", x1=0, x2=0, y1=0, y2=7)
    size: dict[str, Any] = {"width": 7, "height": 7, "patternUnits": "userSpaceOnUse"}
    patterns = (
        element("pattern", "", stripe, id=f"{key}-hatch{i}", patternTransform=turn, **size)
        for i, turn in enumerate(("rotate(45)", "rotate(-45)"))
    )
    yield element("defs", content="".join(patterns))


def _bands(panel: Panel, frame: Frame) -> Iterator[str]:
    shown = [b for b in panel.bands if b.depth < MAX_DEPTH and (b.right - b.left) * frame.step > 1]
    for band in shown[:MAX_BANDS]:
        left, wide = frame.x(band.left), (band.right - band.left) * frame.step
        top = frame.top - (frame.depth - band.depth) * BAND
        yield titled(f"band{band.arm % 2}", band.title, left, top, wide, frame.base - top)
        if len(band.name) * 6 < wide:
            yield label("soft middle", left + wide / 2, top + 12, band.name)


def box_line(box: Box, frame: Frame, key: str, moves: bool) -> str:
    """Return the element of a box: one rectangle, and its name if there is room."""
    left, wide = frame.x(box.left), (box.right - box.left) * frame.step
    upper = frame.y(box.low + box.size)
    tall = frame.y(box.low) - upper
    where: dict[str, Any] = {"x": left, "y": upper, "width": wide, "height": tall}
    parts = [element("title", content="\n".join(map(text, box.lines))), element("rect", **where)]
    if box.arm is not None:
        fill = f"fill:url(#{key}-hatch{box.arm % 2})"
        parts.append(element("rect", "hatch", **where, style=fill))
    name = label_of(box.name, wide, "" if moves else human(box.size))
    if name and (moves or tall >= FONT + 2):
        hidden = _hidden(tall < FONT + 2)
        parts.append(label("name", left + wide / 2, upper + tall / 2 + 4, name, **hidden))
    return element("g", f"box c{box.row % COUNT}" + " alive" * box.at_peak, content="".join(parts))


def _hidden(is_hidden: bool) -> dict[str, Any]:
    return {"visibility": "hidden"} if is_hidden else {}


def label_of(name: str, wide: float, size: str) -> str:
    """Return what fits into this many pixels: name and size, the name, its start, or nothing."""
    room = int((wide - 6) / (FONT * 0.58))
    if size and len(name) + len(size) + 2 <= room:
        return f"{name}  {size}"
    if len(name) <= room:
        return name
    return f"{name[: room - 1]}…" if room >= 5 else ""


def _lines(panel: Panel, frame: Frame) -> Iterator[str]:
    right, beside = WIDTH - RIGHT + 8, WIDTH - RIGHT + 10
    above, below = frame.y(panel.height) - 5, frame.y(panel.bound or 0) + 14
    for shelf in panel.shelves:
        y, tall = frame.y(shelf.low + shelf.size), shelf.size * PLOT / frame.ceiling
        middle = y + tall / 2 + 4
        is_free = all(abs(middle - other) >= FONT + 2 for other in (above, below))
        hidden = _hidden(not is_free or tall < FONT + 3)
        yield line("shelf", y, right)
        yield label("soft shelf-text", beside, middle, shelf.name, **hidden)
    levels = [("height", panel.height, above, "planned")]
    if panel.bound is not None:
        levels.append(("bound", panel.bound, below, "lower bound"))
    for kind, size, y, name in levels:
        yield line(kind, frame.y(size), right)
        yield label(f"{kind}-text", beside, y, f"{name} {human(size)}")
    peak = panel.peak_text
    at = frame.x(panel.peak) + max(frame.step, 2.0) / 2
    at = max(LEFT, min(at, WIDTH - len(peak) * CHARACTER))
    if len(peak) > MAX_PEAK:
        peak = f"{peak[: MAX_PEAK - 1]}…"
    yield label("peak-text", at, frame.top - frame.depth * BAND - 6, peak)


def _strip(panel: Panel, frame: Frame) -> Iterator[str]:
    """Yield the bytes alive in each column, the columns' numbers, and what they count."""
    yield element("path", "load", d=load_path(panel.loads, frame))
    yield line("axis", frame.strip)
    yield label("soft", WIDTH - RIGHT + 10, frame.strip - 2, "bytes alive")
    if len(panel.columns) <= MAX_COLUMNS:
        top = frame.strip - STRIP
        for i, column in enumerate(panel.columns):
            yield titled("column", column, frame.x(i), top, frame.step, STRIP)
    for i in range(0, len(panel.ticks), even_step(len(panel.ticks))):
        yield label("soft middle", frame.x(i), frame.strip + 16, panel.ticks[i])
    yield label("soft middle", (LEFT + WIDTH - RIGHT) / 2, frame.strip + 34, panel.time)


def even_step(count: int) -> int:
    """Return the step, 1, 2 or 5 times a power of ten, that leaves few ticks of `count`."""
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if count <= step * MAX_TICKS:
                return step
        power *= 10


def load_path(loads: Sequence[int], frame: Frame) -> str:
    """Return the outline of the bytes alive; of many columns, the largest of each pixel."""
    every = max(1, len(loads) // (WIDTH - LEFT - RIGHT))
    parts = [f"M{frame.x(0):.1f} {frame.strip:.1f}"]
    for i in range(0, len(loads), every):
        y = frame.strip - max(loads[i : i + every]) * STRIP / frame.load
        parts.append(f"V{y:.1f}H{frame.x(min(i + every, len(loads))):.1f}")
    return "".join((*parts, f"V{frame.strip:.1f}Z"))


TINY, HEAD = 120, 24
"""The heights of a picture of bytes alone, and of what is above it."""


def before_after(before: Sequence[int], after: Sequence[int]) -> Iterator[str]:
    """Yield a picture of the bytes live at each step, before chains were tiled and after."""
    most, base = max(*before, *after, 1), HEAD + TINY

    def outline(loads: Sequence[int]) -> str:
        """Return an outline as wide as the picture for any number of steps."""
        width = (WIDTH - LEFT - RIGHT) / len(loads)
        corners = (
            f"V{base - TINY * load / most:.1f}H{LEFT + (at + 1) * width:.1f}"
            for at, load in enumerate(loads)
        )
        return f"M{LEFT},{base}{''.join(corners)}V{base}"

    title = f"{max(before):,} bytes live at most before, {max(after):,} in stripes"
    yield f'<svg viewBox="0 0 {WIDTH} {base + HEAD}" role="img">'
    yield element("title", content=title)
    yield element("path", "load", d=outline(before))
    yield element("path", "after", d=outline(after))
    yield line("axis", base)
    for name, loads in (("before", before), ("in stripes", after)):
        y = base - TINY * max(loads) / most
        yield label("soft end", LEFT - 8, y + 4, f"{max(loads):,}")
        yield label("soft", WIDTH - RIGHT + 10, y + 4, name)
    yield "</svg>"
