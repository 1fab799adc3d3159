"""
Installed packages are listed once, and not for every run of a tool: that takes some milliseconds.

This must come before imports of the function. `sys.path` is part of the key, so tests that install
a plug-in find it.
"""

import importlib.metadata
import sys
from functools import cache
from typing import Any

_entry_points = importlib.metadata.entry_points


@cache
def _listed(path: tuple[str, ...], params: tuple[tuple[str, str], ...]) -> Any:
    return _entry_points(**dict(params))


def entry_points(**params: str) -> Any:
    return _listed(tuple(sys.path), tuple(params.items()))


importlib.metadata.entry_points = entry_points
