"""
The prelude: definitions for what a program uses but does not define.

`prelude.relay` has lists, options, trees and natural numbers. The definitions that a program
needs, directly or through each other, are inserted at its beginning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from .build.operators.composite_operators import COMPOSITES, EAGER
from .errors import SourceMap
from .json.node_graph import Metadata
from .text.grammar import Grammar
from .text.lexer import tokenize
from .text.syntax import Module
from .tvm_operators import BY_NAME

FILE = "prelude.relay"
"""The file name of the prelude in messages."""


@dataclass(frozen=True)
class Entry:
    """One definition of the prelude, and the names it uses."""

    module: Module
    uses: frozenset[str]


def _parsed(text: str, lines_before: int) -> Module:
    source_map = SourceMap(FILE, text, lines_before)
    tokens = tokenize(text, source_map)
    return Grammar(tokens, source_map, Metadata(None), text).read_definitions()


def _uses(module: Module) -> frozenset[str]:
    """Return the names that `module` uses: functions with `@`, and types and constructors."""
    symbols = module.names.symbols - BY_NAME.keys() - COMPOSITES.keys() - EAGER.keys()
    return frozenset((*symbols, *(name for name, _ in module.names.types)))


def _defines(module: Module) -> Iterator[str]:
    for type in module.types:
        yield type.name
        for constructor in type.constructors:
            yield constructor.name
    for function in module.functions:
        yield f"@{function.name}"


@cache
def _entries() -> dict[str, Entry]:
    """Return the entries by the names they define, in the order of the text."""
    text = (files(__name__.rpartition(".")[0]) / FILE).read_text(encoding="utf-8")
    parts = text.split("\n\n")
    entries: dict[str, Entry] = {}
    line = parts.pop(0).count("\n") + 2
    for part in parts:
        module = _parsed(part, line)
        entry = Entry(module, _uses(module))
        line += part.count("\n") + 2
        for name in _defines(module):
            entries[name] = entry
    return entries


def program_of(names: Collection[str]) -> Module:
    """Return an empty program that uses `names`, functions or constructors."""
    module = _parsed("", 0)
    module.names.symbols.update(n if n in _entries() else f"@{n}" for n in names)
    return module


def needed_by(module: Module) -> list[Module]:
    """Return the definitions of the prelude that `module` needs, in the order of the prelude."""
    defined = set(_defines(module))
    missing = sorted(_uses(module) - defined)
    if not missing:
        return []
    entries = _entries()
    needed: dict[Entry, None] = {}
    while missing:
        name = missing.pop()
        entry = entries.get(name)
        if entry is None or name in defined or entry in needed:
            continue
        needed[entry] = None
        missing += sorted(entry.uses)
    in_order = dict.fromkeys(entries.values())
    return [entry.module for entry in in_order if entry in needed]
