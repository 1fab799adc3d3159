"""
Compile kernels with their schedules, and call them on arrays.

    kernel = kernel_on("conv", [x, w], lambda x, w: [conv2d(x, w, strides=(1, 1), …)])
    library = scheduled([kernel], tmp_path, Settings(machine, choose))
    run(library, "conv", [x, w], [y])
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from helpers.operators.inferring import OPERATORS
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects import relay
from xrelay.dialects.attributes import properties_of
from xrelay.lowering.convert_memory_to_memref import ConvertMemoryToMemrefPass
from xrelay.lowering.convert_relay_to_linalg import ConvertRelayToLinalgPass
from xrelay.lowering.expand_math import ExpandMathPass
from xrelay.lowering.native.build.library import build_library
from xrelay.lowering.native.build.settings import Settings


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


def scheduled(kernels: Iterable[relay.PrimFuncOp], folder: Path, settings: Settings) -> ctypes.CDLL:
    """Convert kernels to linalg, and compile them to one library in `folder`."""
    path = build_library(scheduled_module(kernels), folder / "scheduled.so", settings)
    return ctypes.CDLL(str(path))


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
    """Return `kernel` as the function that schedules are chosen for."""
    first = next(iter(scheduled_module([kernel]).ops))
    assert isinstance(first, func.FuncOp)
    return first
