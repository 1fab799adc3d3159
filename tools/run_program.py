"""Compile a program, or read one to evaluate, and run it: the part of `xrelay-run` with xDSL."""

import sys
from time import perf_counter_ns

from ..dialects.errors import TOO_DEEP
from ..passes.support.diagnostics import Message, Note, Severity
from .commands import describe
from .compile_input import Loader
from .diagnostics import Reporter, message_of, warnings_shown
from .errors import CommandLineError, FileError, exit_status
from .evaluated import Evaluated
from .executables import Compiled
from .execution import execute, limits_of
from .memory_of_run import memory_of_run
from .native_kernels import native_kernels
from .process import settings
from .progress import Progress
from .run_files import read_parameters
from .run_options import Options
from .runner import InternalError


def run_program(options: Options) -> int:
    """Run a program that is not an executable; report errors, and return the exit status."""
    name = "<stdin>" if options.file == "-" else options.file
    reporter = Reporter(progress=Progress())
    with settings():
        try:
            with warnings_shown(reporter):
                if options.verify:
                    raise CommandLineError("--verify is for executables")
                _run(options, Loader(reporter))
            return 0
        except OSError:
            raise
        except Exception as error:
            if options.traceback:
                import traceback

                traceback.print_exception(error)
            _report(error, name, reporter)
            return exit_status(error)


def _run(options: Options, loader: Loader) -> None:
    pipeline = options.pipeline or ("infer-types" if options.evaluate else None)
    start = perf_counter_ns()
    loaded = loader.load(
        options.file,
        pipeline,
        options.frontend,
        options.allow_unregistered_dialect,
        reads_memory=options.memory_report is not None,
        entry=options.function,
        keeps_kernels=options.kernels == "native",
    )
    limits = limits_of(options)
    executable = (
        Evaluated(loaded, limits)
        if options.evaluate
        else Compiled(loaded.program, limits, native_kernels(loaded, loader.context))
    )
    prepared = "compile", perf_counter_ns() - start
    inputs = execute(
        *(options, executable, loaded.weights, limits.memory, read_parameters, prepared)
    )
    if loaded.memory is not None and isinstance(executable, Compiled):
        shapes = [getattr(value, "shape", ()) for value in inputs]
        run_of = memory_of_run(loaded.memory, options.function, shapes, executable)
        print("\n".join(run_of.lines(options.memory_report)), file=sys.stderr)


def _report(error: BaseException, name: str, reporter: Reporter) -> None:
    if isinstance(error, RecursionError):
        found = Message(Severity.ERROR, TOO_DEEP), 1
    else:
        found = message_of(error)
    if found is None:
        text = str(error) if isinstance(error, InternalError) else describe(error)
        text = text if isinstance(error, InternalError) else f"internal error: {text}"
        hint = Note("this is not your mistake; --traceback shows where it was raised", None)
        found = Message(Severity.ERROR, text, None, (hint,)), 1
    message, width = found
    if message.location is None:
        name = error.file if isinstance(error, FileError) else name
        print(f"{name}: ", end="", file=sys.stderr)
    reporter.report(message, width)
