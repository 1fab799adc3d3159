"""
Compiled kernels for the machine, in place of NumPy's.

A kernel of the program is one function of a shared library. Its operands are described once, when
it is bound to arrays:

    int32_t NAME(const int64_t *operands)      0, or 1 after a failure

An operand is what MLIR passes for a memref: the address twice, 0, the shape and the strides.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from ...operators.records import record
from ..errors import MachineError
from ..kernels.bind import Bind, Thunk
from ..kernels.checked import Reuse, reuse_of
from ..machine.binding import Bound, bind_plan, overlaps_of
from ..machine.kernel_plan import KernelPlan
from ..memory.scratch import Workspace
from ..program.kernel_shapes import data_operands
from ..program.program import Array, Kernel
from .thread_count import default_threads

ERROR = "xrelay_kernels_error"
"""The function of a library that returns the message of the last failure of this thread."""

THREADS = "xrelay_kernels_threads"
"""The function of a library that sets the number of threads of its kernels."""


@record(eq=False)
class NativeCall:
    """A call of a compiled kernel, with the arrays whose addresses it has."""

    call: Thunk
    operands: tuple[Array, ...]

    def __call__(self) -> None:
        self.call()


def words_of(array: Array) -> list[int]:
    """Return what describes a C-contiguous array to compiled code."""
    address, strides, step = array.ctypes.data, list[int](), 1
    for size in reversed(array.shape):
        strides.insert(0, step)
        step *= size
    return [address, address, 0, *array.shape, *strides]


@dataclass(frozen=True)
class NativeLibrary:
    """A library of kernels; it is code, and must be trusted."""

    functions: Mapping[str, Any]
    """The function of each kernel, by the kernel's name in the program."""

    def call(self, name: str, operands: Sequence[Array]) -> Thunk:
        """Return a call of kernel `name` on inputs and outputs."""
        function, operands = self.functions[name], tuple(operands)
        if not all(isinstance(operand, np.ndarray) for operand in cast("list[object]", operands)):
            return partial(_describe_and_call, function, operands)  # of a template: arrays of calls
        return NativeCall(_described(function, operands), operands)


def _described(function: Any, operands: Sequence[Array]) -> Thunk:
    words = [word for operand in operands for word in words_of(operand)]
    return partial(function, (ctypes.c_int64 * len(words))(*words))


def _describe_and_call(function: Any, operands: Sequence[Array]) -> None:
    _described(function, operands)()


@dataclass(frozen=True)
class NativeBinder:
    """Binds kernels to compiled code, and those that have none to NumPy's."""

    library: NativeLibrary
    binds: Mapping[str, Bind]

    def __call__(
        self,
        plan: KernelPlan,
        ins: Sequence[Array],
        outs: Sequence[Array],
        workspace: Workspace,
        fixed: Collection[int] = (),
    ) -> Bound:
        """
        Bind a kernel to operands like those that its plan was made for, as `bind_plan` does.

        What the plan checked holds for compiled code, too. Result sizes that depend on data are
        checked by NumPy's kernels while they run, so these run then.
        """
        kernel = plan.kernel
        sized_by_data = any(data_operands(step.op, self.binds) for step in kernel.steps)
        is_empty = not all(array.size for array in (*ins, *outs))
        if kernel.name not in self.library.functions or sized_by_data or is_empty:
            return bind_plan(plan, ins, outs, workspace, fixed)
        with workspace.lend():
            targets = self._targets(kernel, ins, outs, workspace)
        call = self.library.call(kernel.name, [*ins, *targets])
        copies = [
            partial(np.copyto, out, target)
            for out, target in zip(outs, targets, strict=True)
            if out is not target
        ]
        return [(call, kernel.steps[-1] if kernel.steps else None), *((c, None) for c in copies)]

    def _targets(
        self, kernel: Kernel, ins: Sequence[Array], outs: Sequence[Array], workspace: Workspace
    ) -> list[Array]:
        """Return where to write results: scratch memory if an output overlaps an operand."""
        overlaps = overlaps_of(ins, outs)
        if overlaps and all(o.same for o in overlaps) and self._runs_in_place(kernel):
            return list(outs)
        met = {overlap.output for overlap in overlaps}
        return [
            workspace.take(out.nbytes).view(out.dtype).reshape(out.shape) if i in met else out
            for i, out in enumerate(outs)
        ]

    def _runs_in_place(self, kernel: Kernel) -> bool:
        """Test whether `kernel` is one loop that reads each element before it writes it."""
        return len(kernel.steps) == 1 and all(
            reuse_of(self.binds.get(step.op)) in (Reuse.ELEMENTWISE, Reuse.SAME_SIZE)
            for step in kernel.steps
        )


def load_kernels(path: str, symbols: Mapping[str, str]) -> NativeLibrary:
    """
    Load the library at `path`, whose file may be removed afterwards.

    `symbols` are the names of its functions, by the kernels' names in the program.
    """
    library = ctypes.CDLL(path)
    message = library[ERROR]
    message.restype = ctypes.c_char_p

    def check(status: int, *_: object) -> int:
        if status:
            text: Any = message()
            raise MachineError(text.decode(errors="replace"))
        return status

    library[THREADS](default_threads())
    functions: dict[str, Any] = {name: library[symbol] for name, symbol in symbols.items()}
    for function in functions.values():
        function.errcheck = check  # once: other threads may call the function later
    return NativeLibrary(functions)
