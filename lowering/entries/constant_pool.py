"""
The pool of constants: one parameter in place of the params of a program.

    %w = memref.get_global @w                %w = memref.view %constants[%c64][] :
                                      ->          memref<?xi8> to memref<4xf32>
    func.call @f(%x)                         func.call @f(%x, %constants)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects.tensors import dtype_name, element_size
from ...dialects.xdsl_extras.walking import walk
from ...passes.support.diagnostics import PassError
from ...runtime.native.interface import ALIGNMENT, Constant
from ...runtime.program.program import TensorSpec
from ..memref.memref_types import as_memref

PARAM = "xrelay.param"
"""The name of the param whose contents a global gets when the program is loaded."""
POOL = "xrelay.constants"
"""Marks the parameter that is the pool of constants."""


@dataclass
class ConstantPool:
    """The params of a module, by the symbol of their global."""

    type: MemRefType
    found: dict[str, Constant] = field(default_factory=dict[str, Constant])
    size: int = 0


def is_param(op: Operation) -> bool:
    """Test whether `op` is a global without contents."""
    return isinstance(op, memref.GlobalOp) and isinstance(op.initial_value, UnitAttr)


def constant_pool(module: ModuleOp, dtypes: Mapping[str, str], type: MemRefType) -> ConstantPool:
    """Return the params that are used, with offsets in order; `dtypes` are theirs by name."""
    pool = ConstantPool(type)
    used = {op.name_.string_value() for op in walk(module) if isinstance(op, memref.GetGlobalOp)}
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
        offset = -(-pool.size // ALIGNMENT) * ALIGNMENT
        size = prod(shape) * element_size(memory.element_type)
        pool.found[op.sym_name.data] = Constant(name, TensorSpec(dtype, shape), offset, size)
        pool.size = offset + size
    return pool


def readers(module: ModuleOp, pool: ConstantPool) -> set[str]:
    """Return the functions that read the pool, themselves or in calls."""
    callers: dict[str, set[str]] = {}
    found: list[str] = []
    for function in module.ops:
        if not isinstance(function, func.FuncOp):
            continue
        name = function.sym_name.data
        for op in walk(function):
            if isinstance(op, func.CallOp):
                callers.setdefault(op.callee.string_value(), set()).add(name)
            elif isinstance(op, memref.GetGlobalOp) and op.name_.string_value() in pool.found:
                found.append(name)
    reached: set[str] = set()
    while found:
        name = found.pop()
        if name not in reached:
            reached.add(name)
            found += callers.get(name, ())
    return reached


@dataclass(frozen=True)
class TakePool(RewritePattern):
    """Make the pool the last parameter of a function that reads it."""

    pool: ConstantPool

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        block = op.body.block
        attrs = [DictionaryAttr({})] * len(block.args)
        if op.arg_attrs is not None:
            attrs = list(op.arg_attrs.data)
        param = rewriter.insert_block_argument(block, len(block.args), self.pool.type)
        param.name_hint = "constants"
        op.arg_attrs = ArrayAttr([*attrs, DictionaryAttr({POOL: UnitAttr()})])
        op.function_type = FunctionType.from_lists(block.arg_types, op.function_type.outputs.data)


@dataclass(frozen=True)
class ViewConstant(RewritePattern):
    """Read a param from the pool."""

    pool: ConstantPool

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.GetGlobalOp, rewriter: PatternRewriter, /) -> None:
        found = self.pool.found.get(op.name_.string_value())
        if found is None:
            return
        offset = arith.ConstantOp.from_int_and_width(found.offset, IndexType())
        type = as_memref(op.memref.type)
        view = memref.ViewOp(pool_of(op), offset.result, [], type)
        view.result.name_hint = op.memref.name_hint
        rewriter.insert(offset, InsertPoint.before(op))
        rewriter.replace(op, view)


@dataclass(frozen=True)
class PassPool(RewritePattern):
    """Pass the pool to a function that reads it."""

    readers: set[str]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.CallOp, rewriter: PatternRewriter, /) -> None:
        if op.callee.string_value() in self.readers:
            op.operands = [*op.operands, pool_of(op)]
            rewriter.notify_op_modified(op)


def pool_of(op: Operation) -> SSAValue:
    """Return the pool of the function around `op`, its last parameter."""
    at: Operation | None = op
    while at is not None and not isinstance(at, func.FuncOp):
        at = at.parent_op()
    assert at is not None, "constants are read in functions"
    return at.body.block.args[-1]


def functions_among(module: ModuleOp, names: Iterable[str]) -> list[func.FuncOp]:
    chosen = set(names)
    return [op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data in chosen]
