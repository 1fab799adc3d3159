"""Settings of a compilation: the machine, the tools, and what is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ..toolchain.processes import SECONDS
from ..toolchain.stage_files import UNSAVED, SavedStages
from ..toolchain.target_machine import Machine
from ..toolchain.tool_paths import Blas
from .cache import OFF, Cache


def _unheard(op: Operation, message: str) -> None:
    """Ignore a remark."""


@dataclass(frozen=True)
class Settings:
    """All that decides how a module is compiled, but for the module."""

    machine: Machine = field(default_factory=Machine)
    cache: Cache = OFF
    saved: SavedStages = UNSAVED
    seconds: float = SECONDS
    """The time limit of each call of a tool."""
    level: int = 3
    """The level of LLVM's optimizations, from 0 to 3."""
    remark: Callable[[Operation, str], None] = _unheard
    """Reports a choice, at the op that it is about."""
    blas: Blas | None = None
    """The library for products, if there is one."""
    compiler: str | None = None
    """The command of the C compiler, if it is not the system's."""
