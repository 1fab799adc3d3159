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
    "qnn": "dialects.qnn:Qnn",
    "memory": "dialects.memory:Memory",
    "vm": "dialects.vm:Vm",
    "bytecode": "dialects.bytecode:Bytecode",
    "async": "dialects.foreign.async_dialect:Async",
}

_PASSES = {
    "passes": """
        bind-dims bind-inputs bind-params infer-types widen-narrow-types simplify-inference
        fold-constants lower-qnn expand-lines expand-transposed-convolutions transpose-weights
        transform-filters pack-weights
        propagate-layout expand-lrn separate-padding lend-caches read-transposed fold-weights
        dynamic-to-static plan-devices sink-device-hints solve-devices assign-devices
        materialize-device-copies elide-device-copies explain-devices share-device-copies
        lambda-lift specialize-functions inline pass-params check-shapes flatten-tuples
        remove-unused-functions eliminate-dead-code hoist-reshapes
        lift-constants choose-tiling explain-tiling tile-for-memory fuse-ops outline-primitives
        create-shape-functions declare-scratch manifest-alloc append-in-place remove-dead-writes
        view-slices forward-copies join-tensors make-kernels rename-written-tensors
        manifest-lifetimes remove-unused-kernels simplify-shapes pass-workspaces plan-memory
        reuse-in-place coalesce-storage reorder-for-memory annotate-memory assign-pools
        place-constants check-peak pack-storage layout-slices expand-packs verify-memory-plan
        report-memory overwrite-dead-bytes verify-stage pack-buffers lower-buffers plan-memref
    """,
    "lowering": """
        convert-memory-to-memref merge-tail-cycles limit-recursion tail-calls-to-loops
        erase-memory-spaces convert-relay-to-linalg describe-entries aot-lower-main
        lower-to-bytecode convert-program-to-linalg expand-math allocate-registers
    """,
    "lowering.native.kernels": """
        move-reshapes fuse-elementwise compute-by-rows compute-in-destinations call-blas
        transpose-operands write-transposed copy-kernels compute-winograd choose-schedules
        materialize-products divide-between-threads version-kernels merge-aliases merge-rows
        write-onto-results sum-in-blocks store-parts
    """,
}
"""The passes by folder: `merge-copies` is `MergeCopiesPass` in the folder's `merge_copies.py`."""

PASSES = {
    name: f"{folder}.{name.replace('-', '_')}:{name.title().replace('-', '')}Pass"
    for folder, names in _PASSES.items()
    for name in names.split()
}

TARGETS = {
    "relay-text": "frontends.relay_text.print.printer:RelayTextTarget",
    "native": "tools.targets.native_target:NativeTarget",
    "c-header": "tools.targets.native_target:HeaderTarget",
    "object": "tools.targets.native_target:ObjectTarget",
    "executable": "tools.targets.executable_target:ExecutableTarget",
    "linalg": "tools.targets.linalg_target:LinalgTarget",
    "dot": "tools.targets.dot_target:DotTarget",
    "smt2": "tools.targets.smt2_target:Smt2Target",
    "memory-plan-svg": "tools.plan_pictures.page:MemoryPlanSvgTarget",
    "memory-plan-html": "tools.plan_pictures.page:MemoryPlanHtmlTarget",
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
