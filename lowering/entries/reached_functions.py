"""
The functions that an entry runs: their calls of kernels, and whether they may fail.

    func.call @fused_exp(%x, %t) {xrelay.used_memory = 64 : i64}
    ->
    KernelCall("main", "fused_exp", 64)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.ir import Attribute, Operation

from ...dialects.xdsl_extras.walking import walk
from ...passes.annotate_memory import USED_MEMORY
from ...runtime.native.interface import KernelCall
from ..memref.buffer_kernels import KERNEL
from ..memref.memref_types import as_memref
from .hooks import is_memref


def reached(functions: Mapping[str, func.FuncOp], entry: func.FuncOp) -> list[func.FuncOp]:
    """Return `entry` and those of `functions` that it calls, directly or not, without kernels."""
    found = {entry.sym_name.data: entry}
    pending = [entry]
    while pending:
        for call in calls_in(pending.pop()):
            callee = functions.get(call.callee.string_value())
            if callee is None or callee.is_declaration or KERNEL in callee.attributes:
                continue
            if callee.sym_name.data not in found:
                found[callee.sym_name.data] = callee
                pending.append(callee)
    return [*found.values()]


def calls_in(op: Operation) -> Iterator[func.CallOp]:
    """Return the calls in a function or module."""
    return (inner for inner in walk(op) if isinstance(inner, func.CallOp))


def may_fail(functions: Mapping[str, func.FuncOp], ran: Sequence[func.FuncOp]) -> bool:
    """
    Test whether a call may fail once its arguments and its workspace are accepted.

    What is only declared may fail: checks, and kernels of the runtime. So may what allocates, which
    kernels of dynamic shapes do.
    """
    for function in ran:
        if any(isinstance(op, memref.AllocOp) for op in walk(function)):
            return True
        for call in calls_in(function):
            callee = functions.get(call.callee.string_value())
            if callee is None or callee.is_declaration:
                return True
            if KERNEL in callee.attributes and any(map(is_dynamic, callee.function_type.inputs)):
                return True
    return False


def is_dynamic(type: Attribute) -> bool:
    return is_memref(type) and DYNAMIC_INDEX in as_memref(type).get_shape()


def kernel_calls(
    functions: Mapping[str, func.FuncOp], ran: Sequence[func.FuncOp], names: Mapping[str, str]
) -> Iterator[KernelCall]:
    """Yield the calls of kernels in functions, whose names in the source are in `names`."""
    for function in ran:
        name = function.sym_name.data
        for call in calls_in(function):
            kernel = call.callee.string_value()
            callee = functions.get(kernel)
            if callee is not None and KERNEL in callee.attributes:
                used = call.attributes.get(USED_MEMORY)
                size = used.value.data if isinstance(used, IntegerAttr) else None
                yield KernelCall(names.get(name, name), kernel, size)
