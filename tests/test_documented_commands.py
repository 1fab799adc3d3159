"""
What the documentation says to type runs: commands outside of `console` blocks, and Python.

Blocks of `console` are run by `test_readme.py`, with what they print; the page of plug-ins by
`test_plugin.py`, the tutorial by `test_tutorial.py`. Here a command must succeed, in a folder that
has files of the names that the pages use.
"""

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.documents import ROOT, blocks
from onnx import TensorProto, helper
from xdsl.context import Context

import xrelay
from xrelay.tools.registry import UNIVERSE

PAGES = {path.name: path for path in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]}
ELSEWHERE = ("journeys.md", "plugins.md", "tutorial.md")
"""Pages whose code other tests run."""
COMPILED = ("README.md", "native.md")
"""Pages whose commands take seconds, as they compile machine code."""

MAINS = {f"xrelay-{name}": name for name in ("opt", "run", "plan", "objdump")}
RELAY = """#[version = "0.0.5"]
def @main(%data: Tensor[(2, 8), float32], %w: Tensor[(4, 8), float32]) {
  nn.softmax(nn.dense(%data, %w))
}
"""
X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 8)
TOKENS = np.ones((1, 8, 1, 64), np.float32)
WEIGHTS = np.linspace(1, 2, 32, dtype=np.float32).reshape(8, 4)


class Typed(NamedTuple):
    """A command that a page says to type, and its line."""

    words: list[str]
    line: int


def code_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of `sh` blocks, indented lines, and `inline code`; not what is quoted elsewhere."""
    inside: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            inside = line[3:] if inside is None else None
        elif inside == "sh" or (inside is None and line.startswith("    ")):
            yield number, line
        elif inside is None:
            yield from ((number, code) for code in re.findall(r"`([^`]+)`", line))


def commands(text: str) -> list[Typed]:
    """The commands of ours that are whole: they name a file that they read, or list something."""
    typed = (
        Typed(shlex.split(code, comments=True), line)
        for line, code in code_lines(text)
        if code.lstrip().partition(" ")[0] in MAINS
    )
    return [
        command
        for command in typed
        if any(re.fullmatch(r"[a-z][\w/.]*\.\w+|--list-\w+", word) for word in command.words)
    ]


COMMANDS = {
    name: typed
    for name, path in PAGES.items()
    if name not in ELSEWHERE and (typed := commands(path.read_text(encoding="utf-8")))
}


@cache
def files() -> dict[str, bytes]:
    """The files that the pages name."""
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["data", "w"], ["scores"]),
            helper.make_node("Softmax", ["scores"], ["softmax"]),
        ],
        "model",
        [helper.make_tensor_value_info("data", TensorProto.FLOAT, ["batch", 8])],
        [helper.make_tensor_value_info("softmax", TensorProto.FLOAT, ["batch", 4])],
        [helper.make_tensor("w", TensorProto.FLOAT, [8, 4], WEIGHTS.ravel().tolist())],
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    past, present = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, rows, 64])
        for name, rows in (("past_0", "n"), ("present_0", None))
    )
    graph = helper.make_graph(
        [
            helper.make_node("Concat", ["past_0", "tokens"], ["present_0"], axis=2),
            helper.make_node("Relu", ["tokens"], ["logits"]),
        ],
        "decoder",
        [helper.make_tensor_value_info("tokens", TensorProto.FLOAT, TOKENS.shape), past],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, TOKENS.shape), present],
    )
    decoder = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    classifier = (ROOT / "examples" / "classifier.mlir").read_bytes()
    np.savez(arrays := BytesIO(), data=X)
    return {
        **{f"{name}.onnx": model for name in ("model", "old", "squeezenet")},
        **{f"{name}.relay": RELAY.encode() for name in ("model", "old")},
        **{f"{name}.mlir": classifier for name in ("model", "program")},
        "decoder.onnx": decoder,
        "x.npz": arrays.getvalue(),
        "problem.csv": b"id,lower,upper,size\na,0,2,64\nb,1,3,64\nc,2,4,64\n",
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, contents in files().items():
        (tmp_path / name).write_bytes(contents)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command in this process; return its exit status."""
    main: Callable[[], Any] = getattr(import_module("xrelay.tools.start"), MAINS[words[0]])
    monkeypatch.setattr(sys, "argv", words)
    try:
        return main() or 0
    except SystemExit as exit:
        return int(exit.code or 0)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.ci if page in COMPILED else ()) for page in COMMANDS],
)
def test_commands_run(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch):
    """The commands of a page share a folder: later ones read what earlier ones write."""
    for words, line in COMMANDS[page]:
        assert run(words, monkeypatch) == 0, f"{page}:{line}: {shlex.join(words)}"


def test_commands_are_found():
    text = "`xrelay-run m.onnx` `xrelay-run --help`\n```sh\n$ no\nxrelay-opt a.mlir # b\n```\n"
    assert commands(text) == [
        Typed(["xrelay-run", "m.onnx"], 1),
        Typed(["xrelay-opt", "a.mlir"], 4),
    ]
    expected = {"README.md", "executable.md", "levels.md", "linalg.md", "native.md", "planning.md"}
    assert COMMANDS.keys() >= expected


def python_of(page: Path) -> list[tuple[int, str]]:
    """The Python of a page, with its lines; not quoted definitions, and not ONNX's own tests."""
    found = blocks(page.read_text(encoding="utf-8"))
    return [
        (block.line, block.text)
        for block in found
        if block.language == "python"
        and not block.text.startswith(("@rule(", "from onnx.backend.test"))
    ]


PYTHON = {
    name: code
    for name, path in PAGES.items()
    if name not in (*ELSEWHERE, "README.md", "testing.md") and (code := python_of(path))
}


@pytest.mark.parametrize("page", PYTHON)
def test_python_runs(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch):
    """With the names that the pages do not define: `x`, `ctx`, `text`, `array`."""
    ctx = Context()
    for name, dialect in UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, dialect)
    names: dict[str, Any] = {"xrelay": xrelay, "x": X, "ctx": ctx, "text": RELAY, "array": X}
    names |= {"__name__": "page", "np": np, "tokens": TOKENS, "layers": 1}
    if page == "aot.md":
        library = "xrelay-opt model.onnx -p aot -t native -o libnet.so"
        assert run(shlex.split(library), monkeypatch) == 0
    for line, code in PYTHON[page]:
        exec(compile(code, f"{page}:{line}", "exec"), names)
