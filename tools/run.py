"""
The command `xrelay-run`: compile a program to bytecode, run it, and print its outputs.

    xrelay-run model.onnx --random-seed 0 --stats

The file is IR text of any level down to bytecode, an ONNX model, or a Relay program. Inputs come
from an `.npz` file or a seed, parameters from the module's weights file, another one, or a seed.
With `--evaluate` nothing is compiled: the reference evaluator runs the program as it is.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from ..dialects.errors import TOO_DEEP
from ..passes.support.diagnostics import Message, Note, Severity
from ..runtime.errors import MachineError
from ..runtime.kernels.memory import Memory
from ..runtime.random_inputs import random_inputs, random_parameters
from .arguments import AddDim, add_memory_report, count, dim, size, with_report_format
from .commands import describe, guarded
from .compile_input import Loader
from .diagnostics import (
    CommandLineError,
    Reporter,
    UsageError,
    exit_status,
    message_of,
    place,
    warnings_shown,
)
from .executables import Compiled, Evaluated, Executable, Limits
from .inputs import FRONTENDS
from .memory_of_run import memory_of_run
from .npz import FileError
from .open_dims import bind_dims
from .process import settings
from .run_files import Array, Arrays, read_inputs, read_parameters, write_outputs
from .run_report import output_lines
from .runner import InternalError

CURE = "--params, or --random-seed and --random-params to draw them"
"""The cure when a weights file lacks something."""


@dataclass
class Options:
    """The parsed command line."""

    file: str
    frontend: str | None
    allow_unregistered_dialect: bool
    inputs: str | None
    random_seed: int | None
    random_params: bool
    dim: list[tuple[str, int]]
    outputs: str | None
    stats: bool
    memory_report: str | None
    function: str
    pipeline: str | None
    evaluate: bool
    params: str | None
    memory_limit: int | None
    max_instructions: int | None
    poison: bool
    traceback: bool

    @property
    def limits(self) -> Limits:
        """The bounds of the run."""
        return Limits(Memory(self.memory_limit, self.poison), self.max_instructions)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(text)
    return int(text)


def parse_arguments(argv: Sequence[str]) -> Options:
    """Parse `argv`; `UsageError` when it is wrong."""
    parser = ArgumentParser(prog="xrelay-run", description=_description())

    def fail(message: str) -> NoReturn:
        raise CommandLineError(f"{message} (see xrelay-run --help)")

    parser.error = fail
    parser.add_argument(
        "file",
        help="IR text of any level, an ONNX model, Relay text, or a module that TVM saved as "
        "JSON; '-' is stdin",
    )
    parser.add_argument(
        "-f",
        "--frontend",
        choices=FRONTENDS,
        help="the format of the file (default: that of its extension, or IR text)",
    )
    parser.add_argument(
        "--allow-unregistered-dialect",
        action="store_true",
        help="accept ops of unregistered dialects, and operators of Relay programs that the "
        "dialect does not have",
    )
    parser.add_argument("--inputs", metavar="NPZ", help="the inputs, by parameter name")
    parser.add_argument(
        "--random-seed",
        metavar="N",
        type=_seed,
        help="draw inputs that are not in a file at random, with this seed, and the parameters "
        "when there is no weights file",
    )
    parser.add_argument(
        "--random-params",
        action="store_true",
        help="with --random-seed: draw parameters that the weights file lacks, or all when it is "
        "missing",
    )
    parser.add_argument(
        "--dim",
        metavar="DIM=SIZE",
        type=dim,
        action=AddDim,
        default=[],
        help="with --random-seed: the size of a dynamic dim of inputs to draw, by its name (n=3) "
        "or by parameter and axis (x:0=3); repeat for other dims",
    )
    parser.add_argument("--outputs", metavar="NPZ", help="the file to write the outputs to")
    parser.add_argument(
        "--stats", action="store_true", help="print counts of instructions and memory"
    )
    add_memory_report(
        parser, "print the memory that was planned and used, for the shapes of the run, to stderr"
    )
    parser.add_argument("--function", default="main", help="the function to run (default: main)")
    parser.add_argument(
        "--pipeline",
        help="the passes that compile the program to bytecode (default: vm, with the function that "
        "is run as the only entry), or that run before --evaluate (default: infer-types)",
    )
    parser.add_argument(
        "--evaluate",
        action="store_true",
        help="evaluate the program op by op instead of compiling it",
    )
    parser.add_argument("--params", metavar="SAFETENSORS", help="the parameters, by name")
    parser.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=size,
        help="the maximum memory of the program: bytes, or 512M, 4G (default: half of what is "
        "available)",
    )
    parser.add_argument(
        "--max-instructions",
        metavar="N",
        type=count,
        help="stop with an error after this many instructions, or ops with --evaluate "
        "(default: never)",
    )
    parser.add_argument(
        "--poison",
        action="store_true",
        help="for debugging: fill memory that the program has not written with NaN, not zeros",
    )
    parser.add_argument("--traceback", action="store_true", help="show where errors are raised")
    found: Namespace = parser.parse_args(with_report_format(argv))
    options = Options(**vars(found))
    if options.evaluate and options.stats:
        fail("--stats counts what the machine does, but --evaluate does not use it")
    if options.evaluate and options.memory_report is not None:
        fail("--memory-report shows what the machine allocates, but --evaluate does not use it")
    if options.random_params and options.random_seed is None:
        fail("--random-params needs --random-seed")
    if options.dim and options.random_seed is None:
        fail("--dim needs --random-seed: inputs from a file have their own shapes")
    return options


def _description() -> str:
    return "Compile a program to bytecode, run it, and show its outputs; or evaluate it as it is."


def _inputs(options: Options, executable: Executable, memory: Memory) -> list[Array]:
    functions = executable.functions
    params = functions.get(options.function)
    if params is None:
        known = ", ".join(functions) or "none"
        raise UsageError(f"unknown function '{options.function}'; the program has: {known}")
    given: Arrays = {}
    if options.inputs is not None:
        given = read_inputs(options.inputs, options.function, params)
    missing = [param for param in params if param.name not in given]
    if missing and options.random_seed is None:
        name, spec = missing[0].name, missing[0].spec or "not a tensor"
        raise UsageError(
            f"no value for input '{name}' ({spec}); give --inputs, or --random-seed to draw it"
        )
    if options.random_seed is not None and (missing or options.dim):
        bound = bind_dims(options.function, params, given, dict(options.dim))
        given |= random_inputs(bound, options.random_seed, memory)
    return [given[param.name] for param in params]


def _parameters(
    options: Options, executable: Executable, weights: Path | None, memory: Memory
) -> Arrays:
    late = executable.weights
    wanted = [weight.name for weight in late]
    path = Path(options.params) if options.params is not None else weights
    found: Arrays = {}
    if wanted and path is not None and (options.params is not None or path.exists()):
        found = read_parameters(path, wanted)
    elif wanted and path is not None and not options.random_params:
        raise UsageError(f"there is no file '{path}', which the module names; give {CURE}")
    missing = [weight for weight in late if weight.name not in found]
    if not missing:
        return found
    drawn = path is None or options.random_params
    if options.random_seed is None or not drawn:
        where = "no weights file is named" if path is None else f"{path} has none"
        cure = "--params, or --random-seed to draw it" if path is None else CURE
        raise UsageError(
            f"no value for parameter '{missing[0].name}' ({missing[0].spec}): {where}; give {cure}"
        )
    return found | random_parameters(missing, options.random_seed, memory)


def run(options: Options, loader: Loader) -> None:
    """Run the program; raises errors that `message_of` accepts, and `MachineError`."""
    pipeline = options.pipeline or ("infer-types" if options.evaluate else None)
    with TemporaryDirectory(prefix="xrelay-run-") as folder:
        loaded = loader.load(
            options.file,
            pipeline,
            Path(folder),
            options.frontend,
            options.allow_unregistered_dialect,
            reads_memory=options.memory_report is not None,
            entry=options.function,
        )
        limits = options.limits
        executable = (
            Evaluated(loaded.module, limits)
            if options.evaluate
            else Compiled(loaded.program, limits, loaded.types)
        )
        inputs = _inputs(options, executable, limits.memory)
        parameters = _parameters(options, executable, loaded.weights, limits.memory)
        outputs = executable.run(options.function, inputs, parameters)
        names = loaded.output_names(options.function, len(outputs))
        for name, value in zip(names, outputs, strict=True):
            print("\n".join(output_lines(name, value)))
        if options.stats:
            print("\n".join(executable.stats()))
        if loaded.memory is not None and isinstance(executable, Compiled):
            shapes = [getattr(value, "shape", ()) for value in inputs]
            run_of = memory_of_run(loaded.memory, options.function, shapes, executable)
            print("\n".join(run_of.lines(options.memory_report)), file=sys.stderr)
        if options.outputs is not None:
            write_outputs(options.outputs, dict(zip(names, outputs, strict=True)))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `xrelay-run` with `argv` (default: the process's); return the exit status."""
    with settings():
        return guarded("xrelay-run", lambda: _main(sys.argv[1:] if argv is None else argv))


def _main(argv: Sequence[str]) -> int:
    reporter = Reporter()
    name = "xrelay-run"
    try:
        options = parse_arguments(argv)
        name = "<stdin>" if options.file == "-" else options.file
        with warnings_shown(reporter):
            run(options, Loader(reporter))
        return 0
    except OSError:
        raise
    except Exception as error:
        if "--traceback" in argv:
            import traceback

            traceback.print_exception(error)
        _report(error, name, reporter)
        return exit_status(error)


def _report(error: BaseException, name: str, reporter: Reporter) -> None:
    if isinstance(error, MachineError):
        at = None if error.location is None else place(*error.location)
        found = Message(Severity.ERROR, str(error), at), 1
    elif isinstance(error, RecursionError):
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


if __name__ == "__main__":
    sys.exit(main())
