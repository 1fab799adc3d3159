"""
Let loops write onto the result that they are stored in, not onto an empty tensor.

    %e = tensor.empty(%n)                              %e = to_tensor %out restrict writable
    %f = fill 0.0 onto %e                              %f = fill 0.0 onto %e
    %s = generic (sum of %x) onto %f           ->      %s = generic (sum of %x) onto %f
    materialize_in_destination %s in %out              materialize_in_destination %s in %out

Bufferization would do so if it could show that the sizes are equal; of open ones whose tiles differ
it cannot, and the kernel would compute in memory of its own, and copy. At level `memref`, at the
end: other passes look for the empty tensor.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects import bufferization, tensor
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, OpResult
from xdsl.rewriter import InsertPoint, Rewriter

from ..kernel_pass import KernelPass
from ..linalg_generics import ops_of


def _write_onto(store: bufferization.MaterializeInDestinationOp) -> None:
    """Let the loop whose result `store` stores write onto its destination."""
    result = store.source
    if not isinstance(result, OpResult) or not isinstance(result.op, linalg.GenericOp):
        return
    if not result.has_one_use():
        return
    first, value = result.op, result.op.outputs[result.index]
    if isinstance(value.owner, linalg.FillOp) and value.has_one_use():
        first, value = value.owner, value.owner.outputs[0]
    if not isinstance(value.owner, tensor.EmptyOp) or not value.has_one_use():
        return
    buffer = store.dest.owner
    if isinstance(buffer, Operation) and not buffer.is_before_in_block(first):
        return
    target = bufferization.ToTensorOp(store.dest, restrict=True, writable=True)
    Rewriter.insert_op(target, InsertPoint.before(first))
    Rewriter.replace_op(value.owner, [], [target.tensor])


@dataclass(frozen=True)
class WriteOntoResultsPass(KernelPass):
    name = "write-onto-results"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        for store in ops_of(kernel, bufferization.MaterializeInDestinationOp):
            _write_onto(store)
