"""
Compile kernels with their schedules, and call them on arrays.

    kernel = kernel_on("conv", [x, w], lambda x, w: [conv2d(x, w, strides=(1, 1), …)])
    library = scheduled([kernel], tmp_path, Settings(machine))
    run(library, "conv", [x, w], [y])
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from helpers.native.built_libraries import build_library
from helpers.operators.inferring import OPERATORS
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects import relay
from xrelay.dialects.attributes import properties_of
from xrelay.lowering.convert_memory_to_memref import ConvertMemoryToMemrefPass
from xrelay.lowering.convert_relay_to_linalg import ConvertRelayToLinalgPass
from xrelay.lowering.expand_math import ExpandMathPass
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.kernel_pass import kernels_of
from xrelay.lowering.native.kernel_pipeline import BlasUse, kernel_passes
from xrelay.lowering.native.schedules.scheduling import SCHEDULE
from xrelay.lowering.native.toolchain.target_machine import Machine


class Body:
    """The body of a kernel: `body.add("nn.dense", x, w)` appends an operator."""

    def __init__(self, types: Sequence[Attribute]):
        self.block = Block(arg_types=types)

    def add(self, name: str, *operands: SSAValue, **attrs: Any) -> SSAValue:
        """Append the operator `relay.NAME`; return its first result."""
        cls = OPERATORS[name]
        op: Operation = cls.on(operands, properties_of(cls, attrs))
        self.block.add_op(op)
        return op.results[0]


def kernel_on(
    name: str,
    types: Sequence[TensorType[Any]],
    write: Callable[[Body, Sequence[SSAValue]], SSAValue],
) -> relay.PrimFuncOp:
    """Return a kernel with parameters of `types`; `write` appends its operators."""
    body = Body(types)
    result = write(body, body.block.args)
    body.block.add_op(relay.YieldOp(result))
    type = FunctionType.from_lists(types, [result.type])
    return relay.PrimFuncOp(name, type, Region(body.block))


def scheduled(
    kernels: Iterable[relay.PrimFuncOp],
    folder: Path,
    settings: Settings,
    blas: BlasUse | None = None,
) -> ctypes.CDLL:
    """Convert kernels to linalg, and compile them to one library in `folder`."""
    return built(scheduled_module(kernels), folder, settings, blas)


def built(
    module: ModuleOp, folder: Path, settings: Settings, blas: BlasUse | None = None
) -> ctypes.CDLL:
    """Compile `module`, whose kernels are prepared first, to a library in `folder`."""
    module = prepared(module, settings.machine, blas)
    return ctypes.CDLL(str(build_library(module, folder / "scheduled.so", settings)))


def prepared(module: ModuleOp, machine: Machine, blas: BlasUse | None = None) -> ModuleOp:
    """Return `module`, whose kernels the pipeline `kernels` rewrote."""
    for step in kernel_passes(machine, blas):
        step.apply(Context(), module)
    return module


def without_schedules(module: ModuleOp) -> ModuleOp:
    """Return `module`, in which `choose-schedules` will choose none."""
    for kernel in kernels_of(module):
        kernel.attributes[SCHEDULE] = ArrayAttr([])
    return module


def scheduled_module(kernels: Iterable[relay.PrimFuncOp]) -> ModuleOp:
    """Return a module at level `memref` whose functions call the kernels of their names."""
    module = ModuleOp([*kernels])
    ConvertRelayToLinalgPass(require=True).apply(Context(), module)
    ExpandMathPass().apply(Context(), module)
    ConvertMemoryToMemrefPass().apply(Context(), module)
    for function in [*module.ops]:
        assert isinstance(function, func.FuncOp), "a kernel is a function now"
        name = function.sym_name.data
        caller = func.FuncOp(name, (function.function_type.inputs.data, []))
        call = func.CallOp(f"{name}_kernel", list(caller.body.block.args), [])
        caller.body.block.add_ops([call, func.ReturnOp()])
        caller.attributes["llvm.emit_c_interface"] = UnitAttr()
        function.properties["sym_name"] = StringAttr(f"{name}_kernel")
        module.body.block.add_op(caller)
    return module


def function_of(kernel: relay.PrimFuncOp) -> func.FuncOp:
    """Return `kernel` as the function that the pipeline `kernels` begins with."""
    first = next(iter(scheduled_module([kernel]).ops))
    assert isinstance(first, func.FuncOp)
    return first
