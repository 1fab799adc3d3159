"""Texts read with and without tables of what was read before: same results, same errors."""

import random
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path

import pytest
from in_machine import universal_context
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from xrelay.tools import repeated_text
from xrelay.tools.parser import LocatingParser
from xrelay.tools.process import settings

ROOT = Path(__file__).parents[2]
LINE, TENSOR, NEVER = repeated_text.LINE, repeated_text.TENSOR, re.compile("(?!)")


@contextmanager
def without_tables() -> Generator[None]:
    """Leave every op and type to xDSL's parser in the `with` block."""
    with pytest.MonkeyPatch.context() as patch:
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
            self.read_ops |= {k: v for k, v in warmed_by.read_ops.items() if not v.expanded}
            self.read_types |= {k: v for k, v in warmed_by.read_types.items() if not v[1]}


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


def test_suite() -> None:
    """Each text is read again with the tables of the first reading, where it is all found."""
    with settings():
        for text in texts()[::5]:
            check(text, read(text))


def test_edits() -> None:
    rng = random.Random(0)
    with settings():
        for text in rng.sample([text for text in texts() if LINE.search(text)], 40):
            warm = read(text)
            for _ in range(5):
                check(edited(text, rng), warm)
