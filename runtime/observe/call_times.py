"""
The times of calls: of each step, of preparing new paths, and of what the machine does besides.

The clock is read after every step. The times are kept as they are read, and added up after the
call, or when there are many; the time that this takes is not counted.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, TypeVar

from ..errors import Location
from ..kernels.bind import Thunk
from ..machine.paths import Call, Return, Segment
from ..machine.recording import Recorder
from ..program.program import Program
from .segment_details import Clock, MemoryEvent, SegmentDetails, Work, works_of

Works: TypeAlias = Sequence[tuple[Work, int]]
Events: TypeAlias = Sequence[tuple[int, MemoryEvent]]
"""Changes of memory, each with its function."""
K = TypeVar("K", bound=Hashable)

MAX_PENDING = 1 << 16
"""Number of measured steps that are kept with their segments."""
MAX_EVENTS = 1 << 20
"""Number of slices and changes of memory that are kept for a trace."""


@dataclass(eq=False, slots=True)
class Total:
    """The number of several runs, their nanoseconds, and the bytes of their operands."""

    count: int = 0
    time: int = 0
    size: int = 0

    def add(self, other: Total) -> None:
        """Add another total."""
        self.count += other.count
        self.time += other.time
        self.size += other.size


class Slice(NamedTuple):
    """An interval of a thread in nanoseconds: work, a function, or the preparation of one."""

    thread: int
    start: int
    stop: int
    what: Work | str


class MemoryChange(NamedTuple):
    """
    The live bytes of each device from `time` on.

    `allocated` are a device and the bytes of the storage that the program allocates at `location`,
    if it is an allocation.
    """

    thread: int
    time: int
    live: tuple[int, ...]
    allocated: tuple[int, int] | None
    location: Location | None


@dataclass(eq=False, slots=True)
class Times:
    """
    The times of calls, in nanoseconds.

    `total` is all of it. Parts of it are the times of `works`, the `recording` of new paths, the
    `binding` of kernels to memory, and the `transfer` of arguments and results.
    """

    calls: dict[str, int] = field(default_factory=dict[str, int])
    """By function."""
    total: int = 0
    recording: int = 0
    binding: int = 0
    transfer: int = 0
    works: dict[Work, Total] = field(default_factory=dict[Work, Total])
    allocations: dict[int, Total] = field(default_factory=dict[int, Total])
    """By device; sizes are those of the storages."""
    peak: dict[int, int] = field(default_factory=dict[int, int])
    """The largest number of live bytes in a call, by device."""
    slices: list[Slice] = field(default_factory=list[Slice])
    changes: list[MemoryChange] = field(default_factory=list[MemoryChange])
    dropped: int = 0
    """Number of slices and changes that were not kept."""

    def add(self, other: Times) -> None:
        """Add the times of other calls."""
        for function, count in other.calls.items():
            self.calls[function] = self.calls.get(function, 0) + count
        self.total += other.total
        self.recording += other.recording
        self.binding += other.binding
        self.transfer += other.transfer
        for work, total in other.works.items():
            self.works.setdefault(work, Total()).add(total)
        for device, total in other.allocations.items():
            self.allocations.setdefault(device, Total()).add(total)
        for device, size in other.peak.items():
            self.peak[device] = max(size, self.peak.get(device, 0))
        self.dropped += other.dropped
        for event in (*other.slices, *other.changes):
            self.keep(event)

    def keep(self, event: Slice | MemoryChange) -> None:
        """Keep an event for the trace, if there is room."""
        if len(self.slices) + len(self.changes) >= MAX_EVENTS:
            self.dropped += 1
        elif isinstance(event, Slice):
            self.slices.append(event)
        else:
            self.changes.append(event)

    @property
    def kernels(self) -> int:
        """Time of kernels."""
        return self._time(lambda work: bool(work.kernel))

    @property
    def copies(self) -> int:
        """Time of copies between devices."""
        return self._time(lambda work: work.route is not None)

    @property
    def sizes(self) -> int:
        """Time of instructions that compute and check sizes, or clear memory."""
        return self._time(lambda work: not work.kernel and work.route is None)

    @property
    def machine(self) -> int:
        """Time that is in none of the other parts: what the machine does between steps."""
        parts = self.recording + self.binding + self.transfer
        return self.total - parts - self._time(lambda work: True)

    def _time(self, counts: Callable[[Work], bool]) -> int:
        return sum(total.time for work, total in self.works.items() if counts(work))

    def by_operator(self) -> Mapping[tuple[str, int], Total]:
        """Return the totals by the name of the operator or instruction, and its device."""
        return self._totals(lambda work: (work.name, work.device))

    def by_place(self) -> Mapping[tuple[Location | None, str], Total]:
        """Return the totals by position in the source, and name of the operator."""
        return self._totals(lambda work: (work.location, work.name))

    def by_route(self) -> Mapping[tuple[int, int], Total]:
        """Return the totals of copies between devices, by (from, to)."""
        totals = self._totals(lambda work: work.route)
        return {route: total for route, total in totals.items() if route is not None}

    def _totals(self, key: Callable[[Work], K]) -> dict[K, Total]:
        """Return the sums of works of equal `key`, the longest first."""
        totals: dict[K, Total] = {}
        for work, total in self.works.items():
            totals.setdefault(key(work), Total()).add(total)
        return dict(sorted(totals.items(), key=lambda item: -item[1].time))


class CallProfile:
    """The measurement of one call."""

    def __init__(
        self,
        program: Program,
        clock: Clock,
        function: str,
        thread: int,
        done: Callable[[Times], None],
    ) -> None:
        self._program = program
        self._clock = clock
        self._done = done
        self._thread = thread
        self._times = Times({function: 1})
        self._pending: list[tuple[Segment, array[int]]] = []
        self._stamps = array("q")
        """The readings of the clock by a template."""
        self._ran: tuple[int, Callable[[], tuple[Works, Events]]] | None = None
        self._steps = 0
        self._open: list[tuple[str, int]] = []
        """The functions that have not returned, each with its start."""
        self._calls = True
        """True if the next segment is the first of a function."""
        self._uncounted = 0
        self._start = self._start_of_transfer = self._begun = self._clock()

    def run(self, segment: Segment) -> Iterator[Thunk]:
        """Yield the steps of `segment`, each to be run before the next is taken."""
        if self._steps > MAX_PENDING:
            start = self._clock()
            self._add_pending()
            self._uncounted += self._clock() - start
        clock, steps = self._clock, segment.steps
        stamps = array("q", (clock(),))
        self._pending.append((segment, stamps))
        self._steps += 1 + len(steps)
        for thunk in steps:
            yield thunk
            stamps.append(clock())

    def stamp(self) -> None:
        """Read the clock, for a template."""
        self._stamps.append(self._clock())

    def begin_template(self) -> Callable[[], None]:
        """Return what reads the clock."""
        self.transferred()
        self._stamps = array("q")
        return self.stamp

    def abandoned(self) -> None:
        """Note that no template ran."""
        self._stamps, self._start_of_transfer = array("q"), self._clock()

    def ran(self, function: int, activity: Callable[[], tuple[Works, Events]]) -> None:
        """Note that a template of `function` ran; `activity` is between readings of the clock."""
        self._begun = self._clock()
        self._ran = function, activity

    def record(self, recorder: Recorder) -> Segment:
        """Record a segment, with details of its steps."""
        details = SegmentDetails(self._clock)
        recorder.observers = [*recorder.observers, details]
        start = self._clock()
        try:
            segment = recorder.record()
            segment.details = details
            return segment
        finally:
            stop = self._clock()
            self._times.binding += details.binding
            self._times.recording += stop - start - details.binding
            name = f"prepare {recorder.function.name}"
            self._times.keep(Slice(self._thread, start, stop, name))

    def transferred(self) -> None:
        """Note that arguments have been copied in."""
        self._begun = self._clock()
        self._times.transfer += self._begun - self._start_of_transfer

    def returned(self) -> None:
        """Note that the result will be copied out."""
        self._begun = self._clock()

    def end(self, has_returned: bool) -> None:
        """End the call, which `has_returned` unless it failed; pass its times on."""
        stop = self._clock()
        if has_returned:
            self._times.transfer += stop - self._begun
        self._times.total = stop - self._start - self._uncounted
        self._add_pending()
        while self._open:
            self._leave(stop)
        self._done(self._times)

    def _leave(self, stop: int) -> None:
        name, start = self._open.pop()
        self._times.keep(Slice(self._thread, start, stop, name))

    def _add_pending(self) -> None:
        """Add up the times of steps."""
        if self._ran is not None:
            function, activity = self._ran
            self._open.append((self._program.functions[function].name, self._stamps[0]))
            self._add(*activity(), self._stamps)
            self._leave(self._stamps[-1])
        for segment, stamps in self._pending:
            if self._calls:
                function = self._program.functions[segment.frame.function]
                self._open.append((function.name, stamps[0]))
            self._add_segment(segment, stamps)
            self._calls = isinstance(segment.end, Call)
            if isinstance(segment.end, Return):
                self._leave(stamps[-1])
        self._pending.clear()
        self._steps = 0

    def _add_segment(self, segment: Segment, stamps: array[int]) -> None:
        details, function = segment.details, segment.frame.function
        assert details is not None, "recorded while a profile is active"
        if details.works is None:
            details.works = works_of(self._program, function, segment.origins, details)
        self._add(details.works, [(function, event) for event in details.memory], stamps)

    def _add(self, works: Works, events: Events, stamps: array[int]) -> None:
        times, thread, start = self._times, self._thread, 0
        for work, stop in works:
            if stop >= len(stamps):  # the call has failed
                break
            first, last = stamps[start], stamps[stop]
            times.works.setdefault(work, Total()).add(Total(1, last - first, work.size))
            times.keep(Slice(thread, first, last, work))
            start = stop
        for function, event in events:
            if event.position >= len(stamps):
                break
            code = self._program.functions[function]
            time, place = stamps[event.position], code.location(event.pc)
            times.keep(MemoryChange(thread, time, event.live, event.allocated, place))
            for device, live in enumerate(event.live):
                times.peak[device] = max(live, times.peak.get(device, 0))
            if event.allocated is not None:
                device, size = event.allocated
                times.allocations.setdefault(device, Total()).add(Total(1, 0, size))
