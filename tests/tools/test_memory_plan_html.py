"""
Pictures of memory plans: their structure, names from strangers, the page's script.

The script is run by Node where it is installed, and the page is opened in headless Chromium where
that is: on PATH, or in `XRELAY_BROWSER`. Screenshots are in the folder `XRELAY_ARTEFACTS`, or in
that of the test. Without either, the page's formulas are still evaluated here, and what is skipped
is only what needs them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Generator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from helpers.browser import Page, browser, opened
from helpers.programs.programs import context, parse
from helpers.programs.transformer import encoder
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.operators.sizes.size_table import OPERATIONS, compute
from xrelay.passes.memory_report import report
from xrelay.passes.memory_report.loads import loads
from xrelay.passes.memory_report.model import FunctionUse, MemoryUse
from xrelay.passes.memory_report.read import read_memory
from xrelay.passes.memory_report.report import report_of
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.pipeline_steps import TO_BYTECODE
from xrelay.tools.plan_pictures.page import folded, page, resource
from xrelay.tools.plan_pictures.panels import Panel
from xrelay.tools.plan_pictures.program_panels import views_of
from xrelay.tools.plan_pictures.svg import document, even_step
from xrelay.tools.registry import UNIVERSE, named_pipelines

SVG = "{http://www.w3.org/2000/svg}"

HOSTILE = (
    "</title><script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 1'>",
    ']]><svg onload="window.hacked = 1">&amp;&#60;{paper}',
    "\u202e\u0000\n\ud800`${window.hacked = 1}`",
)
"""Names that would be code if they were not escaped."""


def planned(module: ModuleOp) -> MemoryUse:
    for step in build("vm", UNIVERSE.all_passes, named_pipelines):
        if step.run.name == TO_BYTECODE:
            break
        step.run.apply(context(), module)
    return read_memory(module)


@pytest.fixture(scope="module")
def transformer() -> MemoryUse:
    return planned(convert_model(encoder(1), "encoder.onnx").module)


TWO_ARMS = """
func.func @main(%x: tensor<64xf32>, %c: tensor<i1>) -> tensor<64xf32> {
  %a = relay.exp %x : (tensor<64xf32>) -> tensor<64xf32>
  %b = relay.nn.softmax %a : (tensor<64xf32>) -> tensor<64xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<64xf32>) {
    %d = relay.nn.softmax %b : (tensor<64xf32>) -> tensor<64xf32>
    relay.yield %d : tensor<64xf32>
  } else {
    %e = relay.nn.softmax %a : (tensor<64xf32>) -> tensor<64xf32>
    relay.yield %e : tensor<64xf32>
  }
  %s = relay.nn.softmax %r : (tensor<64xf32>) -> tensor<64xf32>
  func.return %s : tensor<64xf32>
}
"""


@pytest.fixture(scope="module")
def branches() -> MemoryUse:
    return planned(parse(TWO_ARMS))


@pytest.fixture(scope="module")
def hostile() -> MemoryUse:
    """A program whose author chose its names to break into the page."""
    from dataclasses import replace

    use = planned(parse(TWO_ARMS))
    (main,) = use.functions
    bad = HOSTILE[0] + HOSTILE[1] + HOSTILE[2] + HOSTILE[3]
    main.name = bad
    main.tensors = [replace(t, name=bad, op=bad, operators=(bad,)) for t in main.tensors]
    main.storages = [replace(s, name=bad, device=bad) for s in main.storages]
    main.columns = [replace(c, label=bad) for c in main.columns]
    main.branches = [replace(b, label=bad, names=(bad, bad)) for b in main.branches]
    return use


class Elements(HTMLParser):
    """The elements of a page, their attributes, and the text of each."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.texts.setdefault(tag, []).append("")
        self.open.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.texts:
            self.texts[self.open[-1]][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self.open.append(f"/{tag}")

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.found if name == tag]


def data_in(text: str) -> list[dict[str, Any]]:
    return json.loads(Elements(text).texts["script"][0])


def test_the_page_is_one_file_that_refers_to_no_other(transformer: MemoryUse):
    text = page(transformer, {}, "encoder.onnx")
    found = Elements(text)
    assert {tag for tag, _ in found.found}.isdisjoint({"link", "img", "iframe", "object", "base"})
    for tag, attributes in found.found:
        assert not {"src", "href", "srcset", "xlink:href"} & attributes.keys(), tag
    style = found.texts["style"][0]
    assert "@import" not in style
    assert "url(" not in style
    assert "fetch(" not in text
    assert "XMLHttpRequest" not in text
    ids = [attributes["id"] for _, attributes in found.found if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_only_the_scripts_of_the_page_may_run(transformer: MemoryUse):
    found = Elements(page(transformer, {}, ""))
    data, script = found.texts["script"]
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = next(a["content"] or "" for a in found.named("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy
    assert found.named("script")[0]["type"] == "application/json"
    json.loads(data)


def test_sliders_have_names_and_follow_the_keyboard(transformer: MemoryUse):
    found = Elements(page(transformer, {"sequence": 64}, ""))
    inputs = found.named("input")
    assert [i["type"] for i in inputs] == ["range", "number"] * 2
    assert [i["aria-label"] for i in inputs][::2] == ["batch", "sequence"]
    assert [i["value"] for i in inputs] == ["1", "1", "64", "64"]
    (picture,) = found.named("svg")
    assert (picture["tabindex"], picture["role"]) == ("0", "img")


SELECTED = """
func.func @main(%x: tensor<?x8xf32> {relay.dims = ["n", 8]}) -> tensor<?xf32> {
  %e = relay.nn.softmax %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %w = relay.argwhere %e : (tensor<?x8xf32>) -> tensor<?x2xi32>
  %c = relay.cast %w {dtype = f32} : (tensor<?x2xi32>) -> tensor<?x2xf32>
  %m = relay.nn.softmax %c : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %s = relay.sum %m {axis = array<i64: 1>} : (tensor<?x2xf32>) -> tensor<?xf32>
  func.return %s : tensor<?xf32>
}
"""


def test_sizes_that_depend_on_data_are_behind_the_dims():
    use = planned(parse(SELECTED))
    text = page(use, {}, "")
    dims = text[text.index('<fieldset class="dims"') : text.index("</fieldset>")]
    before, _, behind = dims.partition("<details><summary>Sizes that depend on data (1)</summary>")
    assert re.findall(r'<label for="p0-d\d">([^<]*)<', before) == ["n"]
    assert len(re.findall("<label ", behind)) == 1
    (data,) = data_in(text)
    assert len(data["sliders"]) == 2


def test_long_formulas_are_folded():
    assert folded("4*n") == "<code>4*n</code>"
    assert folded(long := "n + " * 20) == (
        f"<details><summary>formula</summary><code>{long}</code></details>"
    )


def test_long_formulas_of_the_report_are_cut_after_their_value(
    transformer: MemoryUse, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(report, "MAX_LINE", 40)
    lines = list(report.text_lines(report_of(transformer, {})))
    (known,) = report_of(transformer, {"batch": 1, "sequence": 128})
    formula = known.sum.formula or ""
    cut = f"{formula[:40]}… ({len(formula):,} characters, in full in --memory-report=json)"
    value = f"{known.sum.bytes:,} B if batch = 1, sequence = 128"
    assert f"  sum of tensors = {value}: {cut}" in lines
    (given,) = report_of(transformer, {"batch": 2})
    assert given.examples == "sequence = 128"


@pytest.mark.parametrize(
    ("parameter", "examples"),
    [
        ('%x: tensor<?x3x?xf32> {relay.dims = ["k", 3, "w"]}', [1, 128]),
        ('%x: tensor<?x?xf32> {relay.dims = ["k", "w"]}', [128, 128]),
        ('%x: tensor<?x?xf32> {relay.dims = ["w", "Batch_size"]}', [128, 1]),
    ],
)
def test_a_batch_is_one_by_default(parameter: str, examples: list[int]):
    type = parameter.partition(": ")[2].partition(" ")[0]
    body = f"%y = relay.nn.softmax %x : ({type}) -> {type}\nfunc.return %y : {type}"
    (use,) = planned(parse(f"func.func @main({parameter}) -> {type} {{\n{body}\n}}")).functions
    assert [variable.example for variable in use.formulas.variables] == examples


def panel_of(height: int, columns: int = 3, peak: int = 0, peak_text: str = "peak") -> Panel:
    return Panel(
        "@main on cpu:0",
        "",
        ["op"] * columns,
        [str(i) for i in range(columns + 1)],
        loads=[height] * columns,
        height=height,
        peak=peak,
        peak_text=peak_text,
        time="time",
    )


def labels_in(panel: Panel, kind: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(document([panel]))
    return [text for text in root.iter(f"{SVG}text") if kind in (text.get("class") or "").split()]


@pytest.mark.parametrize(
    ("height", "ticks"),
    [
        (0, ["0 B"]),
        (1, ["0 B", "1 B"]),
        (7, ["0 B", "2 B", "4 B", "6 B"]),
        (3_932_576, ["0 B", "1.0 MiB", "2.0 MiB", "3.0 MiB"]),
        (5 << 20, ["0 B", "1.0 MiB", "2.0 MiB", "3.0 MiB", "4.0 MiB", "5.0 MiB"]),
    ],
)
def test_marked_offsets_are_round_and_differ(height: int, ticks: list[str]):
    assert [tick.text for tick in labels_in(panel_of(height), "tick")] == ticks


@pytest.mark.parametrize("count", [1, 15, 16, 26, 78, 79, 1000, 12345])
def test_marked_columns_are_even(count: int):
    step = even_step(count)
    assert str(step).rstrip("0") in ("1", "2", "5")
    assert len(range(0, count, step)) <= 16
    assert count <= 16 or len(range(0, count, step)) > 6


@pytest.mark.parametrize("peak", [0, 50, 99])
@pytest.mark.parametrize("length", [10, 100, 160, 400])
def test_the_text_of_the_peak_is_in_the_picture(peak: int, length: int):
    (label,) = labels_in(panel_of(64, 100, peak, "x" * length), "peak-text")
    shown = label.text or ""
    left = float(label.get("x") or 0)
    assert left >= 84
    assert left + len(shown) * 6.6 <= 1200 + 0.01
    assert (shown == "x" * length) == (length < 169)
    assert "style" not in label.attrib


def test_one_of_a_kind_is_not_plural():
    use = planned(parse(SELECTED.replace("relay.nn.softmax %c", "relay.exp %c")))
    text = page(use, {}, "") + document([view.panel for view in views_of(use, {})])
    assert not re.search(r"\b1 (tensors|allocations)\b", text)
    assert "time: ops that use tensors, in order" in text


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_the_script_marks_the_same_offsets(tmp_path: Path):
    (tmp_path / "page.cjs").write_text(resource("page.js"), encoding="utf-8")
    heights = [0, 1, 4, 5, 6, 10, 11, 1023, 1024, 5 << 20, (5 << 20) + 1, 10**12 + 7]
    script = (
        "const { levels } = require('./page.cjs');"
        f"console.log(JSON.stringify({heights}.map(levels)))"
    )
    done = subprocess.run(
        ["node", "-e", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [[*panel_of(height).levels] for height in heights]


def test_names_are_text_in_the_page(hostile: MemoryUse):
    text = page(hostile, {}, HOSTILE[0])
    found = Elements(text)
    assert len(found.named("script")) == 2
    assert not found.named("img")
    assert all(not name.startswith("on") for _, a in found.found for name in a)
    assert "\u202e" not in text
    assert "\0" not in text
    text.encode()  # no half of a character


def test_names_are_text_in_the_picture(hostile: MemoryUse):
    text = document([view.panel for view in views_of(hostile, {})])
    root = ElementTree.fromstring(text)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "style", "rect", "text", "g", "line", "path", "defs", "pattern"}
    assert all(not name.startswith("on") for e in root.iter() for name in e.attrib)
    titles = [title.text or "" for title in root.iter(f"{SVG}title")]
    assert any("<script>window.hacked = 1</script>" in title for title in titles)


def test_names_of_dims_are_text():
    use = planned(
        parse(
            'func.func @main(%x: tensor<?xf32> {relay.dims = ["</script><b>"]})\n'
            "    -> tensor<?xf32> {\n"
            "  %y = relay.exp %x : (tensor<?xf32>) -> tensor<?xf32>\n"
            "  func.return %y : tensor<?xf32>\n}"
        )
    )
    found = Elements(page(use, {}, ""))
    assert not found.named("b") or all("hacked" not in str(a) for a in found.named("b"))
    assert len(found.named("script")) == 2
    assert found.named("input")[0]["aria-label"] == "</script><b>"


def boxes_of(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [g for g in root.iter(f"{SVG}g") if (g.get("class") or "").startswith("box")]


def test_the_picture_has_a_box_for_each_life_of_a_tensor(branches: MemoryUse):
    (view,) = views_of(branches, {})
    root = ElementTree.fromstring(document([view.panel]))
    spans = sum(len(tensor.spans) for tensor in branches.functions[0].tensors)
    assert len(boxes_of(root)) == spans
    hatched = [g for g in boxes_of(root) if len(g.findall(f"{SVG}rect")) == 2]
    assert len(hatched) == 2  # after the branch, of each arm
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert {"then", "else"} <= texts
    assert any((text or "").startswith("peak: ") for text in texts)
    assert any((text or "").startswith("lower bound ") for text in texts)


def test_a_box_names_tensor_op_size_and_life(branches: MemoryUse):
    (view,) = views_of(branches, {})
    lines = next(box.lines for box in view.panel.boxes if box.name == "b")
    assert lines[0] == "b"
    assert re.match(r"256 bytes \(256 B\) at [\d,]+ of arena", lines[1])
    assert lines[2] == "written by fused_nn_softmax (nn.softmax)"
    assert lines[3].startswith("alive in columns ")


def many(count: int) -> MemoryUse:
    """Return the memory of a chain of `count` tensors in one storage, as wide as it is long."""
    from xrelay.passes.memory_report.model import Column, Segment, Storage, Tensor
    from xrelay.passes.memory_report.path_liveness import Span

    use = FunctionUse("@main", columns=[Column(f"op{i}", None) for i in range(count)])
    polynomials = use.formulas.sizes.algebra
    size = use.formulas.number(polynomials.symbol("n") * 0 + 64)
    total = use.formulas.number(polynomials.symbol("n") * 0 + 64 * count)
    use.storages.append(Storage("arena", "cpu:0", total, 64, None, (Span(0, count, ()),), False))
    for i in range(count):
        offset = use.formulas.number(polynomials.symbol("n") * 0 + 64 * i)
        span = Span(i, min(i + 40, count), ())
        use.tensors.append(
            Tensor(f"t{i}", f"op{i}", (), None, 0, offset, size, (span,), outlives=False)
        )
        use.live.append(Segment(*span, size, i))
    use.held.append(Segment(0, count, (), total, 0))
    return MemoryUse([use])


def test_a_large_plan_is_bounded_and_says_what_it_merges():
    use = many(20_000)
    text = page(use, {}, "large")
    assert len(text) < 3_000_000
    assert "The 2,500 largest of 20,000 boxes are drawn" in text
    assert 'class="rest"' in text
    assert "<title>17,500 smaller boxes</title>" in text


def test_functions_beyond_the_limit_are_counted(branches: MemoryUse):
    text = page(MemoryUse(branches.functions * 100), {}, "")
    assert "60 more functions and devices are left out" in text


def variables_of(use: FunctionUse, dims: dict[str, int]) -> list[int]:
    return [dims[variable.name] for variable in use.formulas.variables]


CASES = [{"batch": b, "sequence": s} for b, s in ((1, 1), (1, 7), (2, 64), (5, 33))]


@pytest.mark.parametrize("dims", CASES)
def test_the_formulas_in_the_page_are_those_of_the_plan(
    transformer: MemoryUse, dims: dict[str, int]
):
    (data,) = data_in(page(transformer, {}, ""))
    (use,) = transformer.functions
    values: list[int] = []
    steps: list[tuple[str, int]] = data["formulas"]
    for step in steps:
        args = [int(arg) for arg in step[1:]]
        if step[0] == "const":
            values.append(args[0])
        elif step[0] == "var":
            values.append(variables_of(use, dims)[args[0]])
        else:
            values.append(compute(step[0], *(values[arg] for arg in args)))
    wanted = use.formulas.evaluate(variables_of(use, dims))
    boxes: list[tuple[int, int, int, int]] = data["boxes"]
    found = [(row, values[offset], values[size]) for row, _, offset, size in boxes]
    assert found == [
        (row, wanted[t.offset], wanted[t.size])
        for row, t in enumerate(use.tensors)
        for _ in t.spans
    ]


def test_the_script_has_the_operations_of_the_table():
    script = resource("page.js").partition("const OPERATIONS = {")[2].partition("};")[0]
    names = re.findall(r"^  (\w+):", script, re.MULTILINE)
    expanded = {"select", "total", "and", "or", "xor"}  # of bits, and what is made of others
    assert set(names) == OPERATIONS.keys() - expanded


@pytest.mark.ci
@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize("name", ["transformer", "branches"])
def test_the_script_computes_the_plan(name: str, request: pytest.FixtureRequest, tmp_path: Path):
    memory: MemoryUse = request.getfixturevalue(name)
    (use,) = memory.functions
    # Branches have no dims: the data is what the page would have if they had.
    (view,) = views_of(memory, {})
    from dataclasses import replace

    from xrelay.tools.plan_pictures.page import view_data

    moving = replace(view, panel=replace(view.panel, moves=True))
    (tmp_path / "page.cjs").write_text(resource("page.js"), encoding="utf-8")
    (tmp_path / "data.json").write_text(json.dumps(view_data(moving, "p0")), encoding="utf-8")
    script = (
        "const page = require('./page.cjs'); const data = require('./data.json');"
        "const found = page.plan(data, JSON.parse(process.argv[1]));"
        "console.log(JSON.stringify([found.boxes, found.live, found.planned, found.bound]))"
    )
    for dims in CASES if name == "transformer" else [{}]:
        given = variables_of(use, dims)
        ran = subprocess.run(
            ["node", "-e", script, json.dumps(given)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        boxes, live, planned_bytes, bound = json.loads(ran.stdout)
        values = use.formulas.evaluate(given)
        assert [(b["offset"], b["size"]) for b in boxes] == [
            (values[t.offset], values[t.size]) for t in use.tensors for _ in t.spans
        ]
        wanted = loads(use.live, len(use.columns), values)
        assert live == wanted
        assert bound == max(wanted)
        assert planned_bytes == max(loads(use.held, len(use.columns), values))


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Generator[Page]:
    path = browser()
    if path is None:
        pytest.skip("no browser: install Chromium, or name one in XRELAY_BROWSER")
    with opened(path, tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("XRELAY_ARTEFACTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def written(use: MemoryUse, dims: dict[str, int], folder: Path, title: str) -> Path:
    file = folder / f"{title}.html"
    file.write_text(page(use, dims, title), encoding="utf-8")
    return file


def test_the_slider_moves_the_boxes(chromium: Page, transformer: MemoryUse, artefacts: Path):
    chromium.prefer("light")
    chromium.open(written(transformer, {"batch": 1, "sequence": 16}, artefacts, "encoder"))
    (use,) = transformer.functions
    for sequence in (64, 5):
        chromium.evaluate(
            f"""(() => {{
              const slider = document.querySelector('input[type=range][data-dim="1"]');
              slider.value = {sequence};
              slider.dispatchEvent(new Event("input", {{ bubbles: true }}));
            }})()"""
        )
        titles = chromium.evaluate(
            "[...document.querySelectorAll('.box title')].map((title) => title.textContent)"
        )
        values = use.formulas.evaluate([1, sequence])
        wanted = [f"{values[t.size]:,} bytes" for t in use.tensors for _ in t.spans]
        offsets = [f" at {values[t.offset]:,} of " for t in use.tensors for _ in t.spans]
        lines = [title.split("\n")[1] for title in titles]
        assert all(line.startswith(size) for line, size in zip(lines, wanted, strict=True))
        assert all(offset in line for line, offset in zip(lines, offsets, strict=True))
        heights = chromium.evaluate(
            "[...document.querySelectorAll('.box rect')].map((r) => +r.getAttribute('height'))"
        )
        (view,) = views_of(transformer, {"batch": 1, "sequence": sequence})
        ceiling = view.panel.ceiling
        for height, box in zip(heights, view.panel.boxes, strict=True):
            assert height == pytest.approx(box.size * 520 / ceiling, abs=0.01)
        exact = chromium.evaluate(
            "document.querySelector('[data-figure=planned] .exact').textContent"
        )
        assert exact == f"{view.panel.height:,} bytes"
    chromium.screenshot(artefacts / "encoder-light.png")
    assert chromium.complaints() == []


def test_light_and_dark_follow_the_system_and_the_button(
    chromium: Page, branches: MemoryUse, artefacts: Path
):
    colour = "getComputedStyle(document.body).backgroundColor"
    chromium.open(written(branches, {}, artefacts, "branches"))
    shades: list[str] = []
    for scheme in ("light", "dark"):
        chromium.prefer(scheme)
        shades.append(chromium.evaluate(colour))
        chromium.screenshot(artefacts / f"branches-{scheme}.png")
    assert shades == ["rgb(255, 255, 255)", "rgb(21, 24, 29)"]
    chromium.evaluate("document.getElementById('theme').click()")
    assert chromium.evaluate(colour) == shades[0]
    chromium.evaluate("document.getElementById('theme').click()")
    assert chromium.evaluate(colour) == shades[1]
    assert chromium.complaints() == []


def test_arrow_keys_show_tensors(chromium: Page, branches: MemoryUse, artefacts: Path):
    chromium.open(written(branches, {}, artefacts, "keys"))
    chromium.evaluate("document.querySelector('svg').focus()")
    details = "document.querySelector('.details').textContent"
    chromium.press("ArrowRight", 39)
    first = chromium.evaluate(details)
    chromium.press("ArrowRight", 39)
    assert chromium.evaluate(details) != first
    chromium.press("ArrowLeft", 37)
    assert chromium.evaluate(details) == first
    assert first.split("\n")[0] == branches.functions[0].tensors[0].name


def test_names_do_not_run(chromium: Page, hostile: MemoryUse, artefacts: Path):
    chromium.open(written(hostile, {}, artefacts, "hostile"))
    assert chromium.evaluate("window.hacked === undefined")
    picture = artefacts / "hostile.svg"
    picture.write_text(document([v.panel for v in views_of(hostile, {})]), encoding="utf-8")
    chromium.open(picture)
    assert chromium.evaluate("window.hacked === undefined")


def test_a_large_page_opens(chromium: Page, artefacts: Path):
    chromium.open(written(many(20_000), {}, artefacts, "large"))
    assert chromium.evaluate("document.querySelectorAll('.box').length") == 2500
    chromium.screenshot(artefacts / "large.png")
    assert chromium.complaints() == []
