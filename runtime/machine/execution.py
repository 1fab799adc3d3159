"""
Execute prepared calls: run the recorded segments of a path, and record those that are new.

    segment 0 -- Branch, True --> segment 1 -- Call --> segment 0 of the callee ...
              -- Branch, False -> recorded when a call first decides so
"""

from __future__ import annotations

from collections.abc import Sequence

from ...operators.records import record
from ..calls.values import Value, allocated, built, copy_out, flatten, placed
from ..errors import MachineError, described
from ..memory.limits import OutOfMemory, Owner, Stack
from ..observe.counters import Countable, Counting, Runs, Sizes
from ..program.objects import Object
from ..program.program import Array
from .context import Context
from .paths import (
    Branch,
    Call,
    Contents,
    Decision,
    End,
    Frame,
    Jump,
    Kept,
    Known,
    Read,
    Return,
    Segment,
    State,
    TailCall,
)
from .recording import Recorder, fault

STACK_SIZE = 1 << 20
"""Bytes by which the call stack grows."""
ACTIVATION_SIZE = 4096
"""Approximate bytes of an activation, besides its current segment."""
MAX_DEPTH = 32
"""Limit on the loops of tail calls within each other, which use Python's stack: others nest."""
MAX_UNCOUNTED = 1024
"""Number of executed segments of a call whose counters may be pending."""


def resume(
    state: State,
    end: End,
    key: Decision,
    values: Sequence[Array] = (),
    returned: Return | None = None,
    kept: Kept | None = None,
) -> tuple[int, Known]:
    """
    Change `state`, at the `end` of a segment, to the one after decision `key`.

    Returns where the path continues, and the values that the instruction there needs. `values` are
    those that were read. After a call, `kept` is what the result `returned` keeps alive, if that
    is known.
    """
    known: Known = {}
    match end:
        case Branch():
            return end.when_true if key else end.when_false, known
        case Read():
            for tensor, elements in zip(end.tensors, values, strict=True):
                table = known if tensor.source is None else state.known
                table[tensor] = elements
        case Call():
            assert returned is not None, "a call returns"
            if end.callee.unwritten:
                state.wrote_in(returned.result, end.callee)
            state.receive(end.dst, returned.result, kept, returned.spaces)
        case Contents():
            assert isinstance(key, Object), "a reference is created with contents"
            state.write(end.dst, key)
        case _:
            assert isinstance(end, Jump)
    return end.pc, known


class Running:
    """A call, of which `left` more instructions may be executed; hands counters to `counting`."""

    __slots__ = ("counting", "depth", "devices", "executed", "left")

    def __init__(self, counting: Counting, left: float) -> None:
        self.counting = counting
        self.left = left
        self.depth = 0
        """The number of loops of tail calls within each other that run."""
        self.devices: Sequence[int] = ()
        """Those of the tensors in the result of the last loop."""
        self.executed: list[Runs] = []

    def note(self, item: Countable, length: int, sizes: Sizes = (), times: int = 1) -> None:
        """Note that a segment or a template of this `length` has run."""
        self.left -= length * times
        self.executed.append((item, sizes, times))
        if len(self.executed) > MAX_UNCOUNTED:
            self.end()

    def end(self) -> None:
        """Hand over the counters."""
        self.counting.note(self.executed)
        self.executed = []


@record(eq=False)
class Executor:
    """
    Executes calls in prepared frames.

    Paths are kept until those of a frame and its callees take `max_trace_size` bytes.
    """

    context: Context
    max_instructions: int | None
    max_trace_size: int

    def root(self, frame: Frame) -> Segment:
        """Return the first segment of `frame`; record it the first time."""
        if frame.root is None:
            frame.root = self._record(State.entry(frame), 0, {})
        return frame.root

    def _record(self, state: State, pc: int, known: Known) -> Segment:
        return Recorder(self.context, state, pc, known).record()

    def execute(
        self, frame: Frame, running: Running, decisions: list[Decision] | None = None
    ) -> Object | TailCall:
        """
        Run `frame`, a part of the call `running`; return its result, or the call in its place.

        What depends on data is appended to `decisions`. The callers' segments are kept on an
        explicit stack.
        """
        callers: list[Segment] = []
        stack, depth = Stack(self.context.memory), 0
        segment = self.root(frame)
        while True:
            thunk = None
            try:
                for thunk in segment.steps:
                    thunk()
            except Exception as error:  # of a kernel, possibly a plug-in's
                raise self._kernel_fault(segment, thunk, error) from error
            running.note(segment.counters, segment.length)
            if running.left < 0:
                limit = f"{self.max_instructions} instructions (--max-instructions)"
                raise self._fault(segment, MachineError(f"exceeded the limit of {limit}"))
            end = segment.end
            match end:
                case Return():
                    kept, end.kept = end.kept, None
                    if not callers:
                        return end.result
                    segment = callers.pop()
                    depth -= segment.trace_size + ACTIVATION_SIZE
                    segment = self._successor(segment, end.decision, end, kept)
                case TailCall() if not callers or running.depth < MAX_DEPTH:
                    running.note(end.rest, end.length)
                    for observer in self.context.observers:
                        observer.jumps()
                    if not callers:
                        return end
                    segment = callers.pop()
                    depth -= segment.trace_size + ACTIVATION_SIZE
                    frame = end.callee
                    value = self.context.jump(frame.function, self.values(frame.args), running)
                    segment = self._received(segment, value, running, decisions)
                case Call():
                    callers.append(segment)
                    depth += segment.trace_size + ACTIVATION_SIZE
                    if depth > stack.size:
                        self._extend(stack, segment, len(callers))
                    segment = self.root(end.callee)
                case Branch() | Read():
                    key = end.decide()
                    if decisions is not None:
                        decisions.append(key)
                    segment = self._successor(segment, key)
                case Contents():
                    segment = self._successor(segment, end.ref.contents)
                case _:
                    segment = self._successor(segment, None)

    def values(self, args: Sequence[Object]) -> list[Value]:
        """Return copies of arguments."""
        owner = Owner(self.context.memory)
        return [copy_out(arg, owner, stays=True) for arg in args]

    def _received(
        self, caller: Segment, value: Value, running: Running, decisions: list[Decision] | None
    ) -> Segment:
        """Return the segment after the call at the end of `caller`, whose result is `value`."""
        flat, end = flatten(value), caller.end
        structure = placed(flat.structure, running.devices)
        if decisions is not None:
            decisions.append(structure)
        successor = caller.successors.get(structure)
        if successor is None:
            assert isinstance(end, Call), "it is a caller"
            assert caller.state is not None, "it continues"
            state = caller.state.copy()
            result, inputs = built(
                structure, lambda leaf: allocated(leaf, leaf.device, state.spaces[leaf.device])
            )
            state.write(end.dst, result)
            successor = self._record(state, end.pc, {})
            successor.inputs = inputs
            self._keep(caller, structure, successor)
        for target, array in zip(successor.inputs, flat.arrays, strict=True):
            target[...] = array
        return successor

    def _extend(self, stack: Stack, segment: Segment, calls: int) -> None:
        """Reserve memory for the call that `segment` makes, or fail at that call."""
        try:
            size = max(STACK_SIZE, segment.trace_size + ACTIVATION_SIZE)
            stack.reserve(size, f"the stack of {calls} nested calls")
        except OutOfMemory as error:
            raise self._fault(segment, error) from error

    def _fault(self, segment: Segment, error: Exception) -> MachineError:
        """Return `error` as an error at the end of `segment`."""
        return fault(self.context.program.functions[segment.frame.function], segment.pc, error)

    def _successor(
        self,
        segment: Segment,
        key: Decision,
        returned: Return | None = None,
        kept: Kept | None = None,
    ) -> Segment:
        """
        Return the segment that follows `segment` on decision `key`; record it the first time.

        After a call, `kept` is what the result `returned` keeps alive, if that is known.
        """
        successor = segment.successors.get(key)
        if successor is not None:
            return successor
        assert segment.state is not None, "nothing follows a return"
        state, end = segment.state.copy(), segment.end
        values = [tensor.array.copy() for tensor in end.tensors] if isinstance(end, Read) else ()
        pc, known = resume(state, end, key, values, returned, kept)
        successor = self._record(state, pc, known)
        self._keep(segment, key, successor)
        return successor

    def _keep(self, segment: Segment, key: Decision, successor: Segment) -> None:
        if segment.frame.trace_size.size <= self.max_trace_size:
            segment.successors[key] = successor

    def _kernel_fault(self, segment: Segment, thunk: object, error: Exception) -> MachineError:
        """Return the `error` of a callable in `segment` as an error at its instruction."""
        function = self.context.program.functions[segment.frame.function]
        origins = zip(segment.steps, segment.origins, strict=True)
        pc, step = next(origin for made, origin in origins if made is thunk)
        kernel = getattr(function.instructions[pc], "kernel", None)
        name = f" {self.context.program.kernels[kernel].name}" if isinstance(kernel, int) else ""
        location, notes = step and step.location, ()
        if isinstance(error, MachineError):
            location, notes = error.location or location, error.notes
        return fault(function, pc, MachineError(described(error), location, notes), name)
