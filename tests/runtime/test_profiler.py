"""Profiles: with a fake clock, times are exact and add up; the trace is valid."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from helpers.programs.machine_programs import call, f32, function, kernel, program, tensor

from xrelay.runtime.errors import Location, MachineError
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.observe import call_times
from xrelay.runtime.observe.profile_report import json_of, parts
from xrelay.runtime.observe.profiler import Profile
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import Kernel, Program, Step

X = np.array([1, 2], np.float32)
ADD = kernel("add", [f32(2), f32(2)], f32(2))


class FakeClock:
    """A clock that stands still, but for kernels that take time."""

    def __init__(self) -> None:
        self.now = 1000

    def __call__(self) -> int:
        return self.now


class Ticking(FakeClock):
    """A clock that adds 1 whenever it is read."""

    def __call__(self) -> int:
        self.now += 1
        return self.now


def slow(clock: FakeClock, binding: int, running: int) -> Any:
    """A kernel that copies its input; it takes this long."""

    def bind(attrs: Any, ins: Any, outs: Any) -> Any:
        clock.now += binding

        def run() -> None:
            clock.now += running
            outs[0][:] = ins[0]

        return run

    return bind


def slow_program() -> Program:
    """A kernel of two operators, a call of a function with a third, and a copy to a device."""
    lines = iter(range(1, 99))
    step = [
        Step(f"demo.{name}", {}, ins, outs, Location("m.relay", next(lines), 5))
        for name, ins, outs in (("a", (0,), (1,)), ("b", (1,), (2,)))
    ]
    ab = Kernel("ab", (f32(2),), (), (f32(2), f32(2)), tuple(step), (2,))
    c = Kernel("c", (f32(2),), (), (f32(2),), (Step("demo.c", {}, (0,), (1,)),), (1,))
    callee = function([f32(2)], *call(1, [0], 1, 2), vm.Ret(1), name="callee", devices=[0])
    code = [
        *call(0, [0], 1, 2),
        vm.Invoke(3, 1, (1,)),
        *tensor(4, 2, device=1),
        vm.DeviceCopy(3, 4, 0, 1),
        vm.Ret(4),
    ]
    main = function([f32(2)], *code)
    main = replace(main, locations=tuple(Location("m.relay", 10 + i, 3) for i in range(len(code))))
    return program(main, callee, kernels=[ab, c], devices=["cpu:0", "cuda:0"])


def slow_machine(clock: FakeClock) -> Machine:
    kernels = {
        **KERNELS,
        "demo.a": slow(clock, 10, 100),
        "demo.b": slow(clock, 20, 200),
        "demo.c": slow(clock, 30, 5000),
    }
    return Machine(slow_program(), kernels=kernels)


def test_times_are_those_of_the_clock():
    clock = FakeClock()
    machine = slow_machine(clock)
    machine.run("main", X)
    with machine.profile(clock) as profile:
        assert machine.run("main", X)[0].tolist() == [1, 2]
        machine.run("main", X)
    machine.run("main", X)
    assert parts(profile.times) == {
        "kernels": 2 * 5300,
        "copies between devices": 0,
        "sizes and checks": 0,
        "recording of paths": 0,
        "binding of kernels": 60,
        "arguments and results": 0,
        "machine": 0,
    }
    assert profile.times.total == 2 * 5300 + 60
    assert profile.times.calls == {"main": 2}
    found = {
        name: (t.count, t.time, t.size) for (name, _), t in profile.times.by_operator().items()
    }
    assert found == {
        "demo.c": (2, 10000, 32),
        "demo.b": (2, 400, 32),
        "demo.a": (2, 200, 32),
        "device_copy": (2, 0, 16),
    }
    lines = {(at.line if at else None, name): t.time for (at, name), t in by_place(profile)}
    assert lines == {
        (None, "demo.c"): 10000,
        (2, "demo.b"): 400,
        (1, "demo.a"): 200,
        (16, "device_copy"): 0,
    }
    assert {d: (t.count, t.size) for d, t in profile.times.allocations.items()} == {
        0: (4, 32),
        1: (2, 16),
    }
    assert profile.times.peak == machine.counters.peak


def by_place(profile: Profile) -> Iterator[tuple[tuple[Location | None, str], Any]]:
    yield from profile.times.by_place().items()


def test_parts_add_up_whatever_the_clock_reads():
    clock = Ticking()
    machine = slow_machine(clock)
    with machine.profile(clock) as profile:
        for _ in range(3):
            machine.run("main", X)
    found = parts(profile.times)
    assert sum(found.values()) == profile.times.total
    assert all(part > 0 for name, part in found.items() if name != "sizes and checks")


def test_times_are_the_same_if_they_are_added_up_early(monkeypatch: pytest.MonkeyPatch):
    tables: list[Any] = []
    for pending in (call_times.MAX_PENDING, 0):
        monkeypatch.setattr(call_times, "MAX_PENDING", pending)
        clock = FakeClock()
        with slow_machine(clock).profile(clock) as profile:
            pass
        machine = slow_machine(clock)
        with machine.profile(clock) as profile:
            machine.run("main", X)
            machine.run("main", X)
        names = [slice.what for slice in profile.times.slices if isinstance(slice.what, str)]
        tables.append((json_of(profile.times, machine.program.devices), names))
    assert tables[0] == tables[1]


def test_a_call_that_fails_is_measured_up_to_there():
    clock = FakeClock()
    code = [*call(0, [0], 1, 2), vm.Fatal()]
    demo = Kernel("demo", (f32(2),), (), (f32(2),), (Step("demo.a", {}, (0,), (1,)),), (1,))
    failing = program(function([f32(2)], *code), kernels=[demo])

    def bind(attrs: Any, ins: Any, outs: Any) -> Any:
        def run() -> None:
            clock.now += 7
            raise ValueError("no")

        return run

    machine = Machine(
        program(
            function([f32(2)], *call(0, [0], 1, 2), *call(1, [1], 3, 2), vm.Ret(3)),
            kernels=[demo, replace(demo, steps=(Step("demo.b", {}, (0,), (1,)),))],
        ),
        kernels={**KERNELS, "demo.a": slow(clock, 0, 5), "demo.b": bind},
    )
    with machine.profile(clock) as profile, pytest.raises(MachineError, match="ValueError: no"):
        machine.run("main", X)
    assert {name: t.time for (name, _), t in profile.times.by_operator().items()} == {"demo.a": 5}
    assert (profile.times.total, profile.times.machine) == (12, 7)
    machine = Machine(failing, kernels={**KERNELS, "demo.a": slow(clock, 0, 5)})
    with machine.profile(clock) as profile, pytest.raises(MachineError, match="no clause"):
        machine.run("main", X)
    assert profile.times.calls == {"main": 1}


def test_turns_of_a_tail_recursive_loop_are_one_call():
    loop = vm.If(1, None, 2, 1), vm.Ret(0), vm.LoadConsti(2, 0), vm.Invoke(3, 1, (0, 2)), vm.Ret(3)
    main = function([f32(2), None], vm.Invoke(2, 1, (0, 1)), vm.Ret(2))
    machine = Machine(program(main, function([None, None], *loop, name="loop")))
    with machine.profile() as profile:
        for count in (1, 0, 1):
            assert machine.run("main", X, np.int64(count))[0].tolist() == [1, 2]
    names = [slice.what for slice in profile.times.slices]
    assert (names.count("main"), names.count("loop")) == (3, 3)
    assert profile.times.calls == {"main": 3}


def test_one_profile_is_active_at_a_time():
    machine = slow_machine(FakeClock())
    with machine.profile(), pytest.raises(MachineError, match="another profile"), machine.profile():
        pass
    with machine.profile() as profile:
        pass
    assert "profile of 0 calls of nothing: 0 ns" in str(profile)


def test_threads_have_tracks_of_their_own():
    machine = slow_machine(FakeClock())
    with machine.profile() as profile:
        threads = [Thread(target=machine.run, args=("main", X)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert profile.times.calls == {"main": 3}
    for thread in {slice.thread for slice in profile.times.slices}:
        own = [slice for slice in profile.times.slices if slice.thread == thread]
        assert [slice.what for slice in own if slice.what == "main"]


# ---- the table


def test_the_table():
    clock = FakeClock()
    machine = slow_machine(clock)
    with machine.profile(clock) as profile:
        machine.run("main", X)
    lines = str(profile).split("\n")
    assert lines[:2] == [
        "profile of 1 call of main: 5.36 us",
        "  cuda:0: simulated, so times are those of the simulation",
    ]
    assert "  kernels                 5.3 us  98.9%" in lines
    assert "  demo.c       cpu:0       1    5 us  93.3%    5 us   16 B   0.0" in lines
    assert "  m.relay:2:5   demo.b           1  200 ns   3.7%  200 ns   16 B   0.1" in lines
    assert "  cpu:0                  2   16 B              16 B" in lines


# ---- the trace

PHASES = {
    "X": {"name", "cat", "pid", "tid", "ts", "dur"},
    "M": {"name", "args", "pid"},
    "i": {"name", "s", "pid", "tid", "ts", "args"},
    "C": {"name", "pid", "ts", "args"},
}
"""The fields that an event of each phase must have, by Google's "Trace Event Format"."""


def trace_of(profile: Profile, path: Path) -> list[dict[str, Any]]:
    """Write the trace, check its schema, and return its events."""
    profile.save_trace(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    assert set(data) == {"traceEvents", "displayTimeUnit", "otherData"}
    events: list[dict[str, Any]] = data["traceEvents"]
    for event in events:
        assert PHASES[event["ph"]] <= set(event) <= PHASES[event["ph"]] | {"ph", "args", "tid"}
        assert all(isinstance(event.get(key, 0), int) for key in ("pid", "tid"))
        assert event.get("ts", 0) >= 0
        assert event.get("dur", 0) >= 0
        if event["ph"] == "C":
            assert all(isinstance(value, int) for value in event["args"].values())
    return events


def test_the_trace(tmp_path: Path):
    clock = FakeClock()
    machine = slow_machine(clock)
    with machine.profile(clock) as profile:
        machine.run("main", X)
        machine.run("main", X)
    events = trace_of(profile, tmp_path / "trace.json")
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert tracks == {0: "functions", 1: "cpu:0", 2: "cuda:0 (simulated)"}
    slices = [event for event in events if event["ph"] == "X"]
    second = slices[-6:]  # the first call also has slices of its preparation
    assert [(e["name"], e["tid"], round(e["ts"] - 5.36, 3), e["dur"]) for e in second] == [
        ("demo.a", 1, 0, 0.1),
        ("demo.b", 1, 0.1, 0.2),
        ("demo.c", 1, 0.3, 5.0),
        ("callee", 0, 0.3, 5.0),
        ("device_copy", 2, 5.3, 0),
        ("main", 0, 0, 5.3),
    ]
    assert [e["name"] for e in slices if e["name"].startswith("prepare")] == [
        "prepare main",
        "prepare callee",
        "prepare main",
    ]
    assert second[0]["args"] == {
        "kernel": "ab",
        "inputs": "float32[2]",
        "outputs": "float32[2]",
        "bytes": 16,
        "source": "m.relay:1:5",
    }
    allocated = [e for e in events if e["ph"] == "i"]
    assert [(e["tid"], e["args"]["bytes"]) for e in allocated] == [(1, 8), (1, 8), (2, 8)] * 2
    live = [e["args"]["bytes"] for e in events if e["name"] == "live bytes of cpu:0"]
    assert max(live) == machine.counters.peak[0]


def test_a_trace_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(call_times, "MAX_EVENTS", 5)
    machine = slow_machine(FakeClock())
    with machine.profile() as profile:
        for _ in range(3):
            machine.run("main", X)
    events = trace_of(profile, tmp_path / "trace.json")
    assert len([e for e in events if e["ph"] == "X"]) <= 5
    assert json.loads((tmp_path / "trace.json").read_text())["otherData"]["dropped events"] > 20
    assert profile.times.by_operator()["demo.a", 0].count == 3
