"""
Compile a program: what the commands and the Python API share.

    compiler = Compiler(reporter)
    given = compiler.read(read_source("model.onnx"))    IR, and its weights
    loaded = compiler.compile(given)                   bytecode, after the pipeline `vm`
    machine = Machine(loaded.program, …)

Everything raises errors that `message_of` accepts; warnings and remarks are sent to the reporter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ...dialects import relay
from ...dialects.device import device_of
from ...dialects.relay.constants import PARAMS_FILE
from ...dialects.relay.language.dims_attributes import result_names
from ...dialects.tensors import as_tensor
from ...dialects.xdsl_extras.walking import walk
from ...frontends.conversion import Conversion
from ...lowering.bytecode.assemble import assemble, spec_of
from ...lowering.pipelines import quoted
from ...passes.memory_report.model import MemoryUse
from ...passes.memory_report.read import memory_of
from ...passes.memory_report.report import Amount, report_of
from ...passes.remove_unused_functions import is_public
from ...passes.support.diagnostics import PassError, ReportingContext
from ...passes.support.verifier import verify
from ...runtime.calls.input_bindings import InputBindings
from ...runtime.files import inside
from ...runtime.memory.limits import Memory
from ...runtime.program.data_types import DataTypes
from ...runtime.program.named_results import unique_names
from ...runtime.program.planned_memory import PlannedMemory
from ...runtime.program.program import Function, Late, Param, Program, TensorSpec
from ..messages import Reporter
from ..pass_run.pipeline import PIPELINE, Step, build, report_index
from ..pass_run.runner import Runner
from ..registry import named_pipelines
from ..text.parser import LocatingParser
from ..text.resources import with_own_resources
from .bindings import UNBOUND, passes_of
from .plugins import load_universe
from .program_formats import FRONTENDS, frontend_of, load_onnx, load_relay
from .source import Part, Source, read_source
from .type_table import TypeTable

if TYPE_CHECKING:
    from ..run.run_files import Weights  # imports NumPy

NO_PLAN = "the memory of a program is reported before it becomes bytecode"
NO_KERNELS = "kernels are compiled before they become bytecode: it is bytecode already"


@dataclass(frozen=True)
class Given:
    """A program as it was read, and its weights."""

    module: ModuleOp
    weights: Weights = None


@dataclass(frozen=True)
class Result:
    """The result of a function: a tensor on a device, or a value without `spec`."""

    spec: TensorSpec | None
    device: str | None
    type: int | None
    """Its type in `Loaded.types`, if it is a tuple or data."""


@dataclass(frozen=True)
class Loaded:
    """
    A module after its pipeline, its weights, and the names and types of its functions' results.
    """

    module: ModuleOp
    weights: Weights
    names: Mapping[str, tuple[str | None, ...]]
    types: DataTypes
    results: Mapping[str, Sequence[Result]]
    """Those of the functions that are called from outside, as they were before bytecode."""
    params: Mapping[str, Sequence[int | None]]
    """The types of their parameters in `types`, of those that are tuples or data."""
    memory: MemoryUse | None = None
    """The memory that it uses, if that was read."""
    kernels: ModuleOp | None = None
    """Its kernels as they were before bytecode, if they were kept."""

    @property
    def program(self) -> Program:
        """The program for the machine; the module must be bytecode."""
        program = assemble(self.module)
        functions = (
            replace(
                function,
                params=self._params(function),
                results=self._results(function.name, program.devices),
            )
            if function.name in self.results
            else function
            for function in program.functions
        )
        return replace(program, functions=tuple(functions), data=self.types)

    @property
    def plans(self) -> tuple[PlannedMemory, ...]:
        """The memory planned for each function and device, if it was read."""
        reports = [] if self.memory is None else report_of(self.memory, {})
        return tuple(
            PlannedMemory(
                report.function.removeprefix("@"),
                report.device,
                report.tensors,
                report.allocations,
                _amount(report.sum),
                _amount(report.lower_bound),
                _amount(report.planned),
            )
            for report in reports
        )

    def _results(self, function: str, devices: Sequence[str]) -> tuple[Param, ...]:
        results = self.results[function]
        names = self.output_names(function, len(results))
        return tuple(
            Param(
                name,
                result.spec,
                devices.index(result.device) if result.device in devices else 0,
                type=result.type,
            )
            for name, result in zip(names, results, strict=True)
        )

    def _params(self, function: Function) -> tuple[Param, ...]:
        types = self.params[function.name]
        return tuple(
            param if type is None else replace(param, type=type)
            for param, type in zip(function.params, types, strict=True)
        )

    def output_names(self, function: str, count: int) -> list[str]:
        """Return unique names for `function`'s `count` results, `output_<number>` by default."""
        given = self.names.get(function, ())
        given = given if len(given) == count else (None,) * count
        return unique_names(given)


def is_bytecode(module: ModuleOp) -> bool:
    """Return whether `module` is not empty and has only bytecode."""
    names = [op.name.partition(".")[0] for op in module.ops]
    return bool(names) and all(name == "bytecode" for name in names)


class Compiler:
    """Reads and compiles programs; each use has a context of its own."""

    def __init__(self, reporter: Reporter, allow_unregistered: bool = False) -> None:
        self.reporter = reporter
        self.universe = load_universe(reporter.warn)
        self.context = ReportingContext(
            handler=reporter.report, allow_unregistered=allow_unregistered
        )
        for name, factory in self.universe.all_dialects.items():
            self.context.register_dialect(name, with_own_resources(factory))

    def read(
        self,
        source: Source,
        frontend: str | None = None,
        bindings: InputBindings = UNBOUND,
    ) -> Given:
        """
        Read a program, with sizes for dims of its parameters, and values of some.

        `frontend` is by default that of the file's extension, or IR text.
        """
        frontend = frontend or frontend_of(source.extension)
        if frontend == "onnx":
            return converted(load_onnx(self.context, source, bindings))
        part = Part(self._text(source))
        if frontend in FRONTENDS and frontend != "mlir":
            read = converted(load_relay(self.context, frontend, part, source.name))
        else:
            parser = LocatingParser(self.context, part.text, source.name)
            read = given(parser.parse_module(), Path(source.name).parent)
        self.bind(read.module, bindings)
        return read

    def bind(self, module: ModuleOp, bindings: InputBindings) -> None:
        """Give parameters of `module` their sizes and values."""
        steps = [Step(run) for run in passes_of(bindings)]
        if steps:
            Runner(steps=steps).run(self.context, module)

    def steps(self, pipeline: str) -> list[Step]:
        """Return the passes of a pipeline."""
        self.reporter.add_source(PIPELINE, pipeline)
        return build(pipeline, self.universe.all_passes, named_pipelines, PIPELINE)

    def run(self, module: ModuleOp, pipeline: str) -> None:
        """Run `pipeline` on `module`, in place."""
        Runner(steps=self.steps(pipeline)).run(self.context, module)

    def load(self, path: str, pipeline: str, reads_memory: bool = False) -> Loaded:
        """Read and compile the file at `path` ("-" is stdin)."""
        return self.compile(self.read(read_source(path)), pipeline, None, reads_memory)

    def compile(
        self,
        program: Given,
        pipeline: str | None = None,
        entry: str | None = None,
        reads_memory: bool = False,
        keeps_kernels: bool = False,
    ) -> Loaded:
        """
        Run `pipeline` on a program, in place, unless it is bytecode.

        By default it is `vm`, for a program of which only the function `entry` is called if it is
        given, and for compiled kernels with `keeps_kernels`. With `reads_memory`, the memory that
        the program uses is read right before it becomes bytecode, and with `keeps_kernels`, its
        kernels are kept.
        """
        module = program.module
        if is_bytecode(module):
            if reads_memory:
                raise PassError(f"{NO_PLAN}: it is bytecode already", module)
            if keeps_kernels:
                raise PassError(NO_KERNELS, module)
            verify(module)
            return Loaded(module, program.weights, {}, DataTypes(), {}, {})
        if pipeline is None:
            names = [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]
            options = ["kernels=native"] if keeps_kernels else []
            options += [f"entries={quoted(entry)}"] if entry in names and entry else []
            pipeline = f"vm{{{' '.join(options)}}}" if options else "vm"
        runner = Runner(steps=self.steps(pipeline), progress=self.reporter.progress)
        return lower(runner, self.context, program, reads_memory, keeps_kernels)

    def _text(self, source: Source) -> str:
        """Return the text of `source`, which messages quote from now on."""
        text = source.text()
        self.reporter.add_source(source.name, text)
        return text


def lower(
    runner: Runner,
    context: Context,
    program: Given,
    reads_memory: bool,
    keeps_kernels: bool = False,
) -> Loaded:
    """
    Run the steps of `runner`, and read what bytecode does not keep.

    The types of results, with `reads_memory` the memory that the program uses, and with
    `keeps_kernels` its kernels are read right before `expand-packs`, or at the end.
    """
    module, steps = program.module, list(runner.steps)
    names = {op.sym_name.data: result_names(op) for op in module.ops if isinstance(op, FuncOp)}
    passes = [step.run.name for step in steps]
    last = report_index(passes)
    runner.steps = steps[:last]
    runner.run(context, module)
    table = TypeTable(module)
    results, params = _results(module, table), _params(module, table)
    memory = memory_of(module) if reads_memory else None
    kernels = _kernels(module) if keeps_kernels else None
    runner.steps, runner.verify_first = steps[last:], False
    runner.run(context, module)
    return Loaded(module, program.weights, names, table.data, results, params, memory, kernels)


def _kernels(module: ModuleOp) -> ModuleOp:
    return ModuleOp([op.clone() for op in module.ops if isinstance(op, relay.PrimFuncOp)])


def _amount(amount: Amount) -> tuple[int | None, str]:
    return amount.bytes, amount.formula or ""


def given(module: ModuleOp, folder: Path) -> Given:
    """
    Return `module` with the file in `folder` that it names for its weights.

    Raises `PassError` for a name that leads out of the folder.
    """
    name = module.attributes.get(PARAMS_FILE)
    if not isinstance(name, StringAttr):
        return Given(module)
    path = inside(folder, name.data)
    if path is None:
        text = f"{PARAMS_FILE} must be a file in the module's folder, but is {name}"
        raise PassError(text, module)
    return Given(module, path)


def with_random_weights(
    program: Given, say: Callable[[str], object], seed: int = 0, memory: Memory | None = None
) -> Given:
    """
    Return a program with random values for the weights that it names but lacks.

    `say` gets a sentence about them, and `memory` their bytes.
    """
    from ...runtime.calls.random_inputs import random_parameters, random_weights_text
    from ...runtime.weights.derived_weights import weights_in

    ops = [op for op in walk(program.module) if isinstance(op, relay.ParamOp)]
    wanted = [Late(name, spec_of(op.result.type, op)) for op in ops for name in [op.param.data]]
    has_file = isinstance(program.weights, Path) and not program.weights.exists()
    source = weights_in({} if program.weights is None or has_file else program.weights)
    found = {late.name: source.array(late.name) for late in wanted if late.name in source}
    missing = {late.name: late for late in wanted if late.name not in found}
    if missing:
        say(random_weights_text(list(missing), seed))
    return replace(program, weights=found | random_parameters(missing.values(), seed, memory))


def converted(conversion: Conversion) -> Given:
    """Return what a frontend made of a program."""
    return Given(conversion.module, conversion.params or None)


def _results(module: ModuleOp, table: TypeTable) -> dict[str, Sequence[Result]]:
    """Return the results of the functions of `module` that are not private."""
    found: dict[str, Sequence[Result]] = {}
    for op in module.ops:
        if isinstance(op, FuncOp) and is_public(op):
            found[op.sym_name.data] = [
                _result(type, op, table) for type in op.function_type.outputs
            ]
    return found


def _params(module: ModuleOp, table: TypeTable) -> dict[str, Sequence[int | None]]:
    return {
        op.sym_name.data: [table.of(type) for type in op.function_type.inputs]
        for op in module.ops
        if isinstance(op, FuncOp) and is_public(op)
    }


def _result(type: Attribute, function: FuncOp, table: TypeTable) -> Result:
    device = device_of(type)
    spec = None if as_tensor(type) is None else spec_of(type, function)
    return Result(spec, None if device is None else device.spec, table.of(type))
