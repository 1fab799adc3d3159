"""
TVM's layouts of tensors.

    "NCHW4c"    the axes N, C, H, W and c: blocks of 4 of the axis C
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_LAYOUT = re.compile(r"(?:[A-Z]|[1-9][0-9]{0,8}[a-z])+", re.ASCII)
_AXIS = re.compile(r"([0-9]*)([A-Za-z])", re.ASCII)


@dataclass(frozen=True)
class Layout:
    """The letters of the axes, in order, and the block sizes of the lower-case ones."""

    axes: tuple[str, ...]
    blocks: dict[str, int]

    @property
    def whole_axes(self) -> tuple[str, ...]:
        """The axes that are not blocks of another one."""
        return tuple(axis for axis in self.axes if axis.isupper())

    def has_axes(self, letters: str) -> bool:
        """Test whether the axes are `letters`, in any order, some of them in blocks."""
        return set(self.whole_axes) == set(letters)


@cache
def parse_layout(text: str) -> Layout | None:
    """Parse a layout such as "NCHW"; None if it is malformed."""
    if _LAYOUT.fullmatch(text) is None:
        return None
    pairs = _AXIS.findall(text)
    axes = tuple(letter for _, letter in pairs)
    blocks = {letter: int(size) for size, letter in pairs if size}
    if len(set(axes)) < len(axes) or any(letter.upper() not in axes for letter in axes):
        return None
    return Layout(axes, blocks)
