"""
The targets `native`, `object` and `c-header` of `xrelay-opt -t`: machine code, and its interface.

    xrelay-opt model.onnx -o libmodel.so
    xrelay-opt model.onnx -t "native{cpu=native weights=file}" -o libmodel.so
    xrelay-opt model.onnx -o model.o
    xrelay-opt model.onnx -o model.h
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.relay.constants import PARAMS_FILE
from ...lowering.native.build.build_files import (
    CompiledModule,
    Kind,
    Pieces,
    Place,
    Product,
    Request,
    compile_module,
    library_of,
    make_product,
)
from ...lowering.native.build.settings import Cache, Settings
from ...lowering.native.c.c_interface import header_source
from ...lowering.native.kernel_pipeline import BlasUse, kernel_passes
from ...lowering.native.toolchain.stage_files import SavedStages
from ...lowering.native.toolchain.target_machine import LEVELS, Machine
from ...lowering.native.toolchain.tool_paths import openblas
from ...passes.support.diagnostics import PassError, emit_remark
from ...runtime.errors import Error
from ...runtime.native.interface import Library
from ...runtime.program.program import Array
from ...runtime.weights.derived_weights import Weights, weights_in
from ..api.session import Given, is_bytecode
from ..pass_run.pipeline_steps import TO_BYTECODE, Step
from ..pass_run.runner import Runner
from .file_target import FileTarget, Job, Written


@dataclass(frozen=True)
class NativeProgram:
    """A program at level `memref`, of which files are made; it is compiled for the first."""

    library: Library
    module: ModuleOp
    weights: _Weights
    settings: Settings

    @cached_property
    def _compiled(self) -> CompiledModule:
        return compile_module(self.module, self.settings)

    def product(self, kind: Kind, output: Path, place: Place = "object") -> Product:
        """Return a library or an object; `output` will be its path."""
        request = Request(kind, output.stem, output.name, place)
        return make_product(
            lambda: self._compiled, self.library, self.weights, request, self.settings
        )

    def file(self, output: Path) -> Pieces:
        """Return what `output` will have by its extension: `.so`, `.o`, or a C header."""
        kinds: Mapping[str, Kind] = {".so": "library", ".o": "object"}
        kind = kinds.get(output.suffix)
        if kind is None:
            return [header_source(self.library).encode()]
        return [self.product(kind, output).contents]


@dataclass(frozen=True)
class _AotTarget(FileTarget):
    """A target that reads what the pipeline `aot` leaves."""

    def check(self, runner: Runner, program: Given) -> None:
        """Raise `PassError` for a program that is, or would be, bytecode."""
        is_lowered = TO_BYTECODE in [step.run.name for step in runner.steps]
        if is_lowered or is_bytecode(program.module):
            raise PassError(
                f"-t {self.name} needs a program at level memref, not bytecode: end the pipeline "
                "in it, as -p aot does; -o FILE.xrx writes bytecode"
            )

    @property
    @override
    def pipeline(self) -> str:
        return "aot"


@dataclass(frozen=True)
class NativeTarget(_AotTarget):
    """Writes a program, as `-p aot` leaves it, as a shared library."""

    name: ClassVar[str] = "native"
    kind: ClassVar[Kind] = "library"

    weights: Place = "object"
    """The place of the weights: the object, or a file beside it with the extension `.weights`."""
    target: str | None = None
    """The triple of the machine to compile for; by default this one's."""
    cpu: str | None = None
    """Its processor as LLVM names it, `native` for this one, or, by default, all `levels`."""
    blas: BlasUse | None = None
    """The library for products that have no schedule, or for all of them; by default none."""
    threads: Literal["on", "off"] = "on"
    """`on` divides large kernels between threads, as many as a caller sets."""
    cache: str = "on"
    """`on`, `off`, or a folder that keeps objects for the next time."""
    cc: str | None = None
    """The command of the C compiler; by default that of the system."""

    @override
    def written(self, job: Job) -> Written:
        native = self.lowered(job.runner, job.context, job.program, job.stages)
        product = native.product(self.kind, job.output, self.weights)
        return Written([product.contents], product.beside)

    def lowered(
        self, runner: Runner, context: Context, program: Given, stages: Path | None = None
    ) -> NativeProgram:
        """Run the passes of `runner`, then those of kernels. Raises `Error`, or what these do."""
        self.check(runner, program)
        machine = Machine(self.target, self.cpu or LEVELS)
        machine.check()
        settings = Settings(
            machine=machine,
            cache=Cache.named(self.cache),
            saved=SavedStages(stages),
            blas=self.blas and openblas(is_host=machine.is_host, compiler=self.cc),
            compiler=self.cc,
            threads=self.threads == "on",
            remark=lambda op, message: emit_remark(context, op, message),
            progress=runner.progress.count("LLVM has compiled {} of {} kernels"),
        )
        threads = self.threads == "on"
        kernels = [Step(step, ("kernels",)) for step in kernel_passes(machine, self.blas, threads)]
        replace(runner, steps=[*runner.steps, *kernels]).run(context, program.module)
        library = library_of(program.module)
        return NativeProgram(library, program.module, _Weights(program), settings)


@dataclass(frozen=True)
class ObjectTarget(NativeTarget):
    """Writes a program, as `-p aot` leaves it, as an object to link into another program."""

    name: ClassVar[str] = "object"
    kind: ClassVar[Kind] = "object"

    threads: Literal["on", "off"] = "off"
    """`on` divides large kernels between threads of the C library, as many as a caller sets."""


@dataclass(frozen=True)
class HeaderTarget(_AotTarget):
    """Writes the C header of a program, as `-p aot` leaves it."""

    name: ClassVar[str] = "c-header"

    @override
    def written(self, job: Job) -> Written:
        self.check(job.runner, job.program)
        job.runner.run(job.context, job.program.module)
        header = header_source(library_of(job.program.module))
        return Written([header.encode()], is_text=True)


class _Weights:
    """The tensors of a program, by name; the file is opened when one is needed."""

    def __init__(self, program: Given) -> None:
        self.program = program
        self.opened: Weights | None = None

    def __call__(self, name: str) -> Array:
        given = self.program.weights
        if given is None:
            raise Error(
                "the program has weights, but they are in no file: give one with --params, or name "
                f"it in the attribute {PARAMS_FILE} of the module; --random-weights draws them"
            )
        if self.opened is None:
            self.opened = weights_in(given)
        if name not in self.opened:
            where = f"'{given}' has" if isinstance(given, Path) else "the given weights have"
            raise Error(f"{where} no tensor '{name}'")
        return self.opened.array(name)
