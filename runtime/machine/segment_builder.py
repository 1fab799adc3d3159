"""
The segment that is being recorded: what instructions read, and what they leave to run later.

    state    r0 -> Tensor, r1 -> Storage, its unwritten bytes ...   read and changed while recording
    steps    [add, softmax, ...]                                    callables for each run

An instruction reads its operands from the state, and appends callables for what it computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...operators import storage_errors
from ..calls.value_checks import scalar
from ..errors import MachineError
from ..kernels.bind import Thunk
from ..memory.gaps import cut
from ..observe.counters import Counters
from ..observe.segment_details import SegmentDetails
from ..program import instructions as vm
from ..program.dtypes import element_type
from ..program.objects import Closure, Data, Object, Ref, Storage, Tensor, tensors_in
from ..program.program import Array, Function, Step, TensorSpec, spec_of
from ..program.size_operations import Scalar
from .context import Context
from .known_sizes import evaluated, unknown_sources
from .paths import Known, State

if TYPE_CHECKING:
    from ..observe.sanitizer import Sanitizer, Site


class NeedsValues(Exception):
    """An instruction cannot be recorded before the elements of `tensors` are known."""

    def __init__(self, *tensors: Tensor) -> None:
        super().__init__()
        self.tensors = tensors


def wrong_object(register: int, expected: str, found: Object) -> MachineError:
    """Return the error of an instruction that finds an object of another kind in `register`."""
    return MachineError(f"register r{register} must hold {expected}, but holds {found.kind}")


@dataclass(eq=False)
class SegmentBuilder:
    """
    A segment while it is recorded: instruction `pc` is the current one, `state` the state there.

    `known` are the values for which a path has stopped at this instruction.
    """

    context: Context
    state: State
    pc: int
    known: Known
    steps: list[Thunk] = field(default_factory=list[Thunk])
    origins: list[tuple[int, Step | None]] = field(default_factory=list[tuple[int, Step | None]])
    executed: list[type[vm.Instruction]] = field(default_factory=list[type[vm.Instruction]])
    counters: Counters = field(default_factory=Counters)
    details: SegmentDetails | None = None
    """Facts about the steps for a profile, if one is active."""

    @property
    def function(self) -> Function:
        return self.context.program.functions[self.state.frame.function]

    @property
    def guard(self) -> Sanitizer | None:
        return self.state.frame.guard

    def site(self) -> Site:
        """Return the current instruction, for the sanitizer."""
        from ..observe.sanitizer import Site

        return Site(self.context.program, self.state.frame.function, self.pc)

    def tensor(self, register: int) -> Tensor:
        found = self.state.read(register)
        if not isinstance(found, Tensor):
            raise wrong_object(register, "a tensor", found)
        return found

    def data(self, register: int) -> Data:
        found = self.state.read(register)
        if not isinstance(found, Data):
            raise wrong_object(register, "data", found)
        return found

    def ref(self, register: int) -> Ref:
        found = self.state.read(register)
        if not isinstance(found, Ref):
            raise wrong_object(register, "a reference", found)
        return found

    def storage(self, register: int) -> Storage:
        found = self.state.read(register)
        if not isinstance(found, Storage):
            raise wrong_object(register, "a storage", found)
        return found

    def tensors(self, registers: tuple[int, ...]) -> list[Tensor]:
        found: list[Tensor] = []
        for register in registers:
            item = self.state.read(register)
            if isinstance(item, Tensor):
                found.append(item)
                continue
            inside = tensors_in((item,))
            if inside is None:
                raise MachineError("operands of a kernel must be tensors or data of tensors")
            found += inside
        return found

    def values(self, *tensors: Tensor) -> list[Array]:
        """Return the elements of `tensors`, on which this instruction depends."""
        self.require_written(*tensors)
        found = [self.known_elements(tensor) for tensor in tensors]
        elements = [array for array in found if array is not None]
        if len(elements) == len(tensors):
            return elements
        needed = unknown_sources(tensors, self.known_elements)
        if needed:
            raise NeedsValues(*needed)
        return evaluated(tensors, self.state.known, self.known_elements, self.evaluate)

    def immediate(self, value: int | vm.Reg) -> int:
        """Return an integer operand: `value`, or the element of the scalar in that register."""
        if isinstance(value, int):
            return value
        (array,) = self.values(self.tensor(value.index))
        return scalar(array).item()

    def size_tensor(self, sizes: int | tuple[int, ...]) -> Tensor:
        """Return a tensor of sizes that the path knows."""
        return Tensor(np.array(sizes, np.int64), 0, constant=True)

    def evaluate(self, scalar: Scalar, args: Sequence[Array]) -> Array:
        """Return the result of an operation on sizes that the path knows."""
        spec = scalar.result(scalar, args)
        out = np.empty(spec.dims, element_type(spec.dtype))
        scalar.store(args, out)
        return out

    def computed_size(self, spec: TensorSpec) -> Array:
        """Return memory for a size that is computed whenever the path is taken."""
        return self.context.memory.array(spec.dims, spec.dtype, "a size")

    def known_elements(self, tensor: Tensor) -> Array | None:
        """Return the elements of `tensor` if they are the same whenever this path is taken."""
        if tensor.constant:
            return tensor.array
        found = self.state.known.get(tensor)
        return self.known.get(tensor) if found is None else found

    def sizes(self, registers: tuple[int, ...]) -> tuple[Tensor, ...]:
        """Return the tensors in `registers`, operands of an operation on the host."""
        found = tuple(map(self.tensor, registers))
        for number, tensor in enumerate(found):
            if tensor.device:
                here, there = self.device(0), self.device(tensor.device)
                raise MachineError(f"operand {number} must be on {here}, but is on {there}")
        self.require_written(*found)
        return found

    def device(self, index: int) -> str:
        return self.context.program.devices[index]

    def compute(self, thunk: Thunk, step: Step | None = None) -> None:
        self.steps.append(thunk)
        self.origins.append((self.pc, step))

    def require_written(self, *tensors: Tensor) -> None:
        """Raise `MachineError` unless all bytes of `tensors` were written."""
        for tensor in tensors if self.state.unwritten else ():
            if self.state.has_unwritten(tensor):
                what = f"a tensor {spec_of(tensor.array)}"
                raise MachineError(storage_errors.unwritten_bytes(what))
        if self.guard is not None and (thunk := self.guard.reads(tensors)):
            self.compute(thunk)

    def require_own(self, *targets: Tensor) -> None:
        """In the mode `sanitize`, raise `MachineError` if `targets` are tensors of a caller."""
        for tensor in targets if self.guard is not None else ():
            if not self.state.frame.owns(tensor.origin):
                raise MachineError(f"must not write to an argument {spec_of(tensor.array)}")

    def wrote(self, *tensors: Tensor) -> None:
        """Mark all bytes of `tensors` as written."""
        for tensor in tensors:
            self.state.wrote(tensor)
        if self.guard is not None:
            self.compute(self.guard.writes(self.site(), tensors))

    def hand_over(self, *roots: Object) -> None:
        """
        Ensure that `roots`, which another activation receives, contain no unwritten bytes.

        Tensors must be written. Storages, which are not read here, are cleared where they are
        not.
        """
        rest = [root for root in roots if self.state.has_unwritten(root)]
        while rest:
            item = rest.pop()
            if isinstance(item, Tensor):
                self.require_written(item)
            elif isinstance(item, Storage):
                gaps = self.state.unwritten[item.root]
                for start, stop in zip(gaps[::2], gaps[1::2], strict=True):
                    first, last = max(start, item.start), min(stop, item.stop)
                    if first < last:
                        self.clear(item.memory[first:last])
                cut(gaps, item.start, item.stop)
            else:
                self.state.with_unwritten.discard(item)
                rest += filter(self.state.has_unwritten, item.parts)

    def clear(self, memory: Array) -> None:
        self.compute(partial(memory.fill, self.context.memory.blank))

    def build(self, dst: int, value: Data | Closure) -> None:
        if any(map(self.state.has_unwritten, value.parts)):
            self.state.with_unwritten.add(value)
        self.state.write(dst, value)
