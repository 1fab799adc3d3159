"""
Sizes that the caller of a function can compute: those that follow from the shapes of arguments.

    func.func private @f(%x: tensor<?x4xf32>, %k: tensor<i64>) {
      %s = vm.shape_of %x
      %n = tensor.extract %s[%c0]
      %a = arith.muli %n, %c16             from the shape of parameter 0
      %e = tensor.extract %k[]
      %b = arith.muli %n, %e               from more: the data of %k

Such a size is an expression of dims of parameters, which `SizesAtCall` writes for a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple

from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue

from ...dialects import memory
from ...dialects.tensors import as_tensor
from ...operators.records import record
from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import DIM, Dims, Symbol, free_symbols, inner_first
from ...operators.sizes.size_table import OPERATIONS
from ..bytes.op_facts import facts_of
from ..sizes.reader import Sizes
from ..sizes.size_code import shape_on

MAX_SYMBOLS = 64
"""The maximum number of operations and dims in a size that callers compute too."""

DIVISIONS = (SizeOp.FLOORDIV, SizeOp.MOD, "ceildiv", "truncdiv", "truncmod")
"""The operations that have no result if the last operand is 0."""


def never_fails(symbol: Symbol) -> bool:
    """Test whether `symbol` has a value for all operands."""
    if symbol.kind in DIVISIONS:
        return bool(symbol.operands[-1:] and symbol.operands[-1].constant)
    return not symbol.is_computed or symbol.kind in OPERATIONS


class Origin(NamedTuple):
    """A size, or the dims of a shape, that follows from the shapes of parameters."""

    dims: Dims
    params: Sequence[BlockArgument]
    """The parameters whose shapes it needs, in order."""
    value: SSAValue
    """The size or shape in the function."""
    callees: Sequence[memory.WorkspaceSizeOp]
    """The sizes of workspaces of callees in it."""

    @property
    def never_fails(self) -> bool:
        return all(map(never_fails, inner_first(self.dims)))


def origin_of(size: SSAValue, body: Block, sizes: Sizes, limit: int = MAX_SYMBOLS) -> Origin | None:
    """
    Return how `size`, an i64 or a shape, follows from the shapes of the parameters of `body`.

    None if it depends on more, or has more than `limit` operations and dims.
    """
    if isinstance(size.owner, Block) or size.owner.parent is not body:
        return None
    dims = dims_in(size, sizes)
    params: dict[BlockArgument, None] = {}
    callees: dict[memory.WorkspaceSizeOp, None] = {}
    pending = [dims]
    while pending:
        if (read := pending.pop()) is None or len(inner_first(read)) > limit:
            return None
        for symbol in free_symbols(read):
            value = symbol.args[0] if symbol.args else None
            if isinstance(value, BlockArgument) and value.block is body and symbol.kind == DIM:
                params[value] = None
            elif isinstance(value, OpResult) and isinstance(value.op, memory.WorkspaceSizeOp):
                callees[value.op] = None
                pending += [dims_in(shape, sizes) for shape in value.op.shapes]
            else:
                return None
    assert dims is not None, "read above"
    return Origin(dims, sorted(params, key=lambda param: param.index), size, [*callees])


def dims_in(value: SSAValue, sizes: Sizes) -> Dims | None:
    """Return the sizes that `value` has: itself, or those of a shape."""
    return sizes.shape(value) if as_tensor(value.type) is not None else (sizes.size(value),)


def type_of_shape(param: BlockArgument) -> Attribute:
    """Return the type of the shape of a parameter, as its function reads it; of a memref, a dim."""
    tensor, users = as_tensor(param.type), (use.operation for use in param.uses)
    if tensor is None:
        return IndexType()
    types = (user.results[0].type for user in users if facts_of(user).only_sizes)
    return next(types, shape_on(None, tensor.get_num_dims()))


def lendable_origin(size: SSAValue, body: Block, sizes: Sizes) -> Origin | None:
    """
    Return the origin of a dynamic `size` that callers may compute before they call.

    It is at least 0 for all shapes, also for those at which the function stops with an error.
    """
    origin = origin_of(size, body, sizes)
    return origin if origin is not None and origin.dims[0].is_natural else None


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
