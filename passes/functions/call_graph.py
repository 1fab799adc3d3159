"""
The call graph of a module: which symbols each symbol names, in whatever way.

    func.func @f(…) {
      func.call @g(…) …                   @f -> @g, @h
      relay.closure @h(…) …
    }

An op names a symbol by a `SymbolRefAttr` in its properties or attributes, also inside arrays and
dictionaries; types are not searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from ...dialects.xdsl_extras.walking import walk


def symbols_in(op: Operation) -> Iterator[str]:
    """Yield the symbols that `op` names, without those that ops in its regions name."""
    given = (*op.attributes.values(), *op.properties.values())
    pending: list[Attribute] = [each for each in given if may_name_symbols(type(each))]
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


def symbol_name(op: Operation) -> str | None:
    """Return the name of the symbol that `op` defines, if it defines one."""
    name = op.properties.get("sym_name")
    return name.data if isinstance(name, StringAttr) else None


@dataclass(frozen=True)
class CallGraph:
    """The symbols of a module and their references to each other."""

    symbols: Mapping[str, Operation]
    named: Mapping[str, Sequence[str]]
    """The symbols of the module that each symbol names, in order, without repeats."""
    roots: Sequence[str]
    """The symbols that ops outside of all symbols name."""

    @staticmethod
    def of(module: ModuleOp) -> CallGraph:
        symbols = {name: op for op in module.ops if (name := symbol_name(op)) is not None}
        named: dict[str, Sequence[str]] = {}
        roots: dict[str, None] = dict.fromkeys(symbols_in(module))
        for top in module.ops:
            found = dict.fromkeys(s for op in walk(top) for s in symbols_in(op) if s in symbols)
            name = symbol_name(top)
            if name is None:
                roots.update(found)
            else:
                named[name] = (*found,)
        return CallGraph(symbols, named, [name for name in roots if name in symbols])

    def reachable(self, entries: Iterable[str]) -> set[str]:
        """Return the symbols that can be reached from `entries`, with these."""
        found = set(entries)
        pending = [*found]
        while pending:
            new = set(self.named[pending.pop()]) - found
            found |= new
            pending += new
        return found

    def components(self) -> list[list[str]]:
        """
        Return the sets of mutually reachable symbols, each after all that it reaches.

        (Tarjan's algorithm, with a stack of its own.)
        """
        order: dict[str, int] = {}
        low: dict[str, int] = {}
        open_names: dict[str, None] = {}
        found: list[list[str]] = []
        for start in self.named:
            path: list[tuple[str, Iterator[str]]] = []
            if start not in order:
                order[start] = low[start] = len(order)
                open_names[start] = None
                path.append((start, iter(self.named[start])))
            while path:
                name, rest = path[-1]
                for target in rest:
                    if target not in order:
                        order[target] = low[target] = len(order)
                        open_names[target] = None
                        path.append((target, iter(self.named[target])))
                        break
                    if target in open_names:
                        low[name] = min(low[name], order[target])
                else:
                    path.pop()
                    if path:
                        around = path[-1][0]
                        low[around] = min(low[around], low[name])
                    if low[name] == order[name]:
                        component: list[str] = []
                        while not component or component[-1] != name:
                            component.append(open_names.popitem()[0])
                        found.append(component[::-1])
        return found

    def recursive(self) -> set[str]:
        """Return the symbols that reach themselves."""
        return {
            name
            for component in self.components()
            for name in component
            if len(component) > 1 or name in self.named[name]
        }
