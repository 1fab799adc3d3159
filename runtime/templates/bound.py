"""A template in the memory of an arena."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..machine.execution import Running
from ..memory.limits import SMALL_RESULT
from ..memory.regions import Bytes, Extent, Region
from ..observe.counters import Sizes

if TYPE_CHECKING:
    from .template import Run, Template


class _Moved(Exception):
    """The memory has moved."""


class Bound:
    """
    A template in the memory of `regions`, by device, and of a region of scratch memory.

    It is rebuilt when a region is replaced by a larger one.
    """

    def __init__(self, template: Template, regions: Sequence[Region]) -> None:
        self.template = template
        self.extents = tuple(map(Extent, regions))
        self._limits = [-1] * len(regions)
        """The bytes of each region that are known to be covered."""
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
        """Run iterations of a loop from `args`; return the arguments of the first one not run."""
        run, length, counts = self._run, self.template.length, Counter[Sizes]()
        remaining = running.left
        try:
            while run is not None and length <= remaining:
                result = run(running, *args)
                if result is None:
                    break
                args, sizes = result
                counts[sizes] += 1
                remaining -= length
        except Exception:  # the machine repeats the iteration, and reports where it fails
            return args
        finally:
            for sizes, times in counts.items():
                running.note(self.template, length, sizes, times)
        return args

    def _make(self) -> Run:
        for extent, size in zip(self.extents, self.template.needs, strict=True):
            extent.cover(size, "the memory of a call")  # for the views that are kept
        self._places = [(e, e.region, e.region.bytes) for e in self.extents]
        *memory, scratch = [bytes for _, _, bytes in self._places]
        self._run = self.template.make(self._cover, self._limits, scratch, *memory)
        return self._run

    def _cover(self, results: int, scratch: int, *sizes: int) -> None:
        """Commit scratch memory and the memory of each device; charge the bytes of results."""
        for size, (extent, region, bytes) in zip((*sizes, scratch), self._places, strict=True):
            extent.cover(region.whole_pages(size), "the memory of a call")
            if region.bytes is not bytes:
                raise _Moved
        for number, (extent, region, _) in enumerate(self._places):
            region.watch(self._limits)
            self._limits[number] = min(extent.top, region.charged)
        if results > SMALL_RESULT:
            memory = self.extents[0].region.memory
            memory.reserve(results, "the results of a call")
            memory.give_back(results)  # the caller's from now on
