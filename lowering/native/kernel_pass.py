"""
Passes on kernels: each kernel is rewritten by itself, the program around them stays.

    func.func private @add(…) attributes {xrelay.kernel} { … }        a kernel, at level `memref`
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ...passes.support.changes import LevelPass
from ...passes.support.diagnostics import PassError
from ...runtime.errors import Error
from ..memref.functions_and_kernels import KERNEL
from .toolchain.target_machine import Machine

CPU = "xrelay.cpu"
"""The attribute of a kernel that is for a processor of its own, as LLVM names it."""

COPIES = "xrelay.copies"
"""The attribute of a kernel with copies for other processors, which the library chooses from."""


def is_kernel(op: Operation) -> TypeGuard[FuncOp]:
    """Test whether `op` is a kernel that can be compiled."""
    return isinstance(op, FuncOp) and KERNEL in op.attributes and not op.is_declaration


def kernels_of(module: ModuleOp) -> Iterator[FuncOp]:
    """Return the kernels of `module` that can be compiled, in order."""
    return filter(is_kernel, module.ops)


class KernelPass(LevelPass, ABC):
    """A pass that rewrites each kernel by itself."""

    accepts = "memref"

    @abstractmethod
    def rewrite(self, kernel: FuncOp) -> None:
        """Rewrite `kernel`, in place. Raises `Error`, as for a tool that is missing."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            try:
                self.rewrite(kernel)
            except Error as error:
                raise PassError(error.message, kernel) from error


@dataclass(frozen=True)
class MachinePass(KernelPass, ABC):
    """A pass whose kernels depend on the machine that runs them."""

    target: str | None = None
    """The triple of the machine to compile for; by default this one's."""

    cpu: str | None = None
    """
    Its processor as LLVM names it, or `native` for this one; by default the oldest.

    A kernel with the attribute `xrelay.cpu` has its own.
    """

    def machine_of(self, kernel: FuncOp) -> Machine:
        """Return the machine that `kernel` is for. Raises `Error`."""
        cpu = kernel.attributes.get(CPU)
        return Machine(self.target, cpu.data if isinstance(cpu, StringAttr) else self.cpu)
