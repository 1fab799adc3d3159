"""
Texts read with and without tables of what was read before, and lists of numbers read at once or
number by number: same results, same errors.
"""

import random
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest
from helpers.machine.in_machine import universal_context
from helpers.programs.random_settings import rounds, share
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from xrelay.tools.pass_run.process import settings
from xrelay.tools.text import repeated_text
from xrelay.tools.text.dense_text import DenseText, nested, shape_of
from xrelay.tools.text.parser import LocatingParser

ROOT = Path(__file__).parents[2]
LINE, TENSOR, NEVER = repeated_text.LINE, repeated_text.TENSOR, re.compile("(?!)")


def nothing(*_: object) -> None:
    """Parse nothing."""


@contextmanager
def without_tables() -> Generator[None]:
    """Leave every op, type and list to xDSL's parser in the `with` block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DenseText, "_parse_list", nothing)
        patch.setattr(DenseText, "_parse_ranked_type", nothing)
        patch.setattr(repeated_text, "LINE", NEVER)
        patch.setattr(repeated_text, "TENSOR", NEVER)
        yield


def texts() -> list[str]:
    """Return the parts of all files of the suite whose reading uses the tables."""
    files = sorted(ROOT.glob("lit_tests/**/*.mlir")) + sorted(ROOT.glob("examples/**/*.mlir"))
    parts = [part for file in files for part in file.read_text().split("// -----\n")]
    return [part for part in parts if LINE.search(part) or len(TENSOR.findall(part)) > 1]


def written(module: ModuleOp) -> str:
    """Return everything in `module`: names, locations, and properties apart from attributes."""
    out = StringIO()
    Printer(out, print_generic_format=True, print_debuginfo=True).print_op(module)
    return out.getvalue()


class WarmParser(LocatingParser):
    """A parser whose tables have what `warmed_by` read, apart from what depends on its aliases."""

    def __init__(self, text: str, warmed_by: LocatingParser | None):
        super().__init__(universal_context(allow_unregistered=True), text, "file.mlir", 3)
        if warmed_by is not None:
            self.repeated.ops |= {k: v for k, v in warmed_by.repeated.ops.items() if not v.expanded}
            self.repeated.types |= {k: v for k, v in warmed_by.repeated.types.items() if not v[1]}


def outcome(text: str, warmed_by: LocatingParser | None = None) -> str:
    """Return the module that `text` is, or the error, as text."""
    try:
        module = WarmParser(text, warmed_by).parse_module()
    except ParseError as error:
        return f"{error.span.start} {error.span.end} {error.span.line_offset} {error.msg}"
    except Exception as error:
        return f"{type(error).__name__} {error} {getattr(error, '__notes__', '')}"
    return written(module)


def check(text: str, warmed_by: LocatingParser | None = None) -> None:
    """Check that `text` is read as it is without tables."""
    found = outcome(text, warmed_by)
    with without_tables():
        assert found == outcome(text), text


def read(text: str) -> WarmParser:
    """Read `text`, up to its first error, and return the parser."""
    parser = WarmParser(text, None)
    with suppress(Exception):
        parser.parse_module()
    return parser


PIECES = (
    "%x", "%0", "%5", "%arg0", "%", "#0", ":2", "(", ")", "<", ">", "->", ",", ":", "{a}", "{", "}",
    " ", "\n", "\r", "\t", "// c", " loc(unknown)", ' loc("f":1:2)', "f32", "tensor<4xf32>", "4",
    "x", "!", '"', "?", ", #cuda0", "loc(", "\u00e9", "-", "= ",
)  # fmt: skip


def edited(text: str, rng: random.Random) -> str:
    """Return a copy of `text` with a few edits: characters, tokens or lines."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        lines = text.splitlines(keepends=True)
        at = rng.randrange(len(lines))
        names = re.findall(r"%[\w.]+", text)
        start = rng.randrange(len(text))
        match rng.randrange(7):
            case 0:  # the same line again, as it is or with another result
                again = re.sub(r"%[\w.]+ =", f"%v{start} =", lines[at], count=rng.randrange(2))
                lines.insert(rng.randrange(at, len(lines)) + 1, again)
                text = "".join(lines)
            case 1:
                del lines[at]
                text = "".join(lines)
            case 2 if names:  # one name in place of another
                one = rng.choice(list(re.finditer(r"%[\w.]+", text)))
                text = text[: one.start()] + rng.choice(names) + text[one.end() :]
            case 3:
                text = text[:start] + text[start + rng.randrange(1, 6) :]
            case 4:  # two lines in one
                text = "".join(lines[:at]) + lines[at].rstrip("\n") + " " + "".join(lines[at + 1 :])
            case 5:  # at the end of a line
                end = len("".join(lines[: at + 1]).rstrip("\n"))
                text = text[:end] + rng.choice(PIECES) + text[end:]
            case _:
                text = text[:start] + rng.choice(PIECES) + text[start:]
        if not text.strip():
            return "\n"
    return text


@pytest.mark.ci
def test_suite() -> None:
    """Each text is read again with the tables of the first reading, where it is all found."""
    with settings():
        for text in share(texts()[::5]):
            check(text, read(text))


def test_edits() -> None:
    rng = random.Random(0)
    with settings():
        for text in rng.sample([text for text in texts() if LINE.search(text)], rounds(40)):
            warm = read(text)
            for _ in range(5):
                check(edited(text, rng), warm)


ELEMENTS = (
    *("f32", "f64", "f16", "bf16", "f80", "f8E4M3FN", "tf32", "f4E2M1FN", "none", "!test.x"),
    *("i1", "i8", "i64", "i128", "ui8", "si8", "i7", "index", "complex<f32>", "complex<i8>"),
)
CONTAINERS = ("tensor<{}>", "vector<{}>", "memref<{}>", "tensor<{}, dense<[1]> : tensor<1xi8>>")
INTEGERS = ("3", "-2", "0", "-0", "007", "1", "127", "-128", "200", "-130", "1" * 4301)
FLOATS = (
    *("1.5", "-0.25", "0.0", "-0.0", "1.", "2.0e5", "1.0E-3", "-3.", "3.40282347e+38", "1.0e39"),
    *("0.1", "1.0e400", "-1.0e400", "1.0e-50", "16777217.0", "0" * 99 + ".1"),
)
OTHERS = (
    *("0x7FC00000", "0xFF", "1e5", ".5", "1.5.5", "- 1.0", "+1.0", "1_0", "nan", "inf", "-inf"),
    *("true", "false", "(1.0, 2.0)", "(1, 2)", "1.0 // c\n", "\t2.0\n", "[1.0]", "", "1 2", "1.0e"),
    *("-", '"0x00"', "\u0663", "\u00a01.0", "1.0e+", "#a"),
)


def constant(rng: random.Random) -> str:
    """Return an op with a constant, which may be wrong."""
    shape: list[int | str] = [
        rng.choice((1, 1, 2, 3)) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))
    ]
    kind = rng.choice((INTEGERS, FLOATS))
    text = re.sub("n", lambda _: rng.choice(kind), nested(cast(list[int], shape)))
    if rng.random() < 0.2:
        text = re.sub(r"[^\[\],]+", lambda _: rng.choice(OTHERS), text, count=1)
    if rng.random() < 0.15:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(("[", "]", ",", " ", "1", "],[", "")) + text[at + 1 :]
    if rng.random() < 0.1 and shape:
        shape[rng.randrange(len(shape))] = rng.choice((0, 1, 2, "?"))
    element = rng.choice(ELEMENTS) if rng.random() < 0.3 else "f32" if kind is FLOATS else "i8"
    type = rng.choice(CONTAINERS).format("x".join([*map(str, shape), element]))
    return f'"test.op"() {{value = dense<{text.replace(",", ", ")}> : {type}}} : () -> ()\n'


def test_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once: list[bool] = []
    parse = cast(Any, DenseText)._parse_list

    def counted(parser: DenseText, text: str, end: int) -> object:
        found = parse(parser, text, end)
        at_once.append(found is not None)
        return found

    monkeypatch.setattr(DenseText, "_parse_list", counted)
    rng = random.Random(0)
    with settings():
        for _ in range(rounds(500)):
            check(constant(rng))
        for _ in range(rounds(100)):
            check(edited(constant(rng), rng))
    assert 0.25 * len(at_once) < sum(at_once) < 0.9 * len(at_once)


def test_constants_in_the_type_of_a_splat() -> None:
    inner = "dense<[1, 2]> : tensor<2xi32>"
    text = f'"test.op"() {{a = dense<true> : tensor<2xi1, {inner}>}} : () -> ()'
    with settings():
        assert f"dense<true> : tensor<2xi1, {inner}>" in outcome(text)


@pytest.mark.parametrize("text", ["", "n", "[]", "[n", "n]", "[n]]", "[[n],[n,n]]", "[n][n]", "]["])
def test_lists_of_no_shape(text: str) -> None:
    assert shape_of(text) == (() if text == "n" else None)


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 3), (1, 1, 1), (2, 1, 3, 2), (1,) * 16])
def test_lists_of_a_shape(shape: tuple[int, ...]) -> None:
    assert shape_of(nested(shape)) == shape
