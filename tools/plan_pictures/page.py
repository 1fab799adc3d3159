"""
A page about the memory of a program: pictures, figures, tables, and a slider for each dim.

The page is one file without references to others. Its script moves the boxes of the pictures: the
formulas of sizes and offsets are in the page as JSON, and are evaluated for the dims that are set.
Names come from strangers: they are escaped in HTML and in JSON, and the script only ever sets text.
The page's policy lets no other script run.

The targets of `xrelay-opt -t` are `memory-plan-html`, and `memory-plan-svg` for the pictures alone.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import IO, Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ...passes.memory_report.columns import source_of
from ...passes.memory_report.formulas import Reference, Variable
from ...passes.memory_report.loads import loads
from ...passes.memory_report.model import FunctionUse, MemoryUse, Segment
from ...passes.memory_report.read import read_memory
from ...passes.memory_report.report import MAX_FORMULA, DeviceReport
from ...passes.report_memory import check_dims
from ...passes.support.diagnostics import parse_keyed
from ...runtime.calls.input_bindings import parse_dim
from ...runtime.plain_text import counted, human, printable
from ..pass_run.pipeline_steps import EXPANDS
from .program_panels import View, left_out, views_of
from .style import page_style
from .svg import (
    CHARACTER,
    LEFT,
    MAX_PEAK,
    PLOT,
    RIGHT,
    STRIP,
    WIDTH,
    Frame,
    before_after,
    chosen,
    document,
    element,
    panel_lines,
    text,
)

MAX_ROWS = 500
"""The number of tensors of a panel that are in its table: the largest."""

MAX_MOVING = 50_000
"""The number of segments up to which a picture follows the sliders."""

MOST = 1_000_000
"""The largest size that can be typed."""

HELP = (
    "Point at a box to see its tensor, or focus the picture and press the arrow keys. Time runs to "
    "the right, offsets run up; what is alive at the peak has its full colour."
)


def resource(name: str) -> str:
    """Return the text of a file beside this one."""
    return files(__name__.rpartition(".")[0]).joinpath(name).read_text(encoding="utf-8")


def page(use: MemoryUse, dims: Mapping[str, int], title: str) -> str:
    """Return the page of a program, which starts with these values of dims."""
    views = views_of(use, dims)
    script = resource("page.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    parts: list[str] = []
    for i, view in enumerate(views):
        parts += section(view, f"p{i}")
    omitted = left_out(use)
    if omitted:
        parts.append(f"<p>{text(omitted)}.</p>")
    data = [view_data(view, f"p{i}") for i, view in enumerate(views)]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{text(title)}</title>",
            f"<style>{page_style(resource('page.css'))}</style>",
            "</head>",
            "<body>",
            "<header><div><h1>Memory plan</h1>"
            f'<p class="quiet">{text(title)}</p></div>'
            '<button type="button" id="theme" aria-label="Switch between light and dark" hidden>'
            "Light / dark</button></header>",
            "<main>",
            *parts,
            "</main>",
            f'<script type="application/json" id="data">{embedded(data)}</script>',
            f"<script>{script}</script>",
            "</body>",
            "</html>\n",
        ]
    )


def embedded(value: Any) -> str:
    """Return `value` as JSON that no HTML parser takes for markup."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def section(view: View, key: str) -> Iterator[str]:
    """Yield the HTML of a view."""
    panel, report = view.panel, view.report
    frame = Frame(panel, -48)
    yield f'<section id="{key}" aria-labelledby="{key}-title">'
    yield f'<h2 id="{key}-title">{text(panel.title)}</h2>'
    yield from _figures(report)
    if moves(view):
        yield from _sliders(view, key)
    elif panel.moves:
        yield '<p class="quiet">There are too many tensors for this picture to follow its dims.</p>'
    drawn, others = chosen(panel)
    if others:
        what = "left out" if panel.moves else "drawn together"
        yield (
            f'<p class="quiet">The {len(drawn):,} largest of {len(panel.boxes):,} boxes are drawn; '
            f"the others are {what}.</p>"
        )
    yield '<div class="picture">'
    yield (
        f'<svg viewBox="0 0 {WIDTH} {frame.bottom:.0f}" tabindex="0" role="img" '
        f'aria-labelledby="{key}-title {key}-help">'
    )
    yield from panel_lines(panel, frame, key, has_head=False)
    yield "</svg></div>"
    yield (
        '<div class="below">'
        f'<p class="details" id="{key}-details" aria-live="polite"></p>'
        f'<p class="hint" id="{key}-help">{HELP}</p></div>'
    )
    yield from _tiling(view)
    yield from _table(view)
    yield "</section>"


def _tiling(view: View) -> Iterator[str]:
    """Yield which chains are computed in stripes, and what was live before and is now."""
    tiling = view.report.tiling
    if tiling is None:
        return
    yield f"<h3>In stripes: {counted(len(tiling.chains), 'chain')} of steps</h3><ul>"
    yield from (f"<li>{text(chain)}</li>" for chain in tiling.chains)
    yield '</ul><div class="picture">'
    yield from before_after(tiling.live, view.panel.loads)
    yield "</div>"


def _figures(report: DeviceReport) -> Iterator[str]:
    yield '<dl class="figures">'
    ratio = "" if report.ratio is None else f"{report.ratio:.3f} &times; the lower bound"
    for name, title, amount, note in (
        ("planned", "Planned", report.planned, ratio),
        ("bound", "Lower bound", report.lower_bound, "most bytes alive at once"),
        ("sum", "One by one", report.sum, counted(report.tensors, "tensor")),
    ):
        size = amount.bytes or 0
        formula = "" if amount.formula is None else folded(amount.formula)
        yield (
            f'<div data-figure="{name}"><dt>{title}</dt><dd><b>{human(size)}</b>'
            f'<span class="exact">{size:,} bytes</span><span class="note">{note}</span>'
            f"{formula}</dd></div>"
        )
    if report.pool is not None:
        capacity, cost = report.pool.capacity, report.pool.cost
        room = "unbounded" if capacity is None else human(capacity)
        note = f"reading a byte costs {cost}"
        yield f"<div><dt>Capacity</dt><dd><b>{room}</b><span>{note}</span></dd></div>"
    yield (
        f"<div><dt>Allocations</dt><dd><b>{report.allocations:,}</b>"
        f"<span>instead of {report.tensors:,}</span></dd></div></dl>"
    )


def folded(formula: str) -> str:
    """Return a formula, hidden at first if it is long."""
    code = f"<code>{text(formula)}</code>"
    if len(formula) <= MAX_FORMULA:
        return code
    return f"<details><summary>formula</summary>{code}</details>"


def _sliders(view: View, key: str) -> Iterator[str]:
    """Yield a slider for each dim of a parameter, and behind them those for other sizes."""
    known = {variable.name: variable for variable in view.function.formulas.variables}
    rows = [(i, known[name], value) for i, (name, value) in enumerate(view.dims.items())]
    others = [row for row in rows if row[1].parameter is None]
    yield '<fieldset class="dims" hidden><legend>Dims</legend>'
    for row in rows:
        if row not in others:
            yield from _slider(*row, key)
    if others:
        what = f"Sizes that depend on data ({len(others):,})"
        yield f'<details><summary>{what}</summary><div class="dims">'
        for row in others:
            yield from _slider(*row, key)
        yield "</div></details>"
    yield "</fieldset>"


def _slider(i: int, variable: Variable, value: int, key: str) -> Iterator[str]:
    name = text(variable.name)
    first: dict[str, Any] = {"data_dim": i, "min": 0}
    last: dict[str, Any] = {"step": 1, "value": value, "aria_label": name}
    top, exact = max(8 * variable.example, 2 * value), last | {"aria_label": f"{name}, exact"}
    yield f'<label for="{key}-d{i}">{name}</label>'
    yield element("input", type="range", id=f"{key}-d{i}", **first, max=top, **last)
    yield element("input", type="number", **first, max=MOST, **exact)


def _table(view: View) -> Iterator[str]:
    """Yield the tensors as a table, the largest first."""
    use, rows = view.function, list(dict.fromkeys(row for row, _ in view.boxes))
    sizes = {row: box.size for (row, _), box in zip(view.boxes, view.panel.boxes, strict=True)}
    alive = {row: box.at_peak for (row, _), box in zip(view.boxes, view.panel.boxes, strict=True)}
    rows.sort(key=lambda row: -sizes[row])
    yield f"<details><summary>Tensors ({len(rows):,})</summary>"
    if len(rows) > MAX_ROWS:
        yield f'<p class="quiet">The {MAX_ROWS} largest.</p>'
    yield '<div class="scroll"><table><thead><tr>'
    titles = ("tensor", "bytes", "formula", "storage", "written by", "source", "at the peak")
    yield "".join(f'<th scope="col">{title}</th>' for title in titles)
    yield "</tr></thead><tbody>"
    for row in rows[:MAX_ROWS]:
        tensor = use.tensors[row]
        constant = use.formulas.constant(tensor.size) is not None
        formula = "" if constant else folded(str(use.formulas.polynomials[tensor.size]))
        cells = (use.storages[tensor.storage].name, tensor.op, str(tensor.source or ""))
        yield (
            f'<tr data-row="{row}"><th scope="row">{text(tensor.name)}</th>'
            f'<td class="bytes">{sizes[row]:,}</td><td>{formula}</td>'
            + "".join(f"<td>{text(cell)}</td>" for cell in cells)
            + f'<td class="alive">{"yes" if alive[row] else ""}</td></tr>'
        )
    yield "</tbody></table></div></details>"


def moves(view: View) -> bool:
    """Test whether the picture follows its dims."""
    return view.panel.moves and len(view.live) + len(view.held) <= MAX_MOVING


def view_data(view: View, key: str) -> dict[str, Any]:
    """Return what the script needs to move a picture."""
    if not moves(view):
        return {"key": key, "moves": False}
    use, frame = view.function, Frame(view.panel, -48)
    live, held = load_formulas(view.live, use), load_formulas(view.held, use)
    drawn = {id(box) for box in chosen(view.panel)[0]}
    place = {row: i for i, row in enumerate(view.stack)}
    boxes = [
        [row, place[use.tensors[row].storage], use.tensors[row].offset, use.tensors[row].size]
        for (row, _), box in zip(view.boxes, view.panel.boxes, strict=True)
        if id(box) in drawn
    ]
    names = list(view.dims)
    values = [
        view.dims.get(variable.name, 0) for variable in use.formulas.variables
    ]  # of other devices
    return {
        "key": key,
        "moves": True,
        "formulas": [[step.op, *step.args] for step in use.formulas.steps],
        "variables": values,
        "sliders": [[v.name for v in use.formulas.variables].index(name) for name in names],
        "storages": [
            [printable(use.storages[row].name), use.storages[row].size] for row in view.stack
        ],
        "boxes": boxes,
        "tensors": {str(row): use.tensors[row].size for row, _ in view.boxes},
        "live": live,
        "held": held,
        "spans": [[s.start, s.stop, s.row] for s in view.live],
        "sum": [use.tensors[row].size for row in dict.fromkeys(row for row, _ in view.boxes)],
        "columns": [printable(str(column)) for column in use.columns],
        "frame": {
            "left": LEFT,
            "right": WIDTH - RIGHT,
            "step": frame.step,
            "width": WIDTH,
            "character": CHARACTER,
            "room": MAX_PEAK,
            "base": frame.base,
            "plot": PLOT,
            "strip": frame.strip,
            "stripHeight": STRIP,
        },
    }


def load_formulas(segments: Sequence[Segment], use: FunctionUse) -> list[int]:
    """Return the numbers of formulas for the bytes in use in each column."""
    formulas = use.formulas
    sizes = [Reference(number) for number in range(len(formulas.steps))]
    sizes_of_steps = loads(segments, len(use.columns), sizes, formulas.apply)
    return [formulas.value(size).step for size in sizes_of_steps]


@dataclass(frozen=True)
class PlanPictures:
    """Draws the memory plan of a program, of this name."""

    use: MemoryUse
    title: str = ""

    def svg(self, dims: Mapping[str, int] | None = None) -> str:
        """Return a picture for these values of dims."""
        check_dims(self.use, dims := dims or {})
        return document([view.panel for view in views_of(self.use, dims)], left_out(self.use))

    def html(self, dims: Mapping[str, int] | None = None) -> str:
        """Return a page with a slider for each dim."""
        check_dims(self.use, dims := dims or {})
        return page(self.use, dims, self.title)


@dataclass(frozen=True)
class _MemoryPlanTarget(Target):
    """Shows the memory of a module at level `manifest` or `memory-planned`."""

    reads_before: ClassVar[str] = EXPANDS
    """The pass before which the driver stops."""

    pipeline: ClassVar[str] = "vm"
    """The pipeline to run if none is given."""

    dims: tuple[str, ...] = ()
    """The values of dims, like `n=3`."""

    @property
    def values(self) -> Mapping[str, int]:
        return parse_keyed(self.dims, parse_dim, "dims")


@dataclass(frozen=True)
class MemoryPlanSvgTarget(_MemoryPlanTarget):
    """Draws the memory plan of a module as SVG, for values of its dims."""

    name: ClassVar[str] = "memory-plan-svg"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(PlanPictures(read_memory(module)).svg(self.values))


@dataclass(frozen=True)
class MemoryPlanHtmlTarget(_MemoryPlanTarget):
    """Writes a page about the memory plan of a module, with sliders for its dims."""

    name: ClassVar[str] = "memory-plan-html"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        source = source_of(module)
        title = "" if source is None else source.file
        output.write(PlanPictures(read_memory(module), title).html(self.values))
