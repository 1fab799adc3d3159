"""The entry points of installed packages."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints


def entry_points_of(group: str) -> EntryPoints:
    """Return the entry points of `group`; the packages are listed once for each `sys.path`."""
    return _listed(group, tuple(sys.path))


@cache
def _listed(group: str, _path: tuple[str, ...]) -> EntryPoints:
    from importlib.metadata import entry_points  # 30 ms, mostly in `email`

    return entry_points(group=group)
