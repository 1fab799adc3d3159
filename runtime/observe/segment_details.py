"""
The work of the steps of a segment, for the profiler: recorded only while it measures.

    steps of a segment        works
    add, add_2                relay.add    float32[4] float32[4] -> float32[4]    m.mlir:3:8
    copyto                    copy between devices    float32[4]    cpu:0 to cuda:0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from ...operators.records import record
from ..errors import Location
from ..program.instructions import DeviceCopy
from ..program.objects import Storage
from ..program.program import Program, Step, TensorSpec
from .observer import Binder, KernelCall, Observer, Recorded

Clock: TypeAlias = Callable[[], int]
"""A clock in nanoseconds."""


@record
class Work:
    """
    Consecutive steps that compute one thing.

    `name` is that of an operator ("relay.add"), of a kernel if the steps are not of one operator,
    or of an instruction; `kernel` is the name of the kernel that it is part of, or empty. `size`
    are the bytes of all operands, or those copied along `route`, from one device to another.
    """

    name: str
    kernel: str
    device: int
    location: Location | None
    ins: tuple[TensorSpec, ...] = ()
    outs: tuple[TensorSpec, ...] = ()
    size: int = 0
    route: tuple[int, int] | None = None


class Operands(NamedTuple):
    """The device of a kernel and the types of its values by number, or of a copy its one type."""

    device: int
    types: Sequence[TensorSpec]


class MemoryEvent(NamedTuple):
    """
    The bytes that are `live` by device, after a number of steps.

    `allocated` are a device and the bytes of the storage that instruction `pc` allocates, if it is
    one that allocates.
    """

    position: int
    pc: int
    live: tuple[int, ...]
    allocated: tuple[int, int] | None


@dataclass(eq=False)
class SegmentDetails(Observer):
    """
    Notes on a segment: `operands` by instruction, and changes of memory.

    `binding` is the time that binding kernels took, in nanoseconds.
    """

    clock: Clock
    operands: dict[int, Operands] = field(default_factory=dict[int, Operands])
    memory: list[MemoryEvent] = field(default_factory=list[MemoryEvent])
    binding: int = 0
    works: list[tuple[Work, int]] | None = None
    """The result of `works_of`, once it is known."""

    def binder(self, recorder: Recorded, call: KernelCall, bind: Binder) -> Binder:
        device = next((tensor.device for tensor in (*call.outs, *call.ins)), 0)
        self.operands[recorder.pc] = Operands(device, call.types)

        def timed(*args: Any) -> Any:
            start = self.clock()
            try:
                return bind(*args)
            finally:
                self.binding += self.clock() - start

        return timed

    def copies(self, recorder: Recorded, device: int, spec: TensorSpec) -> None:
        self.operands[recorder.pc] = Operands(device, (spec,))

    def allocated(self, recorder: Recorded, storage: Storage) -> None:
        self._note(recorder, (storage.device, storage.size))

    def executed(self, recorder: Recorded) -> None:
        if not self.memory or self.memory[-1].live != tuple(recorder.state.live):
            self._note(recorder)

    def _note(self, recorder: Recorded, allocated: tuple[int, int] | None = None) -> None:
        live = tuple(recorder.state.live)
        self.memory.append(MemoryEvent(recorder.position, recorder.pc, live, allocated))


def works_of(
    program: Program,
    function: int,
    origins: Sequence[tuple[int, Step | None]],
    details: SegmentDetails,
) -> list[tuple[Work, int]]:
    """
    Return what steps do, in order, each with the number of the step after it.

    `origins` are their instructions in `function`, and steps in kernels.
    """
    works: list[tuple[Work, int]] = []
    for number, origin in enumerate(origins, 1):
        if number < len(origins) and origins[number] == origin:
            continue
        operands = details.operands.get(origin[0])
        works.append((work_of(program, function, *origin, operands), number))
    return works


def work_of(
    program: Program, function: int, pc: int, step: Step | None, operands: Operands | None
) -> Work:
    """Return what a step of instruction `pc` does."""
    code = program.functions[function]
    instruction, location = code.instructions[pc], code.location(pc)
    if operands is None:
        return Work(instruction.mnemonic, "", 0, location)
    if isinstance(instruction, DeviceCopy):
        (spec,) = operands.types
        route = instruction.src_device, instruction.dst_device
        size = spec.size
        return Work("device_copy", "", route[1], location, (spec,), (spec,), size, route)
    index = getattr(instruction, "kernel", None)
    kernel = program.kernels[index].name if isinstance(index, int) else ""
    if step is None:
        return Work(kernel, kernel, operands.device, location)
    ins, outs = (tuple(operands.types[v] for v in values) for values in (step.ins, step.outs))
    size = sum(spec.size for spec in (*ins, *outs))
    at = step.location or location
    return Work(step.op, kernel, operands.device, at, ins, outs, size)
