"""
Group operators that become one kernel into one primitive.

    %0 = relay.nn.dense %x, %w : …         %1 = relay.primitive(%a = %x : …, %b = %w : …) -> (…) {
    %1 = relay.nn.relu %0 : …        ->      %2 = relay.nn.dense %a, %b : …
                                             %3 = relay.nn.relu %2 : …
                                             relay.yield %3 : …
                                           }

Level 0 puts each operator into a primitive of its own; level 1 fuses along post-dominators by the
operators' fusion kinds (TVM: FuseOps). A primitive of nothing but reshapes is marked
`reshape_only`: it becomes a view. Constants of rank 0 move into the primitive; others are operands.
Hints, copies, tuples and control flow end a group. A primitive of a loop is needed in the `turns`
in which one of its operators is. An operator whose results are unused is removed, though it may
fail: so the machine and machine code agree. From level `planned` (or `relay`) to `fused`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.traits import is_side_effect_free

from ..dialects import relay
from ..dialects.interfaces import Fusible, only_reshapes
from ..dialects.turns import take_turns
from ..dialects.xdsl_extras.xdsl_internals import exchange_results, operands_of, replace_operands
from .analysis.fusion import fusion_groups, is_scalar_constant, single_operators
from .support.changes import LevelPass
from .support.diagnostics import OptionError
from .support.rewriting import erase_unused, rewrite_each
from .support.walk import is_kernel, outside_primitives


def blocks_outside_kernels(module: ModuleOp) -> Iterator[Block]:
    """Yield the blocks whose operators are to be fused."""
    for op in outside_primitives(module):
        if op.regions and not is_kernel(op):
            for region in op.regions:
                yield from region.blocks


def is_free_operator(op: Operation) -> bool:
    """Test whether `op` is an operator without effects."""
    return op.has_trait(Fusible) and is_side_effect_free(op)


def outside_operands(group: Sequence[Operation]) -> list[SSAValue]:
    """The operands that `group` does not define, in order of first use, without repeats."""
    operands = dict.fromkeys(operand for op in group for operand in operands_of(op))
    for op in group[:-1]:  # the root is used outside only
        for result in op.results:
            operands.pop(result, None)
    return list(operands)


def outline(group: Sequence[Operation]) -> relay.PrimitiveOp:
    """
    Move `group` into a new primitive, which takes the place of its last op, the root.

    Users of the root's results use the primitive's; the primitive is not inserted yet.
    """
    root = group[-1]
    operands = outside_operands(group)
    arguments = [v for v in operands if not is_scalar_constant(v)]
    block = Block(arg_types=[v.type for v in arguments])
    primitive = relay.PrimitiveOp.create(
        operands=arguments,
        result_types=[r.type for r in root.results],
        regions=[Region(block)],
        location=root.location,
    )
    # A view is of argument 0; what a reshape reads besides may be a scalar that moves inside.
    if all(map(only_reshapes, group)) and arguments[:1] == operands[:1]:
        primitive.properties["reshape_only"] = UnitAttr()
    primitive.turns = take_turns(group)
    exchange_results(primitive, root)
    for outer, result in zip(primitive.results, root.results, strict=True):
        result.name_hint = outer.name_hint
    inner: dict[SSAValue, SSAValue] = {}
    for outer, argument in zip(arguments, block.args, strict=True):
        argument.name_hint = outer.name_hint
        inner[outer] = argument
    for constant in operands:
        if constant not in inner:
            assert isinstance(constant, OpResult)
            block.add_op(clone := constant.op.clone())
            inner[constant] = clone.results[0]
    for op in group:
        op.detach()
        replace_operands(op, inner)
        block.add_op(op)
    block.add_op(relay.YieldOp.create(operands=root.results, location=root.location))
    return primitive


@dataclass(frozen=True)
class FuseOpsPass(LevelPass):
    name = "fuse-ops"
    accepts = "relay"

    level: int = 1
    """0: a primitive for each operator; 1: fuse."""

    max_size: int = 256
    """The maximum number of operators in one primitive."""

    max_args: int | None = None
    """
    The maximum number of operands and results of a primitive of several operators, for devices
    that bound the arguments of a kernel; a primitive of one operator may have more.
    """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.level not in (0, 1):
            raise OptionError(f"level must be 0 or 1, but is {self.level}", "level")
        if self.max_size < 1:
            raise OptionError(f"max-size must be at least 1, but is {self.max_size}", "max-size")
        if self.max_args is not None and self.max_args < 1:
            raise OptionError(f"max-args must be at least 1, but is {self.max_args}", "max-args")
        groups: dict[Operation, list[Operation]] = {}
        erase_unused(outside_primitives(op), is_free_operator)
        for block in blocks_outside_kernels(op):
            groups.update((group[-1], group) for group in self.groups_of(block))
        roots = [o for o in outside_primitives(op) if o in groups]

        def outline_group(root: Operation, rewriter: PatternRewriter) -> None:
            place = InsertPoint.after(root)
            rewriter.insert(outline(groups[root]), place)

        rewrite_each(roots, outline_group)
        erase_unused(o for o in outside_primitives(op) if isinstance(o, relay.ConstantOp))

    def groups_of(self, block: Block) -> list[list[Operation]]:
        """Return the operators of each primitive that `block` is to have, its root last."""
        if not self.level:
            return single_operators(block)
        return fusion_groups(block, self.max_size, self.max_args)
