"""
Named pipelines: `-p` accepts their names, with options, wherever it accepts a pass.

`vm` takes a `relay` program to `bytecode`. Why each pass is where it is:

- `infer-types` first: every pass after it reads result types.
- `widen-narrow-types` right after it, before what computes constants: no later pass, and no kernel,
  computes with narrow element types.
- `simplify-inference` before `fold-constants`, which computes the scales and shifts of batch norms
  from constant statistics, and before fusion: a multiplication and an addition fuse with the
  convolution before and the activation after them, a batch norm does not.
- `expand-lines` after it, which finds the batch norm after a convolution.
- `fold-constants` before planning: what is folded needs no device and no copy.
- `lower-qnn` after it: scales that are computed from constants are constants then. What it leaves,
  such as differences of weights and zero points, is folded again; a program without quantized
  operators is not, as nothing has changed.
- `dynamic-to-static` after it: constants in the computation of a shape are found then. Before
  planning: what only computes sizes needs no device and no kernel.
- `infer-types` again: more dims are known where operators have sizes as attributes now.
- `lend-caches` after it: it needs the one concatenation that extends a cache, and no constants.
- `fold-weights` after it: a slice whose bounds were computed is one of weights, too. Before
  planning, as `fold-constants`.
- `plan-devices` before fusion: values on different devices must not be fused.
- `share-device-copies` right after it: equal copies are easiest to find before fusion.
- `lambda-lift` after planning: a captured value's type has its device, so the parameter that it
  becomes has it too, and closures on different devices do not share a function. Before fusion: what
  a closure uses is in its function then, constants included, and may fuse there.
- `inline` after lambda lifting, which makes calls of closures direct, and before fusion, which does
  not look into calls. Only marked functions are inlined.
- `remove-unused-functions` right after both: closures that were inlined need not be compiled.
- `hoist-reshapes`, `choose-tiling` and `tile-for-memory`, with `peak` or `work`, once operators and
  layouts are final; before devices are planned, and fusion, which must see each stripe's operators.
- `fuse-ops` before outlining: it decides what one kernel is.
- `outline-primitives` before allocation: equal kernels become one function, and only calls of
  kernels are left to allocate for.
- `create-shape-functions` right after it: one function for each distinct kernel of dynamic shape.
- `declare-scratch`, for compiled kernels, once all kernels and their sizes are final.
- `manifest-alloc` turns those calls into writes into allocated tensors.
- `append-in-place` right after it: it reads shapes, which the next pass computes.
- `simplify-shapes` then: it has the shapes of all results to read, and what it makes
  unused, such as a copy of an argument to the host, is a dead write.
- `view-slices` then: it leaves allocations without a use.
- `remove-dead-writes` after them: a result that nothing reads is now storage that nothing
  needs, and no memory plan depends on it yet.
- `remove-unused-kernels` after both: they leave kernels without calls.
- `reorder-for-memory`, with `reorder`, after all passes that remove ops and before `plan-memory`:
  lifetimes depend on the order. It is off by default, as few networks gain (`docs/planning.md`).
- `forward-copies`, `reuse-in-place`, `join-tensors`: each copy has a storage of its own at first,
  and no result is written over a part of a join. `remove-unused-kernels` once more after it.
- `plan-memory` after all passes that remove or move ops: lifetimes are those of the final program.
  Results are written in place by then.
  With `pools`, it puts storages into them. With `memory=coalesce`, `coalesce-storage` and
  `layout-slices` in its place; with `memory=none`, neither: then `assign-pools` before, if there
  are pools.
- `manifest-lifetimes` after both, as in `plan-memory`: storages are not replaced any more, and a
  kill would count as a use of what it kills.
- `verify-memory-plan` right after the kills, which it checks too; without a plan there is nothing
  that could overlap.
- `check-peak`, with `peak`, after them: gaps, and copies of slices, come on top of live bytes. It
  alone refuses a peak, as a plan without stripes may keep what `choose-tiling` does not reach.
- `expand-packs` right before lowering: what needs to know why live bytes never overlap is over,
  reports included.
- `lower-to-bytecode` after all passes that need types: registers have none.
- `allocate-registers` last: lowering gives each value a register of its own.
- `verify-stage` at every level: its error names an op that was left and the pass that should have
  removed it; a later pass would only fail on the op.

With `kernels=native`, layout and weights are changed first, as in `aot`.

`aot` takes a `relay` program as `vm` does to `memory-planned`, and from there out of the house.
What differs, and why:

- `simplify-inference` scales weights in a side file, too: `fold-weights` makes the products
  weights for all passes that follow.
- `expand-transposed-convolutions` after `lower-qnn`, which leaves some; `fold-constants` again.
- `lambda-lift` … `flatten-tuples` early: machine code has functions of tensors alone, so closures,
  type arguments and tuples go where that is still easy to say in one line.
- `propagate-layout` once operators are simplified, before fusion, which must see the operators in
  the layout that they are compiled in.
- `expand-lrn` after it, before `separate-padding`: what it leaves is padded.
- `separate-padding` then, before fusion: padded images are part of the memory plan.
- `read-transposed` after these, so that no later pass moves what a product reads.
- `transpose-weights` then, which gives weights another order, too.
- `transform-filters` before `pack-weights`; with `peak` weights are folded first: it counts steps.
- `pack-weights` last: it packs weights for channels that are last, and those that are transposed.
- `fold-constants` again, and `fold-weights`: what the layout changed in weights needs no kernel.
- `plan-memory` always, as compiled kernels are too short to allocate between them; with
  `lend-entries`, so that the caller of an entry owns all memory.
- `convert-relay-to-linalg` before the program around kernels is converted: kernels that it cannot
  convert are called as the machine's.
- `expand-math` right after it, while kernels are still one loop nest an operator.
- `describe-entries` before `convert-memory-to-memref`, which forgets names, dims and signs.
- `merge-tail-cycles` and `tail-calls-to-loops` once functions free what they allocate: a loop does
  so in each turn. `limit-recursion` after them: a loop does not recurse.
- `aot-lower-main` after them: it makes the entries flat, while memory still has its devices.
- `erase-memory-spaces` last: it needs all types to be memrefs.

`kernels` prepares the kernels that `aot` leaves; `native.kernel_pipeline` has its reasons. The
targets `native` and `object` run it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.utils.arg_spec import ArgSpecConvertible


@dataclass(frozen=True)
class Pipeline(ArgSpecConvertible, ABC):
    """
    A named sequence of passes and pipelines.

    The fields of a subclass are its options, like those of a pass; each has a default.
    """

    @property
    @abstractmethod
    def text(self) -> str:
        """The sequence, as after `-p`."""


_STATIC = ("dynamic-to-static", "infer-types")

_QNN = ("fold-constants", "lower-qnn", "fold-constants")

_TRANSPOSED = ("expand-transposed-convolutions", "fold-constants")

_WIDE = ("infer-types", "widen-narrow-types")

_TO_SIMPLIFIED = (*_WIDE, "simplify-inference", "expand-lines", *_QNN, *_STATIC)

_TO_FOLDED = (*_TO_SIMPLIFIED, "lend-caches", "fold-weights")

_TO_SCALED = (
    *(*_WIDE, "simplify-inference{scale-weights=true}", "expand-lines"),
    *(*_QNN, *_TRANSPOSED, *_STATIC, "lend-caches", "fold-weights"),
)

_TO_KERNELS = (
    *("plan-devices", "share-device-copies", "verify-stage{stage=planned}"),
    "lambda-lift",
    "inline",
    "remove-unused-functions",
    "fuse-ops",
    "verify-stage{stage=fused}",
    "outline-primitives",
)

_TO_MANIFEST = (
    "verify-stage{stage=lowered}",
    "manifest-alloc",
    "append-in-place",
    "simplify-shapes",
    "view-slices",
    "remove-dead-writes",
    "remove-unused-kernels",
    "verify-stage{stage=manifest}",
)

_TO_MANIFEST_COMPILED = tuple(
    "view-slices{compiled=true}" if step == "view-slices" else step for step in _TO_MANIFEST
)

_REORDER = {False: (), True: ("reorder-for-memory",)}

_IN_PLACE = ("forward-copies", "reuse-in-place")
_JOINS = ("join-tensors", "remove-unused-kernels")
_JOINS_COMPILED = ("join-tensors{compiled=true}", "remove-unused-kernels")

PLAN = "plan-memory{in-place=false}"
"""The plan of a machine's program; `reuse-in-place` runs before `join-tensors`."""

_MEMORY = {
    "none": ("manifest-lifetimes",),
    "coalesce": ("coalesce-storage", "layout-slices", "manifest-lifetimes", "verify-memory-plan"),
    "plan": (PLAN,),
}

_EXPANDED = ("verify-stage{stage=memory-planned}", "expand-packs", "verify-stage{stage=expanded}")

_TO_BYTECODE = (
    *(*_EXPANDED, "lower-to-bytecode", "allocate-registers"),
    "verify-stage{stage=bytecode}",
)

_TO_MEMREF = (
    *_EXPANDED,
    "annotate-memory",
    "convert-relay-to-linalg",
    "expand-math",
    "describe-entries",
    "convert-memory-to-memref",
    "merge-tail-cycles",
    "tail-calls-to-loops",
    "limit-recursion",
    "aot-lower-main",
    "erase-memory-spaces",
    "verify-stage{stage=memref}",
)

_TO_FIRST_ORDER = (
    *("lambda-lift", "flatten-tuples", "specialize-functions", "inline"),
    *("remove-unused-functions", "flatten-tuples", "infer-types"),
)

_LAYOUT = ("propagate-layout", "expand-lrn", "separate-padding", "read-transposed")

_TO_LINALG = ("check-shapes", "convert-program-to-linalg", "verify-stage{stage=linalg}")

_OF_ENTRIES = ("remove-unused-functions", "assign-pools", "plan-memory", "describe-entries")
"""The passes that depend on which functions are called from outside."""

_OF_POOLS = ("plan-memory", "assign-pools")
"""The passes that place storages in pools."""

_INTERFACE = ("aot-lower-main",)
"""The pass that makes the interface in C."""


def quoted(text: str) -> str:
    """Return `text` as the value of an option, whatever is in it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


@dataclass(frozen=True, kw_only=True)
class PlannedPipeline(Pipeline, ABC):
    """A pipeline that plans devices and memory, with the options of that."""

    reorder: bool = False
    """Reorder ops so that fewer bytes are live at the worst moment, by `reorder-for-memory`."""

    default: str = "cpu:0"
    """The device of values that nothing else places, as `plan-devices` has it."""

    peak: str = ""
    """
    The most bytes of a plan, such as `256KiB`: `choose-tiling` chooses chains of operators that
    `tile-for-memory` computes in stripes of rows, and `check-peak` refuses a plan above it.
    """

    work: float | None = None
    """
    The most work that tiling may do, as a ratio of that of the program: 1.0 adds none. Without
    `peak`, the fewest bytes that are reached with it.
    """

    code: float | None = None
    """The most calls of kernels a step in chains of tiling; by default, as many as are needed."""

    caches: tuple[str, ...] = ()
    """The parameters that are caches, with the rows of their buffers: `past_*=1024`."""

    pools: str = ""
    """The pools of devices: `dtcm=64KiB:1,sram=512KiB:3,psram=:10`, or `cpu:0=512MiB:1`."""

    @property
    def weights(self) -> Sequence[str]:
        """Return the passes that order weights: without scratch memory for the fewest bytes."""
        folded, filters = ("fold-constants", "fold-weights"), "transform-filters"
        limited = (*folded, f"{filters}{{peak={quoted(self.peak)}}}") if self.peak else (filters,)
        transformed = limited if self.work is None else ()
        return ("transpose-weights", *transformed, "pack-weights", *folded)

    def tiled(self, by_rows: bool) -> Sequence[str]:
        """Return the passes that compute chains in stripes; rows of images may be contiguous."""
        options = {"peak": self.peak and quoted(self.peak), "work": self.work, "code": self.code}
        limits = [f"{name}={limit}" for name, limit in options.items() if limit not in ("", None)]
        limits += ["copies=false"] if limits and by_rows else []
        limits += ["refuse=false"] if self.peak else []
        chosen = f"choose-tiling{{{' '.join(limits)}}}"
        return ("hoist-reshapes", chosen, "tile-for-memory") if limits else ()

    @property
    def scratch(self) -> str:
        """Return the pass that declares scratch memory: within limits, for one thread."""
        return "declare-scratch{parts=1}" if self.peak or self.pools else "declare-scratch"


@dataclass(frozen=True)
class VmPipeline(PlannedPipeline):
    """Lower a `relay` program to instructions of the virtual machine."""

    name = "vm"

    memory: Literal["none", "coalesce", "plan"] = "plan"
    """
    `none` allocates and frees each storage by itself; `coalesce` allocates those of a region
    together; `plan` lets those share bytes that are never live together.
    """

    kernels: Literal["numpy", "native"] = "numpy"
    """`native` gives images and weights the layout that compiled kernels read, as `aot` does."""

    entries: tuple[str, ...] = ()
    """
    The functions that are called from outside, for `remove-unused-functions` and `plan-memory`; if
    none is given, all that are not private.
    """

    @property
    def text(self) -> str:
        is_native = self.kernels == "native"
        simple = (*_TO_SCALED, *_LAYOUT, *self.weights) if is_native else _TO_FOLDED
        scratch = (self.scratch,) if is_native else ()
        kernels = (*simple, *self.tiled(is_native), *_on(self.default))
        kernels = (*kernels, "create-shape-functions", *scratch)
        placed = ("assign-pools",) if self.pools and self.memory != "plan" else ()
        joins = _JOINS_COMPILED if is_native else _JOINS
        joined = {"plan": (*_IN_PLACE, *joins), "coalesce": joins, "none": ()}[self.memory]
        planned = (*_REORDER[self.reorder], *joined, *placed, *_MEMORY[self.memory])
        manifest = _TO_MANIFEST_COMPILED if is_native else _TO_MANIFEST
        passes = (*kernels, *manifest, *_within(self.peak, planned), *_TO_BYTECODE)
        passes = _with_option(passes, _OF_POOLS, "pools", *_values(self.pools))
        passes = _with_option(passes, ("lend-caches",), "caches", *_values(self.caches))
        return _called_from_outside(passes, self.entries)


@dataclass(frozen=True)
class AotPipeline(PlannedPipeline):
    """Lower a `relay` program to one flat function and kernels of upstream dialects."""

    name = "aot"

    layout: Literal["nchw", "nhwc"] = "nhwc"
    """The order of images' dims inside the program: `nhwc` has channels last."""

    entries: tuple[str, ...] = ()
    """The functions that are called from outside; if none is given, all that are not private."""

    prefix: str = ""
    """The prefix of all symbols in C; by default the name of the source file."""

    forms: tuple[Literal["packed", "cpacked", "unpacked"], ...] = ()
    """The forms in which callers may call; by default all."""

    device_contexts: tuple[str, ...] = ()
    """The devices that get a context, such as `cuda:0`, and calls around their use."""

    constants: str = ""
    """The pools of constants, with capacities: the object has a section for each."""

    @property
    def text(self) -> str:
        layout = _LAYOUT if self.layout == "nhwc" else _LAYOUT[1:]
        tiled = self.tiled(by_rows=layout is _LAYOUT)
        simple = (*_TO_SCALED, *_TO_FIRST_ORDER, *layout, *self.weights, *tiled)
        kernels = (*simple, *_on(self.default), "create-shape-functions{checks=true}", self.scratch)
        plan = "plan-memory{in-place=false lend-entries=true}"
        planned = _within(self.peak, (*_REORDER[self.reorder], *_IN_PLACE, *_JOINS_COMPILED, plan))
        placed = ("place-constants",) if self.constants else ()
        passes = (*kernels, *_TO_MANIFEST_COMPILED, *planned, *placed, *_TO_MEMREF)
        passes = _with_option(passes, _OF_POOLS, "pools", *_values(self.pools))
        passes = _with_option(passes, ("lend-caches",), "caches", *_values(self.caches))
        passes = _with_option(passes, _INTERFACE, "prefix", *_values(self.prefix))
        passes = _with_option(passes, _INTERFACE, "forms", *_values(self.forms))
        passes = _with_option(passes, placed, "pools", *_values(self.constants))
        contexts = _values(self.device_contexts)
        passes = _with_option(passes, _INTERFACE, "device-contexts", *contexts)
        return _called_from_outside(passes, self.entries)


@dataclass(frozen=True)
class LinalgPipeline(Pipeline):
    """Turn a `relay` program into linalg on tensors, for other compilers."""

    name = "linalg"

    weights: Literal["resources", "arguments"] = "resources"
    """`resources` names weights as resources; `arguments` makes them arguments of functions."""

    entries: tuple[str, ...] = ()
    """The functions that are called from outside; if none is given, all that are not private."""

    @property
    def text(self) -> str:
        passed = ("pass-params",) if self.weights == "arguments" else ()
        passes = (*_TO_SIMPLIFIED, *_TRANSPOSED, *_TO_FIRST_ORDER, *passed, *_TO_LINALG)
        return _called_from_outside(passes, self.entries)


@dataclass(frozen=True)
class KernelsPipeline(Pipeline):
    """Prepare the kernels of a program at level `memref` for compilation, and choose schedules."""

    name = "kernels"

    target: str | None = None
    """The triple of the machine to compile for; by default this one's."""

    cpu: str | None = None
    """Its processor as LLVM names it, `native` for this one, or `levels`; by default the oldest."""

    blas: Literal["openblas", "openblas-always"] | None = None
    """The library for products that have no schedule, or for all of them; by default none."""

    @property
    def text(self) -> str:
        from .native.kernel_pipeline import kernel_passes
        from .native.toolchain.target_machine import Machine

        passes = kernel_passes(Machine(self.target, self.cpu), self.blas)
        return ",".join(str(step.pipeline_pass_spec()) for step in passes)


def _within(peak: str, passes: Sequence[str]) -> Sequence[str]:
    """Return `passes` that plan for a peak, and the pass that holds the plan to it."""
    passes = _with_option(passes, ("plan-memory", "layout-slices"), "peak", *_values(peak))
    return (*passes, f"check-peak{{peak={quoted(peak)}}}") if peak else passes


def _on(device: str) -> Sequence[str]:
    """Return the passes that make kernels, for values that are on a device by default."""
    values = () if device == PlannedPipeline.default else (device,)
    return _with_option(_TO_KERNELS, ("plan-devices",), "default", *values)


def _called_from_outside(passes: Sequence[str], entries: tuple[str, ...]) -> str:
    """Return the pipeline of `passes`, of which some are given the option `entries`."""
    return ",".join(_with_option(passes, _OF_ENTRIES, "entries", *_values(entries)))


def _values(given: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of an option, none if it is empty; one of several is given as itself."""
    return given if isinstance(given, tuple) else (given,) if given else ()


def _with_option(
    passes: Sequence[str], names: Sequence[str], option: str, *values: str
) -> Sequence[str]:
    """Return `passes`, those of `names` with one more option, if it has values."""
    text = f"{option}={','.join(map(quoted, values))}"

    def step(given: str) -> str:
        if not values or given.partition("{")[0] not in names:
            return given
        return f"{given[:-1]} {text}}}" if given.endswith("}") else f"{given}{{{text}}}"

    return [step(given) for given in passes]


PIPELINES: dict[str, type[Pipeline]] = {
    "vm": VmPipeline,
    "aot": AotPipeline,
    "linalg": LinalgPipeline,
    "kernels": KernelsPipeline,
}
"""The named pipelines."""
