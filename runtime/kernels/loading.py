"""The kernels of all installed packages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..plugin_tables import load_tables
from . import KERNELS
from .bind import Bind

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "xrelay.kernels"
"""The entry-point group; each entry names a mapping from operator names to `Bind`s."""


def load_kernels(entries: Iterable[EntryPoint] | None = None) -> dict[str, Bind]:
    """Return the kernels of this package and of every entry point of `GROUP` (or `entries`)."""
    return load_tables(GROUP, KERNELS, ("kernels", "kernel"), entries)


def kernels_of(operators: Iterable[str]) -> Mapping[str, Bind]:
    """Return kernels for these operators: those of plug-ins are loaded only if one needs them."""
    return KERNELS if all(name in KERNELS for name in operators) else load_kernels()


def no_kernel(name: str) -> str:
    """Return the message that no installed package has a kernel for `name`, with the cure."""
    return (
        f"{name} has no kernel; install a package that provides one through the entry-point "
        f"group '{GROUP}'"
    )
