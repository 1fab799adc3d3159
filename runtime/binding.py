"""
Bind a kernel to its operands: settle which memory each value of the kernel lives in.

A value that is an output lives there. Along a chain of elementwise steps each result takes the
place of an operand that dies; other intermediate values take scratch memory, and share it when
their lives do not meet.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from .dtypes import element_type, type_name
from .errors import MachineError
from .kernels import ELEMENTWISE, RESHAPES
from .kernels.bind import Bind, Thunk, flattened
from .kernels.loading import no_kernel
from .kernels.memory import OutOfMemory
from .kernels.scratch import Workspace, scratch
from .program import Array, Kernel, Step, TensorSpec


@dataclass
class Slot:
    """
    Memory of several values, one after the other, all of `spec`.

    `first` is the step that writes the first of them; `stop` the step after the last read.
    """

    spec: TensorSpec
    first: int
    stop: int


def _keeps_place(step: Step) -> bool:
    return step.op in ELEMENTWISE or step.op in RESHAPES


def _same_bytes(a: TensorSpec, b: TensorSpec, step: Step) -> bool:
    return a == b or (step.op in RESHAPES and a.dtype == b.dtype and _count(a) == _count(b))


def _count(spec: TensorSpec) -> int:
    assert spec.is_static
    return prod(dim for dim in spec.shape if dim is not None)


def _static(kernel: Kernel, value: int) -> TensorSpec:
    spec = kernel.spec(value)
    if not spec.is_static:
        raise MachineError(
            f"kernel {kernel.name}: value {value}, {spec}, is computed on the way, but has no "
            "static shape"
        )
    return spec


def slots_of(kernel: Kernel, placed: Mapping[int, TensorSpec]) -> dict[int, Slot | int]:
    """
    Where each computed value lives: a slot, or the output buffer of one of the values `placed`
    (given by that value's number).
    """
    last_use: dict[int, int] = {}
    for number, step in enumerate(kernel.steps):
        for value in step.ins:
            last_use[value] = number
    for value in kernel.results:
        last_use[value] = len(kernel.steps)

    first_local = len(kernel.ins) + len(kernel.constants)
    homes: dict[int, Slot | int] = {value: value for value in placed}
    for number in range(len(kernel.steps) - 1, -1, -1):
        step = kernel.steps[number]
        for out in step.outs:
            stop = last_use.get(out, number) + 1
            home = homes.setdefault(out, Slot(_static_or(placed, kernel, out), number, stop))
            if isinstance(home, Slot):
                home.first = number
        if not _keeps_place(step):
            continue
        out = step.outs[0]
        spec = _static_or(placed, kernel, out)
        for value in step.ins:
            dies = value >= first_local and last_use[value] == number
            if dies and value not in homes and _same_bytes(_static(kernel, value), spec, step):
                homes[value] = homes[out]
                break
    return homes


def _static_or(placed: Mapping[int, TensorSpec], kernel: Kernel, value: int) -> TensorSpec:
    return placed[value] if value in placed else _static(kernel, value)


def _lay_out(slots: Sequence[Slot]) -> dict[int, Array]:
    """Scratch memory for each slot (by `id`), reused when a slot's life is over."""
    memory: dict[int, Array] = {}
    free: list[Array] = []
    live: list[tuple[int, Array]] = []
    for slot in sorted(slots, key=lambda s: s.first):
        size = _count(slot.spec) * element_type(slot.spec.dtype).itemsize
        free += [block for stop, block in live if stop <= slot.first]
        live = [(stop, block) for stop, block in live if stop > slot.first]
        fitting = [i for i, block in enumerate(free) if block.size >= size]
        if fitting:
            block = free.pop(min(fitting, key=lambda i: free[i].size))
        else:
            block = scratch((size,), np.uint8)
        memory[id(slot)] = block[:size]
        live.append((slot.stop, block))
    return memory


def _bound_step(
    kernel: Kernel,
    step: Step,
    values: Mapping[int, Array],
    binds: Mapping[str, Bind],
    workspace: Workspace,
) -> Iterator[Thunk]:
    ins, outs = [values[v] for v in step.ins], [values[v] for v in step.outs]
    if all(out.size == 0 for out in outs):
        return
    if step.op in RESHAPES and ins[0].ctypes.data == outs[0].ctypes.data:
        return
    bind = binds.get(step.op)
    if bind is None:
        raise MachineError(f"kernel {kernel.name}: {no_kernel(step.op)}", step.location)
    try:
        with workspace.lend():
            yield from flattened(bind(step.attrs, ins, outs))
    except (MachineError, OutOfMemory):
        raise
    except Exception as error:  # whatever the kernel, a plug-in's perhaps, finds wrong
        operands = ", ".join(f"{a.dtype.name}{list(a.shape)}" for a in (*ins, *outs))
        raise MachineError(
            f"kernel {kernel.name}: {step.op} cannot be bound to {operands}: "
            f"{type(error).__name__}: {error}",
            step.location,
        ) from error


def bind_kernel(
    kernel: Kernel,
    ins: Sequence[Array],
    outs: Sequence[Array],
    binds: Mapping[str, Bind],
    workspace: Workspace,
) -> list[tuple[Thunk, Step | None]]:
    """
    What computes `outs` from `ins`, in order, each with the step that it is part of; both fit
    the kernel's specs.

    Outputs may overlap inputs: nothing is then written before all is computed, but by a single
    elementwise step. Raises `MachineError` for operators without a kernel or that do not fit.
    """
    values = dict(enumerate((*ins, *kernel.constants)))
    in_place = len(kernel.steps) == 1 and kernel.steps[0].op in ELEMENTWISE
    placed: dict[int, Array] = {}
    late: list[tuple[Array, int]] = []
    for i, (value, out) in enumerate(zip(kernel.results, outs, strict=True)):
        others = (*ins, *outs[:i])
        met = [other for other in others if np.may_share_memory(out, other)]
        exact = in_place and all(_is_same(out, other) for other in met)
        if value in values or value in placed or (met and not exact):
            late.append((out, value))
        else:
            placed[value] = out
    specs = {v: TensorSpec(type_name(a.dtype), a.shape) for v, a in placed.items()}
    homes = slots_of(kernel, specs)
    slots = list({id(h): h for h in homes.values() if isinstance(h, Slot)}.values())
    thunks: list[tuple[Thunk, Step | None]] = []
    with workspace.lend():
        memory = _lay_out(slots)
        for value, home in homes.items():
            if value in placed:
                values[value] = placed[value]
                continue
            spec = _static(kernel, value)
            shape = tuple(dim for dim in spec.shape if dim is not None)
            if isinstance(home, Slot):
                raw = memory[id(home)]
                values[value] = raw.view(element_type(spec.dtype)).reshape(shape)
            else:
                values[value] = placed[home].reshape(shape)
        for step in kernel.steps:
            bound = _bound_step(kernel, step, values, binds, workspace)
            thunks += ((thunk, step) for thunk in bound)
        for out, value in late:
            thunks.append((partial(np.copyto, out, values[value]), None))
    return thunks


def _is_same(a: Array, b: Array) -> bool:
    return a.ctypes.data == b.ctypes.data and a.shape == b.shape and a.dtype == b.dtype
