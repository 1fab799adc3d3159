"""
Fail when something from a higher level is left.

    xrelay-opt -p 'fuse-ops,verify-stage{stage=fused}'

    error: relay.add is left at stage fused: fuse-ops should have put it into a primitive

A level is what its IR may contain (see `docs/design/`). Each rule says from which stage on an op
may not be there, by its interfaces, and which pass should have removed it; a rule holds for all
stages below its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects import relay
from ..dialects.device import UNCONSTRAINED, VirtualDeviceAttr, device_of, devices_in, told_apart
from ..dialects.interfaces import Bufferizable, DeviceRule, Fusible, On, OnHost, Together
from ..dialects.relay.incomplete import is_incomplete
from .support.diagnostics import PassError

Stage = Literal[
    "relay", "planned", "fused", "lowered", "manifest", "memory-planned", "bytecode", "memref"
]

STAGES: tuple[str, ...] = get_args(Stage)
"""The levels, from the top down."""

MEMREF_DIALECTS = ("memref", "arith", "scf", "func", "linalg", "bufferization")


@dataclass(frozen=True)
class Rule:
    """`found` tells what is wrong with an op from `stage` on; None when nothing is."""

    stage: str
    found: Callable[[Operation, bool], str | None]
    """Asked with the op and whether it stands in a kernel (a primitive or its function)."""


def incomplete_type(op: Operation, in_kernel: bool) -> str | None:
    if any(is_incomplete(value.type) for value in values_of(op)):
        return "its type is incomplete: infer-types should have filled it in"
    return None


def hint(op: Operation, in_kernel: bool) -> str | None:
    if isinstance(op, relay.OnDeviceOp):
        return "plan-devices should have turned it into a copy or removed it"
    return None


def without_device(op: Operation, in_kernel: bool) -> str | None:
    if in_kernel or isinstance(op, relay.PrimFuncOp):
        return None
    for value in values_of(op):
        if None in devices_in(value.type):
            return (
                f"it has a value of type {value.type}: plan-devices should have given it a device"
            )
    return None


@dataclass
class Misplaced:
    """Finds ops whose operands and results are not where their device rule wants them."""

    rules: dict[type[Operation], DeviceRule | None] = field(
        default_factory=dict[type[Operation], "DeviceRule | None"]
    )
    """By op class, asked once."""

    def __call__(self, op: Operation, in_kernel: bool) -> str | None:
        if in_kernel:
            return None
        kind = type(op)
        if kind not in self.rules:
            self.rules[kind] = op.get_trait(DeviceRule)
        rule = self.rules[kind]
        for constraint in () if rule is None else rule.constraints(op):
            if isinstance(constraint, OnHost):  # the host is no part of the module
                continue
            one, *others = places(constraint)
            other = next((device for device in others if device != one), None)
            if other is not None:
                here, there = told_apart(one, other)
                return (
                    f"{constraint.reason}, but there are {here} and {there}: "
                    "plan-devices should have copied between them"
                )
        return None


def places(constraint: On | Together) -> list[VirtualDeviceAttr]:
    """The devices that should be one; function values have several and are left out."""
    values = (constraint.value,) if isinstance(constraint, On) else constraint.values
    found = [device_of(v.type) for v in values if not isinstance(v.type, FunctionType)]
    wanted = [constraint.device] if isinstance(constraint, On) else []
    return wanted + [device for device in found if device is not None] or [UNCONSTRAINED]


def loose_operator(op: Operation, in_kernel: bool) -> str | None:
    if not in_kernel and op.has_trait(Fusible):
        return "fuse-ops should have put it into a primitive"
    return None


def primitive(op: Operation, in_kernel: bool) -> str | None:
    if isinstance(op, relay.PrimitiveOp):
        return "outline-primitives should have made it a function"
    return None


def unallocated(op: Operation, in_kernel: bool) -> str | None:
    if op.has_trait(Bufferizable):
        return "manifest-alloc should have given it storage"
    return None


def no_bytecode(op: Operation, in_kernel: bool) -> str | None:
    if not op.name.startswith("bytecode."):
        return "lower-to-bytecode should have replaced it"
    return None


def no_memref(op: Operation, in_kernel: bool) -> str | None:
    if op.name.partition(".")[0] not in MEMREF_DIALECTS:
        return f"only {', '.join(MEMREF_DIALECTS)} may be there"
    return None


RULES = (
    Rule("planned", incomplete_type),
    Rule("planned", hint),
    Rule("planned", without_device),
    Rule("fused", loose_operator),
    Rule("lowered", primitive),
    Rule("manifest", unallocated),
    Rule("bytecode", no_bytecode),
)


def rules_at(stage: str) -> list[Rule]:
    """The rules that hold at `stage`."""
    if stage == "memref":
        return [Rule(stage, no_memref)]
    rules = [*RULES, Rule("planned", Misplaced())]
    return [rule for rule in rules if STAGES.index(rule.stage) <= STAGES.index(stage)]


def values_of(op: Operation) -> Iterator[SSAValue]:
    """What `op` defines: its results, and the arguments of its blocks."""
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def ops_with_context(module: ModuleOp) -> Iterator[tuple[Operation, bool]]:
    """Every op of the module, in program order, and whether it stands in a kernel."""
    pending: list[tuple[Operation, bool]] = [(op, False) for op in reversed(list(module.ops))]
    while pending:
        op, in_kernel = pending.pop()
        yield op, in_kernel
        inside = in_kernel or isinstance(op, relay.PrimitiveOp | relay.PrimFuncOp)
        inner = [o for region in op.regions for block in region.blocks for o in block.ops]
        pending.extend((o, inside) for o in reversed(inner))


@dataclass(frozen=True)
class VerifyStagePass(ModulePass):
    """Fail when something from a higher level than the given stage is left."""

    name = "verify-stage"
    changes_nothing: ClassVar[bool] = True
    """So that the driver need not verify after it."""

    stage: Stage
    """The level that the program is to be at."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules = rules_at(self.stage)
        for inner, in_kernel in ops_with_context(op):
            for rule in rules:
                wrong = rule.found(inner, in_kernel)
                if wrong is not None:
                    raise PassError(f"{inner.name} is left at stage {self.stage}: {wrong}", inner)
