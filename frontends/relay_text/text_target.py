"""The target `relay-text` of `xrelay-opt -t`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from .print.printer import module_text


@dataclass(frozen=True)
class RelayTextTarget(Target):
    """Prints a module at level `relay`, `planned`, `lowered` or `manifest` as Relay text 0.0.5."""

    name: ClassVar[str] = "relay-text"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(module_text(module))
