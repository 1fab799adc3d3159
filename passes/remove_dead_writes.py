"""
Remove writes that nothing reads, and the allocations that this leaves without a use.

    %s = memory.alloc_storage 16 align 64 : …
    %t = memory.alloc_tensor %s[0] : …            ->      (nothing)
    %y = vm.invoke_tvm_op @f ins(%x : …) outs(%t : …) -> …
    memory.kill %t : …

A write is dead when only kills use its results, its `outs` are allocations that nothing but kills
uses besides, and the kernel that writes has no other effect. Views, tuples, projections and
constants without a use are removed too. Writes into parameters stay: the caller sees them. Run
`remove-unused-kernels` after. Level `manifest`.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from ..dialects import memory
from ..dialects.interfaces import DestinationPassing, KernelEffects
from .support.changes import ReportingPass
from .support.rewriting import apply_patterns, op_trait_rewrite_pattern


def only_killed(value: SSAValue, besides: Operation | None = None) -> bool:
    """Test whether only kills (and `besides`) use `value`."""
    for use in value.uses:
        if type(use.operation) is not memory.KillOp and use.operation is not besides:
            return False
    return True


def is_dead_write(op: Operation) -> bool:
    """Test whether `op`, in destination-passing style, only writes tensors that nothing reads."""
    if op.has_trait(KernelEffects) and KernelEffects.has_any(op):
        return False
    return all(map(only_killed, op.results)) and all(
        isinstance(out, OpResult)
        and isinstance(out.op, memory.AllocTensorOp)
        and only_killed(out, besides=op)
        for out in DestinationPassing.outs(op)
    )


def erase_kills(value: SSAValue, rewriter: PatternRewriter) -> None:
    for use in tuple(value.uses):
        if isinstance(use.operation, memory.KillOp):
            rewriter.erase(use.operation)


class RemoveDeadWrite(RewritePattern):
    """Remove a write that nothing reads, and the tensors that it wrote."""

    @op_trait_rewrite_pattern(DestinationPassing)
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not is_dead_write(op):
            return
        tensors = tuple(DestinationPassing.outs(op))
        for value in (*op.results, *tensors):
            erase_kills(value, rewriter)
        rewriter.erase(op)
        for tensor in dict.fromkeys(tensors):
            assert isinstance(tensor, OpResult)
            rewriter.erase(tensor.op)


class RemoveUnusedTensor(RewritePattern):
    """Remove an allocated tensor that is only killed."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.AllocTensorOp, rewriter: PatternRewriter, /) -> None:
        if only_killed(op.tensor):
            erase_kills(op.tensor, rewriter)
            rewriter.erase(op)


class RemoveUnused(RewritePattern):
    """Remove an unused op that keeps writes alive, or that they leave: a view, a storage."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if is_trivially_dead(op):
            rewriter.erase(op)


class RemoveDeadWritesPass(ReportingPass):
    """Remove writes that nothing reads, with their allocations."""

    name = "remove-dead-writes"
    accepts = "manifest"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        # From the end: a write dies when its readers, further down, are gone.
        return apply_patterns(
            op,
            RemoveUnused(),
            RemoveDeadWrite(),
            RemoveUnusedTensor(),
            walk_reverse=True,
        )
