"""
The stages from a module to an object.

    text of MLIR  --mlir-opt-->  llvm dialect  --mlir-translate-->  LLVM IR  --opt, llc-->  object

Kernels are linalg on tensors between `bufferization.to_tensor` and `materialize_in_destination`;
they become loops on buffers here. Everything else is on buffers already and frees them itself, so
the two are compiled as modules of their own. The text has the user's source lines, which messages
of mlir-opt name; an op without a location has that of the enclosing op.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import NamedTuple

from typing_extensions import override
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Operation

from ....dialects.xdsl_extras.locations_at_ends import LocationsAtEnds
from ....passes.support.diagnostics import file_location
from ..build.settings import Settings
from .processes import run
from .tool_paths import tool, version

STACK = 16 << 10
"""Bytes of the largest buffer that a kernel keeps on the stack, of which most have a few MiB."""

BUFFERIZE = (
    "empty-tensor-to-alloc-tensor",
    "one-shot-bufferize{bufferize-function-boundaries=1 "
    "function-boundary-type-conversion=identity-layout-map}",
    "canonicalize",
    "cse",
    # A buffer that a loop allocates anew in every turn, be it on the stack, is allocated once.
    "func.func(buffer-hoisting,buffer-loop-hoisting,"
    f"promote-buffers-to-stack{{max-alloc-size-in-bytes={STACK}}})",
    "buffer-deallocation-pipeline",
    "canonicalize",
    "cse",
)

LOWER_TO_LLVM = (
    "convert-linalg-to-loops",
    "memref-expand",
    "convert-vector-to-scf{full-unroll=true}",
    "expand-strided-metadata",
    "canonicalize",
    "cse",
    "lower-affine",
    # Buffers come from functions of ours, so that a call that fails can free them. Before loops are
    # branches: a scope of the stack in a parallel loop has one block.
    "finalize-memref-to-llvm{use-generic-functions=1}",
    "convert-scf-to-cf",
    "convert-vector-to-llvm",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    # First what LLVM has: of a maximum that is expanded, opt does not see that it is a reduction.
    "convert-arith-to-llvm",
    "arith-expand",
    "convert-to-llvm",
    "convert-openmp-to-llvm",
    "reconcile-unrealized-casts",
    "canonicalize",
    "cse",
)

DIVIDE = "scf-forall-to-parallel", "convert-scf-to-openmp"
"""The passes for loops that are divided between threads."""

PROGRAM = LOWER_TO_LLVM
# A loop that only copies into a slice is the slice: bufferization copies its rows whole.
KERNELS = ("canonicalize", *BUFFERIZE, *DIVIDE, *LOWER_TO_LLVM)

PREFETCH = (
    "loop-data-prefetch",
    "-cache-line-size=64",
    "-min-prefetch-stride=64",
    "-prefetch-distance=6400",
    "-max-prefetch-iters-ahead=4294967295",
)
"""
A pass of opt that prefetches what a loop reads a line at a time, and its options: the turns ahead
have 6,400 instructions, which are 64 turns of the largest tiles of registers.
"""

AS_WRITTEN = ("-disable-lsr",)
"""
An option of llc that leaves the addresses in loops as they are. Where strides are open, reducing
their strength takes half of its time and makes twice the code, which is not faster with 32
registers of vectors, whose tiles hide it; with 16, convolutions are, by a twentieth.
"""

TOOLS = ("mlir-opt", "mlir-translate", "opt", "llc")


def tools_key() -> str:
    """Return the cache key of the toolchain: the versions of its tools."""
    return " ".join(version(name) for name in TOOLS)


class Tuning(NamedTuple):
    """Options of LLVM for some kernels."""

    prefetches: bool = False
    """True if opt inserts `PREFETCH`."""
    is_written: bool = False
    """True if llc is called with `AS_WRITTEN`."""

    @property
    def options(self) -> Sequence[str]:
        """The options of its tools."""
        return [*(PREFETCH if self.prefetches else ()), *(AS_WRITTEN if self.is_written else ())]


PLAIN = Tuning()
"""For kernels of known dims, and programs."""


class Stage(NamedTuple):
    """A tool that turns its input into its output."""

    tool: str
    arguments: Sequence[str]
    extension: str
    """That of the file for its output."""


def compile_text(
    text: str, passes: Sequence[str], settings: Settings, name: str, tuning: Tuning = PLAIN
) -> bytes:
    """
    Compile the text of a module to an object, with `passes` of mlir-opt in front.

    `name` is that of the files that `settings` saves.
    Raises `Error`, at the place in the source that the text names, or `TimedOut`.
    """
    current = text.encode()
    settings.saved.save(f"{name}.0.mlir", current)
    for number, stage in enumerate(_stages(passes, settings, tuning), start=1):
        command = [tool(stage.tool), *stage.arguments]
        current = run(stage.tool, command, current, seconds=settings.seconds).output
        settings.saved.save(f"{name}.{number}.{stage.extension}", current)
    return current


def _stages(passes: Sequence[str], settings: Settings, tuning: Tuning) -> list[Stage]:
    machine, level = settings.machine, settings.level
    pipeline = f"--pass-pipeline=builtin.module({','.join(passes)})"
    # mlir-translate verifies what it reads: after each pass would take a sixth of the time.
    quiet = ["--mlir-print-op-on-diagnostic=false", "--mlir-disable-threading", "--verify-each=0"]
    code = ["-relocation-model=pic", "-function-sections", "-data-sections", "-filetype=obj"]
    code += AS_WRITTEN if tuning.is_written else ()
    last, *options = PREFETCH
    how = [f"-passes=default<O{level}>,function({last})", *options]
    optimized = [*(how if tuning.prefetches else [f"-O{level}"]), "-S", *machine.flags]
    return [
        Stage("mlir-opt", [*quiet, pipeline], "llvm.mlir"),
        Stage("mlir-translate", ["--mlir-to-llvmir"], "ll"),
        *([Stage("opt", optimized, "opt.ll")] if level else []),
        Stage("llc", [f"-O{level}", *machine.flags, *code], "o"),
    ]


class _Locating(LocationsAtEnds):
    """Print each location as its place in a file, or as that of the op around it."""

    around: LocationAttr = UNKNOWN_LOC

    @override
    def print_op(self, op: Operation) -> None:
        before = self.around
        self.around = file_location(op.location) or before
        super().print_op(op)
        self.around = before

    @override
    def print_attribute(self, attribute: Attribute) -> None:
        if isinstance(attribute, LocationAttr) and not self.printing_location:
            attribute = file_location(attribute) or self.around
        super().print_attribute(attribute)


def module_text(op: Operation) -> str:
    """Return the text of a module or function, as mlir-opt takes it."""
    text = StringIO()
    _Locating(stream=text, print_debuginfo=True).print_op(op)
    return text.getvalue() + "\n"
