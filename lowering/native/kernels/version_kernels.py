"""
Compile a kernel twice where nothing shows that its open dims are equal: once for equal ones.

    func.func private @add(%x, %y, %0) {xrelay.kernel}
      %size = select (%n == 1), %m, %n                   %n and %m are dims of %x and %y
      generic { %x[min(i, %n - 1)] + %y[min(i, %m - 1)] }
    ->
    func.func private @add(%x, %y, %0)                   scf.if (%n == %m) { call @add.equal }
                                                         else { call @add.any }
    func.func private @add.equal(…) {xrelay.kernel}      generic ins(%x, %y) { … }
    func.func private @add.any(…) {xrelay.kernel}        as before

Two dims that meet in an operator are equal, or one of them is 1 and broadcast: then each element is
read by an index of its own, which no schedule takes. Where all are equal, the loops read their
operands in order. A kernel keeps one version if its sizes are not computed from dims of its
parameters, as those are that a convolution leaves of its images.
`--remarks` names the dims (`convert-relay-to-linalg`). At level `memref`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects import arith, bufferization, memref, scf, tensor
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.dense import integer
from ...linalg.builder import element_of
from ...memref.functions_and_kernels import KERNEL
from ..kernel_pass import KernelPass, kernels_of
from ..linalg_generics import is_identity, is_parallel, maps_of, ops_of, set_operands, sizes_of

Pair = tuple[SSAValue, SSAValue]
"""Two sizes of a kernel, the one that is computed first at the front."""


def dim_of(size: SSAValue) -> tuple[int, int] | None:
    """Return the parameter and the axis of it that `size` is a dim of."""
    op = size.owner
    if not isinstance(op, tensor.DimOp) or (axis := integer(op.index)) is None:
        return None
    source = op.source.owner
    buffer = source.operands[0] if isinstance(source, bufferization.ToTensorOp) else None
    return (buffer.index, axis) if isinstance(buffer, BlockArgument) else None


def computation_of(kernel: FuncOp, sizes: Iterable[SSAValue]) -> set[Operation] | None:
    """Return the ops that compute `sizes` from dims of parameters of `kernel`, if they all do."""
    found: set[Operation] = set()
    pending = [*sizes]
    while pending:
        op = pending.pop().owner
        if not isinstance(op, Operation) or op.parent is not kernel.body.block:
            return None
        if op in found:
            continue
        found.add(op)
        if dim_of(op.results[0]) is not None:
            pending.append(op.operands[1])
        elif op.name.startswith("arith."):
            pending += op.operands
        else:
            return None
    return found


def broadcasts_of(kernel: FuncOp) -> Sequence[arith.SelectOp]:
    """Return the ops that choose the size of a loop: a dim, or another one where it is 1."""
    return [
        op
        for op in ops_of(kernel, arith.SelectOp)
        if isinstance(test := op.cond.owner, arith.CmpiOp)
        and test.lhs is op.rhs
        and integer(test.rhs) == 1
    ]


def pair_of(choice: arith.SelectOp) -> Pair:
    """Return the sizes that `choice` is between."""
    one, other = choice.rhs, choice.lhs
    before, after = one.owner, other.owner
    assert isinstance(before, Operation), "sizes are computed"
    assert isinstance(after, Operation), "sizes are computed"
    return (one, other) if before.is_before_in_block(after) else (other, one)


def assume_equal(kernel: FuncOp) -> bool:
    """Let dims that may be broadcast be equal; return whether a loop reads in order now."""
    for op in broadcasts_of(kernel):
        one, other = pair_of(op)
        op.result.replace_all_uses_with(one)
        Rewriter.erase_op(op)
        other.replace_all_uses_with(one)
    return any([read_in_order(op) for op in ops_of(kernel, linalg.GenericOp)])


def read_in_order(op: linalg.GenericOp) -> bool:
    """Make operands of what `op` reads by the indices of its loops; return whether it did."""
    empty, body = op.outputs[0].owner, op.body.block
    if (
        not isinstance(empty, tensor.EmptyOp)
        or not is_parallel(op)
        or not is_identity(maps_of(op)[-1])
    ):
        return False
    sizes = sizes_of(empty)
    for least in [inner for inner in body.ops if isinstance(inner, arith.MinSIOp)]:
        index, last = least.lhs.owner, least.rhs.owner
        if isinstance(index, linalg.IndexOp) and isinstance(last, arith.SubiOp):
            if integer(last.rhs) == 1 and last.lhs is sizes[index.dim.value.data]:
                Rewriter.replace_op(least, [], [least.lhs])
    inputs, maps = list(op.inputs), maps_of(op)
    for read in [inner for inner in body.ops if isinstance(inner, tensor.ExtractOp)]:
        loops = [
            i.owner.dim.value.data for i in read.indices if isinstance(i.owner, linalg.IndexOp)
        ]
        if len(loops) != len(read.indices) or read.tensor.owner is body:
            continue
        exprs = tuple(AffineExpr.dimension(loop) for loop in loops)
        maps.insert(len(inputs), AffineMap(len(sizes), 0, exprs))
        element = body.insert_arg(element_of(read.tensor), len(inputs))
        inputs.append(read.tensor)
        Rewriter.replace_op(read, [], [element])
    is_changed = len(inputs) > len(op.inputs)
    set_operands(op, inputs, op.outputs[0], maps)
    for index in [inner for inner in body.ops if isinstance(inner, linalg.IndexOp)]:
        if not index.result.uses:
            Rewriter.erase_op(index)
    return is_changed


def chooser(
    kernel: FuncOp, pairs: Sequence[Pair], computation: Container[Operation], names: Sequence[str]
) -> Block:
    """Return a body that calls the first of `names` if the sizes of all `pairs` are equal."""
    block = Block(arg_types=kernel.function_type.inputs)
    copies: dict[SSAValue, SSAValue] = {}
    equal: SSAValue | None = None

    def value(op: Operation) -> SSAValue:
        block.add_op(op)
        return op.results[0]

    for op in kernel.body.block.ops:
        if op in computation:
            (size,) = op.results
            if (dim := dim_of(size)) is None:
                copies[size] = value(op.clone(copies))
            else:
                copies[size] = value(memref.DimOp(block.args[dim[0]], copies[op.operands[1]]))
    for one, other in dict.fromkeys(pairs):
        same = value(arith.CmpiOp(copies[one], copies[other], "eq"))
        equal = same if equal is None else value(arith.AndIOp(equal, same))
    assert equal is not None, "a kernel has versions for pairs of dims"
    then, otherwise = ([CallOp(name, block.args, []), scf.YieldOp()] for name in names)
    block.add_ops([scf.IfOp(equal, [], then, otherwise), ReturnOp()])
    return block


@dataclass(frozen=True)
class VersionKernelsPass(KernelPass):
    """Compile a kernel twice where nothing shows that its open dims are equal."""

    name = "version-kernels"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [*kernels_of(op)]:
            self.rewrite(kernel)

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        pairs = [pair_of(choice) for choice in broadcasts_of(kernel)]
        computation = computation_of(kernel, (size for pair in pairs for size in pair))
        if computation is None:
            return
        equal = kernel.clone()
        if not pairs or not assume_equal(equal):
            return
        name, anyway = kernel.sym_name.data, kernel.clone()
        names = [f"{name}.equal", f"{name}.any"]
        for version, given in zip((equal, anyway), names, strict=True):
            version.properties["sym_name"] = StringAttr(given)
        Rewriter.insert_op([equal, anyway], InsertPoint.after(kernel))
        kernel.attributes.pop(KERNEL)
        body = chooser(kernel, pairs, computation, names)
        kernel.body.detach_block(kernel.body.block)
        kernel.body.add_block(body)
