"""
Bind kernels to arrays.

What depends on types only is in a `KernelPlan`, which is kept for operands of the same types: at
the next call site, or in the next path, only the steps are bound to its arrays.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from ..errors import MachineError, described
from ..kernels.bind import Bind, InOrder, Thunk, flattened, nothing
from ..kernels.checked import SizeChecked
from ..memory.limits import OutOfMemory
from ..memory.scratch import Workspace
from ..program.kernel_shapes import MAX_SIZES, size_inputs
from ..program.program import Array, Kernel, Step, spec_of
from .kernel_plan import KernelPlan, Overlap, Overlaps, binding_fault, plan_kernel

MAX_STEPS = 1 << 12
"""Number of steps in the plans that are kept."""

Bound = list[tuple[Thunk, Step | None]]
"""The callables of a kernel, in order, each with its step; None if it copies a result."""


def overlaps_of(ins: Sequence[Array], outs: Sequence[Array]) -> Overlaps:
    """Return which of `outs` meet operands: inputs, and outputs before them."""
    overlaps: list[Overlap] = []
    operands = list(ins)
    for number, out in enumerate(outs):
        for other, operand in enumerate(operands):
            if np.may_share_memory(out, operand):
                same = out.ctypes.data == operand.ctypes.data and out.nbytes == operand.nbytes
                overlaps.append(Overlap(number, other, same))
        operands.append(out)
    return tuple(overlaps)


@dataclass(eq=False)
class KernelPlans:
    """The plans of kernels, by the types of their operands; thread-safe. The oldest are dropped."""

    binds: Mapping[str, Bind]
    _kept: dict[object, KernelPlan] = field(default_factory=dict[object, KernelPlan])
    _steps: int = 0
    _lock: Lock = field(default_factory=Lock)

    def of(
        self,
        kernel: Kernel,
        ins: Sequence[Array],
        outs: Sequence[Array],
        elements: Mapping[int, Array] | None = None,
    ) -> KernelPlan:
        """
        Return the plan of `kernel` for operands like these.

        `elements` are those of inputs, by number, that are known. Raises what `plan_kernel` raises.
        """
        overlaps, operands, known = overlaps_of(ins, outs), [*ins, *outs], elements or {}
        types = [array.shape for array in operands], [array.dtype for array in operands]
        contents = [(number, array.tobytes()) for number, array in known.items()]
        key = (kernel, len(ins), overlaps, *types[0], *types[1], *contents)
        plan = self._kept.get(key)
        if plan is None:
            specs = [spec_of(array) for array in ins], [spec_of(array) for array in outs]
            plan = plan_kernel(kernel, *specs, overlaps, self.binds, known)
            self._keep(key, plan)
        return plan

    def _keep(self, key: object, plan: KernelPlan) -> None:
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = plan
            self._steps += 1 + len(plan.kernel.steps)
            while self._steps > MAX_STEPS and len(self._kept) > 1:
                dropped = self._kept.pop(next(iter(self._kept)))
                self._steps -= 1 + len(dropped.kernel.steps)


def bind_step(
    kernel: Kernel, step: Step, bind: Bind, ins: Sequence[Array], outs: Sequence[Array]
) -> Thunk:
    """Bind `step` of `kernel` to its operands; raise `MachineError` if that fails."""
    try:
        thunk: object = bind(step.attrs, ins, outs)
        if not callable(thunk):
            raise TypeError(
                f"its kernel must return a function to call, but returned {thunk!r:.80}"
            )
        return thunk
    except (MachineError, OutOfMemory):
        raise
    except Exception as error:  # of a kernel, possibly a plug-in's
        types = [spec_of(array) for array in (*ins, *outs)]
        raise binding_fault(kernel, step, types, error) from error


def _checked_once(
    step: Step, bind: Bind, fixed: Collection[int], ins: Sequence[Array], outs: Sequence[Array]
) -> Bind:
    """
    Return `bind` without the check of its sizes if they are among the values `fixed`, and fit.

    If they do not fit, the check remains, and fails when the kernel runs.
    """
    if not isinstance(bind, SizeChecked):
        return bind
    sizes = (step.ins[i] for i in bind.rule.size_operands if i < len(step.ins))
    if not all(value in fixed for value in sizes):
        return bind
    try:
        bind.check(step.attrs, ins, outs)
    except Exception:  # of a rule, possibly a plug-in's
        return bind
    return bind.bind


def bind_plan(
    plan: KernelPlan,
    ins: Sequence[Array],
    outs: Sequence[Array],
    workspace: Workspace,
    fixed: Collection[int] = (),
) -> Bound:
    """
    Bind the steps of `plan` to operands like those that it was made for.

    The elements of the inputs `fixed`, by number, are the same in every run: sizes among them are
    checked here. Raises `MachineError` if a kernel cannot be bound.
    """
    kernel = plan.kernel
    fixed = {*fixed, *range(len(kernel.ins), len(kernel.ins) + len(kernel.constants))}
    values: list[Any] = [*ins, *kernel.constants]
    values += [None] * (plan.first_out - len(values))
    values += outs
    values += [None] * (plan.count - len(values))
    for value, output, shape in plan.in_outputs:
        values[value] = outs[output] if shape is None else outs[output].reshape(shape)
    bound: Bound = []
    with workspace.lend():
        if plan.in_scratch:
            memory = workspace.take(plan.scratch_size)
            for value, start, stop, dtype, shape in plan.in_scratch:
                values[value] = memory[start:stop].view(dtype).reshape(shape)
        used = workspace.used
        for step, bind in plan.steps:
            operands = [values[v] for v in step.ins], [values[v] for v in step.outs]
            bind = _checked_once(step, bind, fixed, *operands)
            thunk = bind_step(kernel, step, bind, *operands)
            workspace.used = used
            if isinstance(thunk, InOrder):
                bound += ((part, step) for part in flattened(thunk))
            elif thunk is not nothing:
                bound.append((thunk, step))
    for to, source in plan.copies:
        bound.append((partial(np.copyto, values[to], values[source]), None))
    return bound


def run_kernel(
    kernel: Kernel, ins: Sequence[Array], outs: Sequence[Array], plans: KernelPlans
) -> None:
    """Compute `kernel` once, in scratch memory of its own. Raises `MachineError`."""
    sizes = {n: ins[n] for n in size_inputs(kernel, plans.binds) if ins[n].size <= MAX_SIZES}
    for thunk, step in bind_plan(plans.of(kernel, ins, outs, sizes), ins, outs, Workspace()):
        try:
            thunk()
        except Exception as error:  # of a kernel, possibly a plug-in's
            raise MachineError(described(error), step and step.location) from error
