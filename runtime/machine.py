"""
Run programs.

    machine = Machine(program, weights)
    (y,) = machine.run("main", x)

A call copies its arguments into a prepared frame, runs the callables that were bound to the
frame's arrays when it was prepared, and copies the results out. Frames are kept for later calls
with arguments of the same types; each serves one thread at a time, so a machine may be used from
several. Devices other than the host are simulated: memory on each is its own, and what does not
respect that is an error.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock

import numpy as np

from .arena import Arena
from .checking import check_program
from .counters import Counters
from .dtypes import has_element_type
from .errors import MachineError
from .kernels.bind import Bind
from .kernels.loading import load_kernels
from .kernels.scratch import Workspace
from .objects import Closure, Data, Object, Storage, Tensor, tensors_in
from .paths import Branch, Call, Decision, Extent, Frame, Known, Read, Return, Segment, State
from .program import Array, Late, Program, spec_of
from .recording import Context, Recorder, check_arguments, fits
from .values import Value, as_value, fetch, leaves, place, signature, store

MAX_EXTENT = 1 << 22
"""A frame stops remembering paths when they take more words than this, then forgets them."""
MAX_SIGNATURES = 16
"""The number of argument types for which a machine keeps frames."""


def _constants(program: Program, given: Mapping[str, Array]) -> list[Array]:
    missing = [late.name for late in program.late_constants if late.name not in given]
    if missing:
        raise MachineError(f"no value for the program's constants {', '.join(missing)}")
    constants: list[Array] = []
    for constant in program.constants:
        array = given[constant.name] if isinstance(constant, Late) else constant
        name = f"constant '{constant.name}'" if isinstance(constant, Late) else "a constant"
        if isinstance(constant, Late) and not fits(constant.spec, array):
            raise MachineError(f"{name} must be {constant.spec}, but is {spec_of(array)}")
        if not has_element_type(array.dtype):
            raise MachineError(f"{name} has element type {array.dtype}")
        frozen = np.ascontiguousarray(array).reshape(array.shape).view()
        frozen.flags.writeable = False
        constants.append(frozen)
    return constants


class Machine:
    """
    A program ready to run, and `counters` of what it did.

    `constants` are the values of the program's late-bound constants, by name; they are not
    copied, and must not change. `kernels` default to those of all installed packages.
    Raises `MachineError` when the program refers to things that do not exist.
    """

    def __init__(
        self,
        program: Program,
        constants: Mapping[str, Array] | None = None,
        kernels: Mapping[str, Bind] | None = None,
    ) -> None:
        check_program(program)
        self.program = program
        self.counters = Counters()
        binds = load_kernels() if kernels is None else kernels
        self._context = Context(program, _constants(program, constants or {}), binds)
        self._functions = {f.name: i for i, f in enumerate(program.functions)}
        self._idle: OrderedDict[object, list[Frame]] = OrderedDict()
        self._lock = Lock()

    def run(self, function: str = "main", *args: object) -> list[Array]:
        """
        The tensors of `function`'s result on `args`, those of tuples and data depth first.

        Arguments are arrays (or what NumPy makes arrays of), tuples, or `values.Tagged` data.
        Raises `MachineError` when they do not fit the parameters or the program is at fault.
        """
        return list(leaves(self.evaluate(function, *args)))

    def evaluate(self, function: str = "main", *args: object) -> Value:
        """As `run`, the result in its structure: an array, a tuple or data."""
        index = self._index(function)
        values = [as_value(arg) for arg in args]
        key = (index, tuple(map(signature, values)))
        frame = self._take(key)
        try:
            if frame is None:
                frame = self._enter(index, values)
            for to, value in zip(frame.args, values, strict=True):
                store(to, value)
            counters = Counters()
            with np.errstate(all="ignore"):
                result = self._execute(frame, counters)
            outcome = fetch(result)
            with self._lock:
                self.counters.add(counters)
            return outcome
        finally:
            if frame is not None:
                self._give(key, frame)

    def prepare(self, function: str = "main") -> None:
        """
        Do what can be done before the first call: `MachineError` for faults on the way to the
        first decision. Functions whose parameters have no static type are left alone.
        """
        index = self._index(function)
        params = self.program.functions[index].params
        shapes: list[Array] = []
        for param in params:
            if param.spec is None or not param.spec.is_static:
                return
            shape = tuple(dim for dim in param.spec.shape if dim is not None)
            shapes.append(np.empty(shape, param.spec.dtype))
        key = (index, tuple(map(signature, shapes)))
        frame = self._take(key) or self._enter(index, shapes)
        self._root(frame)
        self._give(key, frame)

    def _index(self, function: str) -> int:
        index = self._functions.get(function)
        if index is None:
            raise MachineError(f"there is no function {function}, only {list(self._functions)}")
        return index

    def _enter(self, index: int, values: Iterable[Value]) -> Frame:
        """A new frame for a call with arguments like `values`."""
        function, devices = self.program.functions[index], self.program.devices
        given = list(values)
        homes = [param.device for param in function.params]
        homes += [0] * (len(given) - len(homes))
        args = tuple(place(value, home) for value, home in zip(given, homes, strict=False))
        check_arguments(self.program, function, args)
        for tensor in tensors_in(args) or ():
            if not has_element_type(tensor.array.dtype):
                raise MachineError(f"an argument of {function.name} is {spec_of(tensor.array)}")
        arenas = tuple(Arena(device) for device in devices)
        return Frame(index, args, arenas, Workspace(), (0,) * len(devices), Extent())

    def _take(self, key: object) -> Frame | None:
        with self._lock:
            frames = self._idle.get(key)
            return frames.pop() if frames else None

    def _give(self, key: object, frame: Frame) -> None:
        if frame.extent.size > MAX_EXTENT:
            frame.root, frame.extent.size = None, 0
        with self._lock:
            self._idle.setdefault(key, []).append(frame)
            self._idle.move_to_end(key)
            if len(self._idle) > MAX_SIGNATURES:
                self._idle.popitem(last=False)

    def _root(self, frame: Frame) -> Segment:
        if frame.root is None:
            frame.root = Recorder(self._context, State.entry(frame), 0, {}).record()
        return frame.root

    def _execute(self, frame: Frame, counters: Counters) -> Object:
        """Run `frame` to its end, with a stack of the callers' segments."""
        callers: list[Segment] = []
        segment = self._root(frame)
        while True:
            step = None
            try:
                for step in segment.steps:
                    step()
            except Exception as error:  # a kernel's, perhaps a plug-in's
                raise self._fault(segment, step, error) from error
            counters.add(segment.counters)
            end = segment.end
            match end:
                case Return():
                    if not callers:
                        return end.result
                    segment = self._successor(callers.pop(), end.result)
                case Call():
                    callers.append(segment)
                    segment = self._root(end.callee)
                case Branch():
                    segment = self._successor(segment, end.test())
                case Read():
                    key = tuple(tensor.array.tobytes() for tensor in end.tensors)
                    segment = self._successor(segment, key)
                case _:
                    segment = self._successor(segment, None)

    def _successor(self, segment: Segment, key: Decision) -> Segment:
        """The segment after `segment` when its decision is `key`; recorded the first time."""
        found = segment.successors.get(key)
        if found is not None:
            return found
        state, end = segment.state.copy(), segment.end
        known: Known = {}
        match end:
            case Branch():
                pc = end.when_true if key else end.when_false
            case Read():
                pc = end.pc
                known = {tensor: tensor.array.copy() for tensor in end.tensors}
            case Call():
                assert isinstance(key, Storage | Tensor | Data | Closure)
                state.write(end.dst, key)
                pc = end.pc
            case _:
                assert not isinstance(end, Return)
                pc = end.pc
        found = Recorder(self._context, state, pc, known).record()
        if segment.frame.extent.size <= MAX_EXTENT:
            segment.successors[key] = found
        return found

    def _fault(self, segment: Segment, step: object, error: Exception) -> MachineError:
        function = self.program.functions[segment.frame.function]
        pc = next(pc for s, pc in zip(segment.steps, segment.pcs, strict=True) if s is step)
        instruction = function.instructions[pc]
        name = getattr(instruction, "kernel", None)
        what = f" {self.program.kernels[name].name}" if isinstance(name, int) else ""
        return MachineError(f"{function.name}[{pc}]{what}: {type(error).__name__}: {error}")
