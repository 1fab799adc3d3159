"""
Draw panels as SVG: time runs to the right, offsets run up, a box is bytes in use.

Every column has the same width, so short lives stay visible. Boxes of tensors that are alive at the
peak have their full colour. Below a panel are the bytes alive in each column. A page moves what is
drawn here when a size changes; nothing is drawn a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ...runtime.plain_text import human, printable
from .panels import Band, Box, Panel
from .rest import Grid, rest_path
from .style import COUNT, svg_style

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

TICKS = 4
FONT = 11
CHARACTER = 6.6
"""The width of a bold character, at most, in pixels."""


def text(value: str) -> str:
    """Return `value` as text of a document, without characters that are not printed."""
    return escape(printable(value))


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
        yield f'<text class="head" x="{LEFT}" y="{top + 20:.2f}">{text(panel.title)}</text>'
        yield f'<text class="soft" x="{LEFT}" y="{top + 37:.2f}">{text(panel.facts)}</text>'
    yield from _hatches(key, panel)
    yield from _bands(panel, frame)
    yield from _grid(frame)
    wide = max(frame.step, 2.0)
    yield (
        f'<rect class="peak" x="{frame.x(panel.peak):.2f}" y="{frame.top:.2f}" '
        f'width="{wide:.2f}" height="{frame.strip - frame.top:.2f}"/>'
    )
    drawn, others = chosen(panel)
    if others and not panel.moves:
        grid = Grid(frame.columns, frame.ceiling, WIDTH - LEFT - RIGHT, PLOT)
        yield (
            f'<path class="rest" d="{rest_path(others, grid, LEFT, frame.base)}">'
            f"<title>{len(others):,} smaller boxes</title></path>"
        )
    thin = ' class="thin"' if frame.step < 3 or len(drawn) > 1000 else ""
    yield f'<g id="{key}-boxes"{thin}>'
    for box in drawn:
        yield box_line(box, frame, key, panel.moves)
    yield "</g>"
    yield from _lines(panel, frame)
    yield from _strip(panel, frame)


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
    yield "<defs>"
    for i, angle in enumerate((45, -45)):
        yield (
            f'<pattern id="{key}-hatch{i}" width="7" height="7" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate({angle})"><line class="stripe" x1="0" x2="0" y1="0" y2="7"/>'
            f"</pattern>"
        )
    yield "</defs>"


def _bands(panel: Panel, frame: Frame) -> Iterator[str]:
    shown = [b for b in panel.bands if b.depth < MAX_DEPTH and (b.right - b.left) * frame.step > 1]
    for band in shown[:MAX_BANDS]:
        yield from _band(band, frame)


def _band(band: Band, frame: Frame) -> Iterator[str]:
    left, wide = frame.x(band.left), (band.right - band.left) * frame.step
    top = frame.top - (frame.depth - band.depth) * BAND
    name = text(band.name)
    yield (
        f'<rect class="band{band.arm % 2}" x="{left:.2f}" y="{top:.2f}" width="{wide:.2f}" '
        f'height="{frame.base - top:.2f}"><title>{text(band.title)}</title></rect>'
    )
    if len(band.name) * 6 < wide:
        at = f'x="{left + wide / 2:.2f}" y="{top + 12:.2f}"'
        yield f'<text class="soft middle" {at}>{name}</text>'


def _grid(frame: Frame) -> Iterator[str]:
    for i in range(TICKS + 1):
        y = frame.base - i * PLOT / TICKS
        label = human(round(frame.ceiling * i / TICKS))
        kind = "rule" if i else "axis"
        yield (
            f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.2f}" y2="{y:.2f}"/>'
            f'<text class="soft end tick" x="{LEFT - 8}" y="{y + 4:.2f}">{label}</text>'
        )


def box_line(box: Box, frame: Frame, key: str, moves: bool) -> str:
    """Return the element of a box: one rectangle, and its name if there is room."""
    left, wide = frame.x(box.left), (box.right - box.left) * frame.step
    upper = frame.y(box.low + box.size)
    tall = frame.y(box.low) - upper
    where = f'x="{left:.2f}" y="{upper:.2f}" width="{wide:.2f}" height="{tall:.2f}"'
    classes = f"box c{box.row % COUNT}" + (" alive" if box.at_peak else "")
    rects = f"<rect {where}/>"
    if box.arm is not None:
        rects += f'<rect class="hatch" {where} style="fill:url(#{key}-hatch{box.arm % 2})"/>'
    label = label_of(box.name, wide, "" if moves else human(box.size))
    if label and (moves or tall >= FONT + 2):
        hidden = "" if tall >= FONT + 2 else ' visibility="hidden"'
        rects += (
            f'<text class="name" x="{left + wide / 2:.2f}" y="{upper + tall / 2 + 4:.2f}"{hidden}>'
            f"{text(label)}</text>"
        )
    title = "\n".join(map(text, box.lines))
    return f'<g class="{classes}"><title>{title}</title>{rects}</g>'


def label_of(name: str, wide: float, size: str) -> str:
    """Return what fits into this many pixels: name and size, the name, its start, or nothing."""
    room = int((wide - 6) / (FONT * 0.58))
    if size and len(name) + len(size) + 2 <= room:
        return f"{name}  {size}"
    if len(name) <= room:
        return name
    return f"{name[: room - 1]}…" if room >= 5 else ""


def _lines(panel: Panel, frame: Frame) -> Iterator[str]:
    above, below = frame.y(panel.height) - 5, frame.y(panel.bound or 0) + 14
    for shelf in panel.shelves:
        y, tall = frame.y(shelf.low + shelf.size), shelf.size * PLOT / frame.ceiling
        is_free = all(abs(y + tall / 2 + 4 - other) >= FONT + 2 for other in (above, below))
        hidden = "" if is_free and tall >= FONT + 3 else ' visibility="hidden"'
        yield (
            f'<line class="shelf" x1="{LEFT}" x2="{WIDTH - RIGHT + 8}" y1="{y:.2f}" y2="{y:.2f}"/>'
            f'<text class="soft shelf-text" x="{WIDTH - RIGHT + 10}" '
            f'y="{y + tall / 2 + 4:.2f}"{hidden}>{text(shelf.name)}</text>'
        )
    yield _level("height", frame.y(panel.height), above, f"planned {human(panel.height)}")
    if panel.bound is not None:
        bound = f"lower bound {human(panel.bound)}"
        yield _level("bound", frame.y(panel.bound), below, bound)
    at = frame.x(panel.peak) + max(frame.step, 2.0) / 2
    late = at + len(panel.peak_text) * CHARACTER > WIDTH - RIGHT
    anchor = ' style="text-anchor:end"' if late else ""
    yield (
        f'<text class="peak-text"{anchor} x="{at:.2f}" '
        f'y="{frame.top - frame.depth * BAND - 6:.2f}">{text(panel.peak_text)}</text>'
    )


def _level(kind: str, y: float, label_at: float, label: str) -> str:
    return (
        f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT + 8}" y1="{y:.2f}" y2="{y:.2f}"/>'
        f'<text class="{kind}-text" x="{WIDTH - RIGHT + 10}" y="{label_at:.2f}">{label}</text>'
    )


def _strip(panel: Panel, frame: Frame) -> Iterator[str]:
    """Yield the bytes alive in each column, and the columns' numbers."""
    yield f'<path class="load" d="{load_path(panel.loads, frame)}"/>'
    yield (
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{frame.strip:.2f}" '
        f'y2="{frame.strip:.2f}"/>'
        f'<text class="soft" x="{WIDTH - RIGHT + 10}" y="{frame.strip - 2:.2f}">bytes alive</text>'
    )
    if len(panel.columns) <= MAX_COLUMNS:
        for i, column in enumerate(panel.columns):
            yield (
                f'<rect class="column" x="{frame.x(i):.2f}" y="{frame.strip - STRIP:.2f}" '
                f'width="{frame.step:.2f}" height="{STRIP}"><title>{text(column)}</title></rect>'
            )
    count = len(panel.ticks)
    shown = min(count, 16)
    for i in sorted({round(k * (count - 1) / max(shown - 1, 1)) for k in range(shown)}):
        yield (
            f'<text class="soft middle" x="{frame.x(i):.2f}" y="{frame.strip + 16:.2f}">'
            f"{text(panel.ticks[i])}</text>"
        )


def load_path(loads: Sequence[int], frame: Frame) -> str:
    """Return the outline of the bytes alive; of many columns, the largest of each pixel."""
    every = max(1, len(loads) // (WIDTH - LEFT - RIGHT))
    parts = [f"M{frame.x(0):.1f} {frame.strip:.1f}"]
    for i in range(0, len(loads), every):
        y = frame.strip - max(loads[i : i + every]) * STRIP / frame.load
        parts.append(f"V{y:.1f}H{frame.x(min(i + every, len(loads))):.1f}")
    return "".join((*parts, f"V{frame.strip:.1f}Z"))
