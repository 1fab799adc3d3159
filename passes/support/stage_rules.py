"""
Rules for the ops of each level, of `verify-stage` and of passes before they begin.

    Rule("fused", "fuse-ops should have …", concerns=has_trait(Fusible), lacks="is not in a kernel")

    verify-stage{stage=fused}    relay.add is left at stage fused: fuse-ops should have put it …
    outline-primitives           relay.add is not in a kernel: run fuse-ops first

A rule asks interfaces, and holds for its stage and all that follow it. Those with `lacks` are on
what an op is, not on its types: an op that breaks one is of an earlier level, and passes of later
ones leave it as it is. (Not so closures, whose bodies they rewrite.)
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import OpTrait

from ...dialects import memory, relay
from ...dialects.device import UNCONSTRAINED, VirtualDeviceAttr, device_of, disambiguated, is_placed
from ...dialects.interfaces import Bufferizable, DeviceRule, Fusible, Pinned, SameDomain
from ...dialects.relay.incomplete import is_incomplete
from ...dialects.tensors import has_dynamic
from ...operators.records import record
from .diagnostics import PassError
from .levels import ENDS, PRODUCERS, STAGES, Stage, path_to
from .walk import outside_primitives

LINALG_DIALECTS = ("func", "tensor", "linalg", "arith", "math", "scf", "cf")

MEMREF_DIALECTS = (*LINALG_DIALECTS[:-1], "builtin", "memref", "bufferization", "gpu", "ub")

DIALECTS_OF_ENDS = ("bytecode", "memref", "bufferization", "gpu", "linalg")
"""Dialects of which no program on the way has an op outside kernels."""


def never(kind: type[Operation]) -> bool:
    return False


def always(kind: type[Operation]) -> bool:
    return True


Concerns: TypeAlias = Callable[[type[Operation]], bool]
"""Tests whether ops of a class are among those that a rule is about."""


@record
class Rule:
    """A condition that every op meets from `stage` on."""

    stage: Stage
    wrong: str | Callable[[Operation], str | None]
    """The fault of an op that the rule concerns, or a function that returns it or None."""
    in_kernels: bool = True
    """True if the rule holds inside kernels too."""
    only_there: bool = False
    """True if the rule no longer holds after `stage`."""
    concerns: Concerns = always
    """Tests whether ops of a class can break the rule."""
    on_types: Concerns = never
    """
    Tests whether ops of a class all meet the rule if one does that uses and defines values of the
    same types, on one device.
    """
    lacks: str | None = None
    """The words for an op that breaks the rule, if such an op is of an earlier level."""
    cures: tuple[str, ...] = ()
    """The passes that replace such an op."""

    def fault(self, op: Operation) -> str | None:
        """Return what is wrong with `op`; None if nothing is."""
        return self.wrong if isinstance(self.wrong, str) else self.wrong(op)

    def holds_at(self, stage: Stage) -> bool:
        """Test whether the rule holds at `stage`."""
        if self.only_there:
            return self.stage == stage
        return STAGES.index(self.stage) <= STAGES.index(stage)


def incomplete_type(op: Operation) -> str | None:
    if any(is_incomplete(value.type) for value in defined_values(op)):
        return "its type is incomplete: infer-types should have filled it in"
    return None


def without_device(op: Operation) -> str | None:
    for value in defined_values(op):
        if not is_placed(value.type):
            type = value.type
            return f"it has a value of type {type}: plan-devices should have given it a device"
    return None


def misplaced(op: Operation) -> str | None:
    """Find operands and results that break the op's device rule."""
    rule = op.get_trait(DeviceRule)
    assert rule is not None
    for constraint in rule.constraints(op):
        if not isinstance(constraint, Pinned | SameDomain):
            continue  # the module does not name the host, and preferences may fail
        one, *others = constrained_devices(constraint)
        other = next((device for device in others if device != one), None)
        if other is not None:
            here, there = disambiguated(one, other)
            return (
                f"{constraint.reason}, but there are {here} and {there}: "
                "plan-devices should have copied between them"
            )
    return None


def share_device(types: Iterable[Attribute]) -> bool:
    """Test whether all of `types` that have a device have the same one."""
    return len({device_of(type) for type in types} - {None}) < 2


def is_placed_by_types(kind: type[Operation]) -> bool:
    rule = kind.get_trait(DeviceRule)
    return rule is not None and rule.names_no_device


def constrained_devices(constraint: Pinned | SameDomain) -> list[VirtualDeviceAttr]:
    """Return the devices that must be one; function values have several and are omitted."""
    values = (constraint.value,) if isinstance(constraint, Pinned) else constraint.values
    devices = [device_of(v.type) for v in values if not isinstance(v.type, FunctionType)]
    required = [constraint.device] if isinstance(constraint, Pinned) else []
    return required + [device for device in devices if device is not None] or [UNCONSTRAINED]


def without_shape_function(op: Operation) -> str | None:
    assert isinstance(op, relay.PrimFuncOp)
    if op.shape_func is None:
        type = next((type for type in op.function_type.outputs if has_dynamic(type)), None)
        if type is not None:
            return (
                f"it has a result of dynamic shape, {type}: create-shape-functions should have "
                "given it a shape function"
            )
    return None


def not_laid_out(op: Operation) -> str | None:
    assert isinstance(op, memory.PackOp)
    is_planned = op.at_bind is not None or op.orders is not None
    return None if is_planned else "layout-slices should have chosen its offsets"


def ordered(op: Operation) -> str | None:
    assert isinstance(op, memory.PackOp)
    return None if op.orders is None else "expand-packs should have computed its offsets"


def is_one_of(*kinds: type[Operation]) -> Concerns:
    return lambda kind: issubclass(kind, kinds)


def has_trait(trait: type[OpTrait]) -> Concerns:
    return lambda kind: kind.get_trait(trait) is not None


def is_in(dialect: str) -> Concerns:
    return lambda kind: kind.name.startswith(f"{dialect}.")


def is_not_in(*dialects: str) -> Concerns:
    return lambda kind: kind.name.partition(".")[0] not in dialects


def has_values_on_devices(kind: type[Operation]) -> bool:
    return not issubclass(kind, relay.PrimFuncOp | relay.ShapeFuncOp)


def replaced(
    concerns: Concerns, lacks: str, stage: Stage, cure: str, done: str, in_kernels: bool = True
) -> Rule:
    """Return the rule that the pass `cure` has left none of some ops; `done` is what it does."""
    wrong = f"{cure} should have {done}"
    return Rule(stage, wrong, in_kernels, concerns=concerns, lacks=lacks, cures=(cure,))


PACKS, KERNELS = is_one_of(memory.PackOp), is_one_of(relay.PrimFuncOp)

RULES = (
    Rule("planned", incomplete_type, on_types=always),
    replaced(
        is_one_of(relay.OnDeviceOp),
        "is a hint",
        "planned",
        "plan-devices",
        "turned it into a copy or removed it",
    ),
    Rule("planned", without_device, False, concerns=has_values_on_devices, on_types=always),
    replaced(is_in("qnn"), "is on quantized tensors", "planned", "lower-qnn", "replaced it"),
    replaced(
        has_trait(Fusible),
        "is not in a kernel",
        "fused",
        "fuse-ops",
        "put it into a primitive",
        in_kernels=False,
    ),
    replaced(
        is_one_of(relay.PrimitiveOp),
        "is not a function",
        "lowered",
        "outline-primitives",
        "made it a function",
    ),
    Rule("lowered", without_shape_function, False, only_there=True, concerns=KERNELS),
    Rule("lowered", "lambda-lift should have made it a function", concerns=is_one_of(relay.FnOp)),
    replaced(
        has_trait(Bufferizable), "has no storage", "manifest", "manifest-alloc", "given it storage"
    ),
    Rule(
        "memory-planned",
        not_laid_out,
        concerns=PACKS,
        lacks="has no offsets",
        cures=("layout-slices",),
    ),
    Rule(
        "expanded",
        ordered,
        concerns=PACKS,
        lacks="has an order, but no offsets",
        cures=("expand-packs",),
    ),
    replaced(
        is_one_of(memory.WorkspaceSizeOp),
        "is not computed",
        "expanded",
        "expand-packs",
        "computed it",
    ),
    replaced(
        is_not_in("bytecode"), "is not bytecode", "bytecode", "lower-to-bytecode", "replaced it"
    ),
    Rule("planned", misplaced, False, concerns=has_trait(DeviceRule), on_types=is_placed_by_types),
)
UPSTREAM_RULES = (
    Rule(
        "memref",
        "only upstream dialects are allowed: convert-memory-to-memref should have replaced it",
        concerns=is_not_in(*MEMREF_DIALECTS),
        lacks="is not of an upstream dialect",
        cures=PRODUCERS["memref"],
    ),
    Rule(
        "linalg",
        f"only {', '.join(LINALG_DIALECTS)} are allowed",
        concerns=is_not_in(*LINALG_DIALECTS),
        lacks="is not of an upstream dialect",
        cures=PRODUCERS["linalg"],
    ),
)
"""Each is all that must hold at its stage."""


def rules_at(stage: Stage) -> list[Rule]:
    """Return the rules that hold at `stage`."""
    upstream = [rule for rule in UPSTREAM_RULES if rule.stage == stage]
    return upstream or [rule for rule in RULES if rule.holds_at(stage)]


@cache
def earlier_rules(stage: Stage, kind: type[Operation]) -> tuple[Rule, ...]:
    """Return the rules that an op of class `kind` at `stage` or later cannot break."""
    return tuple(
        rule
        for rule in (*RULES, *UPSTREAM_RULES)
        if rule.lacks is not None and rule.stage in path_to(stage) and rule.concerns(kind)
    )


def earlier_op(op: Operation, rule: Rule, stage: Stage) -> str:
    """Return the error about `op`, which breaks `rule`, for a pass that accepts `stage`."""
    path = path_to(stage)
    after = path[path.index(rule.stage) + 1 :]
    passes = [*rule.cures, *(name for level in after for name in PRODUCERS[level])]
    return f"{op.name} {rule.lacks}: run {', '.join(passes)} first"


class End(NamedTuple):
    """A level at the end of a path that a module is at, and an op that shows it."""

    stage: Stage
    op: Operation


@cache
def ends_with(kind: type[Operation]) -> frozenset[Stage]:
    """Return the ends at which ops of class `kind` may be."""
    rules = [rule for rule in (*RULES, *UPSTREAM_RULES) if rule.stage in ENDS]
    return frozenset(rule.stage for rule in rules if not rule.concerns(kind))


def end_of(module: ModuleOp) -> End | None:
    """
    Return the end that `module` is at: all ops outside kernels may be there, and one of them is
    found at ends only. None if it is at none; this is mostly known at its first op.
    """
    ends = frozenset(ENDS)
    witness: Operation | None = None
    for op in outside_primitives(module.body):
        ends &= ends_with(type(op))
        if not ends:
            return None
        if witness is None and op.name.partition(".")[0] in DIALECTS_OF_ENDS:
            witness = op
    if witness is None:
        return None
    return End(max(ends, key=STAGES.index), witness)


def require_no_earlier(module: ModuleOp, stage: Stage) -> None:
    """Raise a `PassError` at the first op outside kernels that is of a level before `stage`."""
    for op in outside_primitives(module.body):
        for rule in earlier_rules(stage, type(op)):
            if rule.fault(op) is not None:
                raise PassError(earlier_op(op, rule, stage), op)


def defined_values(op: Operation) -> Sequence[SSAValue]:
    """Return the results of `op` and the arguments of its blocks."""
    if not op.regions:
        return op.results
    arguments = (a for region in op.regions for block in region.blocks for a in block.args)
    return (*op.results, *arguments)
