"""Private parts of xDSL are used in one file only, which matches the installed release."""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest
import xdsl
from helpers.documentation.sources import syntax

from xrelay.dialects.xdsl_extras.xdsl_internals import UNFORMATTED, XDSL

ROOT = Path(__file__).parent.parent
ROOMS = ("operators", "dialects", "passes", "lowering", "runtime", "frontends", "tools")
INTERNALS = ROOT / "dialects" / "xdsl_extras" / "xdsl_internals.py"
PLUGIN = ROOT / "examples" / "plugin" / "xrelay_example_plugin"
MODULES = [
    path
    for folder in (*(ROOT / room for room in ROOMS), PLUGIN)
    for path in sorted(folder.rglob("*.py"))
    if path != INTERNALS
]
PRIVATE = re.compile(r"_(?!_|replace$|asdict$|fields$)\w+")
"""Test for names with one leading underscore, except the public methods of named tuples."""


KINDS = ast.FunctionDef | ast.ClassDef | ast.Name | ast.Attribute | ast.ImportFrom


def defined(nodes: Iterable[ast.AST]) -> set[str]:
    """The private names that a module defines: functions, variables, attributes."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                names.add(node.attr)
    return {name for name in names if PRIVATE.fullmatch(name)}


def is_own(node: ast.expr) -> bool:
    """Test whether an expression is `self`, `cls` or `super()`."""
    if isinstance(node, ast.Call):
        node = node.func
    return isinstance(node, ast.Name) and node.id in ("self", "cls", "super")


def foreign_names(nodes: Iterable[ast.AST], own: set[str], ours: set[str]) -> Iterator[str]:
    """
    The private attributes that a module uses without defining them, as it does its `own`.

    On `self` they may also be `ours`, those of a base class in another module.
    """
    for node in nodes:
        if isinstance(node, ast.Attribute) and PRIVATE.fullmatch(node.attr):
            if node.attr not in own and not (is_own(node.value) and node.attr in ours):
                yield f"line {node.lineno}: {node.attr}"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("xdsl"):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            yield from (f"line {node.lineno}: {n}" for n in names if PRIVATE.fullmatch(n))


def overridden(cls: type) -> list[str]:
    """The private names of xDSL's classes that `cls` overrides."""
    bases = [base for base in cls.__mro__[1:] if base.__module__.partition(".")[0] == "xdsl"]
    return [
        name
        for name in vars(cls)
        if PRIVATE.fullmatch(name)
        and not name.startswith("_abc_")
        and any(name in vars(base) for base in bases)
    ]


@pytest.mark.ci
def test_no_other_module_uses_private_names():
    every = {p: [n for n in ast.walk(syntax(p)) if isinstance(n, KINDS)] for p in MODULES}
    own = {path: defined(nodes) for path, nodes in every.items()}
    ours = set[str]().union(*own.values())
    found = {
        str(path.relative_to(ROOT)): names
        for path, nodes in every.items()
        if (names := list(foreign_names(nodes, own[path], ours)))
    }
    assert not found


def test_no_other_class_overrides_private_methods():
    found: dict[str, list[str]] = {}
    for path in MODULES:
        if PLUGIN in path.parents:  # which is not installed
            continue
        name = ".".join(("xrelay", *path.relative_to(ROOT).with_suffix("").parts))
        for cls in vars(import_module(name)).values():
            if isinstance(cls, type) and cls.__module__ == name and overridden(cls):
                found[f"{name}.{cls.__name__}"] = overridden(cls)
    assert not found


def test_private_names_are_found():
    text = (
        "from xdsl.ir.core import _x\n"
        "class Ours(Theirs):\n"
        "    def _own(self, other):\n"
        "        self._own(other._own)\n"
        "        self._inherited = super()._base\n"
        "        return other._theirs, self._shared, other._shared, other.__class__\n"
    )
    nodes = list(ast.walk(ast.parse(text)))
    assert sorted(foreign_names(nodes, defined(nodes), {"_shared"})) == [
        "line 1: _x",
        "line 5: _base",
        "line 6: _shared",
        "line 6: _theirs",
    ]
    from xrelay.dialects.xdsl_extras.xdsl_internals import HookedParser

    assert "_parse_block" in overridden(HookedParser)


def test_the_release_is_the_one_that_is_required_and_installed():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"xdsl=={XDSL}.*" in config["project"]["dependencies"]
    assert version("xdsl").split(".")[:2] == XDSL.split(".")


PLACEHOLDER = re.compile(r"\{[a-z_][\w.]*(\([\w.]*\))?\}")
"""Test for the text of a replacement field, but for keys such as `{z}` in assembly."""

PATTERNS = {"xdsl_opt_main.py", "dialects/x86/assembly.py"}
"""Files in which braces are meant as they are, or are formatted later."""


def unformatted(tree: ast.AST) -> Iterator[str]:
    """Yield the placeholders in strings of a module that are not formatted, nor documentation."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(part for part in ast.walk(node) if part not in node.values)
        elif isinstance(node, ast.Expr):
            skipped.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node not in skipped:
                yield from (match[0] for match in PLACEHOLDER.finditer(node.value))


@pytest.mark.ci
def test_all_messages_that_xdsl_does_not_format_are_known():
    root = Path(xdsl.__file__).parent
    found = {
        placeholder
        for path in root.rglob("*.py")
        if path.relative_to(root).as_posix() not in PATTERNS
        if PLACEHOLDER.search(text := path.read_text(encoding="utf-8"))  # few, to parse
        for placeholder in unformatted(ast.parse(text))
    }
    assert found == set(UNFORMATTED)
