"""
Let all devices share one memory.

    %t = memref.alloc() : memref<4xf32, "cuda:0">        %t = memref.alloc() : memref<4xf32>
    gpu.memcpy %t, %x : …                           ->   memref.copy %x, %t

For a target with one memory: upstream MLIR lowers no other memory space of `memref.alloc`. Level
`memref`, which stays.
"""

from xdsl.context import Context
from xdsl.dialects import gpu, memref
from xdsl.dialects.builtin import FunctionType, MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects.xdsl_extras.identity import by_identity
from ..passes.support.changes import LevelPass
from ..passes.support.rewriting import apply_patterns
from .memref.memref_types import MemRef


@by_identity
def without_spaces(type: Attribute) -> Attribute:
    """Return a type without memory spaces."""
    match type:
        case MemRefType():
            memory: MemRef = type
            return MemRefType(memory.element_type, memory.shape, memory.layout, NoneAttr())
        case FunctionType():
            lists = ([without_spaces(t) for t in types] for types in (type.inputs, type.outputs))
            return FunctionType.from_lists(*lists)
        case _:
            return type


class EraseSpaces(RewritePattern):
    """Erase the memory spaces from the types that an op has, or defines values of."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        arguments = (a for region in op.regions for block in region.blocks for a in block.args)
        for value in (*op.results, *arguments):
            type = without_spaces(value.type)
            if type != value.type:
                rewriter.replace_value_with_new_type(value, type)
        for name, attribute in op.properties.items():
            op.properties[name] = without_spaces(attribute)


class EraseSpaceCast(RewritePattern):
    """Erase a cast between memory spaces."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.MemorySpaceCastOp, rewriter: PatternRewriter, /) -> None:
        rewriter.replace(op, [], [op.source])


class CopyInMemory(RewritePattern):
    """Copy between devices as within one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: gpu.MemcpyOp, rewriter: PatternRewriter, /) -> None:
        rewriter.insert(memref.CopyOp(op.src, op.dst), InsertPoint.before(op))
        rewriter.erase(op)


class EraseMemorySpacesPass(LevelPass):
    name = "erase-memory-spaces"
    accepts = "memref"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, EraseSpaceCast(), CopyInMemory(), EraseSpaces())
