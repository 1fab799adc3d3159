"""The kernels, and the definitions from which kernels follow, of all installed packages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ...operators.meaning.forms import Definition
from ...operators.rules import SCRATCH
from ..entry_points import load_tables
from . import KERNELS
from .bind import Bind, nothing
from .checked import CheckedKernel
from .meant_kernels import derived

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "xrelay.kernels"
"""The entry-point group; each entry names a mapping from operator names to `Bind`s."""


DEFINITIONS = "xrelay.operators"
"""The entry-point group; each entry names a mapping from operator names to `Definition`s."""


BUILT_IN: Mapping[str, Bind] = {**KERNELS, SCRATCH: lambda attrs, ins, outs: nothing}
"""The kernels of this package."""


def load_definitions() -> Mapping[str, Definition]:
    """Return the definitions of operators of every entry point of `DEFINITIONS`."""
    own = dict[str, Definition | None].fromkeys(BUILT_IN)
    tables = load_tables(DEFINITIONS, own, ("operators", "definition"))
    return {name: found for name, found in tables.items() if found is not None}


def load_kernels(entries: Iterable[EntryPoint] | None = None) -> dict[str, Bind]:
    """
    Return the kernels of this package and of every entry point of `GROUP` (or `entries`).

    An operator of a plug-in that has a definition, but no kernel, has the one of its meaning.
    """
    kernels = {**load_tables(GROUP, KERNELS, ("kernels", "kernel"), entries), **BUILT_IN}
    for name, definition in load_definitions().items():
        if name not in kernels:
            bind, reuse = derived(definition.meaning, kernels)
            kernels[name] = CheckedKernel(name, definition.rule, bind, reuse)
    return kernels


def kernels_of(operators: Iterable[str]) -> Mapping[str, Bind]:
    """Return kernels for these operators: those of plug-ins are loaded only if one needs them."""
    return BUILT_IN if all(name in BUILT_IN for name in operators) else load_kernels()


def no_kernel(name: str) -> str:
    """Return the message that no installed package has a kernel for `name`, with the cure."""
    return (
        f"{name} has no kernel; install a package that provides one through the entry-point "
        f"group '{GROUP}'"
    )
