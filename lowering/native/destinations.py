"""
Compute intermediate values in the memory of the result.

    %e = tensor.empty()                                %e = bufferization.to_tensor %out
    %s = insert_slice %x into %e                       %s = insert_slice %x into %e
    %t = insert_slice %y into %s                  ->   %t = insert_slice %y into %s
    %f = tensor.empty()
    %r = generic exp ins(%t) outs(%f)                  %r = generic exp outs(%t)
    materialize_in_destination %r in %out              materialize_in_destination %r in %out

Bufferization would give %e memory of its own. The result may lie over an operand of the kernel that
is as large, so no operand of that size may be read after the first write.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import bufferization, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import Rewriter

from ..linalg.builder import tensor_of

VIEWS = tensor.ExtractSliceOp, tensor.CollapseShapeOp, tensor.ExpandShapeOp


def compute_in_destinations(kernel: FuncOp) -> None:
    """Let `kernel` compute its results in place, as far as it can."""
    stores = [
        op
        for op in kernel.body.block.ops
        if isinstance(op, bufferization.MaterializeInDestinationOp)
    ]
    if len(stores) == 1:
        _compute_in(stores[0])


def _compute_in(store: bufferization.MaterializeInDestinationOp) -> None:
    chain = _chain(store)
    if chain is None:
        return
    empty, steps, elementwise = chain
    last = tensor_of(store.source)
    if _reads_operand_after(steps, prod(last.get_shape())):
        return
    for op, number in elementwise:
        _write_onto_input(op, number)
    block, dest = empty.parent, store.dest
    assert block is not None
    if isinstance(dest.owner, Operation):  # a reshape of an argument
        dest.owner.detach()
        block.insert_op_before(dest.owner, empty)
    target = bufferization.ToTensorOp(dest, restrict=True, writable=True)
    block.insert_op_before(target, empty)
    empty.results[0].replace_all_uses_with(target.tensor)
    Rewriter.erase_op(empty)


Chain = tuple[tensor.EmptyOp, list[Operation], list[tuple[linalg.GenericOp, int]]]


def _chain(store: bufferization.MaterializeInDestinationOp) -> Chain | None:
    """
    Return the empty tensor that a result is written onto, and what writes, the last op first.

    With the elementwise ops that can write onto an input, and its number. None if a value has
    memory of its own for another reason, or none needs any.
    """
    value = store.source
    if DYNAMIC_INDEX in tensor_of(value).get_shape():
        return None
    steps: list[Operation] = []
    elementwise: list[tuple[linalg.GenericOp, int]] = []
    user: Operation = store
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
        elif isinstance(op, linalg.GenericOp) and _is_parallel(op):
            value = op.outputs[0]
        else:
            return None
        user = op
    needed = bool(elementwise) or any(isinstance(op, tensor.InsertSliceOp) for op in steps)
    return (op, steps, elementwise) if needed and _is_last_use(value, user) else None


def _is_last_use(value: SSAValue, user: Operation) -> bool:
    """Test whether all other ops that use `value` come before `user`."""
    block = user.parent
    for use in value.uses:
        op = use.operation
        if op is user:
            continue
        if op.parent is not block or block is None or not op.is_before_in_block(user):
            return False
    return True


def _is_parallel(op: linalg.GenericOp) -> bool:
    return len(op.outputs) == 1 and all(
        kind.data == IteratorType.PARALLEL for kind in op.iterator_types
    )


def _input_in_place(op: linalg.GenericOp) -> int | None:
    """Return the number of an input that `op` can write its result onto."""
    maps = [attribute.data for attribute in op.indexing_maps]
    if not _is_parallel(op) or not isinstance(op.outputs[0].owner, tensor.EmptyOp):
        return None
    identity = AffineMap.identity(maps[-1].num_dims)
    if maps[-1] != identity or op.body.block.args[-1].uses:
        return None
    for number, value in enumerate(op.inputs):
        owner = value.owner
        computed = isinstance(owner, tensor.InsertSliceOp) or (
            isinstance(owner, linalg.GenericOp) and _is_parallel(owner)
        )
        others = [v for i, v in enumerate(op.inputs) if i != number]
        if computed and maps[number] == identity and value.type == op.outputs[0].type:
            if value not in others and _is_last_use(value, op):
                return number
    return None


def _reads_operand_after(steps: list[Operation], count: int) -> bool:
    """Test whether an operand of `count` elements is read after the first of `steps`, the last."""
    first = steps[-1]
    block = first.parent
    assert block is not None
    large: set[SSAValue] = set()
    for op in block.ops:
        if isinstance(op, bufferization.ToTensorOp):
            if prod(tensor_of(op.tensor).get_shape()) >= count:
                large.add(op.tensor)
        elif isinstance(op, VIEWS):
            if op.operands[0] in large:
                large.update(op.results)
        elif op is not first and first.is_before_in_block(op) and large.intersection(_read(op)):
            return True
    return False


def _read(op: Operation) -> set[SSAValue]:
    return {operand for inner in op.walk() for operand in inner.operands}


def _write_onto_input(op: linalg.GenericOp, number: int) -> None:
    """Let `op` write onto input `number`, in place of an empty tensor."""
    inputs = [*op.inputs]
    value = inputs.pop(number)
    maps = [attribute.data for attribute in op.indexing_maps]
    del maps[number]
    old = op.body.block
    types = [argument.type for i, argument in enumerate(old.args) if i != number]
    block = Block(arg_types=types)
    values = [*block.args]
    values.insert(number, block.args[-1])
    for argument, new in zip(old.args, values, strict=True):
        argument.replace_all_uses_with(new)
    for inner in [*old.ops]:
        inner.detach()
        block.add_op(inner)
    made = linalg.GenericOp(
        inputs,
        [value],
        Region(block),
        ArrayAttr(AffineMapAttr(map) for map in maps),
        op.iterator_types,
        [value.type],
    )
    made.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(made, op)
    empty = op.outputs[0].owner
    op.results[0].replace_all_uses_with(made.results[0])
    Rewriter.erase_op(op)
    if isinstance(empty, tensor.EmptyOp) and not empty.results[0].uses:
        Rewriter.erase_op(empty)
