"""A template in the memory of an arena."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..memory.limits import SMALL_RESULT
from ..memory.regions import Extent, Region

if TYPE_CHECKING:
    from .template import Run, Template


class _Moved(Exception):
    """The memory is elsewhere."""


class Bound:
    """
    A template in the memory of `regions`, by device, and of a region of scratch memory.

    It is made again when a region is replaced by a larger one.
    """

    def __init__(self, template: Template, regions: Sequence[Region]) -> None:
        self.template = template
        self.extents = tuple(map(Extent, regions))
        self._run: Run | None = None
        self._bytes: list[object] = []

    def run(self, args: Sequence[object]) -> Any:
        """Return the result and the sizes for the counters, or None if a guard does not hold."""
        while True:
            run = self._run or self._make()
            try:
                return run(*args)
            except _Moved:
                self._run = None

    def _make(self) -> Run:
        for extent, size in zip(self.extents, self.template.needs, strict=True):
            extent.cover(size, "the memory of a call")  # for the views that are kept
        self._bytes = [extent.region.bytes for extent in self.extents]
        *memory, scratch = self._bytes
        self._run = self.template.make(self._cover, scratch, *memory)
        return self._run

    def _cover(self, results: int, scratch: int, *sizes: int) -> None:
        """Make bytes of scratch memory and of each device usable, and charge those of results."""
        for extent, size in zip(self.extents, (*sizes, scratch), strict=True):
            if size > extent.top or size > extent.region.charged:
                extent.cover(size, "the memory of a call")
        if results > SMALL_RESULT:
            memory = self.extents[0].region.memory
            memory.reserve(results, "the results of a call")
            memory.give_back(results)  # the caller's from now on
        for extent, bytes in zip(self.extents, self._bytes, strict=True):
            if extent.region.bytes is not bytes:
                raise _Moved
