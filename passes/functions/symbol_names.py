"""Names of a module's symbols."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.symbol_table import get_name_if_symbol

from ...dialects.xdsl_extras.walking import walk


def symbols_of(module: ModuleOp) -> dict[str, Operation]:
    """Return the symbols of `module`, by name."""
    return {name: op for op in module.ops if (name := get_name_if_symbol(op)) is not None}


def modules_in(module: ModuleOp) -> list[ModuleOp]:
    """Return `module` and those in it, which have symbols of their own."""
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
