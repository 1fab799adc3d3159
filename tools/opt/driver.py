"""
The driver of `xrelay-opt`: read a module, run passes on it, print it.

It extends xDSL's driver by errors with source lines, our verifier, dumps and times on stderr,
named pipelines, and reproducers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import DiagnosticException, ShrinkException

from ...runtime.errors import Error
from ..api.program_formats import EXTENSION, load_onnx, load_relay
from ..api.source import SPLIT_MARK, Part, Source, read_source, split
from ..errors import CommandLineError, UsageError
from ..messages import Reporter, message_of
from ..pass_run import reproducer
from ..pass_run.runner import InternalError
from ..registry import named_pipelines
from ..targets.destination import inform
from ..text.parser import LocatingParser
from ..text.printing import print_module
from .driver_setup import ConfiguredOpt
from .list_passes import list_passes

if TYPE_CHECKING:
    from ...frontends.conversion import Conversion
    from ...runtime.program.program import Array
    from ..api.compiler import Given
    from ..targets.file_target import Written


class XRelayOpt(ConfiguredOpt):
    """One run of the driver, with all of its state."""

    def __init__(self, args: Sequence[str] | None, reporter: Reporter):
        self.written: Written | None = None
        """The output if a target writes it as bytes."""
        self.weights: dict[str, Array] = {}
        """The weights that came with the input."""
        self.program: Given | None = None
        """The module and its weights, once they are known."""
        super().__init__(args, reporter)

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
        self._write(output.getvalue(), failed)
        return 1 if failed else 0

    def _write(self, text: str, failed: bool) -> None:
        """Write the output and its weights; after an error only text, and only to stdout."""
        to, written = self.destination, self.written
        if failed:
            if to.is_stdout:
                to.write_text(text)
            return
        if self._names_weights():
            to.write_weights(self.weights)
        if written is None:
            to.write_text(text)
        else:
            to.write_weights(written.weights)
            to.write(written)

    def _names_weights(self) -> bool:
        """Test whether the output names a file for the weights that came with the input."""
        return self.chosen.names_weights and not self.args.summary

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
        if self.args.split_input_file and self.chosen.files is not None:
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
            from ...dialects.relay.constants import PARAMS_FILE

            conversion.module.attributes[PARAMS_FILE] = StringAttr(
                self.destination.weights_file.name
            )
        return conversion.module

    def _given(self, module: ModuleOp) -> Given:
        """Return a program with its weights."""
        from ..api.compiler import Given, given, with_random_weights

        name = self.args.input_file or "-"
        folder = Path() if name == "-" else Path(name).parent
        if self.weights:
            program = Given(module, self.weights)
        else:
            program = Given(module) if self.args.params else given(module, folder)
        if self.args.params is not None:
            from ..api.given_params import with_values

            program = with_values(program, self.args.params)
        if not self.args.random_weights or self.chosen.names_weights:
            return program
        return with_random_weights(program, inform)

    @override
    def apply_passes(self, prog: ModuleOp) -> None:
        if self.args.params is not None:
            from ...frontends.conversion import Conversion
            from ..api.given_params import bind_params

            arrays = bind_params(prog, self.args.params, self.ctx, own=self.weights)
            self._converted(Conversion(prog, arrays))
        target = self.chosen.files
        if target is None:
            if self.chosen.linalg is not None:
                self.program = self._given(prog)  # now: passes turn what names weights into linalg
            self.runner.run(self.ctx, prog)
            return
        from ..targets.file_target import Job

        to, stages = self.destination, self.args.save_temps
        job = Job(
            *(self.runner, self.ctx, self._given(prog), Path(to.output), to.weights_file),
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
        linalg = self.chosen.linalg
        if linalg is not None:
            from ..targets.file_target import Written

            assert self.program is not None, "passes are applied before"
            pieces = linalg.pieces(self.ctx, self.program, self._print_options())
            if self.args.split_input_file:
                return b"".join(pieces).decode()
            self.written = Written(pieces, is_text=True)
            return ""
        target = self.chosen.plan
        if target is None and not self.chosen.is_default:
            return super().output_resulting_program(prog)
        output = StringIO()
        if target is not None:
            chosen = replace(cast(Any, target), dims=self._dims()) if self.args.plan_dim else target
            chosen.emit(self.ctx, prog, output)
            return output.getvalue()
        print_module(self.ctx, prog, output, self._print_options())
        return output.getvalue()
