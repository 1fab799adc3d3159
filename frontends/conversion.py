"""What a frontend makes of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

if TYPE_CHECKING:
    from ..runtime.program import Array


@dataclass(frozen=True)
class Conversion:
    """
    A module, and the arrays that its `relay.param`s name.

    The arrays may be views of files, whose bytes are read when they are used.
    """

    module: ModuleOp
    params: Mapping[str, Array]
