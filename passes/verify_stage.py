"""
Fail when an op of a higher level is left.

    xrelay-opt -p 'fuse-ops,verify-stage{stage=fused}'

    error: relay.add is left at stage fused: fuse-ops should have put it into a primitive

A level is what its IR may contain (see `docs/levels.md`). Each rule rejects ops by their interfaces
and names the pass that should have removed them; it holds for its stage and all below. At
`memory-planned`, no bytes may be used after a `memory.kill` of them on any path: passes that move
or merge ops, such as `cse`, must run before.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import OpTrait

from ..dialects import memory, relay
from ..dialects.device import UNCONSTRAINED, VirtualDeviceAttr, device_of, devices_in, disambiguated
from ..dialects.interfaces import Bufferizable, DeviceRule, Fusible, Pinned, SameDomain
from ..dialects.relay.incomplete import is_incomplete
from ..dialects.tensors import has_dynamic
from ..dialects.walking import walk
from ..dialects.xdsl_internals import operands_of
from .analysis.aliases import bodies_of
from .analysis.liveness import used_after_kill
from .support.changes import InspectionPass
from .support.diagnostics import PassError
from .support.walk import is_kernel, outside_primitives

Stage = Literal[
    "relay",
    "planned",
    "fused",
    "lowered",
    "manifest",
    "memory-planned",
    "bytecode",
    "memref",
    "linalg",
]

STAGES: tuple[str, ...] = get_args(Stage)
"""The levels, from the top down."""

MEMREF_DIALECTS = (
    "builtin",
    "memref",
    "arith",
    "math",
    "scf",
    "func",
    "tensor",
    "linalg",
    "bufferization",
    "gpu",
    "ub",
)


LINALG_DIALECTS = ("func", "tensor", "linalg", "arith", "math", "scf", "cf")


def never(kind: type[Operation]) -> bool:
    return False


def always(kind: type[Operation]) -> bool:
    return True


@dataclass(frozen=True)
class Rule:
    """A condition that every op meets from `stage` on."""

    stage: str
    fault: Callable[[Operation], str | None]
    """Returns what is wrong with an op; None if nothing is."""
    in_kernels: bool = True
    """True if the rule holds inside kernels too."""
    only_there: bool = False
    """True if the rule no longer holds after `stage`."""
    concerns: Callable[[type[Operation]], bool] = always
    """Tests whether ops of a class can break the rule."""
    on_types: Callable[[type[Operation]], bool] = never
    """
    Tests whether ops of a class all meet the rule if one does that uses and defines values of the
    same types, on one device.
    """

    def holds_at(self, stage: str) -> bool:
        """Test whether the rule holds at `stage`."""
        if self.only_there:
            return self.stage == stage
        return STAGES.index(self.stage) <= STAGES.index(stage)


def incomplete_type(op: Operation) -> str | None:
    if any(is_incomplete(value.type) for value in defined_values(op)):
        return "its type is incomplete: infer-types should have filled it in"
    return None


def hint(op: Operation) -> str:
    return "plan-devices should have turned it into a copy or removed it"


def without_device(op: Operation) -> str | None:
    for value in defined_values(op):
        if None in devices_in(value.type):
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
    found = [device_of(v.type) for v in values if not isinstance(v.type, FunctionType)]
    required = [constraint.device] if isinstance(constraint, Pinned) else []
    return required + [device for device in found if device is not None] or [UNCONSTRAINED]


def loose_operator(op: Operation) -> str:
    return "fuse-ops should have put it into a primitive"


def primitive(op: Operation) -> str:
    return "outline-primitives should have made it a function"


def closure(op: Operation) -> str:
    return "lambda-lift should have made it a function"


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


def unallocated(op: Operation) -> str:
    return "manifest-alloc should have given it storage"


def not_laid_out(op: Operation) -> str | None:
    assert isinstance(op, memory.PackOp)
    return None if op.at_bind else "layout-slices should have chosen its offsets"


def size_not_known(op: Operation) -> str:
    return "layout-slices should have computed it"


def not_bytecode(op: Operation) -> str:
    return "lower-to-bytecode should have replaced it"


def not_memref(op: Operation) -> str:
    return "only upstream dialects are allowed: convert-memory-to-memref should have replaced it"


def not_linalg(op: Operation) -> str:
    return f"only {', '.join(LINALG_DIALECTS)} are allowed"


def is_one_of(*kinds: type[Operation]) -> Callable[[type[Operation]], bool]:
    return lambda kind: issubclass(kind, kinds)


def has_trait(trait: type[OpTrait]) -> Callable[[type[Operation]], bool]:
    return lambda kind: kind.get_trait(trait) is not None


def is_not_in(*dialects: str) -> Callable[[type[Operation]], bool]:
    return lambda kind: kind.name.partition(".")[0] not in dialects


def has_values_on_devices(kind: type[Operation]) -> bool:
    return not issubclass(kind, relay.PrimFuncOp | relay.ShapeFuncOp)


RULES = (
    Rule("planned", incomplete_type, on_types=always),
    Rule("planned", hint, concerns=is_one_of(relay.OnDeviceOp)),
    Rule(
        "planned",
        without_device,
        in_kernels=False,
        concerns=has_values_on_devices,
        on_types=always,
    ),
    Rule("fused", loose_operator, in_kernels=False, concerns=has_trait(Fusible)),
    Rule("lowered", primitive, concerns=is_one_of(relay.PrimitiveOp)),
    Rule(
        "lowered",
        without_shape_function,
        in_kernels=False,
        only_there=True,
        concerns=is_one_of(relay.PrimFuncOp),
    ),
    Rule("lowered", closure, concerns=is_one_of(relay.FnOp)),
    Rule("manifest", unallocated, concerns=has_trait(Bufferizable)),
    Rule("memory-planned", not_laid_out, concerns=is_one_of(memory.PackOp)),
    Rule("memory-planned", size_not_known, concerns=is_one_of(memory.WorkspaceSizeOp)),
    Rule("bytecode", not_bytecode, concerns=is_not_in("bytecode")),
    Rule(
        "planned",
        misplaced,
        in_kernels=False,
        concerns=has_trait(DeviceRule),
        on_types=is_placed_by_types,
    ),
)


def rules_at(stage: str) -> list[Rule]:
    """Return the rules that hold at `stage`."""
    if stage == "memref":
        return [Rule(stage, not_memref, concerns=is_not_in(*MEMREF_DIALECTS))]
    if stage == "linalg":
        return [Rule(stage, not_linalg, concerns=is_not_in(*LINALG_DIALECTS))]
    return [rule for rule in RULES if rule.holds_at(stage)]


def defined_values(op: Operation) -> Sequence[SSAValue]:
    """Return the results of `op` and the arguments of its blocks."""
    if not op.regions:
        return op.results
    arguments = (a for region in op.regions for block in region.blocks for a in block.args)
    return (*op.results, *arguments)


@dataclass(frozen=True)
class Requirements:
    """Checks that ops meet `rules`, those of `stage`, while nothing changes."""

    rules: Sequence[Rule]
    stage: str
    concerning: dict[type[Operation], tuple[list[Rule], list[Rule]]] = field(
        default_factory=dict[type[Operation], "tuple[list[Rule], list[Rule]]"]
    )
    """For each op class: the rules that concern it, and those that are not on types."""
    met: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])
    """Op classes with the identities of types, for which the rules on types are met."""

    def require(self, op: Operation) -> None:
        """Raise an error if `op` breaks a rule."""
        kind = type(op)
        concerning = self.concerning.get(kind)
        if concerning is None:
            concerning = self.concerning[kind] = self._concerning(kind)
        rules, others = concerning
        if len(rules) > len(others):
            types = [value.type for value in (*operands_of(op), *defined_values(op))]
            key = (kind, *map(id, types))
            if key in self.met:
                rules = others
            elif share_device(types):
                self.met.add(key)
        for rule in rules:
            fault = rule.fault(op)
            if fault is not None:
                raise PassError(f"{op.name} is left at stage {self.stage}: {fault}", op)

    def _concerning(self, kind: type[Operation]) -> tuple[list[Rule], list[Rule]]:
        rules = [rule for rule in self.rules if rule.concerns(kind)]
        return rules, [rule for rule in rules if not rule.on_types(kind)]


def require_kills_last(module: ModuleOp) -> None:
    """Raise an error if an op uses bytes after a kill of them."""
    if not any(isinstance(op, memory.KillOp) for op in walk(module)):
        return
    for classes in bodies_of(module):
        found = used_after_kill(classes)
        if found is not None:
            user, kill = found
            raise PassError(
                f"{user.name} uses bytes that are killed before it: passes that move or merge ops "
                "must run before manifest-lifetimes",
                user,
                notes=[(kill, "they are killed here")],
            )


@dataclass(frozen=True)
class VerifyStagePass(InspectionPass):
    """Fail when an op of a higher level than the given stage is left."""

    name = "verify-stage"

    stage: Stage
    """The level that the program must be at."""

    def inspect(self, ctx: Context, op: ModuleOp) -> None:
        rules = rules_at(self.stage)
        everywhere = Requirements(rules, self.stage)
        in_kernels = Requirements([rule for rule in rules if rule.in_kernels], self.stage)
        for outside in outside_primitives(op.body):
            everywhere.require(outside)
            if outside.regions and is_kernel(outside):
                for region in outside.regions:
                    for inside in walk(region):
                        in_kernels.require(inside)
        if self.stage == "memory-planned":
            require_kills_last(op)
