"""
Remove writes that nobody reads, and the allocations that this leaves without a use.

    %s = memory.alloc_storage 16 align 64 : …
    %t = memory.alloc_tensor %s[0] : …            ->      (nothing)
    %y = vm.invoke_tvm_op @f ins(%x : …) outs(%t : …) -> …
    memory.kill %t : …

A write is dead when none of its results is used but by kills, and its `outs` are allocations that
nothing else uses but kills. A view, tuple, projection or constant without a use goes too, and
so does a kernel that only dead writes called. Writes into parameters stay: the caller sees them.
Level `manifest`.
"""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import is_side_effect_free

from ..dialects import memory, relay
from ..dialects.interfaces import Aliasing, DestinationPassing, DeviceConstant
from .analysis.symbols import called_symbols
from .support.rewriting import apply_patterns


def only_killed(value: SSAValue, besides: Operation | None = None) -> bool:
    """Whether nothing uses `value` but kills (and `besides`)."""
    return all(
        isinstance(use.operation, memory.KillOp) or use.operation is besides for use in value.uses
    )


def written_tensors(op: Operation) -> list[SSAValue]:
    """The `outs` of a destination-passing op: its last operands, one per result."""
    return list(DestinationPassing.outs(op))


def is_dead_write(op: Operation) -> bool:
    """Whether `op` only writes tensors that nobody reads."""
    return (
        op.has_trait(DestinationPassing)
        and all(only_killed(result) for result in op.results)
        and all(
            isinstance(out, OpResult)
            and isinstance(out.op, memory.AllocTensorOp)
            and only_killed(out, besides=op)
            for out in written_tensors(op)
        )
    )


def erase_kills(value: SSAValue, rewriter: PatternRewriter) -> None:
    for use in tuple(value.uses):
        if isinstance(use.operation, memory.KillOp):
            rewriter.erase(use.operation)


@dataclass
class RemoveDeadWrite(RewritePattern):
    """Remove a write that nobody reads, and the tensors that it wrote."""

    kernels: set[str] = field(default_factory=set[str])
    """The kernels that the removed writes called."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not is_dead_write(op):
            return
        callee = op.properties.get("callee")
        if isinstance(callee, SymbolRefAttr):
            self.kernels.add(callee.string_value())
        tensors = written_tensors(op)
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


class RemoveUnusedStorage(RewritePattern):
    """Remove a storage that holds nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.AllocStorageOp, rewriter: PatternRewriter, /) -> None:
        if not op.storage.uses:
            rewriter.erase(op)


class RemoveUnusedValue(RewritePattern):
    """Remove a constant, or what keeps writes alive (a view, a tuple, a field), without a use."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not (op.has_trait(Aliasing) or op.has_trait(DeviceConstant)):
            return
        if not any(result.uses for result in op.results) and is_side_effect_free(op):
            rewriter.erase(op)


@dataclass(frozen=True)
class RemoveUncalledKernel(RewritePattern):
    """Remove a kernel that only dead writes called."""

    uncalled: frozenset[str]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.PrimFuncOp, rewriter: PatternRewriter, /) -> None:
        if op.sym_name.data in self.uncalled:
            rewriter.erase(op)


@dataclass(frozen=True)
class RemoveDeadWritesPass(ModulePass):
    """Remove writes that nobody reads, with their allocations."""

    name = "remove-dead-writes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # From the end: a write dies when its readers, further down, are gone.
        dead_writes = RemoveDeadWrite()
        apply_patterns(
            op,
            RemoveUnusedValue(),
            dead_writes,
            RemoveUnusedTensor(),
            RemoveUnusedStorage(),
            walk_reverse=True,
        )
        if dead_writes.kernels:
            uncalled = frozenset(dead_writes.kernels - called_symbols(op))
            apply_patterns(op, RemoveUncalledKernel(uncalled))
