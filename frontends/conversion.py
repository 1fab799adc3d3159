"""The result of a frontend, and the names of its values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


@dataclass(frozen=True)
class Conversion:
    """
    A module, and the arrays that its `relay.param`s name.

    The arrays may be views of files, whose bytes are read when they are used.
    """

    module: ModuleOp
    params: Mapping[str, Array]


_OUTSIDE_NAMES = re.compile(r"[^\w$.-]", re.ASCII)
_NUMBER_AT_END = re.compile(r"_(?=\d+\Z)", re.ASCII)
"""The underscore before a number at the end, which the printer treats as its own."""


def ssa_name(name: str) -> str | None:
    """Return `name` as a readable SSA name, or None if no character is left."""
    if name.isidentifier() and name.isascii() and not name[-1].isdigit():
        return name
    text = _OUTSIDE_NAMES.sub("_", name).lstrip("0123456789")
    return _NUMBER_AT_END.sub(".", text) or None
