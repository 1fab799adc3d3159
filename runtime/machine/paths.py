"""
Paths through a function: the state at each point, and the recorded segments between decisions.

An activation of a function follows one path. Everything the machine decides before running
(memory, kernels and their arrays) depends on the path alone, so it is decided once per path
and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...operators.records import record
from ...operators.sizes import maximum
from ..calls.values import Structure
from ..errors import MachineError
from ..kernels.bind import Thunk
from ..memory.gaps import cut, meets
from ..memory.scratch import Workspace
from ..memory.spaces import Space
from ..observe.counters import Counters
from ..program.objects import Object, Ref, Storage, Tensor, birth
from ..program.program import Array, Step
from .reference_counts import ReferenceCounts

SEGMENT_SIZE, STATE_SIZE, FRAME_SIZE, HELD_SIZE = 1024, 2048, 1024, 100
"""Approximate bytes of a segment, its state, the frame that it calls, and each item held."""


@record
class Dead:
    """The content of a killed register: the number of the instruction that killed it."""

    killer: int


class KilledRegister(MachineError):
    """A register is read after instruction `killer` of the same function killed it."""

    def __init__(self, register: int, killer: int) -> None:
        super().__init__(f"register r{register} is read after instruction {killer} killed it")
        self.killer = killer


@dataclass(eq=False, slots=True)
class TraceSize:
    """Approximate bytes of the recorded paths of a frame and its callees."""

    size: int = 0


@dataclass(eq=False, slots=True)
class Frame:
    """
    The prepared activation of a function on given arguments: its memory and its paths.

    Used by one thread at a time. `base` is the number of live bytes of its callers, by device, and
    `spaces` are the bytes that these leave free.
    """

    function: int
    args: tuple[Object, ...]
    spaces: tuple[Space, ...]
    workspace: Workspace
    base: tuple[int, ...]
    trace_size: TraceSize
    root: Segment | None = None
    unwritten: dict[Object, list[int]] = field(default_factory=dict["Object", list[int]])
    """The bytes that its callers have not written in the storages that are its arguments."""
    is_nested: bool = False
    """True if it has a caller."""
    born: int = field(default_factory=birth)

    def owns(self, value: Object) -> bool:
        """
        Test whether this activation or a callee created `value`.

        Objects of its callers are kept alive by these.
        """
        return value.born > self.born


@dataclass(eq=False, slots=True)
class State:
    """
    A point of a path: registers, reference counts, live and free memory.

    `references` are the numbers of references to objects: from registers, and from live objects
    that this activation or a callee created.
    `unwritten` are the bytes (see `gaps`) of this activation's storages, and of those that it is
    lent, that the path has not written; other objects from other activations have none. Slices
    count as parts of the storage that was allocated. `with_unwritten` are the data and
    closures that contained such bytes when they were built. `known` are the sizes that the path
    has read, or that follow from these.
    """

    frame: Frame
    registers: dict[int, Object | Dead]
    references: ReferenceCounts
    spaces: tuple[Space, ...]
    live: list[int]
    peak: list[int]
    unwritten: dict[Object, list[int]] = field(default_factory=dict["Object", list[int]])
    with_unwritten: set[Object] = field(default_factory=set["Object"])
    known: Known = field(default_factory=dict["Tensor", "Array"])
    freed: list[Storage] | None = None
    """The storages that the current instruction has freed, if an observer is interested."""

    @staticmethod
    def entry(frame: Frame) -> State:
        """Return the state at the start of `frame`: its arguments are in the first registers."""
        spaces = tuple(space.copy() for space in frame.spaces)
        base = list(frame.base)
        state = State(frame, {}, ReferenceCounts(), spaces, base, list(base))
        for register, arg in enumerate(frame.args):
            state.write(register, arg)
        state.unwritten = {storage: list(gaps) for storage, gaps in frame.unwritten.items()}
        return state

    def copy(self) -> State:
        """Return a copy of the state, for another path from here."""
        return State(
            self.frame,
            dict(self.registers),
            self.references.copy(),
            tuple(space.copy() for space in self.spaces),
            list(self.live),
            list(self.live),
            {storage: list(gaps) for storage, gaps in self.unwritten.items()},
            set(self.with_unwritten),
            dict(self.known),
        )

    def read(self, register: int) -> Object:
        """Return the object in `register`; raise `MachineError` if it is empty."""
        value = self.registers.get(register)
        if value is None:
            raise MachineError(f"register r{register} is read before it is written")
        if isinstance(value, Dead):
            raise KilledRegister(register, value.killer)
        return value

    def write(self, register: int, value: Object) -> None:
        """Make `register` refer to `value`; free objects without references."""
        self.retain(value)
        old = self.registers.get(register)
        self.registers[register] = value
        if old is not None and not isinstance(old, Dead):
            self.release(old)

    def kill(self, register: int, killer: int) -> None:
        """Clear `register`."""
        old = self.read(register)
        self.registers[register] = Dead(killer)
        self.release(old)

    def retain(self, value: Object) -> None:
        if self.references.change(value, 1) == 1 and value.born > self.frame.born:
            self._retain_parts(value)

    def _retain_parts(self, value: Object) -> None:
        change, born = self.references.change, self.frame.born
        rest = [value]
        while rest:
            item = rest.pop()
            for part in item.parts:
                if change(part, 1) == 1 and part.born > born:
                    rest.append(part)
            if isinstance(item, Storage) and item.whole is None:
                device, live = item.device, self.live
                live[device] += item.size
                self.peak[device] = maximum(live[device], self.peak[device])

    def release(self, value: Object) -> None:
        if not self.references.change(value, -1) and value.born > self.frame.born:
            self._release_parts(value)

    def _release_parts(self, value: Object) -> None:
        change, born = self.references.change, self.frame.born
        rest = [value]
        while rest:
            item = rest.pop()
            for part in item.parts:
                if not change(part, -1) and part.born > born:
                    rest.append(part)
            if isinstance(item, Tensor):
                continue
            self.with_unwritten.discard(item)
            if isinstance(item, Storage) and item.whole is None:
                self.live[item.device] -= item.size
                self.unwritten.pop(item, None)
                self.spaces[item.device].give(item.at, item.size)
                if self.freed is not None:
                    self.freed.append(item)

    def leave(self, result: Object) -> Kept:
        """Clear all registers, and return what `result` keeps alive."""
        self.retain(result)
        for value in self.registers.values():
            if not isinstance(value, Dead):
                self.release(value)
        self.registers.clear()
        return Kept(self.references, tuple(self.live))

    def receive(
        self, register: int, result: Object, kept: Kept | None, spaces: tuple[Space, ...]
    ) -> None:
        """
        Make `register` refer to the `result` of a callee, which keeps `kept` alive.

        Takes over the counts of the callee, so that the cost does not depend on the size of the
        result: a recursive function may add to a long list at each level. `spaces` are what the
        callee left free.
        """
        self.spaces = tuple(space.copy() for space in spaces)
        if kept is None:
            self.write(register, result)
            return
        self.references = self.references.joined(kept.references)
        self.live = list(kept.live)
        self.peak = list(map(max, self.peak, self.live))
        old = self.registers.get(register)
        self.registers[register] = result
        if old is not None and not isinstance(old, Dead):
            self.release(old)

    def wrote(self, tensor: Tensor) -> None:
        """Mark all bytes of `tensor` as written."""
        if self.unwritten and (gaps := self.gaps_of(tensor)):
            cut(gaps, tensor.offset, tensor.offset + tensor.array.nbytes)

    def wrote_in(self, result: Object, callee: Frame) -> None:
        """Mark as written what `callee` has returned, which may be in storages that it was lent."""
        rest, seen = [result], {result}
        while rest:
            item = rest.pop()
            if isinstance(item, Tensor):
                self.wrote(item)
            elif isinstance(item, Storage):
                if gaps := self.gaps_of(item):
                    cut(gaps, item.start, item.stop)
            elif callee.owns(item):  # other data contains no unwritten bytes
                new = [part for part in item.parts if part not in seen]
                seen.update(new)
                rest += new

    def gaps_of(self, value: Storage | Tensor) -> list[int] | None:
        """Return the unwritten bytes of the storage that `value` is part of."""
        storage = value if isinstance(value, Storage) or not value.parts else value.parts[0]
        return self.unwritten.get(storage.root) if isinstance(storage, Storage) else None

    def has_unwritten(self, value: Object) -> bool:
        """Test whether `value` may contain unwritten bytes; exact except for data and closures."""
        if isinstance(value, Tensor):
            gaps = self.gaps_of(value)
            return bool(gaps) and meets(gaps, value.offset, value.offset + value.array.nbytes)
        if isinstance(value, Storage):
            gaps = self.gaps_of(value)
            return bool(gaps) and meets(gaps, value.start, value.stop)
        return value in self.with_unwritten


@record
class Kept:
    """The references to what a result keeps alive, its own included, and the live bytes."""

    references: ReferenceCounts
    live: tuple[int, ...]


@dataclass(eq=False, slots=True)
class Return:
    """
    End the activation with `result`; `kept` is for the caller that takes it.

    `decision` distinguishes what a caller has to know of the path that ends here.
    """

    result: Object
    kept: Kept | None
    spaces: tuple[Space, ...]
    decision: Decision


@record
class Branch:
    """Continue at `when_true` if `test()`, at `when_false` otherwise."""

    test: Callable[[], bool]
    when_true: int
    when_false: int

    def decide(self) -> Decision:
        return self.test()


@record
class Read:
    """Continue at `pc`, the instruction that needs them, with the values of `tensors`."""

    tensors: tuple[Tensor, ...]
    pc: int

    def decide(self) -> Decision:
        return tuple(tensor.array.tobytes() for tensor in self.tensors)


@record
class Call:
    """Run `callee`, then continue at `pc` with its result in `dst`."""

    callee: Frame
    dst: int
    pc: int


@record
class TailCall(Call):
    """
    A call that may run in place of this activation, given values.

    `rest` counts the instructions after it, of which there are `length`: they return its result.
    """

    rest: Counters
    length: int


@record
class Jump:
    """Continue at `pc`, at or before the current instruction."""

    pc: int


@record
class Contents:
    """Continue at `pc` with the contents of `ref` in `dst`."""

    ref: Ref
    dst: int
    pc: int


End = Return | Branch | Read | Call | TailCall | Jump | Contents
Decision = bool | tuple[bytes, ...] | Object | tuple[Object, object] | Structure | None
"""
A branch's outcome, the values read, the decision of a call's `Return`, the structure of the result
of tail calls, or the object that a reference held; None after a jump.
"""
Known = dict[Tensor, Array]
"""Values of tensors that the instruction at which a path continues needs."""


@dataclass(eq=False, slots=True)
class Segment:
    """
    A stretch of a path without decisions, `length` instructions long.

    `origins` are, for each of `steps`, its instruction and its step in the kernel. Instruction
    `pc` is the last one, and `end` says what it does. `successors` are the segments recorded
    so far that follow, by the decision at `end`. `state` is the state at the end, unless nothing
    follows. `inputs` are what the result of tail calls, after which it begins, is copied into.
    """

    frame: Frame
    steps: list[Thunk]
    origins: list[tuple[int, Step | None]]
    counters: Counters
    end: End
    pc: int
    state: State | None
    length: int
    trace_size: int = 0
    inputs: Sequence[Array] = ()
    successors: dict[Decision, Segment] = field(default_factory=dict["Decision", "Segment"])

    def __post_init__(self) -> None:
        self.trace_size = SEGMENT_SIZE + HELD_SIZE * len(self.steps)
        if isinstance(self.end, Call):
            self.trace_size += FRAME_SIZE
        if self.state is not None:
            held = len(self.state.registers) + self.state.references.unshared
            self.trace_size += STATE_SIZE + HELD_SIZE * held
