"""
Run programs.

    machine = Machine(program, weights)
    (y,) = machine.run("main", x)

A call copies its arguments into prepared memory, runs the callables that were bound to it
during preparation, and copies the results out. What is prepared is kept for later calls with
arguments of the same types, in an arena that serves one call at a time: several threads may share
a machine. Devices other than the host are simulated: each has memory of its own, and an
access from the wrong device is an error.
"""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf, prod
from threading import Lock
from time import perf_counter_ns
from typing import TYPE_CHECKING
from weakref import WeakMethod

import numpy as np

from . import float_errors
from .arena import Arena, Entry, max_trace_size
from .checking import check_program
from .context import Context
from .counters import Counters
from .dtypes import element_type, has_element_type
from .errors import MachineError
from .instructions import AllocRef
from .kernels.bind import Bind
from .kernels.loading import kernels_of
from .kernels.memory import ALIGNMENT, Memory, OutOfMemory, Owner, Stack
from .objects import Object, Tensor, tensors_in
from .paths import (
    Branch,
    Call,
    Contents,
    Decision,
    Frame,
    Jump,
    Kept,
    Known,
    Read,
    Return,
    Segment,
    State,
    TailCall,
    TraceSize,
)
from .program import Array, Late, Program, spec_of
from .recording import Recorder, fault
from .spaces import Space
from .value_checks import check_arguments, fits
from .values import (
    FlatValue,
    Leaf,
    StaysInsideError,
    Value,
    built,
    copy_out,
    flatten,
    leaves,
    stand_in,
    store,
)

if TYPE_CHECKING:
    from .profiling.call_times import CallProfile
    from .profiling.profiler import Profile
    from .profiling.segment_details import Clock
    from .sanitizing.sanitizer import Sanitizer

STACK_SIZE = 1 << 20
"""Bytes by which the call stack grows."""
ACTIVATION_SIZE = 4096
"""Approximate bytes of an activation, besides its current segment."""
MAX_UNCOUNTED = 4096
"""Number of executed segments of a call whose counters may be pending."""
MAX_PENDING = 256
"""Number of calls whose counters may be pending."""
MAX_IDLE = max(8, os.cpu_count() or 1)
"""Number of arenas that are kept for later calls."""
SMALL_RESULT = 1 << 16
"""Results of at most this many bytes are not charged to the memory limit."""


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
        frozen = np.asarray(array).view()
        frozen.flags.writeable = False
        constants.append(frozen)
    return constants


def _operators(program: Program) -> Iterator[str]:
    return (step.op for kernel in program.kernels for step in kernel.steps)


def _has_references(program: Program) -> bool:
    return any(isinstance(i, AllocRef) for f in program.functions for i in f.instructions)


class _Forget:
    """
    Reclaim the memory of `machine`, if it is still alive.

    Memory refers to this as long as anything is charged to it, which must not keep the machine.
    """

    __slots__ = ("_method",)

    def __init__(self, machine: Machine) -> None:
        self._method = WeakMethod(machine.forget)

    def __call__(self) -> None:
        forget = self._method()
        if forget is not None:
            forget()


class Machine:
    """
    A program ready to run.

    `constants` are the values of the program's late-bound constants, by name; they are not
    copied and must not change. `kernels` default to those of all installed packages.

    `memory_limit` (bytes; default: half of the available memory) is for storages, kernels' scratch
    memory, copies of arguments and results, and the call stack together; `max_instructions` is for
    each call. Exceeding a limit is an error at the instruction. With `poison`, for debugging, bytes
    that the program has not written are 0xFF. `memory` is a limit to share with others, instead of
    `memory_limit` and `poison`.

    With `sanitize`, for debugging, wrong uses of memory by plans and kernels are errors: see
    `sanitizer`. Each kernel runs twice, and takes some 60 us more.

    Raises `MachineError` if the program is not well-formed.
    """

    def __init__(
        self,
        program: Program,
        constants: Mapping[str, Array] | None = None,
        kernels: Mapping[str, Bind] | None = None,
        *,
        memory_limit: int | None = None,
        max_instructions: int | None = None,
        poison: bool = False,
        sanitize: bool = False,
        memory: Memory | None = None,
    ) -> None:
        check_program(program)
        self.program = program
        self.memory = Memory(memory_limit, poison or sanitize) if memory is None else memory
        """The memory limit, and how much of it is in use."""
        self._counters = Counters()
        self._pending: deque[Sequence[Counters]] = deque()
        binds = kernels_of(_operators(program)) if kernels is None else kernels
        self.memory.reclaim = _Forget(self)
        self._sanitize = sanitize
        self._max_trace_size = max_trace_size(self.memory)
        self._max_instructions = max_instructions
        given = _constants(program, constants or {})
        self._context = Context(
            program, given, binds, self.memory, Owner(self.memory), _has_references(program)
        )
        self._functions = {f.name: i for i, f in enumerate(program.functions)}
        self._idle: list[Arena] = []
        self._measured: list[Arena] = []
        self._profile: Profile | None = None
        self._lock = Lock()

    @property
    def counters(self) -> Counters:
        """Statistics of all runs so far."""
        self._count()
        return self._counters

    @property
    def idle(self) -> Sequence[Arena]:
        """The arenas that are kept for later calls, the one that was used last at the end."""
        return self._idle

    @property
    def held(self) -> list[int]:
        """Bytes that are kept for later calls, by device; calls that run now not included."""
        each = [arena.held for arena in self._idle]
        return [sum(arena[device] for arena in each) for device in range(len(self.program.devices))]

    def _note(self, executed: Sequence[Counters]) -> None:
        """Queue the counters of executed segments for counting."""
        self._pending.append(executed)
        if len(self._pending) > MAX_PENDING:
            self._count()

    def _count(self) -> None:
        with self._lock:
            times: dict[Counters, int] = {}
            while self._pending:
                for counters in self._pending.popleft():
                    times[counters] = times.get(counters, 0) + 1
            for counters, count in times.items():
                self._counters.add(counters, count)

    def run(self, function: str = "main", *args: object) -> list[Array]:
        """
        Call `function` and return the tensors of its result, depth first.

        Arguments are arrays (or anything NumPy converts to one), tuples, or `values.Tagged`
        data. Raises `MachineError` if they do not fit the parameters or the program fails.
        """
        result = self.evaluate(function, *args)
        return [result] if isinstance(result, np.ndarray) else list(leaves(result))

    def evaluate(self, function: str = "main", *args: object, out: Value | None = None) -> Value:
        """
        Call `function` and return its result as it is: an array, a tuple or data.

        The result shares no memory with the machine or the arguments. With `out`, which has the
        structure and types of the result, its elements are written there, and `out` is returned;
        its arrays may be the arguments, too. After an error, they are unchanged.
        """
        index = self._index(function)
        times = None if self._profile is None else self._profile.begin(function)
        arena = self._acquire(times)
        is_fresh = not arena.calls
        try:
            result = self._call(arena, index, args, out, times)
        except Exception as error:
            self._release(arena, times)
            if is_fresh or not isinstance(error.__cause__, OutOfMemory):
                raise
        else:
            self._release(arena, times)
            return result
        # An arena's memory may be taken by what was prepared for other calls.
        del arena
        self.forget()
        return self._retry(index, args, out)

    @contextmanager
    def profile(self, clock: Clock = perf_counter_ns) -> Generator[Profile]:
        """
        Measure all calls that begin within the context, in any thread.

        `clock` counts nanoseconds. Raises `MachineError` if another profile is active.
        """
        from .profiling.profiler import Profile

        profile = Profile(self.program, clock)
        with self._lock:
            if self._profile is not None:
                raise MachineError("another profile of this program is active")
            self._profile = profile
        try:
            yield profile
        finally:
            self._profile = None
            self._measured.clear()

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
        arena = self._acquire()
        try:
            self._root(self._entry(arena, index, values).frame)
            arena.settle()
        finally:
            self._release(arena)

    def _index(self, function: str) -> int:
        index = self._functions.get(function)
        if index is None:
            defined = ", ".join(self._functions)
            raise MachineError(f"unknown function {function} (defined: {defined})")
        return index

    def _acquire(self, times: CallProfile | None = None) -> Arena:
        """
        Return an arena that no other call uses, of the idle ones that which was used last.

        Calls whose `times` are measured have arenas of their own.
        """
        try:
            return (self._idle if times is None else self._measured).pop()
        except IndexError:
            reuses = not self._context.has_references
            return Arena(self.memory, len(self.program.devices), reuses)

    def _release(self, arena: Arena, times: CallProfile | None = None) -> None:
        idle = self._idle if times is None else self._measured
        idle.append(arena)
        if len(idle) > MAX_IDLE:
            del idle[:1]

    def forget(self) -> None:
        """Discard what was prepared for later calls, and its memory."""
        self._idle.clear()
        gc.collect()

    def _retry(self, index: int, args: Sequence[object], out: Value | None) -> Value:
        """Call function `index` in a new arena."""
        arena = self._acquire()
        result = self._call(arena, index, args, out)
        self._release(arena)
        return result

    def _call(
        self,
        arena: Arena,
        index: int,
        args: Sequence[object],
        out: Value | None,
        times: CallProfile | None = None,
    ) -> Value:
        """Call function `index` in `arena`."""
        try:
            entry = arena.recent(index, args)
        except OutOfMemory as error:
            raise self._no_room(index, error) from error
        if entry is not None:
            for target, arg in zip(entry.inputs, args, strict=True):
                target[...] = arg
        else:
            values = self._flattened(index, args)
            entry = self._entry(arena, index, values)
            arrays = (array for value in values for array in value.arrays)
            for target, array in zip(entry.inputs, arrays, strict=True):
                target[...] = array
        if entry.frame.guard is not None:
            entry.frame.guard.begin()
        executed: list[Counters] = []
        settings = float_errors.ignore()
        result = None
        try:
            if times is not None:
                times.transferred()
            result = self._execute(entry.frame, executed, times)
            if times is not None:
                times.returned()
            if out is not None:
                return store(result, out)
            if type(result) is Tensor and result.array.nbytes <= SMALL_RESULT:
                return np.array(result.array)
            return copy_out(result, Owner(self.memory))
        except OutOfMemory as error:
            name = self.program.functions[index].name
            raise MachineError(f"the result of {name}: {error}") from error
        except StaysInsideError as error:
            function = self.program.functions[index]
            error.location = function.location(len(function.instructions) - 1)
            raise
        finally:
            if times is not None:
                times.end(result is not None)
            float_errors.restore(settings)
            self._note(executed)
            arena.settle()

    def _flattened(self, index: int, args: Sequence[object]) -> list[FlatValue]:
        values: list[FlatValue] = []
        for number, arg in enumerate(args):
            try:
                values.append(flatten(arg))
            except MachineError as error:
                raise MachineError(f"{self._parameter(index, number)}: {error}") from error
        return values

    def _parameter(self, index: int, number: int) -> str:
        """Return what argument `number` of function `index` is called in errors."""
        function = self.program.functions[index]
        if number >= len(function.params):
            return f"argument {number} of {function.name}"
        return f"parameter '{function.params[number].name}' of {function.name}"

    def _entry(self, arena: Arena, index: int, values: Sequence[FlatValue]) -> Entry:
        """Return what is prepared in `arena` for calls of function `index` with such arguments."""
        key = (index, tuple(value.structure for value in values))
        try:
            found = arena.find(key)
            if found is None:
                self._check(index, values)
                found = self._prepared(arena, index, values, key)
                arena.add(found)
        except OutOfMemory as error:
            raise self._no_room(index, error) from error
        return found

    def _no_room(self, index: int, error: OutOfMemory) -> MachineError:
        return MachineError(f"the arguments of {self.program.functions[index].name}: {error}")

    def _check(self, index: int, values: Sequence[FlatValue]) -> None:
        """Raise `MachineError` if arguments like `values` do not fit function `index`."""
        function = self.program.functions[index]
        homes = [param.device for param in function.params]
        homes += [0] * (len(values) - len(homes))
        args = (
            built(value.structure, home, stand_in)[0]
            for value, home in zip(values, homes, strict=False)
        )
        check_arguments(self.program, function, tuple(args))
        for number, value in enumerate(values):
            for item in value.structure:
                if isinstance(item, Leaf) and not has_element_type(item.dtype):
                    type = spec_of(stand_in(item))
                    name = self._parameter(index, number)
                    raise MachineError(f"{name} has unsupported type {type}")

    def _prepared(
        self, arena: Arena, index: int, values: Sequence[FlatValue], key: object
    ) -> Entry:
        """Return a new entry for arguments like `values`: its memory starts with their copies."""
        params = self.program.functions[index].params
        spaces, workspace = arena.spaces(), arena.workspace()
        args: list[Object] = []
        inputs: list[Array] = []
        for param, value in zip(params, values, strict=True):
            space = spaces[param.device]

            def allocate(leaf: Leaf, space: Space = space) -> Array:
                size = prod(leaf.shape) * leaf.dtype.itemsize
                _, memory = space.take(size, ALIGNMENT, f"{leaf.dtype}{list(leaf.shape)}")
                return memory.view(leaf.dtype).reshape(leaf.shape)

            arg, arrays = built(value.structure, param.device, allocate)
            args.append(arg)
            inputs += arrays
        guard = self._sanitizer()
        base, size = (0,) * len(spaces), TraceSize()
        frame = Frame(index, tuple(args), spaces, workspace, base, size, guard=guard)
        tensors = [value.structure[0] for value in values]
        types = [item for item in tensors if isinstance(item, Leaf)]
        extents = (*(space.extent for space in spaces), workspace.extent)
        simple = types if len(types) == len(values) else None
        return Entry(key, index, frame, inputs, simple, extents)

    def _sanitizer(self) -> Sanitizer | None:
        if not self._sanitize:
            return None
        from .sanitizing.sanitizer import Sanitizer

        return Sanitizer()

    def _root(self, frame: Frame, times: CallProfile | None = None) -> Segment:
        if frame.root is None:
            recorder = Recorder(self._context, State.entry(frame), 0, {})
            frame.root = recorder.record() if times is None else times.record(recorder)
        return frame.root

    def _execute(self, frame: Frame, executed: list[Counters], times: CallProfile | None) -> Object:
        """
        Run `frame` to its end; append the counters of each executed segment to `executed`.

        `times` measures it, if a profile is active.
        The callers' segments are kept on an explicit stack.
        """
        callers: list[Segment] = []
        stack, depth = Stack(self.memory), 0
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
                self._note(executed.copy())
                executed.clear()
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
                    segment = self._successor(segment, end.decision, times, end, kept)
                case Call():
                    callers.append(segment)
                    depth += segment.trace_size + ACTIVATION_SIZE
                    if depth > stack.size:
                        self._extend(stack, segment, len(callers))
                    segment = self._root(end.callee, times)
                case TailCall():
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
            raise self._fault(segment, error) from error

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
        returned: Return | None = None,
        kept: Kept | None = None,
    ) -> Segment:
        """
        Return the segment that follows `segment` on decision `key`; record it the first time.

        After a call, `kept` is what the result `returned` keeps alive, if that is known.
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
                assert returned is not None, "a call returns"
                if end.callee.unwritten:
                    state.wrote_in(returned.result, end.callee)
                state.receive(end.dst, returned.result, kept, returned.spaces)
                pc = end.pc
            case Contents():
                assert isinstance(key, Object), "a reference is created with contents"
                state.write(end.dst, key)
                pc = end.pc
            case _:
                assert isinstance(end, Jump)
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
