"""
Compute the operators in kernels by linalg on tensors.

    relay.prim_func @f(%x: tensor<4xui8>) -> tensor<4xui8> {
      %0 = relay.add %x, %x : …
      relay.yield %0 : tensor<4xui8>
    }
    ->
    relay.prim_func @f(%x: tensor<4xi8>) -> tensor<4xi8> {
      %0 = tensor.empty() : tensor<4xi8>
      %1 = linalg.generic {…} ins(%x, %x : …) outs(%0 : …) { … arith.addi … } -> tensor<4xi8>
      relay.yield %1 : tensor<4xi8>
    }

Kernels and what is in them get the types of the upstream dialects: integers are signless; the types
of their callers stay. Each operator has a rule (`lowering.linalg`), or one from a plug-in. A kernel
with an operator that has none, or declines, stays as it is, and is called through the runtime's
kernels; `--remarks` tells which and why. With `require`, that is an error. Levels: `lowered` to
`memory-planned`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects import relay
from ..dialects.device import upstream_type
from ..dialects.interfaces import InferTypes
from ..dialects.tensors import as_tensor
from ..dialects.walking import walk
from ..dialects.xdsl_internals import set_type
from ..passes.support.diagnostics import PassError, emit_remark, wants_remarks
from .linalg.builder import Builder, Rule, Unsupported
from .linalg.registry import rules_of


def is_operator(op: Operation) -> bool:
    """Test whether `op` computes tensors from tensors, so that a rule may convert it."""
    return op.has_trait(InferTypes) or isinstance(op, relay.ConstantOp)


@dataclass
class Conversion:
    """Converts operators in place, before them; they are erased by `finish`."""

    rules: Mapping[str, Rule]
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The new value of each result of a converted op, whose own type tells its signedness."""
    converted: list[Operation] = field(default_factory=list[Operation])
    made: list[Operation] = field(default_factory=list[Operation])
    left: list[tuple[Operation, str]] = field(default_factory=list[tuple[Operation, str]])
    """The operators without a rule, each with the reason."""

    def convert_block(self, block: Block, outer: Builder | None = None) -> None:
        """Convert the operators in `block` and, in its ops, all regions."""
        b = Builder(block, outer)
        b.inserted = self.made
        for op in [*block.ops]:
            b.location, b.before = op.location, op
            for region in op.regions:
                for inner in region.blocks:
                    self.convert_block(inner, b)
            if is_operator(op):
                self.convert(b, op)

    def convert(self, b: Builder, op: Operation) -> None:
        """Insert what computes the results of `op`."""
        rule = self.rules.get(op.name)
        if rule is None:
            self.left.append((op, f"{op.name} has no linalg rule"))
            return
        operands = [self.values.get(operand, operand) for operand in op.operands]
        try:
            results = rule(b, op, operands)
        except Unsupported as reason:
            self.left.append((op, f"{op.name} has no linalg rule for {reason}"))
            return
        for old, new in zip(op.results, results, strict=True):
            type = as_tensor(upstream_type(old.type))
            assert type is not None, "operators have tensors as results"
            self.values[old] = b.cast(new, type)
            if new.name_hint is None:
                self.values[old].name_hint = old.name_hint
        self.converted.append(op)

    def finish(self) -> None:
        """Let all others use the new values, and erase the converted ops."""
        for old, new in self.values.items():
            for use in [*old.uses]:
                use.operation.operands[use.index] = new
        for op in reversed(self.converted):
            op.detach()
            op.erase()

    def give_up(self) -> None:
        """Erase everything that was inserted."""
        for op in reversed(self.made):
            op.detach()
            op.erase()


def convert_operators(
    root: Operation, rules: Mapping[str, Rule] | None = None
) -> list[tuple[Operation, str]]:
    """
    Convert the operators in `root`, in functions too; return those without a rule, with the reason.

    Values that no converted operator made keep their types.
    """
    known = rules_of(operators_in(root)) if rules is None else rules
    conversion = Conversion(known)
    for region in root.regions:
        for block in region.blocks:
            conversion.convert_block(block)
    conversion.finish()
    return conversion.left


def operators_in(root: Operation) -> set[str]:
    """Return the names of the operators in `root`."""
    return {op.name for op in walk(root) if is_operator(op)}


def convert_kernel(
    kernel: relay.PrimFuncOp, rules: Mapping[str, Rule]
) -> list[tuple[Operation, str]]:
    """Convert all of `kernel` or nothing; return the operators without a rule."""
    conversion = Conversion(rules)
    conversion.convert_block(kernel.body.block)
    if conversion.left:
        conversion.give_up()
        return conversion.left
    conversion.finish()
    for value in kernel.body.block.args:
        set_type(value, upstream_type(value.type))
    type: Attribute = upstream_type(kernel.function_type)
    assert isinstance(type, FunctionType)
    kernel.function_type = type
    return []


@dataclass(frozen=True)
class ConvertRelayToLinalgPass(ModulePass):
    name = "convert-relay-to-linalg"

    require: bool = False
    """Report an operator without a rule as an error."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules = rules_of(operators_in(op))
        for kernel in op.body.block.ops:
            if not isinstance(kernel, relay.PrimFuncOp):
                continue
            for operator, reason in convert_kernel(kernel, rules)[:1]:
                if self.require:
                    raise PassError(reason, operator)
                if wants_remarks(ctx):
                    emit_remark(ctx, operator, f"@{kernel.sym_name.data} is not native: {reason}")
