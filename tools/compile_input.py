"""Compile a file to a module, and that to a program for the machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from ..dialects.relay.annotations import NAME
from ..dialects.relay.constants import PARAMS_FILE
from ..lowering.assemble import assemble
from ..lowering.pipelines import quoted
from ..passes.memory_use.contents import MemoryUse
from ..passes.memory_use.read import read_memory
from ..passes.support.diagnostics import Message, PassError, ReportingContext, Severity
from ..passes.support.verifier import verify
from ..runtime.program import Program
from .diagnostics import Reporter
from .inputs import FRONTENDS, frontend_of, load_onnx, load_relay
from .parser import LocatingParser
from .pipeline import PIPELINE, TO_BYTECODE, build
from .plugins import load_universe
from .registry import named_pipelines
from .resources import with_own_resources
from .result_types import ResultTypes
from .runner import Runner
from .source import Part, Source, read_source

WEIGHTS = "weights.safetensors"
"""The file in the scratch folder for the weights of inputs that hold them."""

NO_PLAN = "the memory of a program is reported before it becomes bytecode"


@dataclass(frozen=True)
class Loaded:
    """
    A module after its pipeline, the file of its parameters if it names one, and the names and types
    of its functions' results.
    """

    module: ModuleOp
    weights: Path | None
    names: Mapping[str, tuple[str | None, ...]]
    types: ResultTypes
    memory: MemoryUse | None = None
    """The memory that it uses, if that was read."""

    @property
    def program(self) -> Program:
        """The program for the machine; the module must be bytecode."""
        return assemble(self.module)

    def output_names(self, function: str, count: int) -> list[str]:
        """Return unique names for `function`'s `count` results, `output_<number>` by default."""
        given = self.names.get(function, ())
        given = given if len(given) == count else (None,) * count
        names: list[str] = []
        for i, name in enumerate(given):
            names.append(f"output_{i}" if name is None or name in given[:i] else name)
        return names


def is_bytecode(module: ModuleOp) -> bool:
    """Return whether `module` is not empty and has only bytecode."""
    names = [op.name.partition(".")[0] for op in module.ops]
    return bool(names) and all(name == "bytecode" for name in names)


class Loader:
    """Loads programs; warnings and remarks are sent to `reporter`."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self.universe = load_universe(self._warn)

    def _warn(self, text: str) -> None:
        self.reporter.report(Message(Severity.WARNING, text))

    def load(
        self,
        path: str,
        pipeline: str | None,
        scratch: Path,
        frontend: str | None = None,
        allow_unregistered: bool = False,
        reads_memory: bool = False,
        entry: str | None = None,
    ) -> Loaded:
        """
        Read the file at `path` ("-" is stdin) and run `pipeline` unless it is bytecode.

        By default, the pipeline is `vm` for a program of which only the function `entry` is called.

        `frontend` is by default that of the file's extension, or IR text. Weights that must be
        unpacked are written into the folder `scratch`. With `reads_memory`, the memory that the
        program uses is read right before it becomes bytecode. Raises errors that `message_of`
        accepts.
        """
        source = read_source(path)
        frontend = frontend or frontend_of(source.extension)
        context = ReportingContext(
            handler=self.reporter.report, allow_unregistered=allow_unregistered
        )
        for name, factory in self.universe.all_dialects.items():
            context.register_dialect(name, with_own_resources(factory))
        if frontend == "onnx":
            module, folder = load_onnx(context, source, scratch / WEIGHTS), scratch
        elif frontend in FRONTENDS and frontend != "mlir":
            part, weights = Part(self._text(source)), scratch / WEIGHTS
            module = load_relay(context, frontend, part, source.name, weights)
            folder = scratch
        else:
            parser = LocatingParser(context, self._text(source), source.name)
            module, folder = parser.parse_module(), Path(path).parent
        weights = module.attributes.get(PARAMS_FILE)
        names = {op.sym_name.data: _result_names(op) for op in module.ops if isinstance(op, FuncOp)}
        types = ResultTypes()
        memory = None
        if is_bytecode(module):
            if reads_memory:
                raise PassError(f"{NO_PLAN}: it is bytecode already", module)
            verify(module)
        else:
            if pipeline is None:
                pipeline = "vm"
                if entry is not None and entry in names:
                    pipeline = f"vm{{entries={quoted(entry)}}}"
            self.reporter.add_source(PIPELINE, pipeline)
            steps = build(pipeline, self.universe.all_passes, named_pipelines, PIPELINE)
            passes = [step.run.name for step in steps]
            last = passes.index(TO_BYTECODE) if TO_BYTECODE in passes else len(passes)
            Runner(steps=steps[:last]).run(context, module)
            types = ResultTypes.of(module)
            memory = read_memory(module) if reads_memory else None
            Runner(steps=steps[last:], verify_first=False).run(context, module)
        where = folder / weights.data if isinstance(weights, StringAttr) else None
        return Loaded(module, where, names, types, memory)

    def _text(self, source: Source) -> str:
        """Return the text of `source`, which messages quote from now on."""
        text = source.text()
        self.reporter.add_source(source.name, text)
        return text


def _result_names(function: FuncOp) -> tuple[str | None, ...]:
    attrs = function.res_attrs
    if attrs is None:
        return (None,) * len(function.function_type.outputs)
    names: list[str | None] = []
    for entry in attrs:
        name = entry.data.get(NAME)
        names.append(name.data if isinstance(name, StringAttr) else None)
    return tuple(names)
