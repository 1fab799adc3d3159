"""
A profile as JSON in the Trace Event Format, which Perfetto (ui.perfetto.dev) and Chrome
(chrome://tracing) show.

    process     a thread of the program that makes calls
    track       functions and their preparation; then one for each device, with what runs on it
    instant     a storage is allocated
    counter     live bytes of a device

The format is described in Google's document "Trace Event Format". Times are in microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, TypeAlias

from ..errors import Location
from ..files import replace
from .call_times import MemoryChange, Slice, Times, Work
from .profile_report import place

Event: TypeAlias = dict[str, Any]

FUNCTIONS = 0
"""The track of functions; that of device d is d + 1."""


def write_trace(
    path: str | PathLike[str], times: Times, start: int, devices: Sequence[str], overwrite: bool
) -> None:
    """Write the trace of `times`, which begins at `start`; raise `MachineError` if that fails."""
    replace(path, _pieces(times, start, devices), overwrite=overwrite)


def _pieces(times: Times, start: int, devices: Sequence[str]) -> Iterator[bytes]:
    dropped = json.dumps({"dropped events": times.dropped})
    yield f'{{"displayTimeUnit": "ns", "otherData": {dropped}, "traceEvents": [\n'.encode()
    for number, event in enumerate(events(times, start, devices)):
        yield (",\n" * bool(number) + json.dumps(event)).encode()
    yield b"\n]}\n"


def events(times: Times, start: int, devices: Sequence[str]) -> Iterator[Event]:
    """Yield the events of the trace, with names of the tracks first."""
    threads = sorted({event.thread for event in (*times.slices, *times.changes)})
    tracks = ["functions", devices[0], *(f"{name} (simulated)" for name in devices[1:])]
    for thread in threads:
        yield _name("process_name", f"thread {thread}", pid=thread)
        for track, name in enumerate(tracks):
            yield _name("thread_name", name, pid=thread, tid=track)
            yield {**_name("thread_sort_index", "", pid=thread, tid=track), **_order(track)}
    for slice in times.slices:
        yield _slice(slice, start, devices)
    last: dict[int, tuple[int, ...]] = {}
    for change in sorted(times.changes, key=lambda change: change.time):
        yield from _change(change, start, devices, last.get(change.thread, ()))
        last[change.thread] = change.live


def _name(kind: str, name: str, **track: int) -> Event:
    return {"ph": "M", "name": kind, "args": {"name": name}, **track}


def _order(track: int) -> Event:
    return {"args": {"sort_index": track}}


def _slice(slice: Slice, start: int, devices: Sequence[str]) -> Event:
    what = slice.what
    event: Event = {
        "ph": "X",
        "pid": slice.thread,
        "tid": what.device + 1 if isinstance(what, Work) else FUNCTIONS,
        "ts": (slice.start - start) / 1000,
        "dur": (slice.stop - slice.start) / 1000,
    }
    if isinstance(what, str):
        return {**event, "name": what, "cat": "function"}
    args: Event = {}
    if what.kernel:
        args["kernel"] = what.kernel
    if what.route is not None:
        source, target = (devices[device] for device in what.route)
        args |= {"from": source, "to": target}
    if what.ins:
        args["inputs"] = ", ".join(map(str, what.ins))
    if what.outs:
        args["outputs"] = ", ".join(map(str, what.outs))
    if what.size:
        args["bytes"] = what.size
    category = "kernel" if what.kernel else "copy" if what.route is not None else "host"
    return {**event, "name": what.name, "cat": category, "args": {**args, **_source(what.location)}}


def _source(location: Location | None) -> Event:
    return {} if location is None else {"source": place(location)}


def _change(
    change: MemoryChange, start: int, devices: Sequence[str], last: tuple[int, ...]
) -> Iterator[Event]:
    time = {"pid": change.thread, "ts": (change.time - start) / 1000}
    if change.allocated is not None:
        device, size = change.allocated
        args = {"bytes": size, **_source(change.location)}
        yield {"ph": "i", "s": "t", "name": "allocate", "tid": device + 1, "args": args, **time}
    for device, live in enumerate(change.live):
        if not last or live != last[device]:
            name = f"live bytes of {devices[device]}"
            yield {"ph": "C", "name": name, "args": {"bytes": live}, **time}
