"""The kernels of all installed packages."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, cast
from warnings import warn

from . import KERNELS
from .bind import Bind

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "xrelay.kernels"
"""The entry-point group; each entry names a mapping from operator names to `Bind`s."""


def load_kernels(entries: Iterable[EntryPoint] | None = None) -> dict[str, Bind]:
    """
    Return the kernels of this package and of every entry point of `GROUP` (or `entries`).

    An entry point is skipped as a whole, with a warning that names it, if it cannot be loaded,
    is not a mapping, or has a kernel for an operator that already has one.
    """
    from importlib.metadata import entry_points  # 30 ms, mostly in `email`

    kernels: dict[str, Bind] = dict(KERNELS)
    origin = dict.fromkeys(kernels, "xrelay")
    for entry in entry_points(group=GROUP) if entries is None else entries:
        reason = None
        try:
            with redirect_stdout(sys.stderr):  # stdout is the program's
                loaded: object = entry.load()
        except (Exception, SystemExit) as error:  # a plug-in may fail in any way
            loaded, reason = None, f"{type(error).__name__}: {error}"
        if loaded is KERNELS:
            continue
        if reason is None and not isinstance(loaded, Mapping):
            reason = f"{entry.value} is not a mapping"
        added: Mapping[str, Bind] = {} if reason else cast(Mapping[str, Bind], loaded)
        clash = next((name for name in added if name in origin), None)
        if clash is not None:
            reason = f"{clash} already has a kernel from {origin[clash]}"
        if reason is not None:
            warn(f"kernels of plug-in '{entry.name}' are skipped: {reason}", stacklevel=2)
            continue
        kernels.update(added)
        origin.update(dict.fromkeys(added, entry.name))
    return kernels


def kernels_of(operators: Iterable[str]) -> Mapping[str, Bind]:
    """Return kernels for these operators: those of plug-ins are loaded only if one needs them."""
    return KERNELS if all(name in KERNELS for name in operators) else load_kernels()


def no_kernel(name: str) -> str:
    """Return the message that no installed package has a kernel for `name`, with the cure."""
    return (
        f"{name} has no kernel; install a package that provides one through the entry-point "
        f"group '{GROUP}'"
    )
