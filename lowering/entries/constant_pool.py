"""
The pools of constants: a parameter for each in place of the params of a program.

    %w = memref.get_global @w                %w = memref.view %constants[%c64][] :
                                      ->          memref<?xi8> to memref<4xf32>
    func.call @f(%x)                         func.call @f(%x, %constants)

All are in one pool, side by side, unless `place-constants` chose their pools and offsets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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

from ...dialects import memory
from ...dialects.tensors import dtype_name, element_size
from ...dialects.xdsl_extras.walking import walk
from ...passes.bytes.constant_places import Place, place_of
from ...passes.functions.signatures import insert_parameters
from ...passes.functions.symbols import CallGraph
from ...passes.support.diagnostics import PassError
from ...runtime.native.interface import ALIGNMENT, Constant, ConstantPool
from ...runtime.program.program import TensorSpec
from ..memref.memref_types import as_memref
from .c_names import sanitized

PARAM = "xrelay.param"
"""The name of the param whose contents a global gets when the program is loaded."""
POOL = "xrelay.constants"
"""Marks a parameter that is a pool of constants."""


def pass_constants(
    graph: CallGraph, dtypes: Mapping[str, str], pools: Sequence[memory.PoolAttr] = ()
) -> tuple[list[Constant], list[ConstantPool]]:
    """
    Let functions read params from pools, their last parameters; return what is in these.

    `dtypes` are those of the params by name. Raises `PassError` if one has no place in `pools`.
    """
    params = {
        name: op
        for name, op in graph.symbols.items()
        if isinstance(op, memref.GlobalOp) and isinstance(op.initial_value, UnitAttr)
    }
    read = {name: op for name, op in params.items() if graph.users[name]}
    listed = [_constant(op, dtypes) for op in read.values()]
    places = [place_of(op, pools) for op in read.values()] if pools else []
    listed, where = _placed(listed, places, pools) if pools else _side_by_side(listed)
    constants = dict(zip(read, listed, strict=True))
    reading = set(constants)
    for group in graph.components():
        if any(not reading.isdisjoint(graph.named[name]) for name in group):
            reading.update(group)
    functions = [f for n, f in graph.symbols.items() if n in reading and isinstance(f, func.FuncOp)]
    for function in functions:
        added = [_add_pool(function, pool) for pool in where]
        for op in list(walk(function)):
            if isinstance(op, func.CallOp) and op.callee.string_value() in reading:
                op.operands = [*op.operands, *added]
            elif isinstance(op, memref.GetGlobalOp) and op.name_.string_value() in constants:
                constant = constants[op.name_.string_value()]
                _view_pool(op, constant.offset, added[constant.pool])
    for op in params.values():
        Rewriter.erase_op(op)
    return listed, where


def _side_by_side(constants: Sequence[Constant]) -> tuple[list[Constant], list[ConstantPool]]:
    """Return constants in one pool, in order."""
    placed: list[Constant] = []
    end = 0
    for constant in constants:
        placed.append(replace(constant, offset=_aligned(end)))
        end = placed[-1].offset + constant.size
    return placed, [ConstantPool("constants", 0, end, ALIGNMENT)] if placed else []


def _placed(
    constants: Sequence[Constant], places: Sequence[Place], pools: Sequence[memory.PoolAttr]
) -> tuple[list[Constant], list[ConstantPool]]:
    """Return constants at their places, and the pools that have some."""
    heights: dict[int, int] = {}
    for constant, (number, offset) in zip(constants, places, strict=True):
        heights[number] = max(offset + constant.size, heights.get(number, 0))
    where: list[ConstantPool] = []
    numbers: dict[int, int] = {}
    start = 0
    for i, pool in enumerate(pools):
        if (height := heights.get(i)) is not None:
            numbers[i] = len(where)
            name, place = sanitized(pool.label), memory.place_of(pool.device)
            alignment = max(pool.alignment.data, ALIGNMENT)
            where.append(
                ConstantPool(
                    *(f"constants_{name}", start, height, alignment, f".rodata.{name}"),
                    *(place, pool.capacity),
                )
            )
            start = _aligned(start + height)
    placed = [
        replace(constant, offset=place.offset, pool=numbers[place.pool])
        for constant, place in zip(constants, places, strict=True)
    ]
    return placed, where


def _aligned(end: int) -> int:
    return -(-end // ALIGNMENT) * ALIGNMENT


def _constant(op: memref.GlobalOp, dtypes: Mapping[str, str]) -> Constant:
    given, type = op.attributes.get(PARAM), as_memref(op.type)
    name = given.data if isinstance(given, StringAttr) else op.sym_name.data
    dtype = dtypes.get(name) or dtype_name(type.element_type)
    if dtype is None:
        raise PassError(f"param '{name}' has elements of {type.element_type}", op)
    shape = type.get_shape()
    size = prod(shape) * element_size(type.element_type)
    return Constant(name, TensorSpec(dtype, shape), 0, size)


def _add_pool(function: func.FuncOp, pool: ConstantPool) -> BlockArgument:
    """Make a pool the last parameter of `function`; return it."""
    mark = StringAttr(pool.place) if pool.place else UnitAttr()
    types, attrs = [MemRefType(i8, [DYNAMIC_INDEX])], [DictionaryAttr({POOL: mark})]
    (param,) = insert_parameters(function, len(function.args), types, attrs)
    param.name_hint = pool.symbol
    return param


def _view_pool(op: memref.GetGlobalOp, offset: int, pool: BlockArgument) -> None:
    """View a param in its pool, from byte `offset` on; on a device, that is its memory, too."""
    start = arith.ConstantOp.from_int_and_width(offset, IndexType())
    type = as_memref(op.memref.type)
    plain = MemRefType(type.element_type, type.shape, type.layout)
    view = memref.ViewOp(pool, start.result, [], plain)
    ops: list[Operation] = [start, view]
    if type != plain:
        ops.append(memref.MemorySpaceCastOp(view.result, type))
    for new in ops:
        new.location = op.location
    Rewriter.replace_op(op, ops)
