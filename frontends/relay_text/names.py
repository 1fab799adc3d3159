"""Relay's names of variables as names that MLIR text allows."""

from __future__ import annotations

import re

_OTHER = re.compile(r"[^A-Za-z0-9_$.-]")
_NUMBERED = re.compile(r"_(?=[0-9]+\Z)")


def ssa_name(name: str) -> str | None:
    """Return `name` as a readable SSA name, or None if no character is left."""
    if name.isidentifier() and name.isascii() and not name[-1].isdigit():
        return name
    text = _OTHER.sub("_", name).lstrip("0123456789")
    # the printer treats a trailing `_1` as a number of its own
    return _NUMBERED.sub(".", text) or None
