"""
Bind a kernel to its operands: assign memory to each of its values.

A value that is an output lives in the output's buffer. Along a chain of elementwise steps, each
result overwrites an operand that dies; other intermediate values get scratch memory, and share
it if their lives do not overlap. An output's buffer that is also an input's is free from the last
step on that reads the input, if this step is elementwise, or after it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np

from ..operators.sizes import SignatureError
from .dtypes import element_type
from .errors import MachineError
from .kernel_shapes import data_operands, specs_on
from .kernels.bind import Bind, Thunk, flattened
from .kernels.checked import CheckedKernel, Reuse, reuse_of
from .kernels.loading import no_kernel
from .kernels.memory import OutOfMemory
from .kernels.scratch import Workspace, scratch
from .program import Array, Kernel, Step, TensorSpec


@dataclass
class Slot:
    """
    Memory for several values in turn, all of `spec`.

    `first` is the step that writes the first of them; `stop` is the step after the last read.
    """

    spec: TensorSpec
    first: int
    stop: int


class Placed(NamedTuple):
    """An output's buffer, which steps may write to from number `since` on."""

    out: Array
    since: int


def _made_by(kernel: Kernel) -> dict[int, int]:
    """Return the number of the step that computes each value."""
    return {out: number for number, step in enumerate(kernel.steps) for out in step.outs}


def _reuse(step: Step, binds: Mapping[str, Bind]) -> Reuse:
    """Return how `step`, which nobody may have checked yet, may overwrite an operand."""
    reuse = reuse_of(binds.get(step.op))
    return Reuse.NONE if len(step.outs) != 1 else reuse


def _can_overwrite(operand: TensorSpec, result: TensorSpec, reuse: Reuse) -> bool:
    if reuse is Reuse.RESHAPE:
        return operand.dtype == result.dtype and _count(operand) == _count(result)
    return operand == result


def _count(spec: TensorSpec) -> int:
    assert spec.is_static
    return prod(dim for dim in spec.shape if dim is not None)


def slots_of(
    kernel: Kernel,
    specs: Sequence[TensorSpec],
    placed: Mapping[int, Placed],
    binds: Mapping[str, Bind],
) -> dict[int, Slot | int]:
    """
    Return the home of each computed value, of the static types `specs`: a slot, or the number of a
    value in `placed`, whose output buffer it shares.
    """
    made = _made_by(kernel)
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
            home = homes.setdefault(out, Slot(specs[out], number, stop))
            if isinstance(home, Slot):
                home.first = number
        reuse = _reuse(step, binds)
        if reuse is Reuse.NONE:
            continue
        out = step.outs[0]
        for value in step.ins[:1] if reuse is Reuse.RESHAPE else step.ins:
            dies = value >= first_local and last_use[value] == number
            if not dies or value in homes or not _can_overwrite(specs[value], specs[out], reuse):
                continue
            home = homes[out]
            if isinstance(home, Slot) or made[value] >= placed[home].since:
                homes[value] = home
                break
    return homes


def _lay_out(slots: Sequence[Slot]) -> dict[int, Array]:
    """Allocate scratch memory for each slot (by `id`), reusing that of dead slots."""
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
    bind = binds.get(step.op)
    empty = all(out.size == 0 for out in outs)
    if bind is None:
        if empty:
            return
        raise MachineError(f"kernel {kernel.name}: {no_kernel(step.op)}", step.location)
    try:
        if empty and not data_operands(step.op, binds):  # of others, the kernel checks the shape
            if isinstance(bind, CheckedKernel):
                bind.check(step.attrs, ins, outs)
            return
        with workspace.lend():
            thunk = bind(step.attrs, ins, outs)
    except (MachineError, OutOfMemory):
        raise
    except Exception as error:  # of a kernel, possibly a plug-in's
        operands = ", ".join(f"{a.dtype.name}{list(a.shape)}" for a in (*ins, *outs))
        kind = "" if isinstance(error, SignatureError) else f"{type(error).__name__}: "
        raise MachineError(
            f"kernel {kernel.name}: {step.op} cannot be bound to {operands}: {kind}{error}",
            step.location,
        ) from error
    is_same = len(ins) == 1 and ins[0].ctypes.data == outs[0].ctypes.data
    if is_same and _reuse(step, binds) is Reuse.RESHAPE:
        return
    yield from flattened(thunk)


def bind_kernel(
    kernel: Kernel,
    ins: Sequence[Array],
    outs: Sequence[Array],
    binds: Mapping[str, Bind],
    workspace: Workspace,
    elements: Mapping[int, Array] | None = None,
) -> list[tuple[Thunk, Step | None]]:
    """
    Return the thunks that compute `outs` from `ins`, in order, each with its step.

    The arrays must match the kernel's specs. An output may overlap an input: it is then written
    after everything else is computed or, if it has the bytes of that input, when no later step
    reads them.
    `elements` are those of inputs, by number, that are known. Raises `MachineError` for operators
    without a kernel and for kernels that cannot be bound; `UnknownShape` if the shape of an
    intermediate value depends on elements that are not known.
    """
    types = specs_on(kernel, ins, outs, binds, elements or {})
    values = dict(enumerate((*ins, *kernel.constants)))
    made = _made_by(kernel)
    placed: dict[int, Placed] = {}
    late: list[tuple[Array, int]] = []
    for i, (value, out) in enumerate(zip(kernel.results, outs, strict=True)):
        since = _free_since(kernel, i, ins, outs, types, binds)
        if value in values or value in placed or made[value] < since:
            late.append((out, value))
        else:
            placed[value] = Placed(out, since)
    homes = slots_of(kernel, types, placed, binds)
    slots = list({id(h): h for h in homes.values() if isinstance(h, Slot)}.values())
    thunks: list[tuple[Thunk, Step | None]] = []
    with workspace.lend():
        memory = _lay_out(slots)
        for value, home in homes.items():
            if value in placed:
                values[value] = placed[value].out
                continue
            spec = types[value]
            shape = tuple(dim for dim in spec.shape if dim is not None)
            if isinstance(home, Slot):
                raw = memory[id(home)]
                values[value] = raw.view(element_type(spec.dtype)).reshape(shape)
            else:
                values[value] = placed[home].out.reshape(shape)
        for step in kernel.steps:
            bound = _bound_step(kernel, step, values, binds, workspace)
            thunks += ((thunk, step) for thunk in bound)
        copies = [(out, values[value]) for out, value in late]
        thunks += ((thunk, None) for thunk in _copying(copies))
    return thunks


def _has_same_bytes(a: Array, b: Array) -> bool:
    return a.ctypes.data == b.ctypes.data and a.nbytes == b.nbytes


def _free_since(
    kernel: Kernel,
    result: int,
    ins: Sequence[Array],
    outs: Sequence[Array],
    specs: Sequence[TensorSpec],
    binds: Mapping[str, Bind],
) -> int:
    """Return the first step that may write to output `result`: one after the last if none may."""
    out, after_all = outs[result], len(kernel.steps)
    if any(np.may_share_memory(out, other) for other in outs[:result]):
        return after_all
    met = {i for i, array in enumerate(ins) if np.may_share_memory(out, array)}
    if not met:
        return 0
    if not (met.isdisjoint(kernel.results) and all(_has_same_bytes(out, ins[i]) for i in met)):
        return after_all
    last = max((n for n, step in enumerate(kernel.steps) if met.intersection(step.ins)), default=-1)
    if last < 0:
        return 0
    step = kernel.steps[last]
    reuse, spec = _reuse(step, binds), specs[step.outs[0]]
    if reuse is Reuse.RESHAPE:
        in_place = met.isdisjoint(step.ins[1:]) and _can_overwrite(specs[step.ins[0]], spec, reuse)
    else:
        read = met.intersection(step.ins)
        in_place = all(reuse.overwrites(specs[i], spec) for i in read)
    return last if in_place else last + 1


def _copying(copies: Sequence[tuple[Array, Array]]) -> Iterator[Thunk]:
    """Yield what copies to each array its source, first those that another copy overwrites."""
    sources: list[Array] = []
    for i, (_, source) in enumerate(copies):
        if any(np.may_share_memory(source, earlier) for earlier, _ in copies[:i]):
            kept = scratch(source.shape, source.dtype)
            yield partial(np.copyto, kept, source)
            source = kept
        sources.append(source)
    for (out, _), source in zip(copies, sources, strict=True):
        yield partial(np.copyto, out, source)
