"""
Decide where everything is, and say so in the types.

    %1 = relay.on_device %0, #relay.device<cpu:0>     %1 = relay.device_copy %0
           : (tensor<4xf32>) -> tensor<4xf32>      ->        : tensor<4xf32, #relay.device<cpu:0>>
    %2 = relay.add %1, %b : …                               to tensor<4xf32, #relay.device<cuda:0>>
                                                      %2 = relay.add %1, %b : …

Read: values have domains, which ops, hints and annotations constrain (`analysis.
device_constraints`). Solve: unite, then fill in what is open (`analysis.device_domains`,
`device_defaults`). Write: one sweep gives every value its type; a hint becomes a copy where its two
sides differ and nothing where they do not; constants are cloned for each device. A planned module
planned again is unchanged. Wishes that contradict each other are an error that shows the way from
one to the other; with `repair`, the value that moves the fewest bytes on that way is copied
instead, and a remark says so. (TVM: PlanDevices; conflict repair: pull 15090.) From level `relay`
to `planned`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute, Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint, Rewriter

from ..dialects import memory, relay
from ..dialects.device import VirtualDeviceAttr, told_apart
from ..dialects.xdsl_internals import set_type
from .analysis.copy_costs import bytes_copied
from .analysis.device_conflicts import cheapest, refuse
from .analysis.device_constraints import DeviceConstraints, own_index, user_of
from .analysis.device_defaults import fill_in
from .analysis.device_facts import Facts, TypeFacts
from .analysis.device_options import device_option, parse_targets
from .analysis.device_reading import ANNOTATION, ops_in_order, read
from .analysis.device_shapes import Domain, FunctionDomain, result_of
from .support.diagnostics import PassError, emit_remark
from .support.rewriting import apply_patterns


def projections(module: ModuleOp) -> list[Operation]:
    """The ops that take a field of a tuple, in program order."""
    ops = ops_in_order(module.body.block)
    return [op for op in ops if type(op) is relay.TupleGetItemOp]


class HintAfterProjection(RewritePattern):
    """Project, then hint: only the field that is used is copied."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.TupleGetItemOp, rewriter: PatternRewriter, /) -> None:
        hint = op.tuple.owner
        if not isinstance(hint, relay.OnDeviceOp) or hint.constrain_result:
            return
        if not isinstance(hint.value.type, TupleType):
            return  # incomplete
        item = relay.TupleGetItemOp(hint.value, op.index.value.data)
        moved = relay.OnDeviceOp(item.result, hint.device, hint.constrain_body)
        rewriter.replace(op, [item, moved], [moved.result])
        if not hint.result.uses:
            rewriter.erase(hint)


# ---------------------------------------------------------------------- write


@dataclass
class Solution:
    """Where every value is, and so what its type is."""

    constraints: DeviceConstraints

    def number(self, domain: Domain) -> int:
        """The number of the device of `domain`, of a function that of its result."""
        return self.constraints.domains.number_of(result_of(domain))

    def device(self, domain: Domain) -> VirtualDeviceAttr:
        return self.constraints.domains.device_of(result_of(domain))

    def typed(self, type: TypeFacts, domain: Domain) -> Attribute:
        """The type with the devices of `domain`."""
        known = self.constraints
        if isinstance(domain, FunctionDomain) and isinstance(type.type, FunctionType):
            inner = (*domain.params, domain.result)
            parts = (*type.type.inputs, *type.type.outputs)
            *inputs, output = (
                self.typed(known.facts.of_type(part), at)
                for part, at in zip(parts, inner, strict=True)
            )
            return FunctionType.from_lists(inputs, [output])
        return type.on(self.number(domain), known.domains.numbers.devices)


def uses_by(value: SSAValue, op: Operation, index: int) -> list[Use]:
    """The uses of `value` by `op` as operand `index`, or by a yield in one of its regions."""
    return [
        use
        for use in value.uses
        if user_of(use.operation) is op and own_index(op, use.index) == index
    ]


def insert_copies(ctx: Context, solution: Solution) -> None:
    """Put a copy where a conflict was settled by one, and tell the user."""
    constraints = solution.constraints
    for (value, op, index), copied in constraints.copies.items():
        source, target = solution.device(constraints.of(value, op)), solution.device(copied)
        if source == target:
            continue
        made: dict[Operation, SSAValue] = {}
        for use in uses_by(value, op, index):
            user = use.operation
            if user not in made:
                copy = relay.DeviceCopyOp.create(
                    operands=[value], result_types=[value.type], location=user.location
                )
                block = user.parent_block()
                assert block is not None
                block.insert_op_before(copy, user)
                copy.result.name_hint = value.name_hint
                made[user] = copy.result
                constraints.put(copy.result, copied, constraints.type_of(value))
                constraints.changed[relay.DeviceCopyOp].append(copy)
            user.operands[use.index] = made[user]
        bytes = bytes_copied(value)
        moved = "" if bytes is None else f" ({bytes} byte{'' if bytes == 1 else 's'})"
        there, here = told_apart(source, target)
        message = f"an operand of {op.name} is copied from {there} to {here}{moved}"
        emit_remark(ctx, op, message, notes=[(value, "the value is made here")])


def spread_constants(solution: Solution) -> None:
    """
    Give each constant the device of its uses; one that is used on several is cloned, one that is
    not used is nowhere and goes.
    """
    constraints = solution.constraints
    for op in constraints.constant_ops:
        (result,) = op.results
        if not result.uses:
            Rewriter.erase_op(op)
            continue
        on: dict[int, list[Use]] = {}
        for use in reversed(tuple(result.uses)):  # the first use is the last of the list
            domain = constraints.of(result, use.operation, use.index)
            on.setdefault(solution.number(domain), []).append(use)
        type = constraints.type_of(result)
        for i, (number, uses) in enumerate(on.items()):
            here = op if i == 0 else _cloned(op)
            set_type(here.results[0], type.on(number, constraints.domains.numbers.devices))
            if i > 0:
                for use in uses:
                    use.operation.operands[use.index] = here.results[0]


def _cloned(op: Operation) -> Operation:
    """A copy of `op`, right after it."""
    clone, block = op.clone(), op.parent_block()
    assert block is not None, "a constant stands in a block"
    clone.location = op.location
    block.insert_op_after(clone, op)
    return clone


def retype(solution: Solution) -> None:
    """
    Put the devices into the types of all values but constants, and into the signatures; what said
    so before goes.
    """
    constraints = solution.constraints
    for value, domain, type in constraints.placed:
        set_type(value, solution.typed(type, domain))
    for name, function in constraints.functions.items():
        inputs, outputs = (
            [
                solution.typed(constraints.facts.of_type(type), domains[name, i])
                for i, type in enumerate(types)
            ]
            for types, domains in (
                (function.function_type.inputs, constraints.parameters),
                (function.function_type.outputs, constraints.results),
            )
        )
        function.function_type = FunctionType.from_lists(inputs, outputs)
        function.arg_attrs = without_annotations(function.arg_attrs)
        function.res_attrs = without_annotations(function.res_attrs)
    for op in constraints.changed[relay.FnOp]:
        assert isinstance(op, relay.FnOp)
        op.param_devices = None
        op.result_device = None
    for op in constraints.changed[memory.AllocStorageOp]:
        assert isinstance(op, memory.AllocStorageOp)
        op.device = None


def without_annotations(
    attrs: ArrayAttr[DictionaryAttr] | None,
) -> ArrayAttr[DictionaryAttr] | None:
    """`attrs` without the devices, which now stand in the types; None when nothing is left."""
    if attrs is None:
        return None
    left = [
        DictionaryAttr({k: v for k, v in entry.data.items() if k != ANNOTATION}) for entry in attrs
    ]
    return ArrayAttr(left) if any(entry.data for entry in left) else None


class DropHint(RewritePattern):
    """Remove a hint whose operand is where its result is."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.OnDeviceOp, rewriter: PatternRewriter, /) -> None:
        if op.value.type == op.result.type:
            rewriter.replace(op, [], [op.value])


def stands_alone(hint: relay.OnDeviceOp) -> bool:
    """Whether `hint` says of its own result where that is, or has no more than one use."""
    return hint.constrain_result or hint.result.first_use is None or hint.result.has_one_use()


def refuse_to_move(hints: Iterable[relay.OnDeviceOp]) -> None:
    """An error at the first hint that would copy what cannot be copied."""
    for hint in hints:
        type = hint.value.type
        if not isinstance(type, TensorType | TupleType):
            message = f"only tensors and tuples can be copied between devices, not {type}"
            raise PassError(message, hint)


def copy_of(hint: relay.OnDeviceOp) -> relay.DeviceCopyOp:
    """The copy that `hint` stands for."""
    copy = relay.DeviceCopyOp.create(operands=[hint.value], result_types=[hint.result.type])
    copy.result.name_hint = hint.result.name_hint
    return copy


class CopyForHint(RewritePattern):
    """Replace a hint by a copy where it stands, or by one for each use, right before that."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.OnDeviceOp, rewriter: PatternRewriter, /) -> None:
        if stands_alone(op):
            rewriter.replace(op, copy_of(op))
            return
        for use in sorted(op.result.uses, key=lambda use: use.index):
            copy = copy_of(op)
            rewriter.insert(copy, InsertPoint.before(use.operation))
            use.operation.operands[use.index] = copy.result
        rewriter.erase(op)


class DropNeedlessCopy(RewritePattern):
    """Remove a copy from a device to itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.DeviceCopyOp, rewriter: PatternRewriter, /) -> None:
        if op.value.type == op.result.type:
            rewriter.replace(op, [], [op.value])


# -------------------------------------------------------------------- explain


def planned_values(function: func.FuncOp, facts: Facts) -> Iterator[tuple[SSAValue, Operation]]:
    """Every value of the function but its constants, with an op that knows it, in order."""
    pending: list[Operation] = [function]
    while pending:
        op = pending.pop()
        if isinstance(op, relay.PrimitiveOp):
            continue
        inner: list[Operation] = []
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    yield argument, op
                for child in block.ops:
                    if not facts.of_op(child).is_constant:
                        for result in child.results:
                            yield result, child
                    if child.regions:
                        inner.append(child)
        pending += reversed(inner)


def explain_plan(ctx: Context, solution: Solution) -> None:
    """Tell the user of every value where it is, and why."""
    constraints = solution.constraints
    why = {domain: (demand, union) for domain, demand, union in constraints.domains.reasons()}
    for function in constraints.functions.values():
        for value, op in planned_values(function, constraints.facts):
            domain = result_of(constraints.of(value, op))
            device = constraints.domains.device_of(domain).in_words
            found = why.get(domain)
            if found is None:
                emit_remark(ctx, value, f"on {device}, by default")
                continue
            demand, union = found
            cause = demand.cause if union is None else union.cause
            asked = f"{demand.device.in_words} is asked for here: {demand.cause.reason}"
            notes = [] if union is None else [(demand.cause.place, asked)]
            emit_remark(ctx, value, f"on {device}: {cause.reason}", notes=notes)


# ----------------------------------------------------------------------- pass


@dataclass(frozen=True)
class PlanDevicesPass(ModulePass):
    """Decide where everything is, and say so in the types."""

    name = "plan-devices"

    default: str = "cpu:0"
    """Where values are that nothing says more about."""

    host: str = "cpu:0"
    """Where sizes and shapes are."""

    targets: tuple[str, ...] = ()
    """The target of each device type, as `cpu=llvm`; a device that names none gets it."""

    repair: bool = False
    """Insert the cheapest copies that make contradicting wishes possible."""

    explain: bool = False
    """Say of every value where it is, and why."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constraints = DeviceConstraints(
            device_option(self.host, "host", op),
            settle=cheapest(bytes_copied) if self.repair else refuse,
            targets=parse_targets(self.targets, op),
        )
        default = device_option(self.default, "default", op)
        apply_patterns(op, HintAfterProjection(), only=projections(op))
        read(constraints, op)
        fill_in(constraints, default)
        solution = Solution(constraints)
        if self.explain:
            explain_plan(ctx, solution)
        insert_copies(ctx, solution)
        retype(solution)
        spread_constants(solution)
        hints = constraints.changed[relay.OnDeviceOp]
        apply_patterns(op, DropHint(), only=hints)
        moving = [h for h in hints if h.parent is not None and isinstance(h, relay.OnDeviceOp)]
        refuse_to_move(moving)
        apply_patterns(op, CopyForHint(), only=moving[::-1])  # the hint of a hint first
        apply_patterns(op, DropNeedlessCopy(), only=constraints.changed[relay.DeviceCopyOp])
