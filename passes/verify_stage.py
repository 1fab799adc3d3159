"""
Fail when an op of a higher level is left.

    xrelay-opt -p 'fuse-ops,verify-stage{stage=fused}'

    error: relay.add is left at stage fused: fuse-ops should have put it into a primitive

A level is what its IR may contain (see `docs/levels.md`). Each rule rejects ops by their interfaces
and names the pass that should have removed them; it holds for its stage and all below. At
`memory-planned`, no bytes may be used after a `memory.kill` of them on any path: passes that move
or merge ops, such as `cse`, must run before. No pass produces `memref` yet; IR from elsewhere can
be checked.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects import memory, relay
from ..dialects.device import UNCONSTRAINED, VirtualDeviceAttr, device_of, devices_in, disambiguated
from ..dialects.interfaces import Bufferizable, DeviceRule, Fusible, Pinned, SameDomain
from ..dialects.relay.incomplete import is_incomplete
from ..dialects.tensors import has_dynamic
from ..dialects.walking import walk
from .analysis.aliases import bodies_of
from .analysis.liveness import used_after_kill
from .support.diagnostics import PassError
from .support.walk import is_kernel, outside_primitives

Stage = Literal[
    "relay", "planned", "fused", "lowered", "manifest", "memory-planned", "bytecode", "memref"
]

STAGES: tuple[str, ...] = get_args(Stage)
"""The levels, from the top down."""

MEMREF_DIALECTS = ("memref", "arith", "scf", "func", "linalg", "bufferization")


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

    def holds_at(self, stage: str) -> bool:
        """Test whether the rule holds at `stage`."""
        if self.only_there:
            return self.stage == stage
        return STAGES.index(self.stage) <= STAGES.index(stage)


def incomplete_type(op: Operation) -> str | None:
    if any(is_incomplete(value.type) for value in defined_values(op)):
        return "its type is incomplete: infer-types should have filled it in"
    return None


def hint(op: Operation) -> str | None:
    if isinstance(op, relay.OnDeviceOp):
        return "plan-devices should have turned it into a copy or removed it"
    return None


def without_device(op: Operation) -> str | None:
    if isinstance(op, relay.PrimFuncOp | relay.ShapeFuncOp):
        return None
    for value in defined_values(op):
        if None in devices_in(value.type):
            return (
                f"it has a value of type {value.type}: plan-devices should have given it a device"
            )
    return None


@dataclass(frozen=True)
class Misplaced:
    """Finds ops whose operands and results break the op's device rule."""

    rules: dict[type[Operation], DeviceRule | None] = field(
        default_factory=dict[type[Operation], "DeviceRule | None"]
    )
    """Cached by op class."""

    def __call__(self, op: Operation) -> str | None:
        kind = type(op)
        if kind not in self.rules:
            self.rules[kind] = op.get_trait(DeviceRule)
        rule = self.rules[kind]
        for constraint in () if rule is None else rule.constraints(op):
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


def loose_operator(op: Operation) -> str | None:
    if op.has_trait(Fusible):
        return "fuse-ops should have put it into a primitive"
    return None


def primitive(op: Operation) -> str | None:
    if isinstance(op, relay.PrimitiveOp):
        return "outline-primitives should have made it a function"
    return None


def closure(op: Operation) -> str | None:
    if isinstance(op, relay.FnOp):
        return "lambda-lift should have made it a function"
    return None


def without_shape_function(op: Operation) -> str | None:
    if isinstance(op, relay.PrimFuncOp) and op.shape_func is None:
        type = next((type for type in op.function_type.outputs if has_dynamic(type)), None)
        if type is not None:
            return (
                f"it has a result of dynamic shape, {type}: create-shape-functions should have "
                "given it a shape function"
            )
    return None


def unallocated(op: Operation) -> str | None:
    if op.has_trait(Bufferizable):
        return "manifest-alloc should have given it storage"
    return None


def not_laid_out(op: Operation) -> str | None:
    if isinstance(op, memory.PackOp):
        return "layout-slices should have chosen its offsets"
    return None


def not_bytecode(op: Operation) -> str | None:
    if not op.name.startswith("bytecode."):
        return "lower-to-bytecode should have replaced it"
    return None


def not_memref(op: Operation) -> str | None:
    if op.name.partition(".")[0] not in MEMREF_DIALECTS:
        return f"only {', '.join(MEMREF_DIALECTS)} are allowed"
    return None


RULES = (
    Rule("planned", incomplete_type),
    Rule("planned", hint),
    Rule("planned", without_device, in_kernels=False),
    Rule("fused", loose_operator, in_kernels=False),
    Rule("lowered", primitive),
    Rule("lowered", without_shape_function, in_kernels=False, only_there=True),
    Rule("lowered", closure),
    Rule("manifest", unallocated),
    Rule("memory-planned", not_laid_out),
    Rule("bytecode", not_bytecode),
)


def rules_at(stage: str) -> list[Rule]:
    """Return the rules that hold at `stage`."""
    if stage == "memref":
        return [Rule(stage, not_memref)]
    rules = [*RULES, Rule("planned", Misplaced(), in_kernels=False)]
    return [rule for rule in rules if rule.holds_at(stage)]


def defined_values(op: Operation) -> Iterator[SSAValue]:
    """Yield the results of `op` and the arguments of its blocks."""
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def require(op: Operation, rules: Sequence[Rule], stage: str) -> None:
    """Raise an error if `op` breaks one of `rules`."""
    for rule in rules:
        fault = rule.fault(op)
        if fault is not None:
            raise PassError(f"{op.name} is left at stage {stage}: {fault}", op)


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
class VerifyStagePass(ModulePass):
    """Fail when an op of a higher level than the given stage is left."""

    name = "verify-stage"
    changes_nothing: ClassVar[bool] = True
    """The driver need not verify after it."""

    stage: Stage
    """The level that the program must be at."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules = rules_at(self.stage)
        rules_in_kernels = [rule for rule in rules if rule.in_kernels]
        for outside in outside_primitives(op.body):
            require(outside, rules, self.stage)
            if is_kernel(outside):
                for region in outside.regions:
                    for inside in walk(region):
                        require(inside, rules_in_kernels, self.stage)
        if self.stage == "memory-planned":
            require_kills_last(op)
