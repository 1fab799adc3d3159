"""The state that the functions of a loaded program share: constants, kernels, memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..calls.value_checks import fits
from ..calls.values import Value
from ..errors import MachineError
from ..kernels.bind import Bind
from ..memory.limits import Memory, Owner
from ..memory.packing import Plans
from ..observe.counters import Pool
from ..observe.observer import Observer
from ..program.call_cycles import CallCycles
from ..program.dtypes import has_element_type
from ..program.instructions import AllocRef
from ..program.kernel_shapes import host_input_faults
from ..program.objects import Tensor
from ..program.program import Array, Kernel, Late, Program, capacities_of, homes_of, spec_of
from .binding import Bound, KernelPlans, bind_plan

if TYPE_CHECKING:
    from ..native.compiled_kernels import NativeLibrary


def bound_constants(program: Program, given: Mapping[str, Array]) -> list[Array]:
    """
    Return the constants of `program`, read-only, with the late-bound ones from `given`.

    Constants whose names are formulas are computed. Raises `MachineError` if one is missing, cannot
    be computed, or does not fit its type.
    """
    missing = [late.name for late in program.late_constants if late.name not in given]
    if missing:
        from ..weights.derived_weights import weights_in  # loads the kernels' table

        weights = weights_in(given)
        if unknown := [name for name in missing if name not in weights]:
            raise MachineError(f"missing values for the constants {', '.join(unknown)}")
        given = {**given, **{name: weights.array(name) for name in missing}}
    constants: list[Array] = []
    for constant in program.constants:
        array = given[constant.name] if isinstance(constant, Late) else constant
        name = f"constant '{constant.name}'" if isinstance(constant, Late) else "a constant"
        if isinstance(constant, Late) and not fits(constant.spec, array):
            raise MachineError(f"{name} must be {constant.spec}, but is {spec_of(array)}")
        if not has_element_type(array.dtype):
            raise MachineError(f"{name} has unsupported element type {array.dtype}")
        frozen = np.asarray(array).view()
        frozen.flags.writeable = False
        constants.append(frozen)
    return constants


@dataclass(eq=False)
class Context:
    """The state that all functions of a loaded program share."""

    program: Program
    constants: Sequence[Array]
    binds: Mapping[str, Bind]
    memory: Memory
    owner: Owner
    """The owner of memory that all functions share."""
    has_references: bool
    """
    True if the program has references. Storages are not freed then: a path does not show what
    references keep alive, as their contents depend on what other activations do.
    """
    constant_tensors: dict[tuple[int, int], Tensor] = field(
        default_factory=dict[tuple[int, int], Tensor]
    )
    contiguous: dict[int, Array] = field(default_factory=dict[int, "Array"])
    """The constants that were used, as C-contiguous arrays that all devices share."""
    kernels: dict[int, Kernel] = field(default_factory=dict[int, Kernel])
    counters: Pool = field(default_factory=Pool)
    plans: Plans = field(default_factory=Plans)
    bind_plan: Callable[..., Bound] = bind_plan
    """Binds kernels to arrays: to NumPy's, or to compiled ones."""
    observers: Sequence[Observer] = ()
    """They see all paths that are recorded."""
    jump: Callable[..., Value] = field(init=False)
    """Returns the result of a function, given values, that runs in place of an activation."""

    @staticmethod
    def of(
        program: Program,
        given: Mapping[str, Array],
        binds: Mapping[str, Bind],
        memory: Memory,
        native: NativeLibrary | None = None,
        observers: Sequence[Observer] = (),
    ) -> Context:
        """Return the context of `program`; `given` are the values of its late-bound constants."""
        constants = bound_constants(program, given)
        has_references = any(
            isinstance(i, AllocRef) for f in program.functions for i in f.instructions
        )
        binder: Callable[..., Bound] = bind_plan
        if native is not None:
            from ..native.compiled_kernels import NativeBinder

            binder = NativeBinder(native, binds)
        shared = (program, constants, binds, memory, Owner(memory), has_references)
        return Context(*shared, bind_plan=binder, observers=observers)

    @cached_property
    def kernel_plans(self) -> KernelPlans:
        return KernelPlans(self.binds)

    @cached_property
    def homes(self) -> Sequence[int]:
        return homes_of(self.program)

    @cached_property
    def capacities(self) -> Mapping[int, int]:
        return capacities_of(self.program)

    @cached_property
    def may_jump(self) -> bool:
        """Whether calls may run in place of others: values on one device, without references."""
        has_caches = any(function.caches for function in self.program.functions)
        return not (self.has_references or has_caches or any(self.homes))

    @cached_property
    def cycles(self) -> CallCycles:
        return CallCycles.of(self.program)

    def constant(self, index: int, device: int) -> Tensor:
        """Return constant `index` as a tensor on `device`."""
        key = (index, device)
        tensor = self.constant_tensors.get(key)
        if tensor is None:
            array = self.contiguous.get(index)
            if array is None:
                array = self.contiguous.setdefault(index, self.expanded(self.constants[index]))
            tensor = self.constant_tensors.setdefault(key, Tensor(array, device, constant=True))
        return tensor

    def kernel(self, index: int) -> Kernel:
        """Return kernel `index` with contiguous constants."""
        bound = self.kernels.get(index)
        if bound is None:
            kernel = self.program.kernels[index]
            for fault in host_input_faults(kernel, self.binds):
                raise MachineError(f"kernel {kernel.name}: {fault}")
            constants = tuple(map(self.expanded, kernel.constants))
            bound = self.kernels.setdefault(index, replace(kernel, constants=constants))
        return bound

    def expanded(self, array: Array) -> Array:
        """Return `array` as C-contiguous: a splat may store its element only once."""
        if array.flags.c_contiguous:
            return array
        self.owner.reserve(array.nbytes, f"a constant {spec_of(array)}")
        expanded = np.ascontiguousarray(array)
        expanded.flags.writeable = False
        return expanded
