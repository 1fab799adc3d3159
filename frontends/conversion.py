"""The result of a frontend."""

from __future__ import annotations

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
