"""
A run of `xrelay-opt`: its session reads a module, runs passes on it, and the target prints it.

Errors have source lines; dumps and times go to stderr; failures leave reproducers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute
from xdsl.universe import Universe
from xdsl.utils.diagnostic import Diagnostic
from xdsl.utils.exceptions import DiagnosticException, ShrinkException

from ...passes.support.diagnostics import Message
from ...runtime.files import limit_input
from ..api.bindings import bindings_of, passes_of, with_shapes
from ..api.session import Given, Session, converted, given, is_compiled
from ..api.shared_options import load_onnx, shared_options, summarize_onnx
from ..api.source import SPLIT_MARK, Part, Source, read_source, require_frontend, split
from ..commands import inform
from ..errors import CommandLineError, UsageError, report
from ..messages import PipelineError, Reporter, message_of
from ..output_files import Destination, OutputFiles
from ..pass_run.pipeline import TARGET, build_target
from ..pass_run.pipeline_steps import Step, opened, pipeline_text, report_index
from ..pass_run.runner import InternalError, Recipe, read_recipe
from ..registry import named_pipelines
from ..targets.file_target import ChosenTarget, Job, Written, target_of
from ..text.printing import PrintOptions, print_module
from .list_passes import help_pass, list_passes
from .opt_arguments import Options

if TYPE_CHECKING:
    from ...runtime.program.program import Array


def run(args: Options, reporter: Reporter) -> int:
    """Run what the command line requests; return the exit status."""
    opt = Opt(args, reporter)
    if args.list_passes or args.help_pass is not None or args.show_dialects:
        sys.stdout.write(_listed(args, opt.session.universe))
        return 0
    try:
        return opt.execute()
    except ShrinkException:
        if not args.shrink:
            raise
        print("Success, can shrink")
        return 0
    finally:
        if args.timing:
            opt.timer.print(sys.stderr)


def _listed(args: Options, universe: Universe) -> str:
    """Return what the command line requests instead of a run."""
    passes, pipelines = universe.all_passes, named_pipelines()
    if args.help_pass is not None:
        return help_pass(args.help_pass, passes, pipelines)
    if args.show_dialects:
        return "\n".join(sorted(universe.all_dialects)) + "\n"
    return list_passes(passes, pipelines)


def _verify_nothing(attribute: Attribute) -> None:
    """Take the place of the verifier of attributes."""


class Opt:
    """One run, with all of its state."""

    def __init__(self, args: Options, reporter: Reporter) -> None:
        self.args, self.reporter = args, reporter
        self.messages: list[Message] | None = None
        """Messages collected for `--verify-diagnostics`; None when they are shown."""
        self.written: Written | None = None
        """The output if a target writes it as bytes."""
        self.frontend = ""
        """The format of the input, once it was read."""
        self.weights: dict[str, Array] = {}
        """The weights that came with the input."""
        self.session = Session(reporter, shared_options(args), self.say)
        self.runner, self.timer = self.session.runner, self.session.runner.timer
        limit_input(args.max_input)
        if args.disable_verify:
            setattr(Attribute, "__post_init__", _verify_nothing)
        Diagnostic.colored = Diagnostic.colored or args.syntax_highlight
        target = target_of(args.output, args.target)
        self.reporter.add_source(TARGET, target)
        self.chosen = ChosenTarget(*build_target(target, self.session.universe.all_targets))
        self.destination = Destination(
            args.input_file or "-",
            "-" if args.output is None else args.output,
            OutputFiles([f for f in (args.input_file, args.params) if f], args.overwrite),
            args.save_weights,
        )
        self.bindings = bindings_of(args.shape, args.dim, args.constant)
        if args.shapes_of:
            from ..array_files import open_arrays  # imports NumPy

            self.bindings = with_shapes(self.bindings, open_arrays(args.shapes_of, "input"))
        self.session.context.remarks = args.remarks
        self._set_runner()
        if args.summary and not self.chosen.is_default:
            raise CommandLineError("--summary prints no module: omit -t")
        if not args.run_reproducer:
            self._set_passes(args.pipeline)
        elif args.pipeline:
            raise CommandLineError("--run-reproducer has its own pipeline: omit -p")

    # What the options say.

    def _set_runner(self) -> None:
        args, runner = self.args, self.runner
        runner.verify_first = not args.disable_verify
        runner.verify_each = args.verify_each and not args.disable_verify
        runner.reproducer_path = args.crash_reproducer
        flags = {
            "--allow-unregistered-dialect": args.allow_unregistered_dialect,
            "--disable-verify": args.disable_verify,
            "--verify-each=false": not args.verify_each,
        }
        runner.flags = [flag for flag, is_given in flags.items() if is_given]
        self.session.dump(args, self._print_options())

    def _set_passes(self, text: str) -> None:
        steps = self.session.steps(text or self.chosen.pipeline)
        self._show_memory(steps)
        self.runner.steps = steps

    def _bind_inputs(self) -> None:
        """Let a program that is not converted with the bindings be bound by passes first."""
        steps = self.runner.steps
        if self.bindings and self.frontend != "onnx":
            from ...passes.infer_types import InferTypesPass

            bound = [*passes_of(self.bindings), *([] if steps else [InferTypesPass()])]
            self.runner.steps = [*map(Step, bound), *steps]
        if self.args.dump_pass_pipeline:
            print(pipeline_text(self.runner.steps), file=sys.stderr)

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
        if stop is not None:
            steps[:] = self.chosen.shown(steps)
        if args.memory_report is not None:
            from ...passes.report_memory import ReportMemoryPass

            steps[:] = opened(steps)
            memory_report = ReportMemoryPass(format=args.memory_report, dims=self._dims())
            steps.insert(report_index([s.run.name for s in steps]), Step(memory_report))

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

    # What is read.

    def execute(self) -> int:
        """Process the input; return the exit status."""
        with self.timer.span("read"):
            source = read_source(self.args.input_file)
        self.frontend, output = self._frontend(source), StringIO()
        frontend = self.frontend
        if not self.args.run_reproducer:
            self._bind_inputs()
        if self.args.summary and frontend == "onnx":
            failed = self._summarize(source, output)
        elif frontend == "onnx":
            failed = self._execute_part(lambda: self._onnx(source), output, None)
        else:
            failed = self._execute_parts(source, output, frontend)
        if self.args.shrink:
            print("Failure, can't shrink")
            return 1
        self._write(output.getvalue(), failed)
        return 1 if failed else 0

    def _frontend(self, source: Source) -> str:
        return self.args.frontend or require_frontend(source, "-f")

    def _onnx(self, source: Source) -> Given:
        return converted(load_onnx(self.session.context, source, self.bindings))

    def _execute_parts(self, source: Source, output: IO[str], frontend: str) -> bool:
        """Process the parts of a text; return whether any failed."""
        args, text = self.args, source.text()
        self.reporter.add_source(source.name, text)
        if args.run_reproducer:
            self._follow(read_recipe(text), source.name)
        parts = split(text) if args.split_input_file else [Part(text)]
        if args.split_input_file and (files := self.chosen.files) and not files.writes_parts:
            raise CommandLineError(
                f"-t {self.chosen.name} writes one program, not --split-input-file"
            )
        failed = False
        for i, part in enumerate(parts):
            if i:
                output.write(f"{SPLIT_MARK}\n")
                remarks = self.session.context.remarks
                self.session.renew()
                self.session.context.remarks = remarks
            failed |= self._execute_part(
                lambda part=part: self.session.read_part(
                    part, source.name, frontend, not args.no_implicit_module
                ),
                output,
                part.text,
            )
            if self.messages is not None:
                failed |= self._compare(part, source.name)
        return failed

    def _follow(self, recipe: Recipe | None, name: str) -> None:
        if recipe is None:
            raise UsageError(f"'{name}' is not a reproducer: it names no pipeline")
        self._set_passes(recipe.pipeline)
        self._bind_inputs()
        for flag in recipe.flags:
            if flag == "--allow-unregistered-dialect":
                self.session.context.allow_unregistered = True
            if flag == "--disable-verify":
                self.runner.verify_first = False
            if flag in ("--disable-verify", "--verify-each=false"):
                self.runner.verify_each = False

    def _execute_part(self, read: Callable[[], Given], output: IO[str], text: str | None) -> bool:
        """Read, run and print one part; return whether that failed."""
        if self.args.verify_diagnostics:
            self.messages = []
        try:
            with self.timer.span("parse"), self._guarded("while reading the input", text):
                program = read()
            self._keep_weights(program)
            self._run(program)
            with self.timer.span("output"), self._guarded("while writing the output", text):
                self._emit(program.module, output)
        except (PipelineError, ShrinkException):
            raise
        except Exception as error:
            self.fail(error)
            return self.messages is None
        return False

    @contextmanager
    def _guarded(self, during: str, text: str | None) -> Generator[None]:
        """Make errors that are not the user's internal ones, with a reproducer of `text`."""
        try:
            yield
        except ShrinkException:
            raise
        except Exception as error:
            if message_of(error) is not None:
                raise
            internal = InternalError(during, error)
            if text is not None:
                internal.reproducer = self.runner.write_text(text)
            raise internal from error

    def _summarize(self, source: Source, output: IO[str]) -> bool:
        """Write what an ONNX model has; return whether it cannot be converted."""
        try:
            summary, error = summarize_onnx(source, self.bindings)
        except DiagnosticException as wrong:
            self.fail(wrong)
            return True
        output.writelines(f"{line}\n" for line in summary.lines())
        if error is not None:
            self.fail(error)
        return error is not None

    def _compare(self, part: Part, name: str) -> bool:
        """Compare the messages with the comments of the part; return whether they differ."""
        from . import verify_diagnostics as expected

        assert self.messages is not None
        said, self.messages = self.messages, None
        lines = part.text.split("\n")
        wanted = list(expected.expectations(lines, part.lines_before + 1))
        wrong = expected.check(wanted, said, name)
        for message in wrong:
            self.reporter.report(message)
        return bool(wrong)

    # Weights.

    def _names_weights(self) -> bool:
        """Test whether the output names a file for the weights that came with the input."""
        return self.chosen.names_weights and not self.args.summary

    def _keep_weights(self, program: Given) -> None:
        """Keep the weights of a converted program, which the output names."""
        if not isinstance(program.weights, Mapping):
            return
        twice = [name for name in program.weights if name in self.weights]
        if twice:
            raise UsageError(
                f"two parts have a weight '{twice[0]}', but all weights are in one file: convert "
                "them one at a time"
            )
        self.weights |= program.weights
        name = self.destination.named_weights
        if name is not None and self._names_weights():
            from ...dialects.relay.constants import PARAMS_FILE

            program.module.attributes[PARAMS_FILE] = StringAttr(name)

    def _with_weights(self, module: ModuleOp) -> Given:
        """Return a program with its weights."""
        name, params = self.args.input_file or "-", self.args.params
        folder = Path() if name == "-" else Path(name).parent
        if self.weights:
            program = Given(module, self.weights)
        else:
            program = Given(module) if params else given(module, folder)
        if params is not None:
            from ..api.given_params import with_values

            program = with_values(program, params)
        if not self.args.random_weights or self.chosen.names_weights:
            return program
        from ..api.loaded import with_random_weights

        return with_random_weights(program, partial(inform, "xrelay-opt"), self.args.random_seed)

    # What is run and written.

    def _run(self, program: Given) -> None:
        module, context, params = program.module, self.session.context, self.args.params
        if params is not None:
            from ..api.given_params import bind_params

            arrays = bind_params(module, params, context, own=self.weights)
            self._keep_weights(Given(module, arrays or None))
        if not self.args.pipeline and self.chosen.pipeline and is_compiled(module):
            self.runner.steps = []
        target = self.chosen.files
        if target is None:
            self.runner.run(context, module)
            return
        to, stages = self.destination, self.args.save_temps
        self.written = target.written(
            Job(
                *(self.runner, context, self._with_weights(module)),
                *(Path(to.output), to.weights_file, self._print_options()),
                stages=None if stages is None else Path(stages),
            )
        )

    def _emit(self, module: ModuleOp, output: IO[str]) -> None:
        """Write the text of a module to `output`; none if a target writes its bytes."""
        chosen, context = self.chosen, self.session.context
        if self.args.summary:
            from .summary import summary_of

            name = self.args.input_file or "<stdin>"
            output.writelines(f"{line}\n" for line in summary_of(module, name).lines())
        elif chosen.is_default:
            print_module(context, module, output, self._print_options())
        elif self.written is None:
            chosen.emit(context, module, output, self._dims())
        elif self.args.split_input_file:
            output.write(b"".join(self.written.contents).decode())
            self.written = None

    def _write(self, text: str, failed: bool) -> None:
        """Write the output and its weights; after an error only text, and only to stdout."""
        to, written = self.destination, self.written
        if failed:
            if to.is_stdout:
                to.write_text(text)
            return
        if self._names_weights() or to.save_weights is not None:
            to.write_weights(self.weights)
        if written is None:
            to.write_text(text)
        else:
            to.write_weights(written.weights)
            to.write(written)

    # Messages.

    def say(self, message: Message, width: int = 1) -> None:
        """Show a message, or collect it for `--verify-diagnostics`."""
        if self.messages is None:
            self.reporter.report(message, width)
        else:
            self.messages.append(message)

    def fail(self, error: Exception) -> None:
        """Report an error; an internal one is raised again."""
        message = message_of(error)
        if message is None:
            raise error
        if self.messages is None:
            report(error, show=self.reporter.shown, traceback=self.args.traceback)
        else:
            self.messages.append(message[0])
