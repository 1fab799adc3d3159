"""
Names of values in nested regions, entered and left in time that depends on their size.

xDSL's parser copies the table of all visible names at every region, which is quadratic
for a function with many small regions. It does so through two lines, which find a table
here whose copy is a mark, and a parser that goes back to a mark when given one:

    old = self.ssa_values.copy()   # remember how many names there are
    ...                            # parse the region
    self.ssa_values = old          # drop the names that came after
"""

from typing import NamedTuple

from typing_extensions import override
from xdsl.ir import SSAValue


class Mark(NamedTuple):
    """How many names a table had."""

    size: int


class ScopedNames(dict[str, tuple[SSAValue, ...]]):
    """A table that only grows, except for going back to a mark."""

    @override
    def copy(self) -> Mark:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Where to go back to; a `dict` keeps its keys in the order they came."""
        return Mark(len(self))

    def go_back(self, mark: Mark) -> None:
        """Forget the names that were added since `mark`."""
        for _ in range(len(self) - mark.size):
            self.popitem()
