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
kernels; `--remarks` tells which and why. With `require`, that is an error. Dims that are equal in
all calls of a kernel are one in it (`linalg.known_dims`). Levels: `lowered` to `memory-planned`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects import relay
from ..dialects.device import upstream_type
from ..dialects.tensors import as_tensor, bits_of
from ..passes.support.changes import LevelPass
from ..passes.support.diagnostics import PassError, emit_remark, wants_remarks
from .linalg.builder import Builder, Rule, Unsupported
from .linalg.known_dims import Related, related_dims, unequal_dims
from .linalg.rule_registry import rules_of


class NoRule(NamedTuple):
    """An operator without linalg, and the reason."""

    op: Operation
    reason: str


WIDTHS = (1, 8, 16, 32, 64)
"""The widths in bits of elements that native code stores."""


def stray_type(op: Operation) -> Attribute | None:
    """Return the type of an operand or result of `op` whose elements native code cannot store."""
    for value in (*op.operands, *op.results):
        tensor = as_tensor(value.type)
        if tensor is None or bits_of(tensor.element_type) not in WIDTHS:
            return value.type
    return None


def convert_kernel(
    kernel: relay.PrimFuncOp, rules: Mapping[str, Rule], related: Sequence[Related]
) -> NoRule | None:
    """
    Convert all operators of `kernel`; return one that cannot be, after which it is unchanged.

    `related` are the classes of its parameters' dims that differ by known numbers.
    """
    old = kernel.body.block
    type = upstream_type(kernel.function_type)
    assert isinstance(type, FunctionType), "of the same kind"
    new = Block(arg_types=type.inputs)
    b = Builder(new)
    for dims in related:
        ((first, at), offset), *others = dims.items()
        for (parameter, axis), more in others:
            size = b.add(b.dim(new.args[first], at), more - offset)
            b.has_dim(new.args[parameter], axis, size)
    values = dict[SSAValue, SSAValue](zip(old.args, new.args, strict=True))
    for op in old.ops:
        b.location = op.location
        operands = [values[operand] for operand in op.operands]
        if isinstance(op, relay.YieldOp):
            b.insert_all(relay.YieldOp(*operands))
            break
        if isinstance(op, relay.ScratchOp):
            scratch = as_tensor(op.result.type)
            assert scratch is not None, "verified: a tensor"
            values[op.result] = b.empty(scratch.get_shape(), scratch.element_type)
            continue
        rule, stray = rules.get(op.name), stray_type(op)
        if rule is None:
            return NoRule(op, f"{op.name} has no linalg rule")
        if stray is not None:
            return NoRule(op, f"{op.name} has no linalg rule for {stray}")
        try:
            results = rule(b, op, operands)
        except Unsupported as reason:
            return NoRule(op, f"{op.name} has no linalg rule for {reason}")
        for before, result in zip(op.results, results, strict=True):
            wanted = as_tensor(upstream_type(before.type))
            assert wanted is not None, "operators have tensors as results"
            after = b.cast(result, wanted)
            after.name_hint = after.name_hint or before.name_hint
            values[before] = after
    for before, after in zip(old.args, new.args, strict=True):
        after.name_hint, after.location = before.name_hint, before.location
    kernel.body.detach_block(old)
    kernel.body.add_block(new)
    kernel.function_type = type
    old.erase()
    return None


@dataclass(frozen=True)
class ConvertRelayToLinalgPass(LevelPass):
    name = "convert-relay-to-linalg"
    accepts = "lowered"

    require: bool = False
    """Report an operator without a rule as an error."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = [kernel for kernel in op.ops if isinstance(kernel, relay.PrimFuncOp)]
        operators = {inner.name for kernel in kernels for inner in kernel.body.ops}
        rules = rules_of(operators - {relay.YieldOp.name, relay.ScratchOp.name})
        related = related_dims(op)
        for kernel in kernels:
            classes = related.get(kernel.sym_name.data, ())
            if wants_remarks(ctx):
                for place, message in unequal_dims(kernel, classes):
                    emit_remark(ctx, place, f"@{kernel.sym_name.data}: {message}")
            missing = convert_kernel(kernel, rules, classes)
            if missing is None:
                continue
            if self.require:
                raise PassError(missing.reason, missing.op)
            if wants_remarks(ctx):
                message = f"@{kernel.sym_name.data} is not native: {missing.reason}"
                emit_remark(ctx, missing.op, message)
