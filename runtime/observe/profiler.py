"""
Measure where the time of calls goes.

    with machine.profile() as profile:
        machine.run("main", x)
    print(profile)                        tables by operator and by source line
    profile.save_trace("trace.json")      for https://ui.perfetto.dev or chrome://tracing

A profile is an observer: while it is active, calls run paths of their own, which it leaves marks
in, at each of which the clock is read. The first call prepares them. Devices other than the host
are simulated: their times are those of the simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import is_not
from os import PathLike
from threading import Lock, get_ident, local
from time import perf_counter_ns
from typing import Any

from ..program.objects import Object, Storage
from ..program.program import Program, Step, TensorSpec
from . import call_times
from .call_times import CallTimes, Clock, Kind, Mark, Times, Works
from .observer import Binder, KernelCall, Observer, Recorded
from .profile_report import json_of, text_lines


class _Thread(local):
    """
    The calls that a thread `runs`, the last one at the end, and what it records.

    Kernels of this path took so long to bind, and the current instruction computes on operands of
    these types on a device. `live` are the bytes, by device, that the path has noted.
    """

    def __init__(self) -> None:
        self.runs: list[CallTimes] = []
        self.binding = 0
        self.operands: tuple[int, Sequence[TensorSpec]] | None = None
        self.live: Sequence[Any] = ()


class Profile(Observer):
    """
    The times of the calls that ended while it was active; `str()` of it is a table.

    `clock` counts nanoseconds.
    """

    def __init__(self, program: Program, clock: Clock = perf_counter_ns) -> None:
        self.program = program
        self.clock = clock
        self.start = clock()
        self.times = Times()
        self._threads: dict[int, int] = {}
        self._lock = Lock()
        self._now = _Thread()
        self._works: Works = {}

    def begin(self, function: str) -> None:
        with self._lock:
            thread = self._threads.setdefault(get_ident(), len(self._threads))
        self._now.runs.append(CallTimes(self.program, self.clock, function, thread, self._works))

    def end(self) -> None:
        times = self._now.runs.pop().end()
        with self._lock:
            self.times.add(times)

    def tries(self) -> None:
        self._now.runs[-1].tries()

    def starts_over(self) -> None:
        self._now.runs[-1].starts_over()

    def prepares(self, function: str) -> None:
        self._now.binding = 0
        self._now.runs[-1].prepares(function)

    def prepared(self) -> None:
        self._now.runs[-1].prepared(self._now.binding)

    def follows(self, recorder: Recorded) -> None:
        self._mark(recorder, Kind.RESUME if recorder.pc else Kind.ENTER)
        self._now.operands, self._now.live = None, ()
        self.executed(recorder)

    def binder(self, recorder: Recorded, call: KernelCall, bind: Binder) -> Binder:
        device = next((tensor.device for tensor in (*call.outs, *call.ins)), 0)

        def timed(*args: Any) -> Any:
            start = self.clock()
            try:
                return bind(*args)
            finally:
                self._now.binding += self.clock() - start
                self._now.operands = device, call.types

        return timed

    def copies(self, recorder: Recorded, device: int, spec: TensorSpec) -> None:
        self._now.operands = device, (spec,)

    def computed(self, recorder: Recorded, step: Step | None) -> None:
        device, types = self._now.operands or (None, ())
        dtypes = tuple(spec.dtype for spec in types)
        shapes: Any = tuple(spec.shape for spec in types)
        self._mark(recorder, Kind.WORK, shapes, step=step, device=device, dtypes=dtypes)

    def allocated(self, recorder: Recorded, storage: Storage) -> None:
        self._memory(recorder, storage.device, storage.size)

    def executed(self, recorder: Recorded) -> None:
        self._now.operands = None
        live = recorder.state.live
        if not self._now.live or any(map(is_not, live, self._now.live)):
            self._memory(recorder, None, 0)

    def returns(self, recorder: Recorded, result: Object) -> None:
        self._mark(recorder, Kind.LEAVE)

    def jumps(self) -> None:
        self._note(Mark(Kind.JUMP), ())

    def _memory(self, recorder: Recorded, device: int | None, size: Any) -> None:
        self._now.live = tuple(recorder.state.live)
        self._mark(recorder, Kind.MEMORY, (self._now.live, size), device=device)

    def _mark(self, recorder: Recorded, kind: Kind, numbers: Any = (), **facts: Any) -> None:
        mark = Mark(kind, recorder.state.frame.function, recorder.pc, **facts)
        recorder.leave(partial(self._note, mark, numbers))

    def _note(self, mark: Mark, numbers: Any) -> None:
        now, call = self.clock(), self._now.runs[-1]
        call.log.append((now, mark, numbers))
        if len(call.log) > call_times.MAX_PENDING:
            call.shorten(now)

    def __str__(self) -> str:
        return "\n".join(text_lines(self.times, self.program.devices))

    def json(self) -> dict[str, object]:
        """Return the tables as data: times in nanoseconds, sizes in bytes."""
        return json_of(self.times, self.program.devices)

    def save_trace(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """
        Write the events of all calls as JSON that Perfetto and Chrome show.

        A file that is not text is replaced only with `overwrite`. Raises `MachineError` if the file
        cannot be written.
        """
        from .trace_events import write_trace  # imports json

        write_trace(path, self.times, self.start, self.program.devices, overwrite)
