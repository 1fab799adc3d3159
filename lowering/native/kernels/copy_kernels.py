"""
Copy each kernel for each level of processors, of which a library chooses when it is loaded.

    func.func private @k(…) {xrelay.kernel}   ->   func.func private @k(…) {xrelay.kernel,
                                                       xrelay.cpu = "x86-64", xrelay.copies = [
                                                       @k.x86-64-v3, @k.x86-64-v4]}
                                                   func.func private @k.x86-64-v3(…) {xrelay.kernel,
                                                       xrelay.cpu = "x86-64-v3"}
                                                   …

Each copy gets the schedule of its level. A kernel that calls a library is the same on all of them.
At level `memref`.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import InsertPoint, Rewriter

from ..kernel_pass import COPIES, CPU, KernelPass
from ..toolchain.target_machine import LEVELS, Machine


@dataclass(frozen=True)
class CopyKernelsPass(KernelPass):
    """Copy each kernel for each level of processors."""

    name = "copy-kernels"

    target: str | None = None
    """The triple of the machine to compile for; by default this one's."""

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        first, *others = (machine.processor for machine in Machine(self.target, LEVELS).levels)
        if CPU in kernel.attributes or any(isinstance(op, func.CallOp) for op in kernel.walk()):
            return
        names: list[str] = []
        for cpu in others:
            copy = kernel.clone()
            names.append(f"{kernel.sym_name.data}.{cpu}")
            copy.properties["sym_name"] = StringAttr(names[-1])
            copy.attributes[CPU] = StringAttr(cpu)
            Rewriter.insert_op(copy, InsertPoint.after(kernel))
        kernel.attributes[CPU] = StringAttr(first)
        if names:
            kernel.attributes[COPIES] = ArrayAttr(map(SymbolRefAttr, names))
