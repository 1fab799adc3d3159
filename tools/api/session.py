"""
A session: the reading of programs and running of passes that the commands and the API share.

    session = Session(reporter)
    given = session.read(read_source("model.onnx"))    IR, and its weights
    loaded = compile_program(session, given)                  bytecode, after the pipeline `vm`
    machine = Machine(loaded.program, …)

Everything raises errors that `message_of` accepts; warnings and remarks are sent to the reporter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ...dialects.foreign.func_forms import mend_func
from ...operators.records import record
from ...passes.support.diagnostics import Message, PassError, ReportingContext, Severity
from ...runtime.calls.input_bindings import InputBindings
from ...runtime.files import inside
from ..errors import CommandLineError
from ..messages import PipelineError, Reporter
from ..option_types import WatchedPasses
from ..pass_run.ir_dumps import Dumps
from ..pass_run.pipeline import PIPELINE, build, pass_names
from ..pass_run.pipeline_steps import Step, between
from ..pass_run.runner import Runner
from ..registry import named_pipelines
from ..text.parser import LocatingParser
from ..text.printing import PrintOptions
from ..text.resources import with_own_resources
from .bindings import UNBOUND, passes_of
from .plugins import load_universe
from .shared_options import FRONTENDS, SharedOptions, load_onnx, load_relay
from .source import Part, Source

if TYPE_CHECKING:
    from ...frontends.conversion import Conversion
    from ...runtime.program.program import Array  # imports NumPy


@record
class Given:
    """A program as it was read, and its weights."""

    module: ModuleOp
    weights: Mapping[str, Array] | Path | None = None
    """The weights that came with it, the file that it names, or none."""


def is_bytecode(module: ModuleOp) -> bool:
    """Return whether `module` is not empty and has only bytecode."""
    names = [op.name.partition(".")[0] for op in module.ops]
    return bool(names) and all(name == "bytecode" for name in names)


def is_compiled(module: ModuleOp) -> bool:
    """Test whether `module` is what the pipeline `vm` or `aot` leaves."""
    from ...lowering.entries.descriptions import METADATA

    return is_bytecode(module) or METADATA in module.attributes


class Session:
    """
    One compilation: it reads programs, binds their inputs, and runs passes on them.

    `context` has the dialects, `runner` runs the passes. `options` are those that all who compile
    have. Messages go to `say`, by default the reporter's.
    """

    def __init__(
        self,
        reporter: Reporter,
        options: SharedOptions | None = None,
        say: Callable[[Message], None] | None = None,
    ) -> None:
        self.reporter = reporter
        self.options = options or {}
        self.say = say or reporter.report
        self.universe = load_universe(lambda text: self.say(Message(Severity.WARNING, text)))
        self.runner = Runner(progress=reporter.progress)
        mend_func()  # of modules that are not parsed from IR, too
        self.renew()

    def renew(self) -> None:
        """Begin with a program, which has names and types of its own."""
        allow = self.options.get("allow_unregistered_dialect", False)
        self.context = ReportingContext(handler=self.say, allow_unregistered=allow)
        for name, factory in self.universe.all_dialects.items():
            self.context.register_dialect(name, with_own_resources(factory))

    def dump(self, options: WatchedPasses, printed: PrintOptions | None = None) -> None:
        """Let the runner print the module around the passes that a command line names."""
        whens = ("before_all", "after_all", "after_change", "after_failure")
        tree = options.print_ir_tree_dir
        self.runner.dumps = Dumps(
            before=self._pass_names("--print-ir-before", options.print_ir_before),
            after=self._pass_names("--print-ir-after", options.print_ir_after),
            **{when: getattr(options, f"print_ir_{when}") for when in whens},
            tree=None if tree is None else Path(tree),
            options=printed or PrintOptions(),
        )

    def _pass_names(self, option: str, text: str) -> frozenset[str]:
        """Return the pass names in the comma-separated `text`, with pipelines expanded."""
        try:
            return frozenset(pass_names(text, self.universe.all_passes, named_pipelines))
        except PipelineError as error:
            raise CommandLineError(f"{option}: {error}") from None

    def read(
        self, source: Source, frontend: str | None = None, bindings: InputBindings = UNBOUND
    ) -> Given:
        """
        Read a program, with sizes for dims of its parameters, and values of some.

        `frontend` is by default that of the file's contents or extension, or IR text.
        """
        frontend = frontend or source.frontend or "mlir"
        if frontend == "onnx":
            return converted(load_onnx(self.context, source, bindings))
        text = source.text()
        self.reporter.add_source(source.name, text)
        read = self.read_part(Part(text), source.name, frontend)
        if read.weights is None:
            read = given(read.module, Path(source.name).parent)
        self.bind(read.module, bindings)
        return read

    def read_part(
        self, part: Part, name: str, frontend: str, implicit_module: bool = True
    ) -> Given:
        """Read a program that is a part of the text of the file `name`."""
        if frontend in FRONTENDS and frontend != "mlir":
            return converted(load_relay(self.context, frontend, part, name))
        parser = LocatingParser(self.context, part.text, name, part.lines_before)
        return Given(parser.parse_module(implicit_module))

    def bind(self, module: ModuleOp, bindings: InputBindings) -> None:
        """Give parameters of `module` their sizes and values."""
        steps = [Step(run) for run in passes_of(bindings)]
        if steps:
            Runner(steps=steps).run(self.context, module)

    def steps(self, pipeline: str) -> list[Step]:
        """Return the passes of a pipeline that lead from the one level to the other."""
        self.reporter.add_source(PIPELINE, pipeline)
        steps = build(pipeline, self.universe.all_passes, named_pipelines, PIPELINE)
        return between(steps, self.options.get("from_level"), self.options.get("to_level"))

    def run(self, module: ModuleOp, pipeline: str) -> None:
        """Run `pipeline` on `module`, in place."""
        self.runner.steps = self.steps(pipeline)
        self.runner.run(self.context, module)


def given(module: ModuleOp, folder: Path) -> Given:
    """
    Return `module` with the file in `folder` that it names for its weights.

    Raises `PassError` for a name that leads out of the folder.
    """
    from ...dialects.relay.constants import PARAMS_FILE

    name = module.attributes.get(PARAMS_FILE)
    if not isinstance(name, StringAttr):
        return Given(module)
    path = inside(folder, name.data)
    if path is None:
        text = f"{PARAMS_FILE} must be a file in the module's folder, but is {name}"
        raise PassError(text, module)
    return Given(module, path)


def converted(conversion: Conversion) -> Given:
    """Return what a frontend made of a program."""
    return Given(conversion.module, conversion.params or None)
