"""
Give a kernel one argument for an operand and a result that are the same bytes in a call.

    %x = memref.view %workspace[%c64][]                %y = memref.view %workspace[%c64][]
    %y = memref.view %workspace[%c64][]
    call @softmax(%x, %y)                      ->      call @softmax.in_place(%y)

LLVM then sees that each element is written where it was read. Of two arguments it only sees at run
time that they overlap, and takes a loop without vectors. A kernel that is called otherwise, too,
has two versions. Bytes are the same if their offsets are the same number, or computed by the same
ops from the same sizes. Not in the machine, whose kernels are called by name. At level `memref`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith, bufferization, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from ....passes.functions.symbols import SymbolNames
from ....passes.support.changes import LevelPass
from ....passes.support.rewriting import rewrite_each
from ..kernel_pass import kernels_of
from ..linalg_generics import ops_of

SIZES = "xrelay."
"""The prefix of functions that compute sizes from sizes."""


class Numbers(dict[SSAValue, int]):
    """Numbers of the sizes and views in a function: equal ones for what the same ops compute."""

    def __init__(self, function: FuncOp) -> None:
        keys: dict[object, int] = {}
        for op in function.walk():
            if len(op.results) == 1 and is_computed(op):
                (result,) = op.results
                operands = (self.get(operand, operand) for operand in op.operands)
                properties = frozenset(op.properties.items())
                key = op.name, properties, result.type, *operands
                self[result] = keys.setdefault(key, len(keys))

    def are_same(self, ones: Sequence[SSAValue], others: Sequence[SSAValue]) -> bool:
        """Test whether values are the same, in order."""
        return [self.get(v, v) for v in ones] == [self.get(v, v) for v in others]

    def are_same_bytes(self, one: SSAValue, other: SSAValue) -> bool:
        """Test whether two buffers are the same bytes, with elements in the same order."""
        types = one.type, other.type
        if not (isa(types[0], MemRefType) and isa(types[1], MemRefType)):
            return False
        if types[0] == types[1] and self.are_same([one], [other]):
            return True
        a, b = reinterpreted(one).owner, reinterpreted(other).owner
        return (
            types[0].element_type == types[1].element_type
            and DYNAMIC_INDEX not in (*types[0].get_shape(), *types[1].get_shape())
            and prod(types[0].get_shape()) == prod(types[1].get_shape())
            and isinstance(a, memref.ViewOp)
            and isinstance(b, memref.ViewOp)
            and self.are_same([a.source, a.byte_shift], [b.source, b.byte_shift])
        )


def is_computed(op: Operation) -> bool:
    """Test whether the result of `op` depends on its operands alone, and is a size or a view."""
    return isinstance(op, memref.ViewOp | memref.DimOp | arith.ConstantOp) or (
        isinstance(op, CallOp)
        and op.callee.string_value().startswith(SIZES)
        and isinstance(op.results[0].type, IndexType | IntegerType)
    )


def reinterpreted(value: SSAValue) -> SSAValue:
    """Return the buffer that `value` is, in another shape."""
    while isinstance(op := value.owner, memref.ReinterpretCastOp):
        value = op.source
    return value


Aliases: TypeAlias = tuple[tuple[int, int], ...]
"""Operands of a call, each with the result whose bytes it is."""


def results_of(kernel: FuncOp) -> Iterator[int]:
    """Yield the arguments that `kernel` stores results into."""
    for store in ops_of(kernel, bufferization.MaterializeInDestinationOp):
        dest = reinterpreted(store.dest)
        if isinstance(dest, BlockArgument):
            yield dest.index


def aliases_in(call: CallOp, kernel: FuncOp, numbers: Numbers) -> Aliases:
    """Return the operands that are the same bytes as a result of `kernel`, each with the result."""
    results = [*results_of(kernel)]
    aliases: list[tuple[int, int]] = []
    for i, operand in enumerate(call.arguments):
        for result in results if i not in results else ():
            if numbers.are_same_bytes(operand, call.arguments[result]):
                aliases.append((i, result))
                break
    return tuple(aliases)


def merge(kernel: FuncOp, aliases: Aliases, rewriter: PatternRewriter) -> None:
    """Replace operands of `kernel` by the results that they are the bytes of."""
    block = kernel.body.block
    args = list(block.args)
    for i, result in aliases:
        value, type = args[result], args[i].type
        if value.type != type:
            assert isa(type, MemRefType), "what is the same bytes is a buffer"
            strides = [prod(type.get_shape()[axis:]) for axis in range(1, type.get_num_dims() + 1)]
            view = memref.ReinterpretCastOp.from_dynamic(
                value, [0], type.get_shape(), strides, type
            )
            rewriter.insert(view, InsertPoint.at_start(block))
            value = view.result
        rewriter.replace_all_uses_with(args[i], value)
        rewriter.erase_block_argument(args[i])
    kernel.update_function_type()
    rewriter.notify_op_modified(kernel)


def version_of(kernel: FuncOp, names: SymbolNames, rewriter: PatternRewriter) -> FuncOp:
    """Insert a copy of `kernel`, with a name of its own."""
    version = kernel.clone()
    version.properties["sym_name"] = StringAttr(names.unique(f"{kernel.sym_name.data}.in_place"))
    rewriter.insert(version, InsertPoint.after(kernel))
    return version


def merge_in_calls(
    kernel: FuncOp, aliases: Aliases, calls: Sequence[CallOp], rewriter: PatternRewriter
) -> None:
    """Merge arguments of `kernel`, and operands of all of its calls."""
    merge(kernel, aliases, rewriter)
    merged = {i for i, _ in aliases}
    for call in calls:
        call.properties["callee"] = SymbolRefAttr(kernel.sym_name)
        call.operands = [v for i, v in enumerate(call.operands) if i not in merged]
        rewriter.notify_op_modified(call)


class MergeAliasesPass(LevelPass):
    name = "merge-aliases"
    accepts = "memref"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = {kernel.sym_name.data: kernel for kernel in kernels_of(op)}
        names = SymbolNames.of(op)
        calls: dict[str, dict[Aliases, list[CallOp]]] = {name: {} for name in kernels}
        for function in op.ops:
            if isinstance(function, FuncOp) and function.sym_name.data not in kernels:
                numbers = Numbers(function)
                for call in function.walk():
                    name = call.callee.string_value() if isinstance(call, CallOp) else ""
                    if isinstance(call, CallOp) and name in kernels:
                        aliases = aliases_in(call, kernels[name], numbers)
                        calls[name].setdefault(aliases, []).append(call)

        def rewrite(kernel: FuncOp, rewriter: PatternRewriter) -> None:
            groups = calls[kernel.sym_name.data]
            for aliases, group in groups.items():
                if aliases:
                    version = version_of(kernel, names, rewriter) if len(groups) > 1 else kernel
                    merge_in_calls(version, aliases, group, rewriter)

        rewrite_each([kernels[name] for name, groups in calls.items() if any(groups)], rewrite)
