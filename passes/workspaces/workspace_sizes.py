"""
The sizes of workspaces, once the slices in them are laid out.

    func.func private @f(%x: T, %w: !memory.storage {memory.workspace = array<i64: 0>, …}) {
      %s = vm.shape_of %x
      …
      %total = arith.maxsi %a, %b         what `layout-slices` made of a pack within %w
    }
    func.func @main(…) {
      %n = memory.workspace_size @f[1](%shape)     ->     the ops that compute %total, with %shape
    }                                                     instead of %s
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import memory
from ...dialects.tensors import as_tensor
from ...operators.sizes.size_expressions import Symbol
from ..functions.signatures import marked
from ..sizes.reader import Sizes
from ..sizes.size_code import SizeCode
from ..support.diagnostics import PassError
from .caller_sizes import dims_in, origin_of

MAX_SYMBOLS = 1 << 14
"""The maximum number of operations and dims in the size of a workspace."""


Total: TypeAlias = int | SSAValue | memory.Packing
"""The size of a workspace: a number, a value that is computed, or that of an ordered pack."""


@dataclass
class Totals:
    """The size of each workspace that is laid out, by its parameter."""

    functions: Mapping[str, Operation]
    sizes: dict[SSAValue, Total] = field(default_factory=lambda: {})

    def record(self, pack: memory.PackOp, total: Total) -> None:
        """Note the size of the workspace that `pack` lays out; an error if there are two."""
        param = pack.workspace
        assert param is not None, "a pack within a workspace"
        if not isinstance(param, BlockArgument):
            raise PassError("the workspace of a pack must be a parameter", pack)
        if param in self.sizes:
            raise PassError("a workspace has one pack, but this is the second", pack)
        self.sizes[param] = total
        if isinstance(total, int):
            set_size(param, total)

    def size_of(self, op: memory.WorkspaceSizeOp) -> tuple[BlockArgument, Total]:
        """Return the workspace that `op` asks for, and its size there."""
        name, index = op.function.string_value(), op.param.value.data
        function = self.functions.get(name)
        if not isinstance(function, func.FuncOp) or not function.body.blocks:
            raise PassError(f"@{name} has no body in this module", op)
        param = function.body.blocks[0].args[index]
        if param in self.sizes:
            return param, self.sizes[param]
        known = memory.parameter_attributes(function, index).get(memory.SIZE)
        if isinstance(known, IntegerAttr):
            return param, known.value.data
        if param.uses:
            raise PassError(
                f"the size of workspace {index} of @{name} is not known: expected one memory.pack "
                "within it (run pack-storage first)",
                op,
            )
        return param, 0


class SizesAtCall(SizeCode):
    """Writes sizes of a function for a call, which has the shapes of its parameters."""

    def __init__(
        self,
        insert: Callable[[Operation], object],
        sizes: Sizes,
        shape_of: Callable[[BlockArgument], Sequence[SSAValue]],
    ) -> None:
        """`shape_of` returns a parameter's operands of `memory.workspace_size`."""
        super().__init__(insert)
        self.sizes = sizes
        self.shape_of = shape_of

    def leaf(self, symbol: Symbol) -> SSAValue:
        value = cast(SSAValue, symbol.args[0])
        if isinstance(value, BlockArgument):
            axis, operands = cast(int, symbol.args[1]), self.shape_of(value)
            if as_tensor(value.type) is not None:
                return self.extract(operands[0], [axis])
            dim = operands[memory.shape_operands(value.type).index(axis)]
            return self.emit(arith.IndexCastOp(dim, i64))
        callee = value.owner
        assert isinstance(callee, memory.WorkspaceSizeOp), "a leaf of `Origin`"
        shapes = [self.operand(shape) for shape in callee.shapes]
        name = callee.function.string_value()
        return self.emit(memory.WorkspaceSizeOp(name, callee.param.value.data, shapes))

    def operand(self, shape: SSAValue) -> SSAValue:
        """Write an operand of `memory.workspace_size`."""
        dims = [self.write(dim) for dim in dims_in(shape, self.sizes) or ()]
        if as_tensor(shape.type) is not None:
            return self.vector(dims, shape.type)
        return self.emit(arith.IndexCastOp(dims[0], shape.type))


def set_size(param: BlockArgument, size: int) -> None:
    """Say in the attributes of a workspace that its size is static."""
    function = function_of(param)
    if isinstance(function, func.FuncOp):
        mark = {memory.SIZE: IntegerAttr(size, i64)}
        marks = [mark if arg is param else {} for arg in function.args]
        function.arg_attrs = marked(function.arg_attrs, marks)


@dataclass(frozen=True)
class ComputeWorkspaceSize(RewritePattern):
    """Replace the size of a workspace by the ops that compute it, or a constant if it is known."""

    totals: Totals
    sizes: Sizes = field(default_factory=Sizes)
    _known: dict[object, SSAValue] = field(default_factory=lambda: {})
    """The sizes computed in each block, by workspace and shapes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.WorkspaceSizeOp, rewriter: PatternRewriter, /) -> None:
        param, size = self.totals.size_of(op)
        key = op.parent, param, tuple(op.shapes)
        if key in self._known:  # in a block, it comes first
            rewriter.replace(op, [], [self._known[key]])
            return
        if isinstance(size, int):
            rewriter.replace(op, arith.ConstantOp.from_int_and_width(size, i64))
            return
        if not isinstance(size, SSAValue):
            return  # of an ordered pack, whose offsets are computed later
        origin = origin_of(size, param.block, self.sizes, MAX_SYMBOLS)
        shapes = dict(op.shapes_by_parameter(function_of(param)))
        if origin is None or not all(read.index in shapes for read in origin.params):
            name = op.function.string_value()
            raise PassError(
                f"the size of workspace {param.index} of @{name} depends on more than the shapes "
                f"that its attribute {memory.WORKSPACE} lists",
                op,
            )
        place = InsertPoint.before(op)
        code = SizesAtCall(
            lambda new: rewriter.insert(new, place), self.sizes, lambda param: shapes[param.index]
        )
        value = self._known[key] = code.write(origin.dims[0])
        value.name_hint = value.name_hint or size.name_hint
        rewriter.replace(op, [], [value])


def function_of(param: BlockArgument) -> Operation:
    function = param.block.parent_op()
    assert function is not None, "a parameter of a function"
    return function


def has_workspaces(module: ModuleOp) -> bool:
    """Test whether a function of `module` has a workspace."""
    return any(
        memory.WORKSPACE in entry.data
        for op in module.ops
        if isinstance(op, func.FuncOp) and op.arg_attrs is not None
        for entry in op.arg_attrs.data
    )
