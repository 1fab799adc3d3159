"""
The times of calls: of each step, of preparing new paths, and of what the machine does besides.

    1000   ENTER main
    1007   WORK relay.add           an interval of 7 ns
    1007   MEMORY 64 bytes live
    1019   LEAVE main

The clock is read at the marks that a path leaves. They are kept, and added up after the call, or
when there are many; the time that this takes is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ...operators.records import record
from ..errors import Location
from ..program.instructions import DeviceCopy
from ..program.program import Program, Step, TensorSpec

Clock: TypeAlias = Callable[[], int]
"""A clock in nanoseconds."""
K = TypeVar("K", bound=Hashable)

MAX_PENDING = 1 << 16
"""Number of marks that are kept before they are added up."""
MAX_EVENTS = 1 << 20
"""Number of slices and changes of memory that are kept for a trace."""


class Kind(Enum):
    """The subject of a mark."""

    ENTER = auto()
    """A function begins."""
    RESUME = auto()
    """A path continues after the machine has decided how."""
    WORK = auto()
    """An instruction has computed."""
    MEMORY = auto()
    """Other bytes are live."""
    LEAVE = auto()
    """A function returns."""
    JUMP = auto()
    """The function that begins next continues this one: a tail call."""
    PREPARED = auto()
    """A path was recorded."""


@dataclass(eq=False, slots=True)
class Mark:
    """
    A place on a path where the clock is read, at instruction `pc` of a function.

    `device` is where a kernel or copy runs, with operands of these `dtypes`, or where a storage is
    allocated.
    """

    kind: Kind
    function: int = 0
    pc: int = 0
    step: Step | None = None
    device: int | None = None
    dtypes: Sequence[str] = ()


@record
class Work:
    """
    Consecutive steps that compute one thing.

    `name` is that of an operator ("relay.add"), of a kernel if the steps are not of one operator,
    or of an instruction; `kernel` is the name of the kernel that it is part of, or empty. `size`
    are the bytes of all operands, or those copied along `route`, from one device to another.
    """

    name: str
    kernel: str
    device: int
    location: Location | None
    ins: tuple[TensorSpec, ...] = ()
    outs: tuple[TensorSpec, ...] = ()
    size: int = 0
    route: tuple[int, int] | None = None


Works: TypeAlias = dict[tuple[Mark, Any], Work]


def work_of(program: Program, mark: Mark, shapes: Sequence[tuple[int, ...]]) -> Work:
    """Return what was done at `mark` on operands of these shapes."""
    code = program.functions[mark.function]
    instruction, location = code.instructions[mark.pc], code.location(mark.pc)
    if mark.device is None:
        return Work(instruction.mnemonic, "", 0, location)
    types = list(map(TensorSpec, mark.dtypes, shapes))
    if isinstance(instruction, DeviceCopy):
        (spec,) = types
        route = instruction.src_device, instruction.dst_device
        return Work("device_copy", "", route[1], location, (spec,), (spec,), spec.size, route)
    index = getattr(instruction, "kernel", None)
    kernel = program.kernels[index].name if isinstance(index, int) else ""
    step = mark.step
    if step is None:
        return Work(kernel, kernel, mark.device, location)
    ins, outs = (tuple(types[v] for v in values) for values in (step.ins, step.outs))
    size = sum(spec.size for spec in (*ins, *outs))
    return Work(step.op, kernel, mark.device, step.location or location, ins, outs, size)


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


class CallTimes:
    """
    The marks of one call of `function`, and the times that follow.

    `works` are those of marks and shapes, for all calls.
    """

    def __init__(
        self, program: Program, clock: Clock, function: str, thread: int, works: Works
    ) -> None:
        self._program, self._clock, self._thread, self._works = program, clock, thread, works
        self.times = Times({function: 1})
        self.log: list[tuple[int, Mark, Any]] = []
        """The times of marks, and the numbers that they have in this call."""
        self._open: list[tuple[str, int]] = []
        """The functions that have not returned, each with its start."""
        self._work: tuple[Mark, Any, int] | None = None
        """The current work, with the numbers of its mark, and its start."""
        self._jumps = False
        self._tried = 0
        """The number of marks when a template began."""
        self._uncounted = self._preparation = 0
        self._preparing = ("", 0)
        self._start = self._last = clock()

    def shorten(self, now: int) -> None:
        """Add up what was logged until `now`."""
        self._add_up()
        self._tried = 0
        self._last = self._clock()
        self._uncounted += self._last - now

    def tries(self) -> None:
        """Note that a template begins, which may not fit."""
        self._tried = len(self.log)

    def starts_over(self) -> None:
        """Forget the marks since a template began, as all that was done is done again."""
        del self.log[self._tried :]

    def prepares(self, function: str) -> None:
        """Note that a path through `function` begins to be recorded."""
        self._preparing = function, self._clock()

    def prepared(self, binding: int) -> None:
        """Note that this ends, and how long kernels were bound."""
        numbers = *self._preparing, binding
        self.log.append((self._clock(), Mark(Kind.PREPARED), numbers))

    def end(self) -> Times:
        """End the call, and return its times."""
        stop, times = self._clock(), self.times
        times.total = stop - self._start - self._uncounted
        self._add_up()
        self._end_work()
        if not self._open:  # it has returned, and the result was copied out
            times.transfer += stop - self._last - self._preparation
        while self._open:
            self._leave(stop)
        return times

    def _add_up(self) -> None:
        for now, mark, numbers in self.log:
            match mark.kind:
                case Kind.PREPARED:
                    self._prepared(now, *numbers)
                    continue
                case Kind.MEMORY:
                    self._change(now, mark, *numbers)
                case Kind.WORK:
                    if self._work is None or not _same_work(mark, self._work[0]):
                        self._end_work()
                        self._work = mark, numbers, self._last
                case Kind.ENTER:
                    self._end_work()
                    if not self._open and self._last == self._start:
                        self.times.transfer += now - self._start - self._preparation
                    if not self._jumps:
                        self._open.append((self._program.functions[mark.function].name, now))
                    self._jumps = False
                case Kind.RESUME | Kind.JUMP:
                    self._end_work()
                    self._jumps = mark.kind is Kind.JUMP
                case Kind.LEAVE:
                    self._end_work()
                    self._leave(now)
            self._last, self._preparation = now, 0
        self.log.clear()

    def _prepared(self, stop: int, function: str, start: int, binding: int) -> None:
        self._preparation += stop - start
        self.times.binding += binding
        self.times.recording += stop - start - binding
        self.times.keep(Slice(self._thread, start, stop, f"prepare {function}"))

    def _end_work(self) -> None:
        if self._work is None:
            return
        mark, shapes, start = self._work
        self._work, work = None, self._works.get((mark, shapes))
        if work is None:
            work = self._works[mark, shapes] = work_of(self._program, mark, shapes)
        self.times.works.setdefault(work, Total()).add(Total(1, self._last - start, work.size))
        self.times.keep(Slice(self._thread, start, self._last, work))

    def _leave(self, stop: int) -> None:
        name, start = self._open.pop()
        self.times.keep(Slice(self._thread, start, stop, name))

    def _change(self, now: int, mark: Mark, live: tuple[int, ...], size: int) -> None:
        times = self.times
        for device, count in enumerate(live):
            times.peak[device] = max(count, times.peak.get(device, 0))
        allocated = None
        if mark.device is not None:
            allocated = mark.device, size
            times.allocations.setdefault(mark.device, Total()).add(Total(1, 0, size))
        place = self._program.functions[mark.function].location(mark.pc)
        times.keep(MemoryChange(self._thread, now, live, allocated, place))


def _same_work(a: Mark, b: Mark) -> bool:
    """Test whether consecutive marks are of callables of one step."""
    return (a.function, a.pc, a.device) == (b.function, b.pc, b.device) and a.step is b.step
