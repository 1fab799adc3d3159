"""
Observers of a recorder: they see what happens on a path, and may leave callables of their own.

    Poison      fills what a program has not written
    Sanitizer   checks who wrote the bytes that are read
    Profile     reads the clock after each step

A recorder has none by default, and a template is traced by a recorder: it has the lines that its
observers leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

from ..kernels.bind import Thunk
from ..memory.limits import POISON
from ..memory.scratch import Workspace
from ..program.objects import Object, Storage, Tensor
from ..program.program import Kernel, Step, TensorSpec

Binder: TypeAlias = "Callable[..., Sequence[tuple[Thunk, Step | None]]]"
"""Binds a kernel to inputs, outputs, scratch memory; the numbers of inputs that never change."""


class KernelCall(NamedTuple):
    """A kernel and its operands; `types` are those of its values, by number."""

    kernel: Kernel
    types: Sequence[TensorSpec]
    ins: Sequence[Tensor]
    outs: Sequence[Tensor]
    workspace: Workspace


class Recorded(Protocol):
    """A recorder at instruction `pc`, with the `Context` and the `State` of a path."""

    context: Any
    state: Any
    pc: int

    def compute(self, thunk: Thunk, step: Step | None = None) -> None:
        """Leave a callable for each run, which all observers see."""

    def leave(self, thunk: Thunk, step: Step | None = None) -> None:
        """Leave a callable that no observer sees."""


class Observer:
    """Notes nothing; subclasses override what they need."""

    keeps_frames = False
    """True if a tail call must not run in place of its caller."""

    def begin(self, function: str) -> None:
        """Begin a call of `function` in this thread; a kernel may make another before it ends."""

    def end(self) -> None:
        """End the call that began last."""

    def tries(self) -> None:
        """Note that a template begins, which may not fit."""

    def starts_over(self) -> None:
        """Note that it did not fit: what was done since it began is done again."""

    def prepares(self, function: str) -> None:
        """Note that a path through `function` begins to be recorded or traced."""

    def prepared(self) -> None:
        """Note that this ends."""

    def follows(self, recorder: Recorded) -> None:
        """Note that a part of a path begins at the instruction."""

    def computed(self, recorder: Recorded, step: Step | None) -> None:
        """Note that the instruction has left a callable, for a step of its kernel or other work."""

    def allocated(self, recorder: Recorded, storage: Storage) -> None:
        """Note that the instruction has allocated `storage`."""

    def reads(self, recorder: Recorded, tensors: Sequence[Tensor]) -> None:
        """Note that the instruction reads `tensors`."""

    def writes(self, recorder: Recorded, tensors: Sequence[Tensor]) -> None:
        """Note that the instruction is going to write `tensors`."""

    def wrote(self, recorder: Recorded, tensors: Sequence[Tensor]) -> None:
        """Note that the instruction has written `tensors`."""

    def returns(self, recorder: Recorded, result: Object) -> None:
        """Note that the activation ends with `result`."""

    def jumps(self, recorder: Recorded) -> None:
        """Note that a tail call begins in place of the activation, which ends."""

    def copies(self, recorder: Recorded, device: int, spec: TensorSpec) -> None:
        """Note that the instruction copies a tensor of this type to `device`."""

    def binder(self, recorder: Recorded, call: KernelCall, bind: Binder) -> Binder:
        """Return what binds the kernel of a call in place of `bind`."""
        return bind

    def executed(self, recorder: Recorded) -> None:
        """Note that an instruction has been recorded; `state.freed` are storages that it freed."""


class Poison(Observer):
    """Fills storages when they are allocated, and scratch memory before each kernel."""

    def allocated(self, recorder: Recorded, storage: Storage) -> None:
        recorder.compute(partial(storage.memory.fill, POISON))

    def binder(self, recorder: Recorded, call: KernelCall, bind: Binder) -> Binder:
        recorder.compute(call.workspace.poison)
        return bind
