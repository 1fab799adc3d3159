"""
Copy each kernel for each level of processors, of which a library chooses when it is loaded.

    func.func private @k(…) {xrelay.kernel}   ->   func.func private @k(…) {xrelay.kernel,
                                                       xrelay.cpu = "x86-64", xrelay.copies = [
                                                       @k.x86-64-v3, @k.x86-64-v4]}
                                                   func.func private @k.x86-64-v3(…) {xrelay.kernel,
                                                       xrelay.cpu = "x86-64-v3"}
                                                   …

Each copy gets the schedule of its level. A kernel that calls a library, or only copies, is the same
on all of them. At level `memref`.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from ..kernel_pass import COPIES, CPU, KernelPass
from ..linalg_generics import TRANSPOSING
from ..toolchain.target_machine import LEVELS, Machine


def only_moves(op: Operation) -> bool:
    """Test whether `op` of a kernel computes no elements, and moves them in their order."""
    if isinstance(op, linalg.GenericOp):
        return TRANSPOSING not in op.attributes and len(op.body.block.ops) == 1
    is_end = isinstance(op, linalg.FillOp | linalg.YieldOp)
    return is_end or not op.name.startswith(("linalg.", "math."))


def is_same_on_all(kernel: FuncOp) -> bool:
    """Test whether `kernel` calls a library, or only moves elements, on all processors alike."""
    ops = [*kernel.walk()]
    return all(map(only_moves, ops)) or any(isinstance(op, func.CallOp) for op in ops)


@dataclass(frozen=True)
class CopyKernelsPass(KernelPass):
    """Copy each kernel for each level of processors."""

    name = "copy-kernels"

    target: str | None = None
    """The triple of the machine to compile for; by default this one's."""

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        first, *others = (machine.processor for machine in Machine(self.target, LEVELS).levels)
        if CPU in kernel.attributes or is_same_on_all(kernel):
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
