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

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial

from ..errors import Location, MachineError, Note
from ..kernels.bind import Thunk
from ..memory.limits import POISON
from ..program.objects import Storage, Tensor
from ..program.program import Array, Program, spec_of
from ..program.records import record
from .shadow import Shadow


def address_of(array: Array) -> int:
    """Return the address of the first byte of `array`."""
    return array.ctypes.data


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


@record
class Content:
    """The last change of bytes; `tensor` is what was written."""

    change: Change
    site: Site
    tensor: Tensor | None = None


@record
class Extent:
    """The bytes of a tensor, and the tensor that was allocated there."""

    start: int
    stop: int
    tensor: Tensor


def _extents(tensors: Sequence[Tensor]) -> list[Extent]:
    """Return the bytes of those tensors that are in storages; those of parts are theirs."""
    found: list[Extent] = []
    rest = [(tensor, 0, sys.maxsize) for tensor in reversed(tensors)]
    while rest:
        tensor, low, high = rest.pop()
        start = max(address_of(tensor.array), low)
        stop = min(address_of(tensor.array) + tensor.array.nbytes, high)
        if not tensor.parts or start >= stop:
            continue
        if joined := tensor.origin.joined:
            rest += ((part, start, stop) for part in reversed(joined))
        else:
            found.append(Extent(start, stop, tensor.origin))
    return found


class Sanitizer:
    """
    Checks the calls of one prepared entry, one at a time.

    The recorder asks it for a callable for each instruction that reads or changes memory.
    """

    def __init__(self) -> None:
        self._shadow: Shadow[Content] = Shadow()
        self._written: dict[Tensor, Site] = {}
        self.freed: list[Storage] = []
        """The storages that the instruction being recorded has freed."""

    def begin(self) -> None:
        """Begin a call, for which no memory is allocated."""
        self._shadow.clear()
        self._written.clear()

    def allocates(self, site: Site, storage: Storage) -> Thunk:
        """Return a callable that poisons `storage`, which is allocated."""
        return self._filling(Content(Change.ALLOCATED, site), [storage])

    def frees(self, site: Site) -> Thunk:
        """Return a callable that poisons the storages that `site` has freed."""
        freed, self.freed = self.freed, []
        return self._filling(Content(Change.FREED, site), freed)

    def _filling(self, content: Content, storages: Sequence[Storage]) -> Thunk:
        arrays = [storage.memory[: storage.size] for storage in storages]
        spans = [(array, address_of(array)) for array in arrays]

        def fill() -> None:
            for array, start in spans:
                array.fill(POISON)
                self._shadow.set(start, start + len(array), content)

        return fill

    def writes(self, site: Site, tensors: Sequence[Tensor]) -> Thunk:
        """Return a callable that notes that `site` has written `tensors`."""
        extents = _extents(tensors)

        def note() -> None:
            for extent in extents:
                content = Content(Change.WRITTEN, site, extent.tensor)
                self._shadow.set(extent.start, extent.stop, content)
                self._written[extent.tensor] = site

        return note

    def reads(self, tensors: Sequence[Tensor]) -> Callable[[], None] | None:
        """Return a callable that raises `MachineError` unless `tensors` hold their values."""
        extents = _extents(tensors)
        return partial(self._check, extents) if extents else None

    def _check(self, extents: Sequence[Extent]) -> None:
        for extent in extents:
            for start, stop, content in self._shadow.within(extent.start, extent.stop):
                if content is None or content.tensor is not extent.tensor:
                    raise self._fault(extent, start, stop, content)

    def _fault(self, extent: Extent, start: int, stop: int, found: Content | None) -> MachineError:
        """Return the error that [start, stop) of `extent` holds `found`."""
        tensor = extent.tensor
        first, last = start - extent.start, stop - extent.start - 1
        bytes = f"byte {first}" if first == last else f"bytes {first} to {last}"
        what = f"reads {bytes} of a tensor {spec_of(tensor.array)}, which"
        if found is None:
            return MachineError(f"{what} this call has not allocated")
        if found.tensor is None:
            fate = "were freed" if found.change is Change.FREED else "were never written"
            note = Note(f"{found.change} here, by {found.site}", found.site.location)
            return MachineError(f"{what} {fate}", notes=(note,))
        writer = self._written.get(tensor)
        other = f"{found.site}, with a tensor {spec_of(found.tensor.array)}"
        if writer is None:
            note = Note(f"the bytes were written here, by {other}", found.site.location)
            return MachineError(f"{what} were never written through this tensor", notes=(note,))
        notes = (
            Note(f"overwritten here, by {other}", found.site.location),
            Note(f"the tensor was written here, by {writer}", writer.location),
        )
        return MachineError(f"{what} were overwritten", notes=notes)
