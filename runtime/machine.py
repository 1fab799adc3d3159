"""
Run programs.

    machine = Machine(program, weights)
    (y,) = machine.run("main", x)

A call copies its arguments into a prepared frame, runs the callables that were bound to the
frame's arrays during preparation, and copies the results out. Frames are kept for later calls
with arguments of the same types. A frame serves one thread at a time, so several threads may
share a machine. Devices other than the host are simulated: each has memory of its own, and an
access from the wrong device is an error.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from math import inf
from threading import Lock
from time import perf_counter_ns

import numpy as np

from .arena import Arena
from .call_times import CallProfile
from .checking import check_program
from .context import Context
from .counters import Counters
from .dtypes import element_type, has_element_type
from .errors import MachineError
from .instructions import AllocRef
from .kernels.bind import Bind
from .kernels.loading import load_kernels
from .kernels.memory import Memory, OutOfMemory, Owner, Stack
from .kernels.scratch import Workspace
from .objects import Object, Tensor, tensors_in
from .paths import (
    Branch,
    Call,
    Contents,
    Decision,
    Frame,
    Kept,
    Known,
    Read,
    Return,
    Segment,
    State,
    TraceSize,
)
from .profiler import Profile
from .program import Array, Late, Program, spec_of
from .recording import Recorder, fault
from .sanitizer import Sanitizer
from .segment_details import Clock
from .value_checks import check_arguments, fits
from .values import FlatValue, Leaf, Value, allocate_like, copy_out, flatten, leaves

MAX_TRACE_SIZE = 1 << 29
"""Limit in bytes on the recorded paths of a frame; above it they are discarded."""
MAX_SIGNATURES = 16
"""Number of argument types for which a machine keeps frames."""
STACK_SIZE = 1 << 20
"""Bytes by which the call stack grows."""
ACTIVATION_SIZE = 4096
"""Approximate bytes of an activation, besides its current segment."""
MAX_UNCOUNTED = 4096
"""Number of executed segments whose counters may be pending."""


def _constants(program: Program, given: Mapping[str, Array]) -> list[Array]:
    missing = [late.name for late in program.late_constants if late.name not in given]
    if missing:
        raise MachineError(f"missing values for the constants {', '.join(missing)}")
    constants: list[Array] = []
    for constant in program.constants:
        array = given[constant.name] if isinstance(constant, Late) else constant
        name = f"constant '{constant.name}'" if isinstance(constant, Late) else "a constant"
        if isinstance(constant, Late) and not fits(constant.spec, array):
            raise MachineError(f"{name} must be {constant.spec}, but is {spec_of(array)}")
        if not has_element_type(array.dtype):
            raise MachineError(f"{name} has unsupported element type {array.dtype}")
        frozen = array.view()
        frozen.flags.writeable = False
        constants.append(frozen)
    return constants


def _has_references(program: Program) -> bool:
    return any(isinstance(i, AllocRef) for f in program.functions for i in f.instructions)


@dataclass(frozen=True, slots=True)
class Entry:
    """A frame that `Machine` calls, and the tensors into which to copy its arguments."""

    frame: Frame
    inputs: list[Tensor]


class Machine:
    """
    A program ready to run.

    `constants` are the values of the program's late-bound constants, by name; they are not
    copied and must not change. `kernels` default to those of all installed packages.

    `memory` (default: half of the available memory) limits storages, kernels' scratch memory,
    copies of arguments and results, and the call stack together; `max_instructions` limits
    each call. Exceeding a limit is an error at the instruction.

    With `sanitize`, for debugging, wrong uses of memory by plans and kernels are errors: see
    `sanitizer`. Calls take several times as long.

    Raises `MachineError` if the program is not well-formed.
    """

    def __init__(
        self,
        program: Program,
        constants: Mapping[str, Array] | None = None,
        kernels: Mapping[str, Bind] | None = None,
        *,
        memory: Memory | None = None,
        max_instructions: int | None = None,
        sanitize: bool = False,
    ) -> None:
        check_program(program)
        self.program = program
        self._counters = Counters()
        self._uncounted: dict[Counters, int] = {}
        binds = load_kernels() if kernels is None else kernels
        self._memory = Memory(poison=sanitize) if memory is None else memory
        self._sanitize = sanitize
        self._memory.reclaim = self._forget
        self._max_trace_size = min(MAX_TRACE_SIZE, self._memory.limit // 4)
        self._max_instructions = max_instructions
        given = _constants(program, constants or {})
        self._context = Context(
            program, given, binds, self._memory, Owner(self._memory), _has_references(program)
        )
        self._functions = {f.name: i for i, f in enumerate(program.functions)}
        self._idle: OrderedDict[object, list[Entry]] = OrderedDict()
        self._lock = Lock()
        self._profile: Profile | None = None

    @property
    def counters(self) -> Counters:
        """Statistics of all runs so far."""
        with self._lock:
            self._count()
            return self._counters

    def _note(self, executed: list[Counters]) -> None:
        """Queue the counters of executed segments for counting, and clear the list."""
        with self._lock:
            for counters in executed:
                self._uncounted[counters] = self._uncounted.get(counters, 0) + 1
            if len(self._uncounted) > MAX_UNCOUNTED:
                self._count()
        executed.clear()

    def _count(self) -> None:
        for counters, times in self._uncounted.items():
            self._counters.add(counters, times)
        self._uncounted.clear()

    def run(self, function: str = "main", *args: object) -> list[Array]:
        """
        Call `function` and return the tensors of its result, depth first.

        Arguments are arrays (or anything NumPy converts to one), tuples, or `values.Tagged`
        data. Raises `MachineError` if they do not fit the parameters or the program fails.
        """
        return list(leaves(self.evaluate(function, *args)))

    def evaluate(self, function: str = "main", *args: object) -> Value:
        """Call `function` and return its result as it is: an array, a tuple or data."""
        index = self._index(function)
        profile = self._profile
        times = None if profile is None else profile.begin(function)
        values = [flatten(arg) for arg in args]
        key = (profile, index, tuple(value.structure for value in values))
        entry = self._acquire(key) or self._enter(index, values)
        executed: list[Counters] = []
        result = None
        try:
            arrays = chain.from_iterable(value.arrays for value in values)
            for tensor, array in zip(entry.inputs, arrays, strict=True):
                np.copyto(tensor.array, array)
            if entry.frame.guard is not None:
                entry.frame.guard.begin()
            if times is not None:
                times.transferred()
            with np.errstate(all="ignore"):
                result = self._execute(entry.frame, executed, times)
            if times is not None:
                times.returned()
            return copy_out(result, Owner(self._memory))
        except OutOfMemory as error:
            raise MachineError(f"the result of {function}: {error}") from error
        finally:
            if profile is not None and times is not None:
                profile.add(times.end(result is not None))
            self._note(executed)
            self._release(key, entry)

    @contextmanager
    def profile(self, clock: Clock = perf_counter_ns) -> Generator[Profile]:
        """
        Measure all calls that begin within the context, in any thread.

        `clock` counts nanoseconds. Raises `MachineError` if another profile is active.
        """
        profile = Profile(self.program, clock)
        with self._lock:
            if self._profile is not None:
                raise MachineError("another profile of this program is active")
            self._profile = profile
        try:
            yield profile
        finally:
            self._profile = None

    def prepare(self, function: str = "main") -> None:
        """
        Record `function` up to its first decision before the first call.

        Raises `MachineError` for faults on that path. Does nothing if a parameter's type is
        not static.
        """
        index = self._index(function)
        params = self.program.functions[index].params
        values: list[FlatValue] = []
        for param in params:
            if param.spec is None or not param.spec.is_static:
                return
            shape = tuple(dim for dim in param.spec.shape if dim is not None)
            values.append(FlatValue((Leaf(element_type(param.spec.dtype), shape),), []))
        key = (None, index, tuple(value.structure for value in values))
        entry = self._acquire(key) or self._enter(index, values)
        self._root(entry.frame)
        self._release(key, entry)

    def _index(self, function: str) -> int:
        index = self._functions.get(function)
        if index is None:
            defined = ", ".join(self._functions)
            raise MachineError(f"unknown function {function} (defined: {defined})")
        return index

    def _enter(self, index: int, values: Sequence[FlatValue]) -> Entry:
        """Create a frame for calls with arguments like `values`."""
        function, devices = self.program.functions[index], self.program.devices
        for value in values:
            for leaf in value.structure:
                if isinstance(leaf, Leaf) and leaf.dtype.hasobject:
                    raise MachineError(f"an argument of {function.name} contains Python objects")
        homes = [param.device for param in function.params]
        homes += [0] * (len(values) - len(homes))
        owner = Owner(self._memory)
        pairs = zip(values, homes, strict=False)
        try:
            placed = [allocate_like(value, home, owner) for value, home in pairs]
        except OutOfMemory as error:
            raise MachineError(f"the arguments of {function.name}: {error}") from error
        args = tuple(arg for arg, _ in placed)
        check_arguments(self.program, function, args)
        inputs = [tensor for _, tensors in placed for tensor in tensors]
        for tensor in inputs:
            if not has_element_type(tensor.array.dtype):
                type = spec_of(tensor.array)
                raise MachineError(f"an argument of {function.name} has unsupported type {type}")
        arenas = tuple(Arena(device, owner, not self._context.has_references) for device in devices)
        workspace = Workspace(self._memory)
        guard = Sanitizer() if self._sanitize else None
        size = TraceSize()
        frame = Frame(index, args, arenas, workspace, (0,) * len(devices), size, guard=guard)
        return Entry(frame, inputs)

    def _acquire(self, key: object) -> Entry | None:
        with self._lock:
            entries = self._idle.get(key)
            return entries.pop() if entries else None

    def _release(self, key: object, entry: Entry) -> None:
        frame = entry.frame
        if frame.trace_size.size > self._max_trace_size:
            frame.root, frame.trace_size.size = None, 0
        with self._lock:
            self._idle.setdefault(key, []).append(entry)
            self._idle.move_to_end(key)
            if len(self._idle) > MAX_SIGNATURES:
                self._idle.popitem(last=False)

    def _forget(self) -> None:
        """Discard the frames kept for later calls, and collect garbage."""
        with self._lock:
            self._idle.clear()
        gc.collect()

    def _root(self, frame: Frame, times: CallProfile | None = None) -> Segment:
        if frame.root is None:
            recorder = Recorder(self._context, State.entry(frame), 0, {})
            frame.root = recorder.record() if times is None else times.record(recorder)
        return frame.root

    def _execute(
        self, frame: Frame, executed: list[Counters], times: CallProfile | None = None
    ) -> Object:
        """
        Run `frame` to its end; append the counters of each executed segment to `executed`.

        `times` measures it, if a profile is active.
        The callers' segments are kept on an explicit stack.
        """
        callers: list[Segment] = []
        stack, depth = Stack(self._memory), 0
        left = inf if self._max_instructions is None else self._max_instructions
        segment = self._root(frame, times)
        while True:
            thunk = None
            try:
                for thunk in segment.steps if times is None else times.run(segment):
                    thunk()
            except Exception as error:  # of a kernel, possibly a plug-in's
                raise self._kernel_fault(segment, thunk, error) from error
            executed.append(segment.counters)
            if len(executed) > MAX_UNCOUNTED:
                self._note(executed)
            left -= segment.length
            if left < 0:
                raise self._fault(segment, self._too_long())
            end = segment.end
            match end:
                case Return():
                    kept, end.kept = end.kept, None
                    if not callers:
                        self._check_result(segment, end.result)
                        return end.result
                    segment = callers.pop()
                    depth -= segment.trace_size + ACTIVATION_SIZE
                    segment = self._successor(segment, end.result, times, kept)
                case Call():
                    callers.append(segment)
                    depth += segment.trace_size + ACTIVATION_SIZE
                    if depth > stack.size:
                        self._extend(stack, segment, len(callers))
                    segment = self._root(end.callee, times)
                case Branch():
                    segment = self._successor(segment, end.test(), times)
                case Read():
                    key = tuple(tensor.array.tobytes() for tensor in end.tensors)
                    segment = self._successor(segment, key, times)
                case Contents():
                    segment = self._successor(segment, end.ref.contents, times)
                case _:
                    segment = self._successor(segment, None, times)

    def _check_result(self, segment: Segment, result: Object) -> None:
        """In the mode `sanitize`, check the bytes of the `result` that `segment` returns."""
        guard = segment.frame.guard
        if guard is None:
            return
        check = guard.reads(tensors_in((result,)) or ())
        if check is not None:
            try:
                check()
            except MachineError as error:
                raise self._fault(segment, error) from None

    def _extend(self, stack: Stack, segment: Segment, calls: int) -> None:
        """Reserve memory for the call that `segment` makes, or fail at that call."""
        try:
            size = max(STACK_SIZE, segment.trace_size + ACTIVATION_SIZE)
            stack.reserve(size, f"the stack of {calls} nested calls")
        except OutOfMemory as error:
            raise self._fault(segment, error) from None

    def _too_long(self) -> MachineError:
        limit = self._max_instructions
        return MachineError(f"exceeded the limit of {limit} instructions (--max-instructions)")

    def _fault(self, segment: Segment, error: Exception) -> MachineError:
        """Return `error` as an error at the end of `segment`."""
        return fault(self.program.functions[segment.frame.function], segment.pc, error)

    def _successor(
        self,
        segment: Segment,
        key: Decision,
        times: CallProfile | None,
        kept: Kept | None = None,
    ) -> Segment:
        """
        Return the segment that follows `segment` on decision `key`; record it the first time.

        After a call, `kept` is what its result keeps alive, if that is known.
        """
        found = segment.successors.get(key)
        if found is not None:
            return found
        assert segment.state is not None, "nothing follows a return"
        state, end = segment.state.copy(), segment.end
        known: Known = {}
        match end:
            case Branch():
                pc = end.when_true if key else end.when_false
            case Read():
                pc = end.pc
                for tensor in end.tensors:
                    values = known if tensor.source is None else state.known
                    values[tensor] = tensor.array.copy()
            case Call():
                assert isinstance(key, Object)
                if end.callee.unwritten:
                    state.wrote_in(key, end.callee)
                state.receive(end.dst, key, kept)
                pc = end.pc
            case Contents():
                assert isinstance(key, Object), "a reference is created with contents"
                state.write(end.dst, key)
                pc = end.pc
            case _:
                assert not isinstance(end, Return)
                pc = end.pc
        recorder = Recorder(self._context, state, pc, known)
        found = recorder.record() if times is None else times.record(recorder)
        if segment.frame.trace_size.size <= self._max_trace_size:
            segment.successors[key] = found
        return found

    def _kernel_fault(self, segment: Segment, thunk: object, error: Exception) -> MachineError:
        """Return the `error` of a callable in `segment` as an error at its instruction."""
        function = self.program.functions[segment.frame.function]
        origins = zip(segment.steps, segment.origins, strict=True)
        pc, step = next(origin for made, origin in origins if made is thunk)
        kernel = getattr(function.instructions[pc], "kernel", None)
        name = f" {self.program.kernels[kernel].name}" if isinstance(kernel, int) else ""
        own = isinstance(error, MachineError)
        text = str(error) if own else f"{type(error).__name__}: {error}"
        location = error.location if own else None
        made = MachineError(text, location or (step and step.location), error.notes if own else ())
        return fault(function, pc, made, name)
