"""
The dialects, passes and targets that xrelay adds to xDSL, one line each.

`UNIVERSE` is the `xdsl.universe` entry point, so stock `xdsl-opt` imports this module at
every start: nothing here imports a dialect or a pass before it is needed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from importlib import import_module
from inspect import cleandoc
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.arg_spec import ArgSpecConvertible
from xdsl.utils.hints import type_repr

if TYPE_CHECKING:
    from ..lowering.pipelines import Pipeline

DIALECTS = {
    "relay": "dialects.relay:Relay",
    "memory": "dialects.memory:Memory",
    "vm": "dialects.vm:Vm",
    "bytecode": "dialects.bytecode:Bytecode",
}

PASSES = {
    "bind-dims": "passes.bind_dims:BindDimsPass",
    "bind-inputs": "passes.bind_inputs:BindInputsPass",
    "bind-params": "passes.bind_params:BindParamsPass",
    "infer-types": "passes.infer_types:InferTypesPass",
    "simplify-inference": "passes.simplify_inference:SimplifyInferencePass",
    "fold-constants": "passes.fold_constants:FoldConstantsPass",
    "transpose-weights": "passes.transpose_weights:TransposeWeightsPass",
    "pack-weights": "passes.pack_weights:PackWeightsPass",
    "propagate-layout": "passes.propagate_layout:PropagateLayoutPass",
    "expand-lrn": "passes.expand_lrn:ExpandLrnPass",
    "separate-padding": "passes.separate_padding:SeparatePaddingPass",
    "fold-weights": "passes.fold_weights:FoldWeightsPass",
    "dynamic-to-static": "passes.dynamic_to_static:DynamicToStaticPass",
    "plan-devices": "passes.plan_devices:PlanDevicesPass",
    "sink-device-hints": "passes.sink_device_hints:SinkDeviceHintsPass",
    "assign-devices": "passes.assign_devices:AssignDevicesPass",
    "materialize-device-copies": "passes.materialize_device_copies:MaterializeDeviceCopiesPass",
    "elide-device-copies": "passes.elide_device_copies:ElideDeviceCopiesPass",
    "explain-devices": "passes.explain_devices:ExplainDevicesPass",
    "share-device-copies": "passes.share_device_copies:ShareDeviceCopiesPass",
    "lambda-lift": "passes.lambda_lift:LambdaLiftPass",
    "specialize-functions": "passes.specialize_functions:SpecializeFunctionsPass",
    "inline": "passes.inline:InlinePass",
    "pass-params": "passes.pass_params:PassParamsPass",
    "check-shapes": "passes.check_shapes:CheckShapesPass",
    "flatten-tuples": "passes.flatten_tuples:FlattenTuplesPass",
    "remove-unused-functions": "passes.remove_unused_functions:RemoveUnusedFunctionsPass",
    "eliminate-dead-code": "passes.eliminate_dead_code:EliminateDeadCodePass",
    "lift-constants": "passes.lift_constants:LiftConstantsPass",
    "fuse-ops": "passes.fuse_ops:FuseOpsPass",
    "outline-primitives": "passes.outline_primitives:OutlinePrimitivesPass",
    "create-shape-functions": "passes.create_shape_functions:CreateShapeFunctionsPass",
    "manifest-alloc": "passes.manifest_alloc:ManifestAllocPass",
    "remove-dead-writes": "passes.remove_dead_writes:RemoveDeadWritesPass",
    "rename-written-tensors": "passes.rename_written_tensors:RenameWrittenTensorsPass",
    "manifest-lifetimes": "passes.manifest_lifetimes:ManifestLifetimesPass",
    "remove-unused-kernels": "passes.remove_unused_kernels:RemoveUnusedKernelsPass",
    "simplify-shapes": "passes.simplify_shapes:SimplifyShapesPass",
    "pass-workspaces": "passes.pass_workspaces:PassWorkspacesPass",
    "plan-memory": "passes.plan_memory:PlanMemoryPass",
    "reuse-in-place": "passes.reuse_in_place:ReuseInPlacePass",
    "coalesce-storage": "passes.coalesce_storage:CoalesceStoragePass",
    "reorder-for-memory": "passes.reorder_for_memory:ReorderForMemoryPass",
    "annotate-memory": "passes.annotate_memory:AnnotateMemoryPass",
    "pack-storage": "passes.pack_storage:PackStoragePass",
    "layout-slices": "passes.layout_slices:LayoutSlicesPass",
    "expand-packs": "passes.expand_packs:ExpandPacksPass",
    "verify-memory-plan": "passes.verify_memory_plan:VerifyMemoryPlanPass",
    "report-memory": "passes.report_memory:ReportMemoryPass",
    "verify-stage": "passes.verify_stage:VerifyStagePass",
    "convert-memory-to-memref": "lowering.convert_memory_to_memref:ConvertMemoryToMemrefPass",
    "merge-tail-cycles": "lowering.merge_tail_cycles:MergeTailCyclesPass",
    "limit-recursion": "lowering.limit_recursion:LimitRecursionPass",
    "tail-calls-to-loops": "lowering.tail_calls_to_loops:TailCallsToLoopsPass",
    "erase-memory-spaces": "lowering.erase_memory_spaces:EraseMemorySpacesPass",
    "convert-relay-to-linalg": "lowering.convert_relay_to_linalg:ConvertRelayToLinalgPass",
    "describe-entries": "lowering.describe_entries:DescribeEntriesPass",
    "aot-lower-main": "lowering.aot_lower_main:AotLowerMainPass",
    "lower-to-bytecode": "lowering.lower_to_bytecode:LowerToBytecodePass",
    "convert-program-to-linalg": ("lowering.convert_program_to_linalg:ConvertProgramToLinalgPass"),
    "expand-math": "lowering.expand_math:ExpandMathPass",
    "move-reshapes": "lowering.native.kernels.move_reshapes:MoveReshapesPass",
    "fuse-elementwise": "lowering.native.kernels.fuse_elementwise:FuseElementwisePass",
    "compute-in-destinations": (
        "lowering.native.kernels.compute_in_destinations:ComputeInDestinationsPass"
    ),
    "call-blas": "lowering.native.kernels.call_blas:CallBlasPass",
    "transpose-operands": "lowering.native.kernels.transpose_operands:TransposeOperandsPass",
    "write-transposed": "lowering.native.kernels.write_transposed:WriteTransposedPass",
    "choose-schedules": "lowering.native.kernels.choose_schedules:ChooseSchedulesPass",
    "allocate-registers": "lowering.allocate_registers:AllocateRegistersPass",
}

TARGETS = {
    "relay-text": "frontends.relay_text.text_target:RelayTextTarget",
    "native": "tools.targets.native_target:NativeTarget",
    "c-header": "tools.targets.native_target:HeaderTarget",
    "object": "tools.targets.native_target:ObjectTarget",
    "executable": "tools.targets.executable_target:ExecutableTarget",
    "linalg": "tools.targets.linalg_target:LinalgTarget",
    "smt2": "tools.targets.smt2_target:Smt2Target",
    "memory-plan-svg": "tools.plan_pictures.picture_targets:MemoryPlanSvgTarget",
    "memory-plan-html": "tools.plan_pictures.picture_targets:MemoryPlanHtmlTarget",
}

PIPELINES = "lowering.pipelines:PIPELINES"


def _lazily(where: str) -> Callable[[], Any]:
    """Return a factory that imports `module:NAME` of this package when it is called."""

    def load() -> Any:
        module, _, name = where.partition(":")
        return getattr(import_module(f"..{module}", __package__), name)

    return load


UNIVERSE = Universe(
    all_dialects={name: _lazily(where) for name, where in DIALECTS.items()},
    all_passes={name: _lazily(where) for name, where in PASSES.items()},
    all_targets={name: _lazily(where) for name, where in TARGETS.items()},
)


def named_pipelines() -> "dict[str, type[Pipeline]]":
    """Return the named pipelines."""
    return _lazily(PIPELINES)()


class OptionInfo(NamedTuple):
    """One option of a pass or pipeline, as it is written in a pipeline."""

    name: str
    type: str
    default: str | None
    """The default as pipeline text, or None when the option must be given."""


class PassInfo(NamedTuple):
    """The description of a pass or pipeline."""

    name: str
    description: str
    """The first line of the docstring of the class, or of its module."""
    options: tuple[OptionInfo, ...]


def pass_infos(
    passes: Mapping[str, Callable[[], type[ModulePass]]] | None = None,
) -> Iterator[PassInfo]:
    """Describe `passes`, by default our own, in their order."""
    for name, factory in (UNIVERSE.all_passes if passes is None else passes).items():
        yield pass_info(name, factory())


def pass_info(name: str, cls: type[ArgSpecConvertible]) -> PassInfo:
    """Describe one pass or pipeline by its class."""
    return PassInfo(name, _description(cls), tuple(_options(cls)))


def _description(cls: type[ArgSpecConvertible]) -> str:
    doc = cls.__dict__.get("__doc__") or ""
    if not doc or doc.startswith(f"{cls.__name__}("):  # made up by @dataclass
        doc = import_module(cls.__module__).__doc__ or ""
    paragraph = cleandoc(doc).partition("\n\n")[0]
    return " ".join(paragraph.split())


def _options(cls: type[ArgSpecConvertible]) -> Iterator[OptionInfo]:
    types = get_type_hints(cls)
    for field in fields(cls):
        if field.name == "name" or not field.init:
            continue
        default: str | None = None
        if field.default is not MISSING:
            default = option_text(field.default)
        elif field.default_factory is not MISSING:
            default = option_text(field.default_factory())
        yield OptionInfo(field.name.replace("_", "-"), type_text(types[field.name]), default)


def alternatives(type_: Any) -> tuple[Any, ...]:
    """Return the members of a union; any other type alone."""
    return get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)


def type_text(type_: Any) -> str:
    """
    Return the type of an option: `int`, `tuple[str, ...]`, `one of fast, small`.

    Several of the choices are `some of fast, small`.
    """
    is_tuple = get_origin(type_) is tuple
    choices = [
        str(choice)
        for part in (get_args(type_) if is_tuple else alternatives(type_))
        if get_origin(part) is Literal
        for choice in get_args(part)
    ]
    if not choices:
        return type_repr(type_)
    return f"{'some' if is_tuple else 'one'} of {', '.join(choices)}"


def option_text(value: object) -> str:
    """Return `value` as it is written after the `=` of an option."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return '"' + escaped.replace("\n", "\\n") + '"'
        case tuple():
            parts = cast("tuple[object, ...]", value)
            return ",".join(option_text(part) for part in parts)
        case _:
            return str(value)
