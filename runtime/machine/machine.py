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
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from copy import copy
from dataclasses import replace
from math import inf
from threading import Lock
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any
from weakref import WeakMethod

import numpy as np

from ..calls.call_arguments import check_structures, flattened, new_entry
from ..calls.values import (
    FlatValue,
    Leaf,
    StaysInsideError,
    Value,
    copied,
    copy_out,
    devices_of,
    leaves,
    object_of,
    store,
)
from ..errors import MachineError
from ..kernels.bind import Bind
from ..kernels.loading import kernels_of
from ..memory.arena import Arena, Entry, max_trace_size
from ..memory.limits import SMALL_RESULT, Memory, OutOfMemory, Owner
from ..observe.counters import Counters, Counting
from ..observe.observer import Observer, Poison
from ..program.checking import check_program
from ..program.dtypes import element_type
from ..program.objects import Tensor
from ..program.program import Array, Program
from ..templates.table import Pending, Templates
from .context import Context
from .execution import Executor, Running
from .paths import Decision, TailCall

if TYPE_CHECKING:
    from ..native.compiled_kernels import NativeLibrary
    from ..observe.call_times import Clock
    from ..observe.profiler import Profile

MAX_IDLE = max(8, os.cpu_count() or 1)
"""Number of arenas that are kept for later calls."""


def _check_bound(name: str, bound: object) -> None:
    """Raise `MachineError` unless the bound `name` is a natural number or None."""
    if bound is None or (isinstance(bound, int) and not isinstance(bound, bool) and bound >= 0):
        return
    raise MachineError(f"{name} must be an integer of at least 0, but got {bound!r:.80}")


def _float_errors() -> tuple[Callable[[], Any], Callable[[Any], object]]:
    """
    Return functions that ignore floating-point errors, and restore the settings before.

    Like `numpy.errstate(all="ignore")`, in a tenth of the time. NumPy keeps its settings in a
    context variable, which is identified by changing them in a copy of the context.
    """
    context = copy_context()
    before = dict(context)
    context.run(np.seterr, all="ignore")
    changed = [(var, value) for var, value in context.items() if before.get(var) is not value]
    if len(changed) != 1:  # NumPy keeps its settings elsewhere
        return lambda: np.seterr(all="ignore"), lambda old: np.seterr(**old)
    (variable, value) = changed[0]
    return lambda: variable.set(value), variable.reset


_ignore, _restore = _float_errors()


class _Weakly:
    """
    Call a method of a machine, if it is still alive.

    The memory, as long as bytes are charged to it, and the context must not keep the machine alive.
    """

    __slots__ = ("_method",)

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = WeakMethod(method)

    def __call__(self, *args: object) -> Any:
        method = self._method()
        return None if method is None else method(*args)


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

    The compiled kernels of `native` run in place of `kernels` of the same names.

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
        native: NativeLibrary | None = None,
    ) -> None:
        _check_bound("memory_limit", memory_limit)
        _check_bound("max_instructions", max_instructions)
        check_program(program)
        self.program = program
        self.memory = Memory(memory_limit, poison or sanitize) if memory is None else memory
        """The memory limit, and how much of it is in use."""
        self._counting = Counting()
        operators = (step.op for kernel in program.kernels for step in kernel.steps)
        binds = kernels_of(operators) if kernels is None else kernels
        self.memory.reclaim = _Weakly(self.forget)
        observers: list[Observer] = [Poison()] if self.memory.poison else []
        if sanitize:
            from ..observe.sanitizer import Sanitizer

            observers = [Sanitizer(self.memory)]
        self._context = Context.of(program, constants or {}, binds, self.memory, native, observers)
        self._context.jump = _Weakly(self._jump)
        self._executor = Executor(self._context, max_instructions, max_trace_size(self.memory))
        self.templates = Templates(self._context)
        """The functions of recorded paths, for calls with other sizes."""
        self._max_instructions = inf if max_instructions is None else max_instructions
        self._functions = {f.name: i for i, f in enumerate(program.functions)}
        self._idle: list[Arena] = []
        self._measured: Machine | None = None
        """The machine that runs calls while a profile is active."""
        self._lock = Lock()

    @property
    def counters(self) -> Counters:
        """Statistics of all runs so far."""
        return self._counting.total()

    @property
    def idle(self) -> Sequence[Arena]:
        """The arenas that are kept for later calls, the most recently used last."""
        return self._idle

    @property
    def held(self) -> list[int]:
        """Bytes that are kept for later calls, by device; calls that run now not included."""
        each = [arena.held for arena in self._idle]
        return [sum(arena[device] for arena in each) for device in range(len(self.program.devices))]

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
        caches = self.program.functions[index].caches
        if caches:
            from ..calls.lent_caches import lent, require_apart

            require_apart(self.program.functions[index], args)
            result = self._evaluate(index, args, out)
            return lent(self.program.functions[index], args, result, out is None)
        return self._evaluate(index, args, out)

    def _evaluate(self, index: int, args: Sequence[object], out: Value | None) -> Value:
        if (measured := self._measured) is not None:  # another thread may end the profile
            return measured._evaluate(index, args, out)
        arena = self._acquire()
        is_fresh = not arena.calls
        observers = self._context.observers
        for observer in observers:
            observer.begin(self.program.functions[index].name)
        running = Running(self._counting, self._max_instructions)
        try:
            result = self._run(arena, Pending(index, args), running, out, False)
        except Exception as error:
            self._release(arena)
            if is_fresh or not isinstance(error.__cause__, OutOfMemory):
                raise
        else:
            self._release(arena)
            return result
        finally:
            running.end()
            for observer in observers:
                observer.end()
        # An arena's memory may be taken by what was prepared for other calls.
        del arena
        self.forget()
        return self._evaluate(index, args, out)

    @contextmanager
    def profile(self, clock: Clock = perf_counter_ns) -> Generator[Profile]:
        """
        Measure all calls that begin within the context, in any thread.

        `clock` counts nanoseconds. Raises `MachineError` if another profile is active.
        """
        from ..observe.profiler import Profile

        profile = Profile(self.program, clock)
        with self._lock:
            if self._measured is not None:
                raise MachineError("another profile of this program is active")
            self._measured = self._observed_by(profile)
        try:
            yield profile
        finally:
            self._measured = None

    def _observed_by(self, observer: Observer) -> Machine:
        """Return a machine that shares all but recorded paths, which `observer` sees, too."""
        context = self._context
        observed = copy(self)
        observed._context = replace(context, observers=(*context.observers, observer))
        observed._context.jump = _Weakly(observed._jump)
        observed._executor = replace(self._executor, context=observed._context)
        observed.templates = self.templates.again(observed._context)
        observed._idle = []
        return observed

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
            leaf = Leaf(element_type(param.spec.dtype), param.spec.dims)
            values.append(FlatValue((leaf,), []))
        arena = self._acquire()
        try:
            self._executor.root(self._entry(arena, index, values).frame)
            arena.settle()
        finally:
            self._release(arena)

    def _index(self, function: str) -> int:
        index = self._functions.get(function)
        if index is None:
            defined = ", ".join(self._functions)
            raise MachineError(f"unknown function {function} (defined: {defined})")
        return index

    def _acquire(self) -> Arena:
        """Return an arena that no other call uses: the idle one used last, or a new one."""
        try:
            return self._idle.pop()
        except IndexError:
            reuses = not self._context.has_references
            return Arena(self.memory, len(self.program.devices), reuses)

    def _release(self, arena: Arena) -> None:
        self._idle.append(arena)
        if len(self._idle) > MAX_IDLE:
            del self._idle[:1]

    def forget(self) -> None:
        """Discard what was prepared for later calls, and its memory."""
        self._idle.clear()
        if (measured := self._measured) is not None:
            measured._idle.clear()
        gc.collect()

    def _jump(self, index: int, args: Sequence[Value], running: Running) -> Value:
        """Return the result of a call that runs in place of an activation, in another arena."""
        arena = self._acquire()
        running.depth += 1
        try:
            result = self._run(arena, Pending(index, args, True), running, None, True)
        finally:
            running.depth -= 1
        self._release(arena)
        return result

    def _run(
        self, arena: Arena, call: Pending, running: Running, out: Value | None, stays: bool
    ) -> Value:
        """
        Run `call`, and the tail calls that replace it, by templates and recorded paths.

        The result may have closures if it `stays` in the machine.
        """
        settings = _ignore()
        try:
            while True:
                if call.function in self.templates.by_function:
                    ran = self.templates.run(arena.bound, call, running)
                    if not isinstance(ran, Pending):
                        return ran if out is None else store(object_of(ran), out)
                    call = ran
                result = self._recorded(arena, call, running, out, stays)
                if not isinstance(result, Pending):
                    return result
                call = result
        finally:
            _restore(settings)
            arena.settle()

    def _recorded(
        self, arena: Arena, call: Pending, running: Running, out: Value | None, stays: bool
    ) -> Value | Pending:
        """Run `call` on a recorded path, which may get a template."""
        function, args = self.program.functions[call.function], call.args
        entry = arena.entry(call.function)
        decisions: list[Decision] | None = None
        arrays: Sequence[Any] = args
        try:
            if entry is not None and entry.accepts(args):
                arena.use(entry)
            else:
                decisions = []
                values = flattened(function, args, self.memory.limit)
                entry = self._entry(arena, call.function, values)
                arrays = [array for value in values for array in value.arrays]
        except OutOfMemory as error:
            raise MachineError(f"the arguments of {function.name}: {error}") from error
        for target, array in zip(entry.inputs, arrays, strict=True):
            target[...] = array
        try:
            result = self._executor.execute(entry.frame, running, decisions)
            jumps = isinstance(result, TailCall)
            if decisions is not None:
                self.templates.learn(call, decisions, jumps)
            if jumps:
                callee = result.callee
                return Pending(callee.function, self._executor.values(callee.args), True)
            if out is not None:
                return store(result, out)
            if type(result) is Tensor and result.array.nbytes <= SMALL_RESULT and not stays:
                return copied(result.array)
            if stays:
                running.devices = devices_of(result)
            return copy_out(result, Owner(self.memory), stays=stays)
        except OutOfMemory as error:
            raise MachineError(f"the result of {function.name}: {error}") from error
        except StaysInsideError as error:
            error.location = function.location(len(function.instructions) - 1)
            raise

    def _entry(self, arena: Arena, index: int, values: Sequence[FlatValue]) -> Entry:
        """Return what is prepared in `arena` for calls of function `index` with such arguments."""
        entry = arena.entry(index)
        if entry is None or entry.key != [value.structure for value in values]:
            check_structures(self.program, self.program.functions[index], values)
            entry = new_entry(self.program, arena, index, values)
        arena.use(entry)
        return entry
