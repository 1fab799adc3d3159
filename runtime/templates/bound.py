"""A template in the memory of an arena."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..machine.execution import Running
from ..memory.limits import SMALL_RESULT
from ..memory.regions import Bytes, Extent, Region
from ..observe.counters import Counters

if TYPE_CHECKING:
    from .template import Run, Template


class Executed(NamedTuple):
    """The counters of a call of a template, until they are read."""

    template: Template
    sizes: Sequence[int]

    def counters(self) -> Counters:
        return self.template.counters(self.sizes)


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
        self._places: list[tuple[Extent, Region, Bytes]] = []

    def run(self, running: Running, args: Sequence[object]) -> Any:
        """Return the result and the sizes for the counters, or None if a guard does not hold."""
        while True:
            run = self._run or self._make()
            try:
                return run(running, *args)
            except _Moved:
                self._run = None

    def turns(self, args: Sequence[object], running: Running) -> Sequence[object]:
        """Run turns of a loop from `args` on; return the arguments of the first that must not."""
        run, length, counts = self._run, self.template.length, dict[Sequence[int], int]()
        left = running.left
        try:
            while run is not None and length <= left:
                result = run(running, *args)
                if result is None:
                    break
                args, sizes = result
                counts[sizes] = counts.get(sizes, 0) + 1
                left -= length
        except Exception:  # it fails once more, with its position
            return args
        finally:
            for sizes, times in counts.items():
                running.note(Executed(self.template, sizes), length, times)
        return args

    def _make(self) -> Run:
        for extent, size in zip(self.extents, self.template.needs, strict=True):
            extent.cover(size, "the memory of a call")  # for the views that are kept
        self._places = [(e, e.region, e.region.bytes) for e in self.extents]
        *memory, scratch = [bytes for _, _, bytes in self._places]
        self._run = self.template.make(self._cover, scratch, *memory)
        return self._run

    def _cover(self, results: int, scratch: int, *sizes: int) -> None:
        """Make bytes of scratch memory and of each device usable, and charge those of results."""
        for (extent, region, bytes), size in zip(self._places, (*sizes, scratch), strict=True):
            if size > extent.top or size > region.charged:
                extent.cover(size, "the memory of a call")
            if region.bytes is not bytes:
                raise _Moved
        if results > SMALL_RESULT:
            memory = self.extents[0].region.memory
            memory.reserve(results, "the results of a call")
            memory.give_back(results)  # the caller's from now on
