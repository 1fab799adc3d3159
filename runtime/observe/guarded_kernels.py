"""
Run kernels between guard bytes, in the mode `sanitize`.

    | guard | input 0 | guard |   | guard | input 1 = output 0 | guard |

A kernel computes on copies of its operands in scratch memory; those that overlap do so there,
too. It runs twice, with other bytes in its outputs and in its scratch memory, and must compute
the same. So four faults are found: a kernel that writes outside its operands, that changes an
input, that does not write all bytes of an output, or that reads them before it writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...operators.records import record
from ..errors import Location, MachineError, described
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


def address_of(array: Array) -> int:
    """Return the address of the first byte of `array`."""
    return array.ctypes.data


def bytes_of(array: Array) -> Bytes:
    """Return the bytes of a contiguous array."""
    return array.reshape(-1).view(np.uint8)


def _clusters(arrays: Sequence[Array]) -> list[list[int]]:
    """Return the numbers of `arrays` that have bytes, those of overlapping ones together."""
    found: list[list[int]] = []
    stop = 0
    numbers = (number for number, array in enumerate(arrays) if array.nbytes)
    for number in sorted(numbers, key=lambda number: address_of(arrays[number])):
        start = address_of(arrays[number])
        if not found or start >= stop:
            found.append([])
        found[-1].append(number)
        stop = max(stop, start + arrays[number].nbytes)
    return found


@record
class Copies:
    """Copies of arrays that overlap as these do, and the guard bytes around them."""

    arrays: Sequence[Array]
    guards: Sequence[Bytes]

    @staticmethod
    def of(arrays: Sequence[Array], workspace: Workspace) -> Copies:
        """Allocate the copies in `workspace`, aligned like the arrays."""
        copies, guards = list(arrays), list[Bytes]()
        for cluster in _clusters(arrays):
            base = address_of(arrays[cluster[0]])
            size = max(address_of(arrays[n]) + arrays[n].nbytes for n in cluster) - base
            first = GUARD_SIZE + base % ALIGNMENT
            block = workspace.take(first + size + GUARD_SIZE)
            guards += [block[:first], block[first + size :]]
            for number in cluster:
                array = arrays[number]
                start = first + address_of(array) - base
                part = block[start : start + array.nbytes]
                copies[number] = part.view(array.dtype).reshape(array.shape)
        return Copies(copies, guards)


@dataclass(eq=False, slots=True)
class GuardedKernel:
    """A kernel that is bound to copies of its operands; `ins` without constants."""

    kernel: Kernel
    workspace: Workspace
    thunks: Sequence[tuple[Thunk, Step | None]]
    ins: Sequence[tuple[int, Array, Array]]
    """The inputs by number, each with its copy."""
    outs: Sequence[tuple[Array, Array]]
    guards: Sequence[Bytes]
    first_results: Sequence[Bytes]

    def run(self) -> None:
        self.workspace.poison()
        for fill in FILLS:
            for guard in self.guards:
                guard.fill(GUARD)
            for _, copy in self.outs:
                bytes_of(copy).fill(fill)
            for _, array, copy in self.ins:
                np.copyto(copy, array)
            self._run()
            self._require_same_inputs()
            if fill == FILLS[0]:
                for kept, (_, copy) in zip(self.first_results, self.outs, strict=True):
                    np.copyto(kept, bytes_of(copy))
        self._require_same_results()
        for array, copy in self.outs:
            np.copyto(array, copy)

    def _run(self) -> None:
        for thunk, step in self.thunks:
            location = step and step.location
            try:
                thunk()
            except Exception as error:  # of a kernel, possibly a plug-in's
                raise MachineError(described(error), location) from error
            if any((guard != GUARD).any() for guard in self.guards):
                who = "a copy" if step is None else step.op
                raise MachineError(f"{who} writes outside the bytes of its operands", location)

    def _require_same_inputs(self) -> None:
        for number, array, copy in self.ins:
            if any(np.may_share_memory(copy, out) for _, out in self.outs):
                continue
            if not np.array_equal(bytes_of(array), bytes_of(copy)):
                raise MachineError(f"the kernel changes its input {number}")

    def _require_same_results(self) -> None:
        for number, (first, (_, copy)) in enumerate(
            zip(self.first_results, self.outs, strict=True)
        ):
            second = bytes_of(copy)
            if np.array_equal(first, second):
                continue
            op, location = self._maker(number)
            unwritten = np.flatnonzero((first == FILLS[0]) & (second == FILLS[1]))
            if len(unwritten):
                count = f"{len(unwritten)} of {len(first)} bytes of output {number}"
                text = f"{op} does not write {count}: the first is byte {unwritten[0]}"
            else:
                text = (
                    f"{op} computes another output {number} from the same inputs when the bytes "
                    "that it writes, or its scratch memory, hold others before"
                )
            raise MachineError(text, location)

    def _maker(self, number: int) -> tuple[str, Location | None]:
        """Return the operator that computes output `number`, and its location."""
        value = self.kernel.results[number]
        for step in self.kernel.steps:
            if value in step.outs:
                return step.op, step.location
        return "the kernel", None


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
        copies = Copies.of([*(ins[number] for number in changing), *outs], workspace)
        arrays, results = list(ins), copies.arrays[len(changing) :]
        for number, copy in zip(changing, copies.arrays, strict=False):
            arrays[number] = copy
        kept = [workspace.take(array.nbytes) for array in outs]
        GuardedKernel(
            kernel,
            workspace,
            context.bind_plan(plan, arrays, results, workspace),
            [(number, ins[number], arrays[number]) for number in changing],
            list(zip(outs, results, strict=True)),
            copies.guards,
            kept,
        ).run()
