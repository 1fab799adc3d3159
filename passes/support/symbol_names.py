"""Names for new symbols."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, StringAttr


@dataclass
class SymbolNames:
    """The symbol names of a module; makes names that are not taken."""

    taken: set[str]
    next_number: dict[str, int] = field(default_factory=dict[str, int])

    @staticmethod
    def of(module: ModuleOp) -> SymbolNames:
        names = (op.properties.get("sym_name") for op in module.ops)
        return SymbolNames({n.data for n in names if isinstance(n, StringAttr)})

    def unique(self, base: str) -> str:
        name, number = base, self.next_number.get(base, 0)
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.next_number[base] = number
        self.taken.add(name)
        return name
