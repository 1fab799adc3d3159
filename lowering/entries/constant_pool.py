"""
The pool of constants: one parameter in place of the params of a program.

    %w = memref.get_global @w                %w = memref.view %constants[%c64][] :
                                      ->          memref<?xi8> to memref<4xf32>
    func.call @f(%x)                         func.call @f(%x, %constants)
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DictionaryAttr,
    IndexType,
    MemRefType,
    StringAttr,
    UnitAttr,
    i8,
)
from xdsl.ir import BlockArgument, Operation
from xdsl.rewriter import Rewriter

from ...dialects.tensors import dtype_name, element_size
from ...dialects.xdsl_extras.walking import walk
from ...passes.functions.call_graph import CallGraph
from ...passes.functions.signatures import insert_parameters
from ...passes.support.diagnostics import PassError
from ...runtime.native.interface import ALIGNMENT, Constant
from ...runtime.program.program import TensorSpec
from ..memref.memref_types import as_memref

PARAM = "xrelay.param"
"""The name of the param whose contents a global gets when the program is loaded."""
POOL = "xrelay.constants"
"""Marks the parameter that is the pool of constants."""


def pass_constants(graph: CallGraph, dtypes: Mapping[str, str]) -> tuple[list[Constant], int]:
    """
    Let functions read params from one pool, their last parameter; return what is in it, and its
    bytes.

    `dtypes` are those of the params by name.
    """
    params = {
        name: op
        for name, op in graph.symbols.items()
        if isinstance(op, memref.GlobalOp) and isinstance(op.initial_value, UnitAttr)
    }
    constants: dict[str, Constant] = {}
    end = 0
    for name, op in params.items():
        if graph.users[name]:
            constants[name] = _constant(op, dtypes, -(-end // ALIGNMENT) * ALIGNMENT)
            end = constants[name].offset + constants[name].size
    reading = set(constants)
    for group in graph.components():
        if any(not reading.isdisjoint(graph.named[name]) for name in group):
            reading.update(group)
    functions = [f for n, f in graph.symbols.items() if n in reading and isinstance(f, func.FuncOp)]
    for function in functions:
        types, attrs = [MemRefType(i8, [DYNAMIC_INDEX])], [DictionaryAttr({POOL: UnitAttr()})]
        (pool,) = insert_parameters(function, len(function.args), types, attrs)
        pool.name_hint = "constants"
        for op in list(walk(function)):
            if isinstance(op, func.CallOp) and op.callee.string_value() in reading:
                op.operands = [*op.operands, pool]
            elif isinstance(op, memref.GetGlobalOp) and op.name_.string_value() in constants:
                _view_pool(op, constants[op.name_.string_value()].offset, pool)
    for op in params.values():
        Rewriter.erase_op(op)
    return [*constants.values()], end


def _constant(op: memref.GlobalOp, dtypes: Mapping[str, str], offset: int) -> Constant:
    given, type = op.attributes.get(PARAM), as_memref(op.type)
    name = given.data if isinstance(given, StringAttr) else op.sym_name.data
    dtype = dtypes.get(name) or dtype_name(type.element_type)
    if dtype is None:
        raise PassError(f"param '{name}' has elements of {type.element_type}", op)
    shape = type.get_shape()
    size = prod(shape) * element_size(type.element_type)
    return Constant(name, TensorSpec(dtype, shape), offset, size)


def _view_pool(op: memref.GetGlobalOp, offset: int, pool: BlockArgument) -> None:
    """View a param in the pool, from byte `offset` on; on a device, that is its memory, too."""
    start = arith.ConstantOp.from_int_and_width(offset, IndexType())
    type = as_memref(op.memref.type)
    plain = MemRefType(type.element_type, type.shape, type.layout)
    view = memref.ViewOp(pool, start.result, [], plain)
    ops: list[Operation] = [start, view]
    if type != plain:
        ops.append(memref.MemorySpaceCastOp(view.result, type))
    for new in ops:
        new.location = op.location
    ops[-1].results[0].name_hint = op.memref.name_hint
    Rewriter.replace_op(op, ops)
