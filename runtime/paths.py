"""
Where a program is on its way through a function: what registers hold, which memory is live.

A function's activation follows one path. All that the machine decides before running anything
(which memory, which kernel on which arrays) depends on the path alone, so it is decided once
per path and kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .arena import Arena, Shelf
from .counters import Counters
from .errors import MachineError
from .gaps import cut, meets
from .kernels.bind import Thunk
from .kernels.scratch import Workspace
from .objects import Object, Storage, Tensor, birth
from .program import Array, Step

SEGMENT_SIZE, HELD_SIZE = 4096, 100
"""About how many bytes a segment takes, and each thing in it."""


@dataclass(frozen=True, slots=True)
class Dead:
    """What a killed register holds: the number of the instruction that killed it."""

    killer: int


@dataclass(slots=True)
class Extent:
    """About how many bytes a frame and those it calls use to remember paths."""

    size: int = 0


@dataclass(eq=False, slots=True)
class Frame:
    """
    The prepared activation of a function on given arguments: its memory and its traces.

    Used by one thread at a time. `base` are the bytes live in its callers, by device.
    """

    function: int
    args: tuple[Object, ...]
    arenas: tuple[Arena, ...]
    workspace: Workspace
    base: tuple[int, ...]
    extent: Extent
    root: Segment | None = None
    born: int = field(default_factory=birth)

    def owns(self, value: Object) -> bool:
        """
        Whether this activation, or one that it called, made `value`. Its callers keep alive
        what they made.
        """
        return value.born > self.born


@dataclass(slots=True)
class State:
    """
    A point of a path: registers, references to objects, live memory and free blocks.

    `unwritten` are the bytes (as in `gaps`) of this activation's storages that nothing on the
    path wrote. What other activations hand in has none. `open` are the data and closures that
    held such bytes when they were built.
    """

    frame: Frame
    registers: dict[int, Object | Dead]
    references: dict[Object, int]
    shelves: tuple[Shelf, ...]
    live: list[int]
    peak: list[int]
    unwritten: dict[Object, list[int]] = field(default_factory=dict["Object", list[int]])
    open: set[Object] = field(default_factory=set["Object"])

    @staticmethod
    def entry(frame: Frame) -> State:
        """Where `frame` begins: its arguments in the first registers."""
        shelves = tuple(Shelf(arena) for arena in frame.arenas)
        base = list(frame.base)
        state = State(frame, {}, {}, shelves, base, list(base))
        for register, arg in enumerate(frame.args):
            state.write(register, arg)
        return state

    def copy(self) -> State:
        """The same point, for a path of its own from here on."""
        shelves = tuple(shelf.copy() for shelf in self.shelves)
        return State(
            self.frame,
            dict(self.registers),
            dict(self.references),
            shelves,
            list(self.live),
            list(self.live),
            {storage: list(gaps) for storage, gaps in self.unwritten.items()},
            set(self.open),
        )

    def read(self, register: int) -> Object:
        """What `register` holds; `MachineError` when that is nothing."""
        found = self.registers.get(register)
        if found is None:
            raise MachineError(f"register ${register} is read, but was never written")
        if isinstance(found, Dead):
            raise MachineError(
                f"register ${register} is read, but was killed by instruction {found.killer}"
            )
        return found

    def write(self, register: int, value: Object) -> None:
        """Let `register` hold `value`; what nothing refers to any more is freed."""
        self.retain(value)
        old = self.registers.get(register)
        self.registers[register] = value
        if old is not None and not isinstance(old, Dead):
            self.release(old)

    def kill(self, register: int, killer: int) -> None:
        """Let `register` hold nothing."""
        old = self.read(register)
        self.registers[register] = Dead(killer)
        self.release(old)

    def retain(self, value: Object) -> None:
        rest = [value]
        while rest:
            item = rest.pop()
            if not self.frame.owns(item):
                continue
            count = self.references.get(item, 0)
            self.references[item] = count + 1
            if count:
                continue
            rest.extend(item.parts)
            if isinstance(item, Storage):
                self.live[item.device] += item.size
                self.peak[item.device] = max(self.peak[item.device], self.live[item.device])

    def release(self, value: Object) -> None:
        rest = [value]
        while rest:
            item = rest.pop()
            if not self.frame.owns(item):
                continue
            count = self.references[item] - 1
            if count:
                self.references[item] = count
                continue
            del self.references[item]
            rest.extend(item.parts)
            self.open.discard(item)
            if isinstance(item, Storage):
                self.live[item.device] -= item.size
                self.unwritten.pop(item, None)
                if item.home is self.frame:
                    self.shelves[item.device].give(item.block)

    def wrote(self, tensor: Tensor) -> None:
        """Note that all bytes of `tensor` are written."""
        for storage in tensor.parts:
            if gaps := self.unwritten.get(storage):
                cut(gaps, tensor.offset, tensor.offset + tensor.array.nbytes)

    def is_open(self, value: Object) -> bool:
        """Whether `value` holds bytes that nothing wrote; data may hold them no longer."""
        if isinstance(value, Tensor):
            stop = value.offset + value.array.nbytes
            return any(
                meets(gaps, value.offset, stop)
                for storage in value.parts
                if (gaps := self.unwritten.get(storage))
            )
        return bool(self.unwritten.get(value)) or value in self.open


@dataclass(frozen=True, slots=True)
class Return:
    """The activation ends with `result`."""

    result: Object


@dataclass(frozen=True, slots=True)
class Branch:
    """Go on at `when_true` if `test` says so, at `when_false` otherwise."""

    test: Callable[[], bool]
    when_true: int
    when_false: int


@dataclass(frozen=True, slots=True)
class Read:
    """Go on at `pc` (the instruction that asks) with the values of `tensors`."""

    tensors: tuple[Tensor, ...]
    pc: int


@dataclass(frozen=True, slots=True)
class Call:
    """Run `callee`, then go on at `pc` with its result in `dst`."""

    callee: Frame
    dst: int
    pc: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on at `pc`, an instruction already passed."""

    pc: int


End = Return | Branch | Read | Call | Jump
Decision = bool | tuple[bytes, ...] | Object | None
"""A branch's outcome, the values read, the object a call returned; None after a jump."""
Known = dict[Tensor, Array]
"""Values of tensors that the instruction at which a path goes on has asked for."""


@dataclass(eq=False, slots=True)
class Segment:
    """
    A stretch of a path that is run without a decision, `length` instructions.

    `origins` are the instruction that made each of `steps`, and the kernel's step. `end` was
    made by instruction `pc`. `successors` are the ways on taken so far, by what decides between
    them at `end`: the branch's outcome, the values read, the object a call returned. `state` is
    that at the end.
    """

    frame: Frame
    steps: list[Thunk]
    origins: list[tuple[int, Step | None]]
    counters: Counters
    end: End
    pc: int
    state: State
    length: int
    extent: int = 0
    successors: dict[Decision, Segment] = field(default_factory=dict["Decision", "Segment"])

    def __post_init__(self) -> None:
        held = len(self.steps) + len(self.state.registers) + len(self.state.references)
        self.extent = SEGMENT_SIZE + HELD_SIZE * held
