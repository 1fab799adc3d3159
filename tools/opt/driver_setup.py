"""
The settings of a run of `xrelay-opt`: dialects, passes and targets, and what its options say.

xDSL's driver calls the methods below while it is created, and parses the command line between them.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import IO, NoReturn

from typing_extensions import override
from xdsl.passes import PassPipeline
from xdsl.utils.exceptions import DiagnosticException
from xdsl.xdsl_opt_main import xDSLOptMain

from ...dialects.errors import TOO_DEEP
from ...passes.support.diagnostics import Message, ReportingContext
from ...runtime.files import limit_input
from ..api.bindings import UNBOUND, bindings_of, passes_of, with_shapes
from ..api.plugins import load_universe
from ..api.program_formats import FRONTENDS, frontend_of
from ..api.source import extension_of
from ..errors import CommandLineError
from ..messages import PipelineError, Reporter, message_of
from ..option_types import with_report_format
from ..output_files import OutputFiles
from ..pass_run.ir_dumps import Dumps
from ..pass_run.pipeline import (
    PIPELINE,
    TARGET,
    Step,
    TargetText,
    build,
    pass_names,
    pipeline_text,
    report_index,
)
from ..pass_run.runner import Runner
from ..pass_run.timing import Timer
from ..registry import named_pipelines
from ..targets.chosen_target import chosen_target
from ..targets.destination import Destination
from ..text.printing import PrintOptions
from ..text.resources import with_own_resources
from . import opt_arguments


class ConfiguredOpt(xDSLOptMain):
    """A run of `xrelay-opt` that is ready to start."""

    ctx: ReportingContext  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, args: Sequence[str] | None, reporter: Reporter):
        self.reporter = reporter
        self.timer = Timer()
        self.messages: list[Message] | None = None
        """Messages collected for `--verify-diagnostics`; None when they are shown."""
        self.bindings = UNBOUND
        """Sizes and values of the program's inputs."""
        self.universe = load_universe(reporter.warn)
        self.runner = Runner(timer=self.timer, progress=reporter.progress)
        args = sys.argv[1:] if args is None else args
        super().__init__(args=with_report_format(args))

    @override
    def register_all_dialects(self) -> None:
        self.ctx = ReportingContext(handler=self.say)
        for name, factory in self.universe.all_dialects.items():
            self.ctx.register_dialect(name, with_own_resources(factory))

    @override
    def register_all_frontends(self) -> None:
        self.available_frontends |= dict.fromkeys(FRONTENDS, _unused_frontend)

    @override
    def register_all_passes(self) -> None:
        for name, factory in self.universe.all_passes.items():
            self.register_pass(name, factory)

    @override
    def register_all_targets(self) -> None:
        self.available_targets |= self.universe.all_targets

    @override
    def register_all_arguments(self, arg_parser: ArgumentParser) -> None:
        opt_arguments.add_arguments(arg_parser, self.available_frontends, self._target_text)

    def _target_text(self, text: str) -> str:
        """Parse the text of `-t`; return it for xDSL, which knows no other target of ours."""
        self.reporter.add_source(TARGET, text)
        self.target_text = TargetText.parse(text)
        return str(self.target_text)

    @override
    def setup_pipeline(self) -> None:
        args = self.args
        limit_input(args.max_input)
        self.chosen = chosen_target(self.target_text, self.available_targets)
        self.destination = Destination(
            args.input_file or "-",
            "-" if args.output_file is None else args.output_file,
            OutputFiles([f for f in (args.input_file, args.params) if f], args.overwrite),
        )
        self.bindings = bindings_of(args.shape, args.dim, args.input)
        if args.inputs:
            from ..array_files.array_files import open_arrays  # imports NumPy

            self.bindings = with_shapes(self.bindings, open_arrays(args.inputs, "input"))
        assert isinstance(self.ctx, ReportingContext)
        self.ctx.remarks = args.remarks
        self._set_runner()
        if args.summary and not self.chosen.is_default:
            raise CommandLineError("--summary prints no module: omit -t")
        if not args.run_reproducer:
            self._set_passes(args.passes)
        elif args.passes:
            raise CommandLineError("--run-reproducer has its own pipeline: omit -p")

    def _set_runner(self) -> None:
        args = self.args
        self.runner.verify_first = not args.disable_verify
        self.runner.verify_each = args.verify_each and not args.disable_verify
        self.runner.reproducer_path = args.crash_reproducer
        self.runner.flags = [
            flag
            for flag, given in (
                ("--allow-unregistered-dialect", args.allow_unregistered_dialect),
                ("--disable-verify", args.disable_verify),
                ("--verify-each=false", not args.verify_each),
            )
            if given
        ]
        self.runner.dumps = Dumps(
            before=self._pass_names("--print-ir-before", args.print_ir_before),
            after=self._pass_names("--print-ir-after", args.print_ir_after),
            before_all=args.print_ir_before_all,
            after_all=args.print_ir_after_all,
            after_change=args.print_ir_after_change,
            after_failure=args.print_ir_after_failure,
            options=self._print_options(),
        )

    def _frontend_name(self) -> str:
        return self.args.frontend or frontend_of(extension_of(self.args.input_file))

    def _pass_names(self, option: str, text: str) -> frozenset[str]:
        """Return the pass names in the comma-separated `text`, with pipelines expanded."""
        try:
            return frozenset(pass_names(text, self.available_passes, named_pipelines))
        except PipelineError as error:
            raise CommandLineError(f"{option}: {error}") from None

    def _set_passes(self, text: str) -> None:
        text = text or self.chosen.pipeline
        self.reporter.add_source(PIPELINE, text)
        steps = build(text, self.available_passes, named_pipelines, PIPELINE)
        self._show_memory(steps)
        if self.bindings and self._frontend_name() != "onnx":
            from ...passes.infer_types import InferTypesPass

            bound = [*passes_of(self.bindings), *([] if steps else [InferTypesPass()])]
            steps[:0] = map(Step, bound)
        self.runner.steps = steps
        self.pipeline = PassPipeline(tuple(step.run for step in steps))
        if self.args.dump_pass_pipeline:
            print(pipeline_text(steps), file=sys.stderr)

    def _dims(self) -> tuple[str, ...]:
        return tuple(f"{dim}={size}" for dim, size in self.args.plan_dim.items())

    def _show_memory(self, steps: list[Step]) -> None:
        """Insert the memory report, and drop the steps after the one that the target reads."""
        args, stop = self.args, self.chosen.reads_before
        if args.save_temps and self.chosen.name not in ("native", "object"):
            raise CommandLineError("--save-temps needs -t native or -t object")
        if args.plan_dim and args.memory_report is None and stop is None:
            message = "--plan-dim needs --memory-report, or a target that shows memory"
            raise CommandLineError(message)
        names = [step.run.name for step in steps]
        if stop is not None:
            del steps[report_index(names) + self.chosen.stops_after :]
        if args.memory_report is not None:
            from ...passes.report_memory import ReportMemoryPass

            report = ReportMemoryPass(format=args.memory_report, dims=self._dims())
            steps.insert(report_index(names), Step(report))

    def _print_options(self) -> PrintOptions:
        args = self.args
        return PrintOptions(
            generic=args.print_op_generic,
            properties_as_attributes=args.print_no_properties,
            debuginfo=args.print_debuginfo,
            colored=args.syntax_highlight,
            aliases=not args.print_local_scope,
            elide_above=args.elide_above,
        )

    def say(self, message: Message, width: int = 1) -> None:
        """Show a message, or collect it for `--verify-diagnostics`."""
        if self.messages is None:
            self.reporter.report(message, width)
        else:
            self.messages.append(message)

    def fail(self, error: Exception) -> None:
        """Report an error; an internal one is raised again."""
        if isinstance(error, RecursionError):
            error = DiagnosticException(TOO_DEEP)
        found = message_of(error)
        if found is None:
            raise error
        if self.args.traceback and self.messages is None:
            import traceback

            traceback.print_exception(error)
        self.say(*found)


def _unused_frontend(io: IO[bytes]) -> NoReturn:
    """Stand in for a frontend: xDSL checks the names, and the driver reads the input itself."""
    raise AssertionError("inputs are read by XRelayOpt")
