"""Tables by operator that plug-ins add to through entry points: kernels, lowerings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, TypeVar, cast
from warnings import warn

from .entry_points import entry_points_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Entry = TypeVar("Entry")


def load_tables(
    group: str,
    own: Mapping[str, Entry],
    words: tuple[str, str],
    entries: Iterable[EntryPoint] | None = None,
) -> dict[str, Entry]:
    """
    Return `own` with the tables of all entry points of `group` (or `entries`) added.

    An entry point is skipped as a whole, with a warning that names it, if it cannot be loaded,
    is not a mapping, or has an entry for an operator that already has one. `words` are the plural
    and singular of what an entry is, for the warning.
    """
    table = dict(own)
    origin = dict.fromkeys(table, "xrelay")
    plural, singular = words
    for entry in entry_points_of(group) if entries is None else entries:
        reason = None
        try:
            with redirect_stdout(sys.stderr):  # stdout is the program's
                loaded: object = entry.load()
        except (Exception, SystemExit) as error:  # a plug-in may fail in any way
            loaded, reason = None, f"{type(error).__name__}: {error}"
        if loaded is own:
            continue
        if reason is None and not isinstance(loaded, Mapping):
            reason = f"{entry.value} is not a mapping"
        added: Mapping[str, Entry] = {} if reason else cast(Mapping[str, Entry], loaded)
        clash = next((name for name in added if name in origin), None)
        if clash is not None:
            reason = f"{clash} already has a {singular} from {origin[clash]}"
        if reason is not None:
            warn(f"{plural} of plug-in '{entry.name}' are skipped: {reason}", stacklevel=3)
            continue
        table.update(added)
        origin.update(dict.fromkeys(added, entry.name))
    return table
