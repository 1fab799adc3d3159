"""
The kernels that an entry calls, itself or in functions that it calls, and if such calls may fail.

    func.call @fused_exp(%x, %t) {xrelay.used_memory = 64 : i64}
    ->
    KernelCall("main", "fused_exp", 64)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.ir import Attribute, Operation

from ...dialects.xdsl_extras.walking import walk
from ...passes.annotate_memory import USED_MEMORY
from ...passes.functions.symbols import CallGraph
from ...runtime.native.interface import KernelCall
from ..memref.functions_and_kernels import KERNEL
from ..memref.memref_types import as_memref, is_memref


def run_by(entry: func.FuncOp, graph: CallGraph) -> list[func.FuncOp]:
    """Return `entry`, and the functions that it calls, directly or not, without kernels."""
    reached = graph.reachable([entry.sym_name.data])
    functions = [f for f in graph.symbols.values() if isinstance(f, func.FuncOp) and f is not entry]
    return [
        entry,
        *(
            f
            for f in functions
            if f.sym_name.data in reached and not f.is_declaration and KERNEL not in f.attributes
        ),
    ]


def _calls(function: Operation, graph: CallGraph) -> Iterator[tuple[func.CallOp, func.FuncOp]]:
    """Yield the calls in a function, each with its callee."""
    for op in walk(function):
        if isinstance(op, func.CallOp):
            callee = graph.symbols[op.callee.string_value()]
            assert isinstance(callee, func.FuncOp), "verified: calls are of functions"
            yield op, callee


def kernel_calls(functions: Sequence[func.FuncOp], graph: CallGraph) -> Iterator[KernelCall]:
    """Yield the calls of kernels in functions."""
    for function in functions:
        for call, callee in _calls(function, graph):
            if KERNEL in callee.attributes:
                used = call.attributes.get(USED_MEMORY)
                size = used.value.data if isinstance(used, IntegerAttr) else None
                yield KernelCall(function.sym_name.data, callee.sym_name.data, size)


def may_fail(functions: Sequence[func.FuncOp], graph: CallGraph) -> bool:
    """
    Test whether a call may fail once its arguments and its workspace are accepted.

    What is only declared may fail: checks, and kernels of the runtime. So may what allocates, which
    kernels of dynamic shapes do.
    """
    return any(
        callee.is_declaration
        or (KERNEL in callee.attributes and any(map(_is_dynamic, callee.function_type.inputs)))
        for function in functions
        for _, callee in _calls(function, graph)
    ) or any(isinstance(op, memref.AllocOp) for f in functions for op in walk(f))


def _is_dynamic(type: Attribute) -> bool:
    return is_memref(type) and DYNAMIC_INDEX in as_memref(type).get_shape()
