"""
Plan where the values of a kernel live, for operands of given types.

A value that is an output lives in the output's buffer. Along a chain of elementwise steps, each
result overwrites an operand that dies; other intermediate values get scratch memory, and share
it if their lives do not overlap. An output's buffer that is also an input's is free from the last
step on that reads the input, if this step is elementwise, or after it.

    (a, b) -> out          add [0, 1] -> [2]        2: scratch byte 0
                           softmax [2] -> [3]       3: out
                           relu [3] -> [4]          4: out

A plan depends on types and on which operands overlap, not on arrays: `binding` binds the steps to
the arrays of each call.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...operators.records import record
from ...operators.signature import Elements, SignatureError
from ..errors import MachineError
from ..kernels.bind import Bind
from ..kernels.checked import CheckedKernel, Reuse, reuse_of
from ..kernels.loading import no_kernel
from ..memory.limits import ALIGNMENT
from ..program.dtypes import element_type
from ..program.kernel_shapes import data_operands, specs_on
from ..program.program import Array, Kernel, Step, TensorSpec


class Overlap(NamedTuple):
    """
    An output that shares bytes with another operand: an input, or an earlier output.

    Outputs are numbered after the inputs. `same` means that both have the same bytes.
    """

    output: int
    operand: int
    same: bool


Overlaps: TypeAlias = tuple[Overlap, ...]


class InScratch(NamedTuple):
    """A value in scratch memory, from byte `start` to `stop`."""

    value: int
    start: int
    stop: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class InOutput(NamedTuple):
    """A value in the buffer of an output; in another `shape`, unless that is None."""

    value: int
    output: int
    shape: tuple[int, ...] | None


class PlannedStep(NamedTuple):
    """A step, and its kernel, which need not check operands again."""

    step: Step
    bind: Bind


class Copy(NamedTuple):
    """Copy value `source` to value `to`."""

    to: int
    source: int


@record(eq=False)
class KernelPlan:
    """
    The places of a kernel's values, and what to run: `steps`, then `copies`.

    Values are numbered as in the kernel, and then come the outputs: output i is value
    `first_out` + i. Values after these exist only for the plan.
    """

    kernel: Kernel
    first_out: int
    count: int
    scratch_size: int
    in_scratch: tuple[InScratch, ...]
    in_outputs: tuple[InOutput, ...]
    steps: tuple[PlannedStep, ...]
    copies: tuple[Copy, ...]
    types: tuple[TensorSpec, ...]
    """Of the kernel's values, by number."""


@dataclass(eq=False)
class _Slot:
    """
    Scratch memory for several values in turn, all of as many bytes as `spec`.

    `first` is the step that writes the first of them; `stop` is the step after the last read.
    """

    spec: TensorSpec
    first: int
    stop: int
    start: int = 0


class _Placed(NamedTuple):
    """An output, whose buffer step `since` or a later one may write."""

    output: int
    since: int


def plan_kernel(
    kernel: Kernel,
    ins: Sequence[TensorSpec],
    outs: Sequence[TensorSpec],
    overlaps: Overlaps,
    binds: Mapping[str, Bind],
    elements: Mapping[int, Array | Elements],
) -> KernelPlan:
    """
    Plan `kernel` for operands of these static types, and check each step by its rule.

    `elements` are those of inputs, by number, that are known. Raises `MachineError` if the
    operands do not fit the kernel or a step does not fit its rule, and for operators without a
    kernel; `UnknownShape` if the shape of an intermediate value depends on elements that are not
    known.
    """
    for what, given, wanted in (("input", ins, kernel.ins), ("output", outs, kernel.outs)):
        _check_operands(kernel, what, given, wanted)
    specs = specs_on(kernel, ins, outs, binds, elements)
    return _Planner(kernel, specs, overlaps, binds).plan()


def _check_operands(
    kernel: Kernel, what: str, given: Sequence[TensorSpec], wanted: Sequence[TensorSpec]
) -> None:
    if len(given) != len(wanted):
        counts = f"expects {len(wanted)} {what}s, but got {len(given)}"
        raise MachineError(f"kernel {kernel.name} {counts}")
    for number, (spec, declared) in enumerate(zip(given, wanted, strict=True)):
        if not declared.accepts(spec):
            name = f"{what} {number} of kernel {kernel.name}"
            raise MachineError(f"{name} must be {declared}, but is {spec}")


class _Planner:
    """Facts of a kernel whose values have the types `specs`, and the plan that follows."""

    def __init__(
        self,
        kernel: Kernel,
        specs: Sequence[TensorSpec],
        overlaps: Overlaps,
        binds: Mapping[str, Bind],
    ) -> None:
        self.kernel = kernel
        self.overlaps = overlaps
        self.binds = binds
        self.specs = specs
        self.first_local = len(kernel.ins) + len(kernel.constants)
        self.first_out = len(self.specs)
        self.reuse = [
            Reuse.NONE if len(step.outs) != 1 else reuse_of(binds.get(step.op))
            for step in kernel.steps
        ]
        self.writer: dict[int, int] = {}
        self.last_use: dict[int, int] = {}
        for number, step in enumerate(kernel.steps):
            self.writer |= dict.fromkeys(step.outs, number)
            self.last_use |= dict.fromkeys(step.ins, number)
        self.last_use |= dict.fromkeys(kernel.results, len(kernel.steps))

    def plan(self) -> KernelPlan:
        kernel = self.kernel
        placed: dict[int, _Placed] = {}
        late: list[Copy] = []
        for output, value in enumerate(kernel.results):
            since = self._free_since(output)
            if value < self.first_local or value in placed or self.writer[value] < since:
                late.append(Copy(self.first_out + output, value))
            else:
                placed[value] = _Placed(output, since)
        homes = self._homes(placed)
        slots = list(dict.fromkeys(home for home in homes.values() if isinstance(home, _Slot)))
        size = _lay_out(slots)
        steps = tuple(self._planned_steps(homes))
        in_scratch: list[InScratch] = []
        in_outputs: list[InOutput] = []
        for value, home in homes.items():
            spec = self.specs[value]
            if isinstance(home, _Slot):
                in_scratch.append(_in_scratch(value, spec, home.start))
                continue
            result = kernel.results[home.output]
            shape = None if value == result else spec.dims
            in_outputs.append(InOutput(value, home.output, shape))
        copies, kept = self._copies(late, homes, size)
        return KernelPlan(
            kernel,
            self.first_out,
            self.first_out + len(kernel.results) + len(kept),
            kept[-1].stop if kept else size,
            (*in_scratch, *kept),
            tuple(in_outputs),
            steps,
            copies,
            tuple(self.specs),
        )

    def _homes(self, placed: Mapping[int, _Placed]) -> dict[int, _Slot | _Placed]:
        """Return the home of each computed value: a slot, or the buffer of an output."""
        kernel, specs = self.kernel, self.specs
        homes: dict[int, _Slot | _Placed] = dict(placed)
        for number in range(len(kernel.steps) - 1, -1, -1):
            step, reuse = kernel.steps[number], self.reuse[number]
            for out in step.outs:
                home = homes.get(out)
                if home is None:
                    stop = self.last_use.get(out, number) + 1
                    homes[out] = home = _Slot(specs[out], number, stop)
                if isinstance(home, _Slot):
                    home.first = number
            if reuse is Reuse.NONE:
                continue
            out = step.outs[0]
            home = homes[out]
            for value in step.ins[:1] if reuse is Reuse.RESHAPE else step.ins:
                dies = value >= self.first_local and self.last_use[value] == number
                if not dies or value in homes:
                    continue
                if not _can_overwrite(specs[value], specs[out], reuse):
                    continue
                if isinstance(home, _Slot) or self.writer[value] >= home.since:
                    homes[value] = home
                    break
        return homes

    def _planned_steps(self, homes: Mapping[int, _Slot | _Placed]) -> Iterator[PlannedStep]:
        """Check each step, and yield those that have something to do."""
        for number, step in enumerate(self.kernel.steps):
            bind = self.binds.get(step.op)
            empty = all(0 in self.specs[out].shape for out in step.outs)
            if bind is None:
                if empty:
                    continue
                raise MachineError(
                    f"kernel {self.kernel.name}: {no_kernel(step.op)}", step.location
                )
            if isinstance(bind, CheckedKernel):
                self._check(step, bind)
            if empty and not data_operands(step.op, self.binds):
                continue  # of others, the kernel checks the shape
            if self.reuse[number] is Reuse.RESHAPE and len(step.ins) == 1:
                source, out = step.ins[0], homes[step.outs[0]]
                if homes.get(source) is out or self._is_input_in(source, out):
                    continue
            yield PlannedStep(step, bind.unchecked if isinstance(bind, CheckedKernel) else bind)

    def _check(self, step: Step, bind: CheckedKernel) -> None:
        ins = [self.specs[value] for value in step.ins]
        outs = [self.specs[value] for value in step.outs]
        try:
            bind.check(step.attrs, ins, outs)
        except Exception as error:  # of a rule, possibly a plug-in's
            raise binding_fault(self.kernel, step, [*ins, *outs], error) from error

    def _is_input_in(self, value: int, home: _Slot | _Placed) -> bool:
        """Test whether `value` is an input in the very bytes of the output at `home`."""
        return isinstance(home, _Placed) and any(
            overlap.output == home.output and overlap.operand == value and overlap.same
            for overlap in self.overlaps
        )

    def _free_since(self, output: int) -> int:
        """Return the first step that may write to `output`: one after the last if none may."""
        steps, inputs = self.kernel.steps, len(self.kernel.ins)
        own = [overlap for overlap in self.overlaps if overlap.output == output]
        if not own:
            return 0
        values = {overlap.operand for overlap in own}
        same = all(overlap.same and overlap.operand < inputs for overlap in own)
        if not same or not values.isdisjoint(self.kernel.results):
            return len(steps)
        last = max((n for n, step in enumerate(steps) if values.intersection(step.ins)), default=-1)
        if last < 0:
            return 0
        step, reuse = steps[last], self.reuse[last]
        spec = self.specs[step.outs[0]]
        if reuse is Reuse.RESHAPE:
            in_place = values.isdisjoint(step.ins[1:]) and _can_overwrite(
                self.specs[step.ins[0]], spec, reuse
            )
        else:
            read = values.intersection(step.ins)
            in_place = all(reuse.overwrites(self.specs[value], spec) for value in read)
        return last if in_place else last + 1

    def _copies(
        self, late: Sequence[Copy], homes: Mapping[int, _Slot | _Placed], size: int
    ) -> tuple[tuple[Copy, ...], list[InScratch]]:
        """
        Return the copies to the outputs of `late`, and the values to keep in scratch memory.

        A value that another copy overwrites is copied there first. `size` bytes of scratch memory
        are in use.
        """
        saves, writes, kept = list[Copy](), list[Copy](), list[InScratch]()
        number = self.first_out + len(self.kernel.results)
        for i, (to, source) in enumerate(late):
            if any(self._is_in(source, earlier.to, homes) for earlier in late[:i]):
                kept.append(_in_scratch(number, self.specs[source], _aligned(size)))
                saves.append(Copy(number, source))
                size, source, number = kept[-1].stop, number, number + 1
            writes.append(Copy(to, source))
        return (*saves, *writes), kept

    def _is_in(self, value: int, to: int, homes: Mapping[int, _Slot | _Placed]) -> bool:
        """Test whether `value` shares bytes with the output that is value `to`."""
        home = homes.get(value)
        if isinstance(home, _Slot) or len(self.kernel.ins) <= value < self.first_local:
            return False
        output, inputs = to - self.first_out, len(self.kernel.ins)
        if home is None:
            pairs = {(output, value)}
        else:
            pairs = {(output, inputs + home.output), (home.output, inputs + output)}
        return any((overlap.output, overlap.operand) in pairs for overlap in self.overlaps)


def binding_fault(
    kernel: Kernel, step: Step, operands: Sequence[TensorSpec], error: Exception
) -> MachineError:
    """Return the error that `step` of `kernel` cannot be bound to `operands`."""
    shown = ", ".join(f"{spec.dtype}{list(spec.shape)}" for spec in operands)
    kind = "" if isinstance(error, SignatureError) else f"{type(error).__name__}: "
    text = f"kernel {kernel.name}: {step.op} cannot be bound to {shown}: {kind}{error}"
    return MachineError(text, step.location)


def _can_overwrite(operand: TensorSpec, result: TensorSpec, reuse: Reuse) -> bool:
    if reuse is Reuse.RESHAPE:
        return operand.dtype == result.dtype and prod(operand.dims) == prod(result.dims)
    return operand == result


def _aligned(size: int) -> int:
    return (size + (ALIGNMENT - 1)) & -ALIGNMENT


def _in_scratch(value: int, spec: TensorSpec, start: int) -> InScratch:
    return InScratch(value, start, start + spec.size, element_type(spec.dtype), spec.dims)


def _lay_out(slots: Sequence[_Slot]) -> int:
    """Choose the first byte of each slot, reusing memory of dead ones; return the bytes in use."""
    used = 0
    free: list[tuple[int, int]] = []  # (size, start)
    live: list[tuple[int, int, int]] = []  # (stop, size, start)
    for slot in sorted(slots, key=lambda s: s.first):
        size = slot.spec.size
        free += [(bytes, start) for stop, bytes, start in live if stop <= slot.first]
        live = [entry for entry in live if entry[0] > slot.first]
        block = min((block for block in free if block[0] >= size), default=None)
        if block is None:
            block = size, _aligned(used)
            used = block[1] + size
        else:
            free.remove(block)
        slot.start = block[1]
        live.append((slot.stop, *block))
    return used
