"""
Restrictions of the conversion of an ONNX operator, read from the code that raises its errors.

    node.array(1, "indices")                           ->    constant: indices
    node.choice("mode", "constant", PAD_MODES)         ->    mode: constant, edge, reflect
    node.require_unused(1, "the indices")              ->    not computed: the indices
    raise node.error(f"p is {p}; supported: 1, 2")     ->    p is …: 1, 2

Functions that are called with the node are read, too.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from textwrap import dedent
from types import FunctionType
from typing import Any

KNOWN = ("array", "ints_at", "optional_array", "required_ints", "scalar_at")
"""The methods of a node that need an input at compile time."""


def restrictions(conversions: Sequence[Callable[..., Any]]) -> str:
    """Return the restrictions of `conversions` in one cell of a table."""
    found = [pair for convert in conversions for pair in _of(convert, set())]
    parts: dict[str, list[str]] = {}
    for kind, text in found:
        texts = parts.setdefault(kind, [])
        if text not in texts:
            texts.append(text)
    return "; ".join(f"{kind}: {', '.join(texts)}" for kind, texts in parts.items())


def _of(convert: object, seen: set[object], needs_known: bool = True) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each restriction of a function."""
    if not isinstance(convert, FunctionType) or convert in seen:
        return
    if "frontends.onnx.operators" not in convert.__module__:
        return
    seen.add(convert)
    names = inspect.getclosurevars(convert)
    known = {**names.globals, **names.nonlocals}
    tree = ast.parse(dedent(inspect.getsource(convert)))
    calls = [call for call in ast.walk(tree) if isinstance(call, ast.Call)]
    # what asks whether an input is known converts it otherwise, too
    needs_known = needs_known and not any(
        isinstance(call.func, ast.Attribute) and call.func.attr == "is_known" for call in calls
    )
    for call in calls:
        if isinstance(call.func, ast.Attribute) and _is_node(call.func.value):
            for kind, text in _stated(call.func.attr, call.args, known):
                if needs_known or kind != "constant":
                    yield kind, text
        elif isinstance(call.func, ast.Name) and any(map(_is_node, call.args)):
            yield from _of(known.get(call.func.id), seen, needs_known)


def _is_node(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Name) and expression.id == "node"


def _stated(
    method: str, args: Sequence[ast.expr], known: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield what a call of a method of the node requires."""
    if method in KNOWN and isinstance(args[1], ast.Constant):
        yield "constant", str(args[1].value)
    elif method == "require_unused" and isinstance(args[1], ast.Constant):
        yield "not computed", str(args[1].value)
    elif method == "choice" and isinstance(args[0], ast.Constant):
        for value in _values(args[2], known):
            yield f"`{args[0].value}`", f"`{value}`"
    elif method == "error":
        what, _, supported = _text(args[0]).partition("; supported: ")
        if supported and "…" not in supported:
            yield what, supported


def _values(expression: ast.expr, known: dict[str, Any]) -> list[str]:
    """Return the texts in a tuple: a literal, a global one, or `tuple(…)` of one."""
    match expression:
        case ast.Tuple(elements):
            return [text for element in elements for text in _values(element, known)]
        case ast.Starred(value) | ast.Call(args=[value]):
            return _values(value, known)
        case ast.Name(name):
            value = known.get(name, ())
            return [value] if isinstance(value, str) else [*map(str, value)]
        case ast.Constant(value):
            return [str(value)]
        case _:
            return []


def _text(expression: ast.expr) -> str:
    """Return a message, with … for what is only known when it is raised."""
    if isinstance(expression, ast.Constant):
        return str(expression.value)
    if isinstance(expression, ast.JoinedStr):
        return "".join(_text(value) for value in expression.values)
    return "…"
