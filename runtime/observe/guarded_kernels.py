"""
Run kernels between guard bytes, in the mode `sanitize`.

    | guard | input 0 | guard |   | guard | input 1 = output 0 | guard |

A kernel computes on copies of its operands in scratch memory; those that overlap do so there,
too. It runs twice, with other bytes in its outputs and in its scratch memory, and must compute
the same, but for results without contents. So four faults are found: a kernel that writes outside
its operands, that changes an input, that does not write all bytes of an output, or that reads them
before it writes them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...operators.rules import SCRATCH
from ..calls.addresses import address
from ..errors import MachineError, described
from ..kernels.bind import Thunk
from ..machine.context import Context
from ..memory.limits import ALIGNMENT
from ..memory.scratch import Workspace
from ..program.kernel_shapes import MAX_SIZES, size_inputs
from ..program.program import Array, Kernel, Step

Bytes = npt.NDArray[np.uint8]

GUARD_SIZE = 64
"""Bytes before and after operands."""
GUARD = 0xC9
FILLS = (0xFF, 0x5A)
"""The contents of the bytes of outputs before each run."""


def bytes_of(array: Array) -> Bytes:
    """Return the bytes of a contiguous array."""
    return array.reshape(-1).view(np.uint8)


def _clusters(arrays: Sequence[Array]) -> list[list[int]]:
    """Return the numbers of `arrays` that have bytes, those of overlapping ones together."""
    clusters: list[list[int]] = []
    stop = 0
    numbers = (number for number, array in enumerate(arrays) if array.nbytes)
    for number in sorted(numbers, key=lambda number: address(arrays[number])):
        start = address(arrays[number])
        if not clusters or start >= stop:
            clusters.append([])
        clusters[-1].append(number)
        stop = max(stop, start + arrays[number].nbytes)
    return clusters


def _copies(arrays: Sequence[Array], workspace: Workspace) -> tuple[list[Array], list[Bytes]]:
    """Return copies that overlap as `arrays` do, aligned like them, and guard bytes around them."""
    copies, guards = list(arrays), list[Bytes]()
    for cluster in _clusters(arrays):
        base = address(arrays[cluster[0]])
        size = max(address(arrays[n]) + arrays[n].nbytes for n in cluster) - base
        first = GUARD_SIZE + base % ALIGNMENT
        block = workspace.take(first + size + GUARD_SIZE)
        guards += [block[:first], block[first + size :]]
        for number in cluster:
            array = arrays[number]
            start = first + address(array) - base
            part = block[start : start + array.nbytes]
            copies[number] = part.view(array.dtype).reshape(array.shape)
    return copies, guards


def run_guarded(
    context: Context,
    kernel: Kernel,
    changing: Sequence[int],
    ins: Sequence[Array],
    outs: Sequence[Array],
    workspace: Workspace,
) -> None:
    """
    Run `kernel` on copies of its operands in `workspace`, and check what it does.

    Inputs other than `changing` are constants, which are not copied.
    """
    sizes = size_inputs(kernel, context.binds)
    elements = {n: ins[n] for n in sizes if ins[n].size <= MAX_SIZES}
    plan = context.kernel_plans.of(kernel, ins, outs, elements)
    with workspace.lend():
        copies, guards = _copies([*(ins[number] for number in changing), *outs], workspace)
        given, results = list(ins), copies[len(changing) :]
        for number, copy in zip(changing, copies, strict=False):
            given[number] = copy
        thunks = context.bind_plan(plan, given, results, workspace)
    workspace.poison()
    runs: list[list[Bytes]] = []
    for fill in FILLS:
        for guard in guards:
            guard.fill(GUARD)
        for result in results:
            bytes_of(result).fill(fill)
        for number in changing:
            np.copyto(given[number], ins[number])
        _run(thunks, guards)
        for number in changing:
            if any(np.may_share_memory(given[number], result) for result in results):
                continue
            if not np.array_equal(bytes_of(ins[number]), bytes_of(given[number])):
                raise MachineError(f"the kernel changes its input {number}")
        runs.append([bytes_of(result).copy() for result in results])
    for number, (first, second) in enumerate(zip(*runs, strict=True)):
        if not np.array_equal(first, second) and not is_scratch(kernel, number):
            raise _difference(kernel, number, first, second)
    for out, result in zip(outs, results, strict=True):
        np.copyto(out, result)


def is_scratch(kernel: Kernel, number: int) -> bool:
    """Test whether output `number` is memory that `kernel` may write, without contents."""
    value = kernel.results[number]
    return any(step.op == SCRATCH and value in step.outs for step in kernel.steps)


def _run(thunks: Sequence[tuple[Thunk, Step | None]], guards: Sequence[Bytes]) -> None:
    for thunk, step in thunks:
        location = step and step.location
        try:
            thunk()
        except Exception as error:  # of a kernel, possibly a plug-in's
            raise MachineError(described(error), location) from error
        if any((guard != GUARD).any() for guard in guards):
            who = "a copy" if step is None else step.op
            raise MachineError(f"{who} writes outside the bytes of its operands", location)


def _difference(kernel: Kernel, number: int, first: Bytes, second: Bytes) -> MachineError:
    """Return the error that two runs wrote different bytes to output `number`."""
    value = kernel.results[number]
    step = next((step for step in kernel.steps if value in step.outs), None)
    op, location = ("the kernel", None) if step is None else (step.op, step.location)
    unwritten = np.flatnonzero((first == FILLS[0]) & (second == FILLS[1]))
    if len(unwritten):
        count = f"{len(unwritten)} of {len(first)} bytes of output {number}"
        text = f"{op} does not write {count}: the first is byte {unwritten[0]}"
    else:
        text = (
            f"{op} computes another output {number} from the same inputs when the bytes "
            "that it writes, or its scratch memory, hold others before"
        )
    return MachineError(text, location)
