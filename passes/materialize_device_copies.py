"""
Turn device hints into copies between devices.

    %1 = relay.on_device %0, #cpu0 : (tensor<4xf32, #cpu0>) -> tensor<4xf32, #cuda0>
    %2 = relay.tanh %1 : …
    %3 = relay.exp %1 : …
    ->
    %1 = relay.device_copy %0 : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
    %2 = relay.tanh %1 : …
    %3 = relay.device_copy %0 : tensor<4xf32, #cpu0> to tensor<4xf32, #cuda0>
    %4 = relay.exp %3 : …

A hint becomes a copy right before each use, or one in its place if it constrains its result; one
without different devices on its two sides disappears. A constant without a device, which is only
used through hints, becomes one constant for each device that they name:

    %c = relay.constant dense<1.0> : tensor<4xf32>
    %1 = relay.on_device %c, #cpu0 {…} : (tensor<4xf32>) -> tensor<4xf32, #cpu0>
    %2 = relay.on_device %c, #cuda0 {…} : (tensor<4xf32>) -> tensor<4xf32, #cuda0>
    ->
    %1 = relay.constant dense<1.0> : tensor<4xf32> on #cpu0
    %2 = relay.constant dense<1.0> : tensor<4xf32> on #cuda0

From level `relay`, with devices assigned, to `planned`.
"""

from collections.abc import Iterable

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.device import devices_in
from ..dialects.interfaces import Rematerializable
from ..dialects.relay.device_ops import is_copyable
from ..dialects.xdsl_extras.xdsl_internals import set_type
from .support.changes import LevelPass
from .support.diagnostics import PassError
from .support.rewriting import apply_patterns
from .support.walk import outside_primitives


def is_placed(type: Attribute) -> bool:
    """Test whether every part of `type` that can carry a device does."""
    return None not in devices_in(type)


def is_unplaced_constant(op: Operation) -> bool:
    """Test whether `op` is a constant that is used, if at all, only through hints."""
    return (
        op.has_trait(Rematerializable, value_if_unregistered=False)
        and not is_placed(op.results[0].type)
        and all(
            isinstance(use.operation, relay.OnDeviceOp) and is_placed(use.operation.result.type)
            for use in op.results[0].uses
        )
    )


def candidates(module: ModuleOp) -> list[Operation]:
    """Return the hints and constants of the module's functions, in program order."""
    ops: list[Operation] = []
    is_candidate: dict[type[Operation], bool] = {}
    for function in module.ops:
        if isinstance(function, func.FuncOp):
            for op in outside_primitives(function):
                kind = type(op)
                if kind not in is_candidate:
                    is_constant = op.has_trait(Rematerializable, value_if_unregistered=False)
                    is_candidate[kind] = is_constant or kind is relay.OnDeviceOp
                if is_candidate[kind]:
                    ops.append(op)
    return ops


def moves(hint: relay.OnDeviceOp) -> bool:
    """Test whether the two sides of `hint` are on different devices."""
    source, target = hint.operands[0].type, hint.results[0].type
    return source != target and is_placed(source)


def check_copyable(hints: Iterable[relay.OnDeviceOp]) -> None:
    """Raise an error at the first hint that would copy what cannot be copied."""
    for hint in hints:
        type = hint.operands[0].type
        if moves(hint) and not is_copyable(type):
            message = f"only tensors and tuples can be copied between devices, not {type}"
            raise PassError(message, hint)


def is_copied_in_place(hint: relay.OnDeviceOp) -> bool:
    """Test whether the result of `hint` has at most one use, or `hint` constrains it."""
    (result,) = hint.results
    return result.first_use is None or result.has_one_use() or hint.constrain_result


def copy_of(hint: relay.OnDeviceOp) -> relay.DeviceCopyOp:
    """Make the copy that `hint` stands for."""
    (value,), (result,) = hint.operands, hint.results
    copy = relay.DeviceCopyOp.create(operands=[value], result_types=[result.type])
    copy.results[0].name_hint = result.name_hint
    return copy


class RemoveHint(RewritePattern):
    """Remove a hint with the same device on its two sides."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.OnDeviceOp, rewriter: PatternRewriter, /) -> None:
        (value,) = op.operands
        if value.type == op.results[0].type and is_placed(value.type):
            rewriter.replace(op, [], [value])


class CopyForHint(RewritePattern):
    """Replace a hint by a copy in its place, or by one right before each use."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.OnDeviceOp, rewriter: PatternRewriter, /) -> None:
        if not moves(op):
            return
        if is_copied_in_place(op):
            rewriter.replace(op, copy_of(op))
            return
        for use in sorted(op.results[0].uses, key=lambda use: use.index):
            copy = copy_of(op)
            rewriter.insert(copy, InsertPoint.before(use.operation))
            use.operation.operands[use.index] = copy.results[0]
        rewriter.erase(op)


class CloneConstant(RewritePattern):
    """Replace the hints of a constant without a device by a constant on each device."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not is_unplaced_constant(op):
            return
        clones: dict[Attribute, Operation] = {}
        for use in reversed(tuple(op.results[0].uses)):  # the first use is the last of the list
            hint = use.operation
            type = hint.results[0].type
            if type not in clones:
                clones[type] = clone = op.clone()
                set_type(clone.results[0], type)
            rewriter.replace(hint, [], clones[type].results)
        rewriter.replace(op, list(clones.values()), [None])


class MaterializeDeviceCopiesPass(LevelPass):
    name = "materialize-device-copies"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ops = candidates(op)
        check_copyable(o for o in ops if isinstance(o, relay.OnDeviceOp))
        # From the end: a hint of a hint is copied first, and then the copies' operand.
        apply_patterns(op, CopyForHint(), RemoveHint(), CloneConstant(), only=ops[::-1])
