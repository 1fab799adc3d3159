"""
Put operators that become one kernel into one primitive.

    %0 = relay.nn.dense %x, %w : …         %1 = relay.primitive(%a = %x : …, %b = %w : …) -> (…) {
    %1 = relay.nn.relu %0 : …        ->      %2 = relay.nn.dense %a, %b : …
                                             %3 = relay.nn.relu %2 : …
                                             relay.yield %3 : …
                                           }

Level 0 wraps each operator by itself; level 1 fuses along post-dominators by the operators'
fusion kinds (TVM: FuseOps). A primitive of nothing but reshapes is marked `reshape_only`: it
becomes a view. Constants of rank 0 move into the primitive, others are operands. Hints, copies,
tuples and control flow end a group. From level `planned` (or `relay`) to `fused`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.interfaces import ReshapesOnly
from ..dialects.tensors import as_tensor
from .analysis.fusion import fusion_groups, single_operators
from .support.diagnostics import PassError
from .support.rewriting import apply_patterns

WRAPPERS = (relay.PrimitiveOp, relay.PrimFuncOp)


def blocks_outside_primitives(module: ModuleOp) -> list[Block]:
    """The blocks that hold operators to be fused."""
    blocks: list[Block] = []
    pending: list[Operation] = [module]
    while pending:
        op = pending.pop()
        if isinstance(op, WRAPPERS):
            continue
        for region in op.regions:
            for block in region.blocks:
                blocks.append(block)
                pending.extend(inner for inner in block.ops if inner.regions)
    return blocks


def is_scalar_constant(value: SSAValue) -> bool:
    """Whether `value` is a constant of rank 0: it moves into the primitives that use it."""
    if not isinstance(value.owner, relay.ConstantOp):
        return False
    type = as_tensor(value.type)
    return type is not None and type.get_num_dims() == 0


def outside_operands(group: Sequence[Operation]) -> list[SSAValue]:
    """What the group reads from outside, in order of first use, without repeats."""
    inside = set[Operation](group)
    return list(
        dict.fromkeys(
            operand for op in group for operand in op.operands if operand.owner not in inside
        )
    )


@dataclass(frozen=True)
class WrapGroup(RewritePattern):
    """Move a group of operators into a primitive at the place of its root."""

    groups: dict[Operation, list[Operation]]
    """Each group by its root."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        group = self.groups.pop(op, None)
        if group is None:
            return
        operands = outside_operands(group)
        arguments = [v for v in operands if not is_scalar_constant(v)]
        constants = [v for v in operands if is_scalar_constant(v)]
        block = Block(arg_types=[v.type for v in arguments])
        primitive = relay.PrimitiveOp.create(
            operands=arguments,
            result_types=[r.type for r in op.results],
            regions=[Region(block)],
            location=op.location,
        )
        if all(o.has_trait(ReshapesOnly) for o in group) and arguments == operands:
            primitive.properties["reshape_only"] = UnitAttr()
        rewriter.insert(primitive, InsertPoint.before(op))
        for result, outer in zip(op.results, primitive.results, strict=True):
            outer.name_hint = result.name_hint
            result.replace_all_uses_with(outer)
        inner = self._inner_values(arguments, constants, block)
        for member in group:
            self._move(member, block, inner)
        block.add_op(relay.YieldOp.create(operands=op.results, location=op.location))
        rewriter.notify_op_modified(primitive)

    @staticmethod
    def _inner_values(
        arguments: Sequence[SSAValue], constants: Sequence[SSAValue], block: Block
    ) -> dict[SSAValue, SSAValue]:
        """What stands in the primitive for each value from outside."""
        inner: dict[SSAValue, SSAValue] = dict(zip(arguments, block.args, strict=True))
        for outer, argument in zip(arguments, block.args, strict=True):
            argument.name_hint = outer.name_hint
        for constant in constants:
            assert isinstance(constant, OpResult)
            clone = constant.op.clone()
            block.add_op(clone)
            inner[constant] = clone.results[0]
        return inner

    @staticmethod
    def _move(op: Operation, block: Block, inner: dict[SSAValue, SSAValue]) -> None:
        op.detach()
        if any(operand in inner for operand in op.operands):
            op.operands = [inner.get(operand, operand) for operand in op.operands]
        block.add_op(op)


class RemoveMovedConstant(RewritePattern):
    """Remove a scalar constant that every user has taken inside."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.ConstantOp, rewriter: PatternRewriter, /) -> None:
        if not op.result.uses:
            rewriter.erase(op)


@dataclass(frozen=True)
class FuseOpsPass(ModulePass):
    """Put operators that become one kernel into one primitive."""

    name = "fuse-ops"

    level: int = 1
    """0: each operator by itself; 1: fuse."""

    max_size: int = 256
    """The most operators in one primitive."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.level not in (0, 1):
            raise PassError(f"level must be 0 or 1, but is {self.level}", op)
        if self.max_size < 1:
            raise PassError(f"max-size must be at least 1, but is {self.max_size}", op)
        groups: dict[Operation, list[Operation]] = {}
        for block in blocks_outside_primitives(op):
            found = fusion_groups(block, self.max_size) if self.level else single_operators(block)
            groups.update((group[-1], group) for group in found)
        apply_patterns(op, WrapGroup(groups))
        apply_patterns(op, RemoveMovedConstant())
