"""
The driver of `xrelay-opt`: read a module, run passes on it, print it.

It extends xDSL's driver by errors with source lines, our verifier, dumps and times on stderr,
named pipelines, and reproducers.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import signature
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, cast

from typing_extensions import override
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import PassPipeline
from xdsl.utils.exceptions import DiagnosticException, ShrinkException
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from ..dialects.errors import TOO_DEEP
from ..passes.support.diagnostics import Message, ReportingContext, Severity
from ..runtime.errors import Error
from . import arguments, reproducer
from .bindings import UNBOUND, bindings_of, passes_of, with_shapes
from .diagnostics import PipelineError, Reporter, message_of
from .errors import CommandLineError, UsageError
from .inputs import EXTENSION, FRONTENDS, frontend_of, load_onnx, load_relay
from .ir_dumps import Dumps
from .listing import list_passes
from .option_types import with_report_format
from .output_files import OutputFiles
from .parser import LocatingParser
from .pipeline import (
    PIPELINE,
    TARGET,
    TO_BYTECODE,
    Step,
    TargetText,
    build,
    pass_names,
    pipeline_text,
)
from .plugins import load_universe
from .printing import PrintOptions, print_module
from .registry import named_pipelines
from .resources import with_own_resources
from .runner import InternalError, Runner
from .source import SPLIT_MARK, Part, Source, extension_of, read_source, split
from .timing import Timer

if TYPE_CHECKING:
    from ..frontends.conversion import Conversion
    from ..runtime.program import Array
    from .compiler import Given
    from .file_target import FileTarget, Written
    from .linalg_target import LinalgTarget

WEIGHTS_SUFFIX = ".safetensors"

FILE_TARGETS = ("executable", "native", "object", "c-header")
"""The targets that write files themselves."""

LINALG = "linalg"
"""The target that writes linalg."""


class XRelayOpt(xDSLOptMain):
    """One run of the driver, with all of its state."""

    ctx: ReportingContext  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, args: Sequence[str] | None, reporter: Reporter):
        self.reporter = reporter
        self.timer = Timer()
        self.messages: list[Message] | None = None
        """Messages collected for `--verify-diagnostics`; None when they are shown."""
        self.bindings = UNBOUND
        """Sizes and values of the program's inputs."""
        self.written: Written | None = None
        """The output if a target writes it as bytes."""
        self.weights: dict[str, Array] = {}
        """The weights that came with the input."""
        self.universe = load_universe(self._warn)
        self.runner = Runner(timer=self.timer, progress=reporter.progress)
        args = sys.argv[1:] if args is None else args
        super().__init__(args=with_report_format(args))

    # Registration.

    def _warn(self, text: str) -> None:
        self.reporter.report(Message(Severity.WARNING, text))

    @override
    def register_all_dialects(self) -> None:
        self.ctx = ReportingContext(handler=self.say)
        for name, factory in self.universe.all_dialects.items():
            self.ctx.register_dialect(name, with_own_resources(factory))

    @override
    def register_all_frontends(self) -> None:
        self.available_frontends |= dict.fromkeys(FRONTENDS, self._unused_frontend)

    def _unused_frontend(self, io: IO[bytes]) -> NoReturn:
        """Stand in for a frontend: xDSL checks the names, and `_parse` reads the input."""
        raise AssertionError("inputs are read by XRelayOpt itself")

    @override
    def register_all_passes(self) -> None:
        for name, factory in self.universe.all_passes.items():
            self.register_pass(name, factory)

    @override
    def register_all_targets(self) -> None:
        self.available_targets |= self.universe.all_targets

    @override
    def register_all_arguments(self, arg_parser: ArgumentParser) -> None:
        arguments.add_arguments(arg_parser, self.available_frontends, self._target_text)

    def _target_text(self, text: str) -> str:
        """Parse the text of `-t`; return it for xDSL, which knows no other target of ours."""
        self.reporter.add_source(TARGET, text)
        self.target_text = TargetText.parse(text)
        return str(self.target_text)

    @override
    def setup_pipeline(self) -> None:
        args = self.args
        self.target = self._target()
        self.bindings = bindings_of(args.shape, args.dim, args.input)
        if args.inputs:
            from .array_files import open_arrays  # imports NumPy

            self.bindings = with_shapes(self.bindings, open_arrays(args.inputs, "input"))
        assert isinstance(self.ctx, ReportingContext)
        self.ctx.remarks = args.remarks
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
        if args.summary and self.target_text.name != "mlir":
            raise CommandLineError("--summary prints no module: omit -t")
        if not args.run_reproducer:
            self._set_passes(args.passes)
        elif args.passes:
            raise CommandLineError("--run-reproducer has its own pipeline: omit -p")

    def _pass_names(self, option: str, text: str) -> frozenset[str]:
        """Return the pass names in the comma-separated `text`, with pipelines expanded."""
        try:
            return frozenset(pass_names(text, self.available_passes, named_pipelines))
        except PipelineError as error:
            raise CommandLineError(f"{option}: {error}") from None

    def _set_passes(self, text: str) -> None:
        text = text or self._pipeline_of_target()
        self.reporter.add_source(PIPELINE, text)
        steps = build(text, self.available_passes, named_pipelines, PIPELINE)
        self._show_memory(steps)
        if self.bindings and self._frontend_name() != "onnx":
            from ..passes.infer_types import InferTypesPass

            bound = [*passes_of(self.bindings), *([] if steps else [InferTypesPass()])]
            steps[:0] = map(Step, bound)
        self.runner.steps = steps
        self.pipeline = PassPipeline(tuple(step.run for step in steps))
        if self.args.dump_pass_pipeline:
            print(pipeline_text(steps), file=sys.stderr)

    def _target(self) -> Target | None:
        """Return the target that is given, unless it is one of xDSL, which print."""
        name = self.target_text.name
        entry = self.available_targets[name]
        if signature(entry).parameters:
            return None
        cls = cast(Callable[[], type[Target]], entry)()
        target = self.target_text.make(cls)
        is_ours = name in (*FILE_TARGETS, LINALG) or hasattr(cls, "reads_before")
        return target if is_ours else None

    def _plan_target(self) -> Target | None:
        """Return the target that shows memory, and stops the pipeline, if one is given."""
        return self.target if hasattr(self.target, "reads_before") else None

    def _file_target(self) -> FileTarget | None:
        """Return the target that writes files, if one is given."""
        is_one = self.target_text.name in FILE_TARGETS
        return cast("FileTarget", self.target) if is_one else None

    def _linalg_target(self) -> LinalgTarget | None:
        """Return the target that writes linalg, if it is given."""
        return cast("LinalgTarget", self.target) if self.target_text.name == LINALG else None

    def _pipeline_of_target(self) -> str:
        """Return the pipeline that the target names to be run if none is given."""
        target = self._linalg_target()
        return "" if target is None else target.pipeline

    def _dims(self) -> tuple[str, ...]:
        return tuple(f"{dim}={size}" for dim, size in self.args.plan_dim.items())

    def _show_memory(self, steps: list[Step]) -> None:
        """Insert the memory report, and drop the steps after the one that the target reads."""
        args, target = self.args, self._plan_target()
        if args.save_temps and self.target_text.name not in ("native", "object"):
            raise CommandLineError("--save-temps needs -t native or -t object")
        if args.plan_dim and args.memory_report is None and target is None:
            message = "--plan-dim needs --memory-report, or a target that shows memory"
            raise CommandLineError(message)
        names = [step.run.name for step in steps]
        stop = getattr(target, "reads_before", None)
        if stop in names:
            del steps[names.index(stop) :]
        if args.memory_report is not None:
            from ..passes.report_memory import ReportMemoryPass

            report = ReportMemoryPass(format=args.memory_report, dims=self._dims())
            at = names.index(TO_BYTECODE) if TO_BYTECODE in names else len(steps)
            steps.insert(at, Step(report))

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

    # Messages.

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

    # Execution.

    def execute(self) -> int:
        """Run what the command line requests; return the exit status."""
        if self.args.list_passes:
            sys.stdout.write(list_passes(self.available_passes, named_pipelines()))
            return 0
        with self.timer.span("read"):
            source = read_source(self.args.input_file)
        frontend = self._frontend(source)
        output = StringIO()
        try:
            if self.args.summary and frontend == "onnx":
                failed = self._summarize(source, output)
            elif frontend != "onnx":
                failed = self._execute_parts(source, output, frontend)
            else:
                failed = self._execute_part(lambda: self._load_onnx(source), output, None)
        except ShrinkException:
            if not self.args.shrink:
                raise
            print("Success, can shrink")
            return 0
        finally:
            if self.args.timing:
                self.timer.print(sys.stderr)
        if self.args.shrink:
            print("Failure, can't shrink")
            return 1
        if not failed:
            self._write_weights()
        if self.written is not None and not failed:
            self._write_files(self.written)
        elif self._is_stdout():
            sys.stdout.write(output.getvalue())
            sys.stdout.flush()
        elif not failed:
            self._files().write(self.args.output_file, output.getvalue())
        return 1 if failed else 0

    def _is_stdout(self) -> bool:
        return self.args.output_file in (None, "-")

    def _is_device(self) -> bool:
        """Test whether the output is a device or a pipe, which has no files beside it."""
        path = Path(self.args.output_file) if not self._is_stdout() else None
        return path is not None and path.exists() and not path.is_file()

    def _files(self) -> OutputFiles:
        inputs = [name for name in (self.args.input_file, self.args.params) if name is not None]
        return OutputFiles(inputs, self.args.overwrite)

    def _weights_file(self) -> Path:
        """Return the file for weights: beside the output, or here if that is stdout."""
        name = self.args.input_file or "-"
        out = (Path(name).name if name != "-" else "stdin") if self._is_stdout() else None
        return Path(out or self.args.output_file).with_suffix(WEIGHTS_SUFFIX)

    def _write_weights(self) -> None:
        """Write the weights that the output does not have but names, and say where they are."""
        is_named = self.written is None and self._names_weights()
        weights = self.weights if is_named else self.written.weights if self.written else {}
        if not weights:
            return
        if self._is_device():
            self._inform(f"the weights are not written: '{self.args.output_file}' is not a file")
            return
        from ..runtime.tensor_file import write_side_file

        path, files = self._weights_file(), self._files()
        program = Path(self.args.input_file or "-" if self._is_stdout() else self.args.output_file)
        files.check(str(path))
        write_side_file(path, weights, program.name, overwrite=files.overwrite)
        self._inform(f"the weights are in {path}")

    def _inform(self, text: str) -> None:
        print(f"xrelay-opt: {text}", file=sys.stderr)

    def _names_weights(self) -> bool:
        """Test whether the output names a file of weights, rather than having them itself."""
        linalg = self._linalg_target()
        has_them = self._file_target() or (linalg and linalg.weights == "embedded")
        return not (has_them or self.args.summary) and self._plan_target() is None

    def _frontend_name(self) -> str:
        return self.args.frontend or frontend_of(extension_of(self.args.input_file))

    def _frontend(self, source: Source) -> str:
        name = self._frontend_name()
        if name not in self.available_frontends:
            extensions = [EXTENSION.get(n, n) for n in self.available_frontends]
            known = ", ".join(f".{extension}" for extension in extensions)
            raise UsageError(
                f"cannot tell what '{source.name}' is: its extension is not one of "
                f"{known}; say what it is with -f"
            )
        return name

    def _execute_parts(self, source: Source, output: IO[str], frontend: str) -> bool:
        """Process the parts of a text; return whether any failed."""
        text = source.text()
        self.reporter.add_source(source.name, text)
        if self.args.run_reproducer:
            self._follow(reproducer.read(text), source.name)
        parts = split(text) if self.args.split_input_file else [Part(text)]
        if self.args.split_input_file and self._file_target() is not None:
            raise CommandLineError(
                f"-t {self.args.target} writes one program, not --split-input-file"
            )
        failed = False
        for i, part in enumerate(parts):
            if i:
                output.write(f"{SPLIT_MARK}\n")
                self.register_all_dialects()
                self.ctx.allow_unregistered = self.args.allow_unregistered_dialect
            failed |= self._execute_part(
                lambda part=part: self._parse(part, source.name, frontend), output, part.text
            )
            if self.messages is not None:
                failed |= self._compare(part, source.name)
        return failed

    def _follow(self, recipe: reproducer.Recipe | None, name: str) -> None:
        if recipe is None:
            raise UsageError(f"'{name}' is not a reproducer: it names no pipeline")
        self._set_passes(recipe.pipeline)
        for flag in recipe.flags:
            if flag == "--allow-unregistered-dialect":
                self.ctx.allow_unregistered = True
            if flag == "--disable-verify":
                self.runner.verify_first = False
            if flag in ("--disable-verify", "--verify-each=false"):
                self.runner.verify_each = False

    def _execute_part(
        self, parse: Callable[[], ModuleOp], output: IO[str], text: str | None
    ) -> bool:
        """Parse, run and print one part; return whether that failed."""
        if self.args.verify_diagnostics:
            self.messages = []
        try:
            try:
                with self.timer.span("parse"):
                    module = parse()
            except (RecursionError, DiagnosticException, ShrinkException):
                raise
            except Exception as error:
                if message_of(error) is not None:
                    raise
                raise self._internal("while reading the input", error, text) from error
            self.apply_passes(module)
            with self.timer.span("output"):
                try:
                    output.write(self.output_resulting_program(module))
                except (RecursionError, MemoryError, DiagnosticException, Error, ShrinkException):
                    raise
                except Exception as error:
                    raise self._internal("while writing the output", error, text) from error
        except ShrinkException:
            raise
        except Exception as error:
            self.fail(error)
            return self.messages is None
        return False

    def _summarize(self, source: Source, output: IO[str]) -> bool:
        """Write what an ONNX model has; return whether it cannot be converted."""
        from .summary import summary_of_model

        try:
            summary, error = summary_of_model(source, self.bindings)
        except DiagnosticException as wrong:
            self.fail(wrong)
            return True
        output.writelines(f"{line}\n" for line in summary.lines())
        if error is not None:
            self.fail(error)
        return error is not None

    def _internal(self, during: str, error: Exception, text: str | None) -> InternalError:
        internal = InternalError(during, error)
        if text is not None:
            internal.reproducer = self.runner.write_text(text)
        return internal

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

    def _parse(self, part: Part, name: str, frontend: str) -> ModuleOp:
        if frontend != "mlir":
            return self._converted(load_relay(self.ctx, frontend, part, name))
        parser = LocatingParser(self.ctx, part.text, name, part.lines_before)
        return parser.parse_module(not self.args.no_implicit_module)

    def _load_onnx(self, source: Source) -> ModuleOp:
        return self._converted(load_onnx(self.ctx, source, self.bindings))

    def _converted(self, conversion: Conversion) -> ModuleOp:
        """Return a converted module; its weights are known from then on."""
        if not conversion.params:
            return conversion.module
        twice = [name for name in conversion.params if name in self.weights]
        if twice:
            raise UsageError(
                f"two parts have a weight '{twice[0]}', but all weights are in one file: convert "
                "them one at a time"
            )
        self.weights |= conversion.params
        if self._names_weights():
            from ..dialects.relay.constants import PARAMS_FILE

            conversion.module.attributes[PARAMS_FILE] = StringAttr(self._weights_file().name)
        return conversion.module

    def _given(self, module: ModuleOp) -> Given:
        """Return a program with its weights."""
        from .compiler import Given, given, with_random_weights

        name = self.args.input_file or "-"
        folder = Path() if name == "-" else Path(name).parent
        if self.args.params is not None:
            program = Given(module, Path(self.args.params))
        else:
            program = Given(module, self.weights) if self.weights else given(module, folder)
        if not self.args.random_weights:
            return program
        return with_random_weights(program, self._inform)

    @override
    def apply_passes(self, prog: ModuleOp) -> None:
        target = self._file_target()
        if target is None:
            self.runner.run(self.ctx, prog)
            return
        from .file_target import Job

        output, stages = self.args.output_file or "-", self.args.save_temps
        job = Job(
            *(self.runner, self.ctx, self._given(prog), Path(output), self._weights_file()),
            stages=stages and Path(stages),
        )
        self.written = target.written(job)

    @override
    def output_resulting_program(self, prog: ModuleOp) -> str:
        if self.args.summary:
            from .summary import summary_of

            name = self.args.input_file or "<stdin>"
            return "".join(f"{line}\n" for line in summary_of(prog, name).lines())
        if self.written is not None:
            return ""
        linalg = self._linalg_target()
        if linalg is not None:
            from .file_target import Written

            pieces = linalg.pieces(self.ctx, self._given(prog), self._print_options())
            if self.args.split_input_file:
                return b"".join(pieces).decode()
            self.written = Written(pieces, is_text=True)
            return ""
        target = self._plan_target()
        if target is None and self.target_text.name != "mlir":
            return super().output_resulting_program(prog)
        output = StringIO()
        if target is not None:
            chosen = replace(cast(Any, target), dims=self._dims()) if self.args.plan_dim else target
            chosen.emit(self.ctx, prog, output)
            return output.getvalue()
        print_module(self.ctx, prog, output, self._print_options())
        return output.getvalue()

    def _write_files(self, written: Written) -> None:
        """Write files piece by piece, the output last."""
        if not self._is_stdout():
            files, path = self._files(), self.args.output_file
            if not self._is_device():
                for name, pieces in written.beside.items():
                    files.write(str(Path(path).with_name(name)), pieces)
            files.write(path, written.contents)
            return
        stream = getattr(sys.stdout, "buffer", None)
        if written.is_text and stream is None:
            sys.stdout.writelines(str(piece, "utf-8") for piece in written.contents)
            return
        if written.beside:
            raise UsageError("the output is several files: give a file with -o")
        if stream is None or (not written.is_text and sys.stdout.isatty()):
            raise UsageError("the output is not text: give a file with -o")
        sys.stdout.flush()
        stream.writelines(written.contents)
        stream.flush()
