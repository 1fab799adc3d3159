"""
The symbols of a module, and their references to each other.

    func.func @f(…) {
      func.call @g(…) …                   @f -> @g, @h
      relay.closure @h(…) …
    }

An op names a symbol by a `SymbolRefAttr` in its properties or attributes, including inside arrays
and dictionaries; types are not searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.symbol_table import get_name_if_symbol

from ...dialects.xdsl_extras.walking import walk
from ...operators.records import record
from ...runtime.program.components import components, reached


def symbols_in(op: Operation) -> Iterator[str]:
    """Yield the symbols that `op` itself names, not those named in its regions."""
    attributes = (*op.attributes.values(), *op.properties.values())
    pending: list[Attribute] = [a for a in attributes if may_name_symbols(type(a))]
    while pending:
        attribute = pending.pop()
        if isinstance(attribute, SymbolRefAttr):
            yield attribute.root_reference.data
        elif isinstance(attribute, ArrayAttr):
            pending += reversed(cast("ArrayAttr[Attribute]", attribute).data)
        elif isinstance(attribute, DictionaryAttr):
            pending += attribute.data.values()


@cache
def may_name_symbols(kind: type[Attribute]) -> bool:
    """Test whether attributes of class `kind` may name symbols, themselves or in others."""
    return issubclass(kind, SymbolRefAttr | ArrayAttr | DictionaryAttr)


@record
class CallGraph:
    """The symbols of a module and their references to each other."""

    symbols: Mapping[str, Operation]
    named: Mapping[str, Sequence[str]]
    """The symbols of the module that each symbol names, in order, without repeats."""
    roots: Sequence[str]
    """The symbols named by ops that are not inside a symbol."""

    users: Mapping[str, Sequence[Operation]]
    """The ops that name each symbol of the module, in order; twice if they name it twice."""

    @staticmethod
    def of(module: ModuleOp) -> CallGraph:
        symbols = symbols_of(module)
        users: dict[str, list[Operation]] = {name: [] for name in symbols}

        def named_by(op: Operation) -> Iterator[str]:
            for name in symbols_in(op):
                if name in users:
                    users[name].append(op)
                    yield name

        named: dict[str, Sequence[str]] = {}
        roots = dict.fromkeys(named_by(module))
        for top in module.ops:
            names = dict.fromkeys(name for op in walk(top) for name in named_by(op))
            symbol = get_name_if_symbol(top)
            if symbol is None:
                roots.update(names)
            else:
                named[symbol] = (*names,)
        return CallGraph(symbols, named, (*roots,), users)

    def reachable(self, entries: Iterable[str]) -> set[str]:
        """Return the symbols reachable from `entries`, and `entries` themselves."""
        return {*reached(entries, self.named)}

    def unused(self, names: Iterable[str], entries: Iterable[str]) -> list[Operation]:
        """Return the symbols among `names` that are not reached from `entries`."""
        used = self.reachable(entries)
        return [self.symbols[name] for name in names if name not in used]

    def components(self) -> list[list[str]]:
        """Return the sets of mutually reachable symbols, each after all that it reaches."""
        return components(self.named)

    def callees_first(self) -> Iterator[str]:
        """Yield the symbols, callees before callers except in cycles."""
        return chain.from_iterable(self.components())

    def recursive(self) -> set[str]:
        """Return the symbols that reach themselves."""
        return {
            name
            for component in self.components()
            for name in component
            if len(component) > 1 or name in self.named[name]
        }


def symbols_of(module: ModuleOp) -> dict[str, Operation]:
    """Return the symbols of `module`, by name."""
    return {name: op for op in module.ops if (name := get_name_if_symbol(op)) is not None}


def modules_in(module: ModuleOp) -> list[ModuleOp]:
    """Return `module` and the modules nested in it, each with its own symbols."""
    ops = walk(module, enters=lambda op: isinstance(op, ModuleOp))
    return [op for op in ops if isinstance(op, ModuleOp)]


@dataclass
class SymbolNames:
    """The symbol names of a module; makes names that are not taken."""

    taken: set[str]
    next_number: dict[str, int] = field(default_factory=lambda: {})

    @staticmethod
    def of(module: ModuleOp) -> SymbolNames:
        return SymbolNames(set(symbols_of(module)))

    def unique(self, base: str) -> str:
        name, number = base, self.next_number.get(base, 0)
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.next_number[base] = number
        self.taken.add(name)
        return name
