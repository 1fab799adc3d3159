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
from typing import TypeAlias

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import memory
from ...dialects.dense import integer
from ..functions.signatures import marked
from ..support.diagnostics import PassError
from .caller_sizes import Origin, origin_of

MAX_OPS = 1 << 14
"""The maximum number of ops that compute the size of a workspace."""


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


def clone_origin(
    origin: Origin, shape_of: Callable[[Operation], SSAValue]
) -> tuple[list[Operation], SSAValue]:
    """
    Copy the computation of a size for use where what ops read of shapes of parameters is known.

    Returns the copies of the ops, in order, and the size.
    """
    reads = set(origin.reads)
    copies: list[Operation] = []
    cloned: dict[SSAValue, SSAValue] = {}
    for op in origin.ops:
        if op in reads:
            cloned[op.results[0]] = shape_of(op)
            continue
        copies.append(op.clone(cloned))
    return copies, cloned[origin.value]


def set_size(param: BlockArgument, size: int) -> None:
    """Say in the attributes of a workspace that its size is static."""
    function = function_of(param)
    if isinstance(function, func.FuncOp):
        mark = {memory.SIZE: IntegerAttr(size, i64)}
        marks = [mark if arg is param else {} for arg in function.args]
        function.arg_attrs = marked(function.arg_attrs, marks)


@dataclass(frozen=True)
class ComputeWorkspaceSize(RewritePattern):
    """Replace the size of a workspace by the ops that compute it."""

    totals: Totals
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
        assert isinstance(size, SSAValue), "callees are expanded first"
        origin = origin_of(size, param.block, MAX_OPS)
        shapes = dict(op.shapes_by_parameter(function_of(param)))
        if origin is None or not all(read.index in shapes for read in origin.params):
            name = op.function.string_value()
            raise PassError(
                f"the size of workspace {param.index} of @{name} depends on more than the shapes "
                f"that its attribute {memory.WORKSPACE} lists",
                op,
            )
        copies, self._known[key] = clone_origin(origin, lambda read: shape_read(read, shapes))
        rewriter.insert(copies, InsertPoint.before(op))
        rewriter.replace(op, [], [self._known[key]])


def shape_read(read: Operation, shapes: Mapping[int, Sequence[SSAValue]]) -> SSAValue:
    """Return what `read` reads of the shape of a parameter, one of `shapes`."""
    param, *axis = read.operands
    assert isinstance(param, BlockArgument), "an op of `Origin.reads`"
    axes = memory.shape_operands(param.type)
    return shapes[param.index][axes.index(integer(axis[0]) or 0) if axis else 0]


def function_of(param: BlockArgument) -> Operation:
    function = param.block.parent_op()
    assert function is not None, "a parameter of a function"
    return function


@dataclass(frozen=True)
class FoldWorkspaceSize(RewritePattern):
    """Replace the size of a workspace by a constant if it is one."""

    totals: Totals

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.WorkspaceSizeOp, rewriter: PatternRewriter, /) -> None:
        _, size = self.totals.size_of(op)
        if isinstance(size, int):
            rewriter.replace(op, arith.ConstantOp.from_int_and_width(size, i64))


def has_workspaces(module: ModuleOp) -> bool:
    """Test whether a function of `module` has a workspace."""
    return any(
        memory.WORKSPACE in entry.data
        for op in module.ops
        if isinstance(op, func.FuncOp) and op.arg_attrs is not None
        for entry in op.arg_attrs.data
    )
