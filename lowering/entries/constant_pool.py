"""
The pool of constants: one parameter in place of the params of a program.

    %w = memref.get_global @w                %w = memref.view %constants[%c64][] :
                                      ->          memref<?xi8> to memref<4xf32>
    func.call @f(%x)                         func.call @f(%x, %constants)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i8,
)
from xdsl.ir import BlockArgument
from xdsl.rewriter import Rewriter

from ...dialects.tensors import dtype_name, element_size
from ...dialects.xdsl_extras.walking import walk
from ...passes.support.diagnostics import PassError
from ...runtime.native.interface import ALIGNMENT, Constant
from ...runtime.program.program import TensorSpec
from ..memref.memref_types import as_memref
from .reached_functions import calls_in

PARAM = "xrelay.param"
"""The name of the param whose contents a global gets when the program is loaded."""
POOL = "xrelay.constants"
"""Marks the parameter that is the pool of constants."""


@dataclass(frozen=True)
class ConstantPool:
    """The params of a module, by the symbol of their global, and the bytes of all."""

    constants: Mapping[str, Constant]
    size: int


def pass_constants(module: ModuleOp, dtypes: Mapping[str, str]) -> ConstantPool:
    """
    Let functions read params from one pool, their last parameter; return it.

    `dtypes` are those of the params by name.
    """
    pool = constant_pool(module, dtypes)
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp)}
    reading = readers(functions, pool)
    pools = {name: add_pool(functions[name]) for name in functions if name in reading}
    for name, param in pools.items():
        for op in list(walk(functions[name])):
            if isinstance(op, func.CallOp) and op.callee.string_value() in pools:
                op.operands = [*op.operands, param]
            elif isinstance(op, memref.GetGlobalOp):
                read_from_pool(op, pool, param)
    for op in list(module.ops):
        if isinstance(op, memref.GlobalOp) and is_param(op):
            Rewriter.erase_op(op)
    return pool


def is_param(op: memref.GlobalOp) -> bool:
    """Test whether `op` is a global without contents."""
    return isinstance(op.initial_value, UnitAttr)


def constant_pool(module: ModuleOp, dtypes: Mapping[str, str]) -> ConstantPool:
    """Return the params that are used, with offsets in order."""
    used = {op.name_.string_value() for op in walk(module) if isinstance(op, memref.GetGlobalOp)}
    constants: dict[str, Constant] = {}
    end = 0
    for op in module.ops:
        if not isinstance(op, memref.GlobalOp) or not is_param(op) or op.sym_name.data not in used:
            continue
        given = op.attributes.get(PARAM)
        name = given.data if isinstance(given, StringAttr) else op.sym_name.data
        memory = as_memref(op.type)
        dtype = dtypes.get(name) or dtype_name(memory.element_type)
        if dtype is None:
            raise PassError(f"param '{name}' has elements of {memory.element_type}", op)
        shape = memory.get_shape()
        offset = -(-end // ALIGNMENT) * ALIGNMENT
        size = prod(shape) * element_size(memory.element_type)
        constants[op.sym_name.data] = Constant(name, TensorSpec(dtype, shape), offset, size)
        end = offset + size
    return ConstantPool(constants, end)


def readers(functions: Mapping[str, func.FuncOp], pool: ConstantPool) -> set[str]:
    """Return the functions that read the pool, themselves or in calls."""
    callers: dict[str, set[str]] = {}
    pending: list[str] = []
    for name, function in functions.items():
        for call in calls_in(function):
            callers.setdefault(call.callee.string_value(), set()).add(name)
        reads = (op for op in walk(function) if isinstance(op, memref.GetGlobalOp))
        if any(op.name_.string_value() in pool.constants for op in reads):
            pending.append(name)
    reached: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += callers.get(name, ())
    return reached


def add_pool(function: func.FuncOp) -> BlockArgument:
    """Make the pool the last parameter of `function`; return it."""
    block = function.body.block
    attrs = [DictionaryAttr({})] * len(block.args)
    if function.arg_attrs is not None:
        attrs = list(function.arg_attrs.data)
    param = block.insert_arg(MemRefType(i8, [DYNAMIC_INDEX]), len(block.args))
    param.name_hint = "constants"
    function.arg_attrs = ArrayAttr([*attrs, DictionaryAttr({POOL: UnitAttr()})])
    outputs = function.function_type.outputs.data
    function.function_type = FunctionType.from_lists(block.arg_types, outputs)
    return param


def read_from_pool(op: memref.GetGlobalOp, pool: ConstantPool, param: BlockArgument) -> None:
    """View a param in the pool, which is `param`; other globals stay."""
    constant = pool.constants.get(op.name_.string_value())
    if constant is not None:
        offset = arith.ConstantOp.from_int_and_width(constant.offset, IndexType())
        view = memref.ViewOp(param, offset.result, [], as_memref(op.memref.type))
        offset.location = view.location = op.location
        view.result.name_hint = op.memref.name_hint
        Rewriter.replace_op(op, [offset, view])
