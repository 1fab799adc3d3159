"""
Decide where everything is, and say so in the types.

    %1 = relay.on_device %0, #relay.device<cpu:0>     %1 = relay.device_copy %0
           : (tensor<4xf32>) -> tensor<4xf32>      ->        : tensor<4xf32, #relay.device<cpu:0>>
    %2 = relay.add %1, %b : …                               to tensor<4xf32, #relay.device<cuda:0>>
                                                      %2 = relay.add %1, %b : …

Read: every value has a domain, and ops, hints and annotations constrain domains
(`analysis.device_constraints`). Solve: unite, then fill in what is open, results before parameters
before values in program order (`analysis.device_domains`). Write: one sweep gives every value its
type; a hint becomes a copy where its two sides differ, and nothing where they do not; constants are
cloned for each device. A planned module planned again is unchanged. (TVM: PlanDevices.) From level
`relay` to `planned`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import Rewriter

from ..dialects import relay
from ..dialects.device import VirtualDeviceAttr, with_device
from ..dialects.interfaces import DeviceConstant
from .analysis.device_constraints import ANNOTATION, DeviceConstraints, device_option
from .rewriting import apply_patterns


class HintAfterProjection(RewritePattern):
    """Project, then hint: only the field that is used is copied."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.TupleGetItemOp, rewriter: PatternRewriter, /) -> None:
        hint = op.tuple.owner
        if not isinstance(hint, relay.OnDeviceOp) or hint.constrain_result:
            return
        item = relay.TupleGetItemOp(hint.value, op.index.value.data)
        moved = relay.OnDeviceOp(item.result, hint.device, hint.constrain_body)
        rewriter.replace(op, [item, moved], [moved.result])
        if not hint.result.uses:
            rewriter.erase(hint)


@dataclass
class Solution:
    """The device of every value, and types on devices, each made once."""

    constraints: DeviceConstraints
    types: dict[tuple[Attribute, VirtualDeviceAttr], Attribute] = field(
        default_factory=dict[tuple[Attribute, VirtualDeviceAttr], Attribute]
    )

    def device(self, value: SSAValue, user: Operation, index: int = 0) -> VirtualDeviceAttr:
        return self.constraints.domains.device_of(self.constraints.of(value, user, index))

    def typed(self, type: Attribute, device: VirtualDeviceAttr) -> Attribute:
        key = (type, device)
        known = self.types.get(key)
        if known is None:
            known = self.types[key] = with_device(type, device)
        return known


def fill_in(constraints: DeviceConstraints, default: VirtualDeviceAttr) -> None:
    """
    Give every domain that is open a device: results, then parameters, then values.

    A function's first result decides where its parameters and values are; a region's results
    decide for the values in the region.
    """
    domains = constraints.domains
    for name, function in constraints.functions.items():
        outputs = range(len(function.function_type.outputs))
        devices = [domains.default(constraints.results[name, i], default) for i in outputs]
        own = devices[0] if devices else default
        for i in range(len(function.function_type.inputs)):
            domains.default(constraints.parameters[name, i], own)
        for block in function.body.blocks:
            _fill_in_block(constraints, block, own)


def _fill_in_block(constraints: DeviceConstraints, block: Block, device: VirtualDeviceAttr) -> None:
    domains = constraints.domains
    for op in block.ops:
        for i, operand in enumerate(op.operands):
            domains.default(constraints.of(operand, op, i), device)
        for result in op.results:
            domains.default(constraints.of(result, op), device)
    for op in block.ops:
        if not op.regions or isinstance(op, relay.PrimitiveOp):
            continue
        inner = device
        if op.results:
            inner = domains.device_of(constraints.of(op.results[0], op))
        for region in op.regions:
            for nested in region.blocks:
                _fill_in_block(constraints, nested, inner)


def spread_constants(module: ModuleOp, solution: Solution) -> None:
    """Give each constant the device of its uses; one that is used on several is cloned."""
    constants = [op for op in module.walk() if op.has_trait(DeviceConstant)]
    for op in constants:
        (result,) = op.results
        clones: dict[VirtualDeviceAttr, SSAValue] = {}
        uses = reversed(tuple(result.uses))  # the first use is the last of the list
        wanted = [(use, solution.device(result, use.operation, use.index)) for use in uses]
        for use, device in wanted:
            if device not in clones:
                clones[device] = _constant_on(op, device, solution, first=not clones)
            if clones[device] is not op.results[0]:
                use.operation.operands[use.index] = clones[device]


def _constant_on(
    op: Operation, device: VirtualDeviceAttr, solution: Solution, first: bool
) -> SSAValue:
    """`op`'s result on `device`: of the op itself for its first device, else of a clone."""
    type = solution.typed(op.results[0].type, device)
    if first:
        if op.results[0].type != type:
            Rewriter.replace_value_with_new_type(op.results[0], type)
        return op.results[0]
    clone = op.clone()
    if clone.results[0].type != type:
        Rewriter.replace_value_with_new_type(clone.results[0], type)
    block = op.parent_block()
    assert block is not None, "a constant stands in a block"
    block.insert_op_after(clone, op)
    clone.location = op.location
    return clone.results[0]


def planned_values(function: func.FuncOp) -> Iterator[tuple[SSAValue, Operation]]:
    """Every value of the function but its constants, with an op that knows it."""
    pending: list[Operation] = [function]
    while pending:
        op = pending.pop()
        if isinstance(op, relay.PrimitiveOp):
            continue
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    yield argument, op
                for inner in block.ops:
                    if not inner.has_trait(DeviceConstant):
                        for result in inner.results:
                            yield result, inner
                    if inner.regions:
                        pending.append(inner)


def retype(function: func.FuncOp, solution: Solution) -> None:
    """Put the devices into the types of the function's values and into its signature."""
    for value, op in list(planned_values(function)):
        type = solution.typed(value.type, solution.device(value, op))
        if type != value.type:
            Rewriter.replace_value_with_new_type(value, type)
    constraints, name = solution.constraints, function.sym_name.data
    inputs, outputs = (
        [
            solution.typed(type, constraints.domains.device_of(domains[name, i]))
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


class ApplyHint(RewritePattern):
    """Replace a hint by a copy, or by its operand when that is where the result is."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.OnDeviceOp, rewriter: PatternRewriter, /) -> None:
        if op.value.type == op.result.type:
            rewriter.replace(op, [], [op.value])
            return
        copy = relay.DeviceCopyOp.create(operands=[op.value], result_types=[op.result.type])
        copy.results[0].name_hint = op.result.name_hint
        rewriter.replace(op, copy)


class DropNeedlessCopy(RewritePattern):
    """Remove a copy from a device to itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.DeviceCopyOp, rewriter: PatternRewriter, /) -> None:
        if op.value.type == op.result.type:
            rewriter.replace(op, [], [op.value])


@dataclass(frozen=True)
class PlanDevicesPass(ModulePass):
    """Decide where everything is, and say so in the types."""

    name = "plan-devices"

    default: str = "cpu:0"
    """Where values are that nothing says more about."""

    host: str = "cpu:0"
    """Where sizes and shapes are."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        default = device_option(self.default, "default", op)
        apply_patterns(op, HintAfterProjection())
        constraints = DeviceConstraints(device_option(self.host, "host", op))
        constraints.read(op)
        fill_in(constraints, default)
        solution = Solution(constraints)
        for function in constraints.functions.values():
            retype(function, solution)
        spread_constants(op, solution)
        apply_patterns(op, ApplyHint(), DropNeedlessCopy())
