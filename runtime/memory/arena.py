"""
The memory in which one call at a time runs, and what was prepared in it for earlier calls.

    arena
      regions   cpu:0    | arguments | storages of the longest path so far …   |
                cuda:0   | storages …       |
      scratch            | scratch memory of kernels …  |
      entries   main(float32[8, 16])      uses the first bytes of each region
                scale(float32[9])         uses the same bytes

There is one entry a function, for the arguments that were recorded last: templates run others. All
lie in the same bytes, as only one of them runs at a time, and take as much memory as the largest.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..calls.values import Structure
from ..machine.paths import Call, Frame, Segment
from ..program.program import Array
from .limits import Memory
from .regions import Extent, Region
from .scratch import Workspace
from .spaces import Space

if TYPE_CHECKING:
    from ..templates.bound import Bound
    from ..templates.template import Template

MAX_BOUND = 64
"""Number of templates that an arena keeps in its memory."""
WINDOW = 16
"""Number of calls after which memory is returned that none of them needed."""
SPARE = 1 << 20
"""Number of bytes that are not worth returning."""
MAX_TRACE_SIZE = 1 << 29
"""Limit in bytes on the recorded paths of an arena."""


def max_trace_size(memory: Memory) -> int:
    """Return the limit in bytes on the recorded paths of an arena."""
    return min(MAX_TRACE_SIZE, memory.limit // 4)


@dataclass(eq=False, slots=True)
class Entry:
    """
    A function prepared for arguments of the structures `key`.

    `inputs` are the arrays into which the arguments are copied, depth first. `types` are those of
    the arguments if all are tensors. `extents` are the bytes that it needs.
    """

    key: Sequence[Structure]
    frame: Frame
    inputs: Sequence[Array]
    types: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None
    extents: tuple[Extent, ...]
    weight: int = 0
    """The size of its recorded paths when it last ran."""

    def accepts(self, args: Sequence[object]) -> bool:
        """Test whether a call is certainly one for which this was prepared."""
        types = self.types
        if types is None or len(args) != len(types):
            return False
        for arg, (dtype, shape) in zip(args, types, strict=True):
            if type(arg) is not np.ndarray or arg.dtype is not dtype or arg.shape != shape:
                return False
        return True

    def forget_paths(self, call: type[Call] = Call) -> None:
        """
        Drop what was recorded, without cycles that only the garbage collector would find.

        When the interpreter ends, the names of this module may be gone: `call` is kept here.
        """
        frames = [self.frame]
        while frames:
            frame = frames.pop()
            segments: list[Segment] = [] if frame.root is None else [frame.root]
            frame.root = None
            while segments:
                segment = segments.pop()
                segments += segment.successors.values()
                if isinstance(segment.end, call):
                    frames.append(segment.end.callee)
        self.frame.trace_size.size = 0


class Arena:
    """The memory of one running call, by device, and the entries prepared in it."""

    def __init__(self, memory: Memory, devices: int, reuses: bool) -> None:
        self.last: Entry | None = None
        """The entry that ran last, whose bytes are covered."""
        self.calls = 0
        """Number of calls that ended."""
        self._regions = [Region(memory) for _ in range(devices)]
        self._scratch = Region(memory)
        self._reuses = reuses
        self._entries: dict[int, Entry] = {}
        """By function."""
        self.trace_size = 0
        """Approximate bytes of the recorded paths of all entries."""
        self._max_trace_size = max_trace_size(memory)
        self._bound: dict[Template, Bound] = {}
        self._recent: dict[tuple[Extent, ...], None] = {}
        """The bytes that the calls of this window need."""

    def __del__(self) -> None:
        self._forget()

    def spaces(self) -> tuple[Space, ...]:
        """Return the memory for a new entry, by device: all bytes, from the first one on."""
        return tuple(Space(Extent(region), self._reuses) for region in self._regions)

    def bound(self, template: Template) -> Bound:
        """Return `template` in the memory of this arena."""
        bound = self._bound.get(template)
        if bound is None:
            while len(self._bound) >= MAX_BOUND:
                del self._bound[next(iter(self._bound))]
            from ..templates.bound import Bound

            bound = self._bound[template] = Bound(template, (*self._regions, self._scratch))
        self._recent[bound.extents] = None
        return bound

    def workspace(self) -> Workspace:
        """Return the scratch memory for a new entry: all bytes, from the first one on."""
        return Workspace(self._scratch)

    @property
    def held(self) -> list[int]:
        """Bytes that are kept for later calls, by device."""
        return [region.charged for region in self._regions]

    @property
    def entries(self) -> Collection[Entry]:
        """The prepared functions, in no particular order."""
        return self._entries.values()

    def entry(self, function: int) -> Entry | None:
        """Return the entry of `function`, if there is one."""
        return self._entries.get(function)

    def use(self, entry: Entry) -> None:
        """Make `entry` ready to run, and that of its function; `OutOfMemory` if it is too large."""
        if entry is self.last:
            return
        for extent in entry.extents:
            extent.cover(extent.top, "its memory")
        former = self._entries.get(entry.frame.function)
        if former is not None and former is not entry:
            self.trace_size -= former.weight
            former.forget_paths()
        self._entries[entry.frame.function] = self.last = entry
        self._recent[entry.extents] = None

    def settle(self) -> None:
        """Keep what is recorded, and memory, within their limits after a call."""
        self.calls += 1
        entry = self.last
        if entry is None:
            return
        size = entry.frame.trace_size.size
        if size != entry.weight:
            self.trace_size += size - entry.weight
            entry.weight = size
            if self.trace_size > self._max_trace_size:
                self._forget()
        if self.calls % WINDOW == 0:
            self._trim()
            self._recent = {} if self.last is None else {self.last.extents: None}

    def _forget(self) -> None:
        """Drop all entries."""
        for entry in self._entries.values():
            entry.forget_paths()
        self._entries.clear()
        self.last, self.trace_size = None, 0

    def _trim(self) -> None:
        """Return memory that no recent call needed, unless it is little."""
        for extents in zip(*self._recent, strict=True):
            region, top = extents[0].region, max(extent.top for extent in extents)
            if region.charged > 2 * top + SPARE:
                region.trim(top)
