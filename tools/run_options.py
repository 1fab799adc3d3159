"""The command line of `xrelay-run`. Imports nothing heavy."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from .errors import CommandLineError
from .inputs import FRONTENDS
from .option_types import (
    PROFILE,
    AddDim,
    add_memory_report,
    add_report,
    count,
    dim,
    positive,
    size,
    with_report_format,
)


@dataclass
class Options:
    """The parsed command line."""

    file: str
    frontend: str | None
    allow_unregistered_dialect: bool
    inputs: str | None
    random_seed: int | None
    random_weights: bool
    dim: list[tuple[str, int]]
    outputs: str | None
    overwrite: bool
    stats: bool
    benchmark: int | None
    memory_report: str | None
    function: str
    pipeline: str | None
    evaluate: bool
    kernels: str
    params: str | None
    memory_limit: int | None
    max_instructions: int | None
    poison: bool
    sanitize: bool
    profile: str | None
    trace: str | None
    verify: bool
    traceback: bool


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
        help="an executable, IR text of any level, an ONNX model, Relay text, or a module that TVM "
        "saved as JSON; '-' is stdin",
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
        help="draw inputs that are not in a file at random, with this seed",
    )
    parser.add_argument(
        "--random-weights",
        action="store_true",
        help="draw weights that no file has at random, with the seed of --random-seed, or 0",
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
        "--overwrite",
        action="store_true",
        help="let outputs replace inputs, and files of another kind",
    )
    parser.add_argument(
        "--stats", action="store_true", help="print counts of instructions and memory"
    )
    parser.add_argument(
        "--benchmark",
        metavar="N",
        type=positive,
        help="time N more calls, after some to warm up, and print what the program took before",
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
    parser.add_argument(
        "--kernels",
        choices=("numpy", "native"),
        default="numpy",
        help="what computes: NumPy, or machine code that LLVM compiles where it can (needs "
        "'xrelay[native]'; default: numpy)",
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
    parser.add_argument(
        "--sanitize",
        action="store_true",
        help="for debugging: report tensors that are read after their bytes were overwritten, and "
        "kernels that write elsewhere, change inputs or do not write all of their outputs",
    )
    add_report(
        parser, PROFILE, "print the time by operator and source line, and allocations, to stderr"
    )
    parser.add_argument(
        "--trace",
        metavar="JSON",
        help="write when each operator ran, and the live memory, for ui.perfetto.dev",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="check every byte of the constants of an executable (default: all of small ones, and "
        "samples of others)",
    )
    parser.add_argument("--traceback", action="store_true", help="show where errors are raised")
    found: Namespace = parser.parse_args(with_report_format(argv))
    options = Options(**vars(found))
    if options.evaluate and options.stats:
        fail("--stats counts what the machine does, but --evaluate does not use it")
    if options.evaluate and options.benchmark is not None:
        fail("--benchmark times the machine, but --evaluate does not use it")
    if options.evaluate and options.kernels == "native":
        fail("--kernels chooses those of the machine, but --evaluate does not use it")
    if options.evaluate and options.memory_report is not None:
        fail("--memory-report shows what the machine allocates, but --evaluate does not use it")
    if options.evaluate and (options.sanitize or options.profile or options.trace):
        given = "sanitize" if options.sanitize else "profile" if options.profile else "trace"
        fail(f"--{given} watches the machine, but --evaluate does not use it")
    if options.sanitize and (options.profile or options.trace):
        given = "profile" if options.profile else "trace"
        fail(f"--{given} measures kernels, but --sanitize runs other code around them")
    if options.sanitize and options.benchmark is not None:
        fail("--benchmark times kernels, but --sanitize runs other code around them")
    if options.dim and options.random_seed is None:
        fail("--dim needs --random-seed: inputs from a file have their own shapes")
    return options


def _description() -> str:
    return (
        "Run an executable and show its outputs; or compile a program to bytecode first, or "
        "evaluate it as it is."
    )
