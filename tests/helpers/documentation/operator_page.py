"""
The page of operators: the form of each meaning, its formula, and the files that say what it is.

A formula is printed by numbers that are text: `sigmoid` of f32 is `1 / (exp(-x) + 1)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from inspect import cleandoc
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, Self

from helpers.operators.inferring import OPERATORS

from xrelay.operators.all_rules import MEANINGS
from xrelay.operators.meaning.forms import (
    ByIndex,
    Composed,
    Elementwise,
    Folded,
    Formula,
    Opaque,
)
from xrelay.operators.meaning.number import (
    Arithmetic,
    Comparison,
    Function,
    Number,
)
from xrelay.operators.signature import BOOL, ELEMENTS, Element

ROOT = Path(__file__).parent.parent.parent.parent

LONGEST = 60
"""The longest formula that is printed; of others, the first line of the docstring is."""

_INFIX: Mapping[str, str] = {
    **{"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "quotient": "div"},
    **{"and": "and", "or": "or", "xor": "xor", "shift_left": "<<", "shift_right": ">>"},
    **{"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "remainder": "rem"},
}


@dataclass(eq=False)
class Text(Number):
    """A number that is text; in `atom` if it needs no parentheses."""

    text: str
    element: Element
    is_atom: bool = True

    @property
    def atom(self) -> str:
        return self.text if self.is_atom else f"({self.text})"

    def constant(self, value: float) -> Self:
        return replace(self, text=f"{value:.6g}", is_atom=True)

    def apply(self, operation: Arithmetic, other: Self) -> Self:
        if operation not in _INFIX:
            return replace(self, text=f"{operation}({self.text}, {other.text})", is_atom=True)
        return replace(self, text=f"{self.atom} {_INFIX[operation]} {other.atom}", is_atom=False)

    def math(self, function: Function) -> Self:
        return replace(self, text=f"{function}({self.text})", is_atom=True)

    def negated(self) -> Self:
        return replace(self, text=f"-{self.atom}", is_atom=False)

    def magnitude(self) -> Self:
        return replace(self, text=f"|{self.text}|", is_atom=True)

    def compared(self, predicate: Comparison, other: Self) -> Self:
        text = f"{self.atom} {_INFIX[predicate]} {other.atom}"
        return replace(self, text=text, element=BOOL, is_atom=False)

    def chosen(self, yes: Self, no: Self) -> Self:
        return replace(yes, text=f"{self.atom} ? {yes.atom} : {no.atom}", is_atom=False)

    def converted(self, element: Element) -> Self:
        if element is self.element:
            return self
        return replace(self, text=f"{self.atom} as {element}", element=element, is_atom=False)

    def reinterpreted(self, element: Element) -> Self:
        text = f"the {element} of the bits of {self.atom}"
        return replace(self, text=text, element=element, is_atom=False)


def formula(name: str) -> str:
    """Return the formula of an elementwise operator, of f32 where it accepts it, otherwise i32."""
    meaning = MEANINGS[f"relay.{name}"]
    assert isinstance(meaning, Elementwise)
    cls = OPERATORS[name]
    names = [operand for operand, _ in cls.get_irdl_definition().operands]
    shown = {"a_min": 0.0, "a_max": 6.0, "alpha": 0.05, "approximate": "none", "dtype": "int32"}
    shown |= {"multiplier": 1073741824, "shift": -2}
    of_bools, of_integers = name.startswith("logical"), re.match("bitwise|left|right|fixed", name)
    element = ELEMENTS["bool" if of_bools else "int32" if of_integers else "float32"]
    numbers = [Text(n, BOOL if n == "condition" else element) for n in names]
    if name == "cast_like":
        numbers[1] = replace(numbers[1], element=ELEMENTS["int32"])
    found: Text = meaning.formula(*numbers, **meaning.keywords(shown))
    return found.text


FOLDS = {"add": "Σ", "multiply": "Π", "maximum": "max", "minimum": "min"}


def first_line(formula: Formula) -> str:
    """Return the first paragraph of a formula's docstring."""
    text, *_ = cleandoc(formula.__doc__ or "").split("\n\n")
    return " ".join(text.split())


def folded(meaning: Folded) -> str:
    """Return what is folded, how, and what is done then."""
    text, finish = f"{FOLDS[meaning.by]} {first_line(meaning.formula)}", meaning.finish
    if finish is None:
        return text
    then = first_line(finish).removesuffix(".")
    return f"{text}; then {then[0].lower()}{then[1:]}"


def meaning_of(name: str) -> tuple[str, str]:
    """Return the form of an operator's meaning, and its formula or the reason why it has none."""
    meaning = MEANINGS[f"relay.{name}"]
    form = re.sub(r"(?<!^)([A-Z])", r" \1", type(meaning).__name__).lower()
    match meaning:
        case Elementwise():
            text = f"`{formula(name)}`"
            shown = text if len(text) < LONGEST else first_line(meaning.formula)
            return form, shown.replace("|", "\\|")
        case Folded():
            return form, folded(meaning)
        case ByIndex() | Composed():
            return form, first_line(meaning.formula)
        case Opaque(reason=reason):
            return form, reason
        case _:
            return form, ""


# ---------------------------------------------------------------------------- files

ROOMS = ("operators", "dialects/relay", "lowering/linalg", "runtime/kernels")
"""The folders in which operators are defined; passes and frontends only use them."""


TABLES = (
    *("operators/broadcast.py", "operators/elementwise.py", "operators/meaning/own_code.py"),
    "frontends/relay_text/tvm_operators.py",
)
"""The files with tables of operators by their names without `relay.`."""


@cache
def _words() -> Sequence[tuple[str, Set[str], Set[str]]]:
    """Return the words of each file, and the names in quotes."""
    paths = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    frontend = ROOT / "frontends" / "relay_text" / "tvm_operators.py"
    texts = {path: path.read_text(encoding="utf-8") for path in (*paths, frontend)}
    return [(str(path.relative_to(ROOT)), *_names_in(text)) for path, text in texts.items()]


def _names_in(text: str) -> tuple[Set[str], Set[str]]:
    """Return the words of a text, and the names in quotes."""
    return {*re.findall(r"\w+", text)}, {*re.findall(r'"([\w.]+)"', text)}


def _is_about(name: str, path: str, words: Set[str], quoted: Set[str]) -> bool:
    """
    Test whether a text of the file at `path` has an operator's full name or its class.

    Tables of rules and of Relay text have the name without `relay.`; elsewhere, that is something
    else, such as an operation on numbers.
    """
    has_name = f"relay.{name}" in quoted or (path in TABLES and name in quoted)
    return has_name or OPERATORS[name].__name__ in words


def files_of(name: str) -> list[str]:
    """Return the files of the product that define an operator."""
    return [path for path, words, quoted in _words() if _is_about(name, path, words, quoted)]


class Piece(NamedTuple):
    """A function or class, or an entry of a table, which has no name."""

    path: str
    name: str
    lines: int
    words: Set[str]
    quoted: Set[str]


def _pieces(path: str, lines: Sequence[str], nodes: Iterable[ast.AST]) -> Iterator[Piece]:
    for node in nodes:
        spans: list[tuple[str, int, int | None]] = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min(part.lineno for part in (node, *node.decorator_list))
            spans.append((node.name, first, node.end_lineno))
        elif isinstance(node, ast.Dict):
            pairs = list(zip(node.keys, node.values, strict=True))
            spans += [("", key.lineno, value.end_lineno) for key, value in pairs if key]
            yield from _pieces(path, lines, [value for key, value in pairs if not key])
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            yield from _pieces(path, lines, ast.iter_child_nodes(node))
        for name, first, last in spans:
            part = lines[first - 1 : last]
            yield Piece(path, name, len(part), *_names_in("\n".join(part)))


def line_counts() -> Mapping[str, float]:
    """
    Return the lines that define each operator: its class, rule, meaning, linalg, kernels.

    They include functions that an entry of a table names. What several operators share is divided
    between them.
    """
    pieces: list[Piece] = []
    for path, *_ in _words():
        text = (ROOT / path).read_text(encoding="utf-8")
        pieces += _pieces(path, text.splitlines(), ast.parse(text).body)
    named = {(piece.path, piece.name): piece for piece in pieces if piece.name}
    readers: dict[int, set[str]] = {}
    for name in OPERATORS:
        for piece in pieces:
            if not _is_about(name, piece.path, piece.words, piece.quoted):
                continue
            used = [named.get((piece.path, word)) for word in piece.words]
            for part in (piece, *(part for part in used if part)):
                readers.setdefault(id(part), set()).add(name)
    found = dict.fromkeys(OPERATORS, 0.0)
    for piece in pieces:
        for name in readers.get(id(piece), ()):
            found[name] += piece.lines / len(readers[id(piece)])
    return found


def parts() -> Iterator[str | tuple[Sequence[str], Sequence[Sequence[str]]]]:
    """Yield the paragraphs and the table of the page."""
    rows = [(name, *meaning_of(name), files_of(name)) for name in sorted(OPERATORS)]
    yield (
        "What each operator computes is stated once, beside its shape rule. Its linalg, its kernel "
        "and what a part of its result depends on follow from that, unless it is *opaque*. "
        "Formulas are shown for f32; of operators on integers, for i32."
    )
    yield (
        f"A median operator is in {median(len(row[3]) for row in rows):g} files: its rule and "
        "meaning, its class, and what is faster or of its own."
    )
    table: list[Any] = [(f"`{n}`", form, text, str(len(files))) for n, form, text, files in rows]
    yield ("operator", "meaning", "formula", "files"), table
