"""
Measure where the time of calls goes.

    with machine.profile() as profile:
        machine.run("main", x)
    print(profile)                        tables by operator and by source line
    profile.save_trace("trace.json")      for https://ui.perfetto.dev or chrome://tracing

While it is measured, a call uses frames of its own, which record what their steps do: the first
call prepares them. The clock is read after every step, so each takes 0.1 to 0.2 us more. Devices
other than the host are simulated: their times are those of the simulation.
"""

from __future__ import annotations

from os import PathLike
from threading import Lock, get_ident
from time import perf_counter_ns

from ..program.program import Program
from .call_times import CallProfile, Times
from .profile_report import json_of, text_lines
from .segment_details import Clock


class Profile:
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

    def begin(self, function: str) -> CallProfile:
        """Begin to measure a call of `function`."""
        with self._lock:
            thread = self._threads.setdefault(get_ident(), len(self._threads))
        return CallProfile(self.program, self.clock, function, thread, self.add)

    def add(self, times: Times) -> None:
        """Add the times of a call."""
        with self._lock:
            self.times.add(times)

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
