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
from .kernels.bind import Thunk
from .kernels.scratch import Workspace
from .objects import Object, Storage, Tensor, birth
from .program import Array


@dataclass(frozen=True, slots=True)
class Dead:
    """What a killed register holds: the number of the instruction that killed it."""

    killer: int


@dataclass(slots=True)
class Extent:
    """How much a frame and those it calls remember of paths, in words or so."""

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
    """A point of a path: registers, references to objects, live memory and free blocks."""

    frame: Frame
    registers: dict[int, Object | Dead]
    references: dict[Object, int]
    shelves: tuple[Shelf, ...]
    live: list[int]
    peak: list[int]

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
        registers, references = dict(self.registers), dict(self.references)
        return State(self.frame, registers, references, shelves, list(self.live), list(self.live))

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
            if isinstance(item, Storage):
                self.live[item.device] -= item.size
                if item.home is self.frame:
                    self.shelves[item.device].give(item.block)


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
    A stretch of a path that is run without a decision: `steps`, made by the instructions `pcs`.

    `successors` are the ways on taken so far, by what decides between them at `end`: the
    branch's outcome, the values read, the object a call returned. `state` is that at the end.
    """

    frame: Frame
    steps: list[Thunk]
    pcs: list[int]
    counters: Counters
    end: End
    state: State
    successors: dict[Decision, Segment] = field(default_factory=dict["Decision", "Segment"])

    @property
    def extent(self) -> int:
        """About how many words it takes to remember this segment."""
        held = len(self.steps) + len(self.state.registers) + len(self.state.references)
        return 16 + 4 * held
