"""
Sizes that the caller of a function can compute: those that follow from the shapes of arguments.

    func.func private @f(%x: tensor<?x4xf32>, %k: tensor<i64>) {
      %s = vm.shape_of %x
      %n = tensor.extract %s[%c0]
      %a = arith.muli %n, %c16             from the shape of parameter 0
      %e = tensor.extract %k[]
      %b = arith.muli %n, %e               from more: the data of %k
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple

from xdsl.dialects import arith, func, tensor
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import ConstantLike

from ...dialects import memory, relay
from ...dialects.dense import integer
from ...operators.records import record
from ..bytes.op_facts import facts_of
from ..sizes.available import may_move
from ..sizes.reader import Sizes

MAX_OPS = 64
"""The maximum number of ops from which a size is computed that callers compute too."""

SAFE = (
    *(arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.MaxSIOp, arith.MinSIOp),
    *(arith.AndIOp, arith.CmpiOp, arith.SelectOp),
    *(tensor.FromElementsOp, memory.WorkspaceSizeOp),
)
"""Ops that compute sizes and never fail, besides those that `never_fails` looks at."""


def never_fails(op: Operation) -> bool:
    """Test whether `op`, which computes a size, computes one for all operands."""
    if isinstance(op, tensor.ExtractOp):
        return all(integer(index) is not None for index in op.indices)
    if isinstance(op, arith.FloorDivSIOp | arith.DivSIOp | arith.RemSIOp):
        return bool(integer(op.rhs))
    return isinstance(op, SAFE) or facts_of(op).only_sizes or op.has_trait(ConstantLike)


class Origin(NamedTuple):
    """The computation of a size from the shapes of parameters."""

    ops: Sequence[Operation]
    """Each after those that it needs."""
    params: Sequence[BlockArgument]
    """The parameters whose shapes it needs, in order."""
    value: SSAValue
    """The result: the size."""

    @property
    def reads(self) -> list[Operation]:
        """The ops that read the shapes of parameters."""
        return [
            op for op in self.ops if reads_shape(op) and isinstance(op.operands[0], BlockArgument)
        ]

    @property
    def never_fails(self) -> bool:
        return all(map(never_fails, self.ops))


def reads_shape(op: Operation) -> bool:
    """Test whether `op` reads the shape of its first operand, or a dim."""
    return facts_of(op).only_sizes or op.name == "memref.dim"


def is_operand(op: Operation) -> bool:
    """Test whether what `op` reads of a shape is an operand of `memory.workspace_size`."""
    if len(op.operands) < 2:  # all of the shape of a tensor
        return True
    return integer(op.operands[1]) in memory.shape_operands(op.operands[0].type)


def origin_of(size: SSAValue, body: Block, limit: int = MAX_OPS) -> Origin | None:
    """
    Return how `size` follows from the shapes of the parameters of `body`.

    None if it depends on more, or takes more than `limit` ops.
    """
    ops: dict[Operation, None] = {}
    params: dict[BlockArgument, None] = {}
    pending: list[tuple[SSAValue, bool]] = [(size, False)]
    while pending:
        value, is_ready = pending.pop()
        op = value.owner
        if isinstance(op, Block) or op.parent is not body:
            return None
        if op in ops:
            continue
        if is_ready:
            ops[op] = None
            if len(ops) > limit:
                return None
            continue
        if reads_shape(op) and isinstance(data := op.operands[0], BlockArgument):
            if data.block is not body or not is_operand(op):
                return None
            params[data] = None
            ops[op] = None
            continue
        if isinstance(op, relay.RequireOp) or not may_move(op):
            return None
        pending.append((value, True))
        pending += ((operand, False) for operand in reversed(op.operands))
    return Origin([*ops], sorted(params, key=lambda param: param.index), size)


def lendable_origin(size: SSAValue, body: Block, sizes: Sizes) -> Origin | None:
    """
    Return the origin of a dynamic `size` that callers may compute before they call.

    It is at least 0 for all shapes, also for those at which the function stops with an error.
    """
    origin = origin_of(size, body)
    if origin is None:
        return None
    for op in origin.ops:
        for result in op.results:
            if result.type == size.type:
                sizes.size(result)
    return origin if sizes.size(size).is_natural else None


@record
class Workspace:
    """A workspace of a function, and the parameters whose shapes its size may depend on."""

    param: BlockArgument
    alignment: int
    shapes: frozenset[BlockArgument] = field(default_factory=frozenset[BlockArgument])

    def accepts(self, op: memory.AllocStorageOp, sizes: Sizes) -> bool:
        """Test whether the storage of `op`, in the body of the function, may lie in it."""
        if op.storage.type != self.param.type or op.alignment.value.data > self.alignment:
            return False
        if op.dynamic_size is None:
            return True
        origin = lendable_origin(op.dynamic_size, self.param.block, sizes)
        return origin is not None and self.shapes.issuperset(origin.params)


def workspaces_of(body: Block) -> list[Workspace]:
    """Return the workspaces of the function of `body`."""
    function = body.parent_op()
    if not isinstance(function, func.FuncOp) or function.body.blocks.first is not body:
        return []
    workspaces: list[Workspace] = []
    for argument in body.args:
        if not isinstance(argument.type, memory.StorageType):
            continue
        shapes = memory.shapes_of_workspace(function, argument.index)
        if shapes is not None:
            alignment = memory.alignment_of_parameter(function, argument.index)
            listed = frozenset(body.args[i] for i in shapes if 0 <= i < len(body.args))
            workspaces.append(Workspace(argument, alignment, listed))
    return workspaces
