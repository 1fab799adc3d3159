"""Relay's names of variables as names that MLIR text allows."""

from __future__ import annotations

import re

_OTHER = re.compile(r"[^A-Za-z0-9_$.-]")
_NUMBERED = re.compile(r"_(?=[0-9]+\Z)")


def ssa_name(name: str) -> str | None:
    """`name` as an SSA name can be, readable; None when nothing is left of it."""
    if name.isidentifier() and name.isascii() and not name[-1].isdigit():
        return name
    text = _OTHER.sub("_", name).lstrip("0123456789")
    # the printer takes a last `_1` for a number of its own
    return _NUMBERED.sub(".", text) or None
