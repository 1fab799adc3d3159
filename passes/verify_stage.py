"""
Fail when an op of a higher level is left.

    xrelay-opt -p 'fuse-ops,verify-stage{stage=fused}'

    error: relay.add is left at stage fused: fuse-ops should have put it into a primitive

A level is what its IR may contain (see `docs/levels.md`). Each rule rejects ops by their interfaces
and names the pass that should have removed them; it holds for its stage and all below. At
`memory-planned`, no bytes may be used after a `memory.kill` of them on any path: passes that move
or merge ops, such as `cse`, must run before.
"""

from collections.abc import Callable, Sequence
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
    concerns: Callable[[type[Operation]], bool] = lambda kind: True
    """Tests whether ops of a class can break the rule."""

    def holds_at(self, stage: str) -> bool:
        """Test whether the rule holds at `stage`."""
        if self.only_there:
            return self.stage == stage
        return STAGES.index(self.stage) <= STAGES.index(stage)


@dataclass(frozen=True)
class TypeFault:
    """Finds values that an op defines whose type has the fault that `find` returns."""

    find: Callable[[Attribute], str | None]
    faults: dict[int, str | None] = field(default_factory=dict[int, "str | None"])
    """Cached by the identity of the type: nothing changes while the rule is in use."""

    def __call__(self, op: Operation) -> str | None:
        faults = self.faults
        for value in defined_values(op):
            type = value.type
            if id(type) not in faults:
                faults[id(type)] = self.find(type)
            fault = faults[id(type)]
            if fault is not None:
                return fault
        return None


def incomplete_type(type: Attribute) -> str | None:
    if is_incomplete(type):
        return "its type is incomplete: infer-types should have filled it in"
    return None


def hint(op: Operation) -> str:
    return "plan-devices should have turned it into a copy or removed it"


def without_device(type: Attribute) -> str | None:
    if None in devices_in(type):
        return f"it has a value of type {type}: plan-devices should have given it a device"
    return None


@dataclass(frozen=True)
class Misplaced:
    """Finds ops whose operands and results break the op's device rule."""

    rules: dict[type[Operation], DeviceRule | None] = field(
        default_factory=dict[type[Operation], "DeviceRule | None"]
    )
    """Cached by op class."""
    devices: dict[int, VirtualDeviceAttr | None] = field(
        default_factory=dict[int, "VirtualDeviceAttr | None"]
    )
    """Cached by the identity of the type."""

    def share_device(self, op: Operation) -> bool:
        """Test whether all operands and results of `op` that have a device have the same one."""
        devices, shared = self.devices, None
        for value in (*operands_of(op), *op.results):
            type = value.type
            if id(type) not in devices:
                devices[id(type)] = device_of(type)
            device = devices[id(type)]
            if device is not None and device is not shared and device != shared:
                if shared is not None:
                    return False
                shared = device
        return True

    def __call__(self, op: Operation) -> str | None:
        kind = type(op)
        if kind not in self.rules:
            self.rules[kind] = op.get_trait(DeviceRule)
        rule = self.rules[kind]
        if rule is None or (rule.names_no_device and self.share_device(op)):
            return None
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


def not_bytecode(op: Operation) -> str | None:
    if not op.name.startswith("bytecode."):
        return "lower-to-bytecode should have replaced it"
    return None


def not_memref(op: Operation) -> str | None:
    if op.name.partition(".")[0] not in MEMREF_DIALECTS:
        return (
            "only upstream dialects are allowed: convert-memory-to-memref should have replaced it"
        )
    return None


def not_linalg(op: Operation) -> str | None:
    if op.name.partition(".")[0] not in LINALG_DIALECTS:
        return f"only {', '.join(LINALG_DIALECTS)} are allowed"
    return None


def is_one_of(*kinds: type[Operation]) -> Callable[[type[Operation]], bool]:
    return lambda kind: issubclass(kind, kinds)


def has_trait(trait: type[OpTrait]) -> Callable[[type[Operation]], bool]:
    return lambda kind: kind.get_trait(trait) is not None


def has_values_on_devices(kind: type[Operation]) -> bool:
    return not issubclass(kind, relay.PrimFuncOp | relay.ShapeFuncOp)


RULES = (
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
    Rule("bytecode", not_bytecode),
)


def rules_at(stage: str) -> list[Rule]:
    """Return the rules that hold at `stage`."""
    if stage == "memref":
        return [Rule(stage, not_memref)]
    if stage == "linalg":
        return [Rule(stage, not_linalg)]
    without = TypeFault(without_device)
    rules = [
        Rule("planned", TypeFault(incomplete_type)),
        Rule("planned", hint, concerns=is_one_of(relay.OnDeviceOp)),
        Rule("planned", without, in_kernels=False, concerns=has_values_on_devices),
        *RULES,
        Rule("planned", Misplaced(), in_kernels=False),
    ]
    return [rule for rule in rules if rule.holds_at(stage)]


def defined_values(op: Operation) -> Sequence[SSAValue]:
    """Return the results of `op` and the arguments of its blocks."""
    if not op.regions:
        return op.results
    arguments = (a for region in op.regions for block in region.blocks for a in block.args)
    return (*op.results, *arguments)


@dataclass(frozen=True)
class Requirements:
    """Checks that ops meet `rules`, those of `stage`."""

    rules: Sequence[Rule]
    stage: str
    faults: dict[type[Operation], list[Callable[[Operation], str | None]]] = field(
        default_factory=dict[type[Operation], "list[Callable[[Operation], str | None]]"]
    )
    """Those of the rules that concern an op class, cached."""

    def require(self, op: Operation) -> None:
        """Raise an error if `op` breaks a rule."""
        kind = type(op)
        faults = self.faults.get(kind)
        if faults is None:
            faults = [rule.fault for rule in self.rules if rule.concerns(kind)]
            self.faults[kind] = faults
        for find in faults:
            fault = find(op)
            if fault is not None:
                raise PassError(f"{op.name} is left at stage {self.stage}: {fault}", op)


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
            if is_kernel(outside):
                for region in outside.regions:
                    for inside in walk(region):
                        in_kernels.require(inside)
        if self.stage == "memory-planned":
            require_kills_last(op)
