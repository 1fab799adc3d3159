"""
The mode `sanitize`: find wrong uses of memory while a program runs.

    main[4] invoke_packed add: reads bytes 0 to 15 of a tensor float32[4], which were overwritten
    note: overwritten here, by main[3] invoke_packed relu, with a tensor float32[4]
    note: the tensor was written here, by main[1] invoke_packed add

The sanitizer knows who wrote each byte of the program's storages last, as a tensor and an
instruction. Reading a tensor requires all of its bytes to be as they were written through this
tensor or a view of it. A tensor in the same bytes is another value: once it is written, what
the bytes held is lost, as for a result that is written over an operand. Storages are poisoned
when they are allocated and when they are freed.

Other faults are errors in every mode: views that do not fit in their storage, wrong devices,
writes to constants, and registers that were killed. `guarded_kernels` checks what kernels do.
Two tensors of one type that a program mixes up are both valid: that is not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from threading import local
from typing import Any

from ...operators.records import record
from ..calls.addresses import address
from ..errors import Location, MachineError, Note
from ..memory.limits import POISON, Memory
from ..memory.regions import Region
from ..memory.scratch import Workspace
from ..program.objects import Object, Storage, Tensor, distinct_tensors
from ..program.program import Array, Program, spec_of
from .guarded_kernels import run_guarded
from .observer import Binder, KernelCall, Observer, Recorded
from .shadow import Shadow


@record
class Site:
    """Instruction `pc` of the function with this number."""

    program: Program
    function: int
    pc: int

    @property
    def location(self) -> Location | None:
        return self.program.functions[self.function].location(self.pc)

    def __str__(self) -> str:
        function = self.program.functions[self.function]
        kernel = getattr(function.instructions[self.pc], "kernel", None)
        name = f" {self.program.kernels[kernel].name}" if isinstance(kernel, int) else ""
        return f"{function.where(self.pc)}{name}"


class Change(StrEnum):
    """An instruction's effect on bytes."""

    ALLOCATED = "allocated"
    WRITTEN = "written"
    FREED = "freed"


def _site(recorder: Recorded) -> Site:
    return Site(recorder.context.program, recorder.state.frame.function, recorder.pc)


def _in_storages(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return those tensors that have bytes in storages; the parts of those that are joins."""
    found: list[Tensor] = []
    pending = [*reversed(tensors)]
    while pending:
        tensor = pending.pop()
        if tensor.origin.joined:
            pending += reversed(tensor.origin.joined)
        elif tensor.parts and tensor.array.nbytes:
            found.append(tensor)
    return found


@record
class Content:
    """The last change of bytes; `tensor` is what was written."""

    change: Change
    site: Site
    tensor: Tensor | None = None


class _Contents:
    """The contents of memory in a call, and scratch memory for its kernels."""

    def __init__(self, memory: Memory) -> None:
        self.shadow: Shadow[Content] = Shadow()
        self.written: dict[Tensor, Site] = {}
        self.workspace = Workspace(Region(memory))


class _Calls(local):
    """The calls that a thread runs, the last one at the end."""

    def __init__(self) -> None:
        self.contents: list[_Contents] = []


class Sanitizer(Observer):
    """
    Leaves a callable for each instruction that reads or changes memory.

    These have arrays as arguments, so that templates have them, too.
    """

    keeps_frames = True

    def __init__(self, memory: Memory) -> None:
        self._memory, self._calls = memory, _Calls()

    @property
    def _now(self) -> _Contents:
        return self._calls.contents[-1]

    def begin(self, function: str) -> None:
        self._calls.contents.append(_Contents(self._memory))

    def end(self) -> None:
        self._calls.contents.pop()

    def allocated(self, recorder: Recorded, storage: Storage) -> None:
        recorder.compute(partial(self._fill, _site(recorder), Change.ALLOCATED, storage.memory))

    def executed(self, recorder: Recorded) -> None:
        for storage in recorder.state.freed or ():
            memory = storage.memory[: storage.size]
            recorder.compute(partial(self._fill, _site(recorder), Change.FREED, memory))

    def _fill(self, site: Site, change: Change, memory: Array) -> None:
        memory.fill(POISON)
        start = address(memory)
        self._now.shadow.set(start, start + len(memory), Content(change, site))

    def writes(self, recorder: Recorded, tensors: Sequence[Tensor]) -> None:
        for tensor in tensors:
            if not recorder.state.frame.owns(tensor.origin):
                raise MachineError(f"must not write to an argument {spec_of(tensor.array)}")

    def wrote(self, recorder: Recorded, tensors: Sequence[Tensor]) -> None:
        for tensor in _in_storages(tensors):
            recorder.compute(partial(self._note, _site(recorder), tensor.origin, tensor.array))

    def _note(self, site: Site, tensor: Tensor, array: Array) -> None:
        start = address(array)
        content = Content(Change.WRITTEN, site, tensor)
        self._now.shadow.set(start, start + array.nbytes, content)
        self._now.written[tensor] = site

    def reads(self, recorder: Recorded, tensors: Sequence[Tensor]) -> None:
        for tensor in _in_storages(tensors):
            recorder.compute(partial(self._check, tensor.origin, tensor.array))

    def returns(self, recorder: Recorded, result: Object) -> None:
        if not recorder.state.frame.is_nested:
            self.reads(recorder, distinct_tensors(result) or ())

    def binder(self, recorder: Recorded, call: KernelCall, bind: Binder) -> Binder:
        changing = tuple(n for n, tensor in enumerate(call.ins) if not tensor.constant)
        given, context = (call.kernel, changing), recorder.context

        def bound(ins: Sequence[Array], outs: Sequence[Array], *_: object) -> Sequence[Any]:
            return [(partial(self._run, context, *given, tuple(ins), tuple(outs)), None)]

        return bound

    def _run(self, *operands: Any) -> None:
        run_guarded(*operands, workspace=self._now.workspace)

    def _check(self, tensor: Tensor, array: Array) -> None:
        """Raise `MachineError` unless `array` holds the value of `tensor`."""
        first = address(array)
        for start, stop, content in self._now.shadow.within(first, first + array.nbytes):
            if content is None or content.tensor is not tensor:
                raise self._fault(tensor, array, start - first, stop - first - 1, content)

    def _fault(
        self, tensor: Tensor, array: Array, first: int, last: int, found: Content | None
    ) -> MachineError:
        """Return the error that bytes `first` to `last` of `array` hold `found`."""
        bytes = f"byte {first}" if first == last else f"bytes {first} to {last}"
        what = f"reads {bytes} of a tensor {spec_of(array)}, which"
        if found is None:
            return MachineError(f"{what} this call has not allocated")
        if found.tensor is None:
            fate = "were freed" if found.change is Change.FREED else "were never written"
            note = Note(f"{found.change} here, by {found.site}", found.site.location)
            return MachineError(f"{what} {fate}", notes=(note,))
        writer = self._now.written.get(tensor)
        other = f"{found.site}, with a tensor {spec_of(found.tensor.array)}"
        if writer is None:
            note = Note(f"the bytes were written here, by {other}", found.site.location)
            return MachineError(f"{what} were never written through this tensor", notes=(note,))
        notes = (
            Note(f"overwritten here, by {other}", found.site.location),
            Note(f"the tensor was written here, by {writer}", writer.location),
        )
        return MachineError(f"{what} were overwritten", notes=notes)
