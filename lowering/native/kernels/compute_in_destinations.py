"""
Compute intermediate values in the memory of the result.

    %e = tensor.empty()                                %e = bufferization.to_tensor %out
    %s = insert_slice %x into %e                       %s = insert_slice %x into %e
    %t = insert_slice %y into %s                  ->   %t = insert_slice %y into %s
    %f = tensor.empty()
    %r = generic exp ins(%t) outs(%f)                  %r = generic exp outs(%t)
    materialize_in_destination %r in %out              materialize_in_destination %r in %out

Bufferization would give %e memory of its own. The result may lie over an operand of the kernel that
is as large, so no operand of that size may be read after the first write. What is copied into a
part of another value, such as a concatenation that is padded, is computed there.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from typing_extensions import override
from xdsl.dialects import bufferization, tensor
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.tensors import Tensor, has_dynamic
from ...linalg.builder import tensor_of
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    is_copy,
    is_elementwise,
    is_identity,
    is_parallel,
    maps_of,
    ops_of,
    set_operands,
)

VIEWS = tensor.ExtractSliceOp, tensor.CollapseShapeOp, tensor.ExpandShapeOp


def _compute_in(store: bufferization.MaterializeInDestinationOp) -> None:
    """Compute what `store` stores in its destination."""
    chain, dest = _chain(store.source, store), store.dest
    if chain is None or not chain.is_needed:
        return
    if _reads_operand_after(chain.steps[-1], tensor_of(store.source)):
        return
    if isinstance(dest.owner, Operation):  # a reshape of an argument
        dest.owner.detach()
        Rewriter.insert_op(dest.owner, InsertPoint.before(chain.empty))
    target = bufferization.ToTensorOp(dest, restrict=True, writable=True)
    Rewriter.insert_op(target, InsertPoint.before(chain.empty))
    chain.write_onto(target.tensor)


def _compute_in_part(copy: linalg.GenericOp) -> None:
    """Compute what `copy` copies in the slice that it is copied into."""
    value, part = copy.inputs[0], copy.outputs[0]
    chain = _chain(value, copy)
    if chain is None or value.type != part.type or not isinstance(part.owner, VIEWS):
        return
    moved = _part_of_results(part.owner, chain.empty)
    if moved is None:
        return
    for op in moved:
        op.detach()
    Rewriter.insert_op(moved, InsertPoint.before(chain.empty))
    chain.write_onto(part)
    Rewriter.replace_op(copy, [], [copy.inputs[0]])


def _part_of_results(op: Operation, start: Operation) -> list[Operation] | None:
    """
    Return `op` and what it needs of the ops after `start`, in their order.

    None if one is not a view, a fill, or the number that fills.
    """
    needed: dict[Operation, None] = {}
    pending = [op]
    while pending:
        op = pending.pop()
        if op.parent is not start.parent or not start.is_before_in_block(op):
            continue
        if not isinstance(op, (*VIEWS, linalg.FillOp, tensor.EmptyOp, tensor.ExtractOp)):
            return None
        needed[op] = None
        pending += [v.owner for v in op.operands if isinstance(v.owner, Operation)]
    block = start.parent
    return [] if block is None else [op for op in block.ops if op in needed]


@dataclass(frozen=True)
class Chain:
    """Ops that write onto an empty tensor, one after another."""

    empty: tensor.EmptyOp
    steps: list[Operation]
    """The ops that write, the last one first."""
    elementwise: list[tuple[linalg.GenericOp, int]]
    """Those among them that can write onto an input, and its number."""

    @property
    def is_needed(self) -> bool:
        """True if bufferization would give a value memory of its own."""
        inserts = any(isinstance(op, tensor.InsertSliceOp) for op in self.steps)
        return inserts or bool(self.elementwise)

    def write_onto(self, target: SSAValue) -> None:
        """Write onto `target` in place of the empty tensor."""
        for op, number in self.elementwise:
            _write_onto_input(op, number)
        Rewriter.replace_op(self.empty, [], [target])


def _chain(value: SSAValue, user: Operation) -> Chain | None:
    """
    Return the chain that ends in `value`, whose last use is `user`.

    None if it does not start with an empty tensor.
    """
    steps: list[Operation] = []
    elementwise: list[tuple[linalg.GenericOp, int]] = []
    while not isinstance(op := value.owner, tensor.EmptyOp):
        if not isinstance(op, Operation) or not _is_last_use(value, user):
            return None
        steps.append(op)
        if isinstance(op, tensor.InsertSliceOp):
            value = op.dest
        elif isinstance(op, linalg.FillOp):
            value = op.outputs[0]
        elif isinstance(op, linalg.GenericOp) and (number := _input_in_place(op)) is not None:
            elementwise.append((op, number))
            value = op.inputs[number]
        elif isinstance(op, linalg.GenericOp) and is_parallel(op):
            value = op.outputs[0]
        else:
            return None
        user = op
    return Chain(op, steps, elementwise) if _is_last_use(value, user) else None


def _is_last_use(value: SSAValue, user: Operation) -> bool:
    """Test whether all other ops that use `value` come before `user`."""
    others = (use.operation for use in value.uses if use.operation is not user)
    return all(op.parent is user.parent and op.is_before_in_block(user) for op in others)


def _input_in_place(op: linalg.GenericOp) -> int | None:
    """Return the number of an input that `op` can write its result onto."""
    if not is_elementwise(op):
        return None
    for number, (value, map) in enumerate(zip(op.inputs, maps_of(op), strict=False)):
        owner = value.owner
        if (
            isinstance(owner, tensor.InsertSliceOp)
            or (isinstance(owner, linalg.GenericOp) and is_parallel(owner))
        ) and (
            is_identity(map)
            and value.type == op.outputs[0].type
            and [*op.inputs].count(value) == 1
            and _is_last_use(value, op)
        ):
            return number
    return None


def _reads_operand_after(first: Operation, result: Tensor) -> bool:
    """Test whether an operand that may be as large as `result` is read after the op `first`."""
    is_open, count = has_dynamic(result), prod(result.get_shape())
    block = first.parent
    assert block is not None
    large: set[SSAValue] = set()
    for op in block.ops:
        if isinstance(op, bufferization.ToTensorOp):
            type = tensor_of(op.tensor)
            if is_open or has_dynamic(type) or prod(type.get_shape()) >= count:
                large.add(op.tensor)
        elif isinstance(op, VIEWS):
            if op.operands[0] in large:
                large.update(op.results)
        elif op is not first and first.is_before_in_block(op):
            if any(operand in large for inner in op.walk() for operand in inner.operands):
                return True
    return False


def _write_onto_input(op: linalg.GenericOp, number: int) -> None:
    """Let `op` write onto input `number`, in place of an empty tensor."""
    empty, body, maps, inputs = op.outputs[0].owner, op.body.block, maps_of(op), [*op.inputs]
    body.args[number].replace_all_uses_with(body.args[-1])
    body.erase_arg(body.args[number])
    written = inputs.pop(number)
    del maps[number]
    set_operands(op, inputs, written, maps)
    if isinstance(empty, tensor.EmptyOp) and not empty.results[0].uses:
        Rewriter.erase_op(empty)


@dataclass(frozen=True)
class ComputeInDestinationsPass(KernelPass):
    """Compute the intermediate values of kernels in their results' memory where that is safe."""

    name = "compute-in-destinations"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        for op in ops_of(kernel, linalg.GenericOp):
            if is_copy(op):
                _compute_in_part(op)
        stores = ops_of(kernel, bufferization.MaterializeInDestinationOp)
        if len(stores) == 1:
            _compute_in(stores[0])
