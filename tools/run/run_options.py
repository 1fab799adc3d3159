"""The command line of `xrelay-run`. Imports nothing heavy."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass

from ..api.program_formats import FRONTENDS
from ..option_types import (
    PROFILE,
    Group,
    add_binding_options,
    add_max_input,
    add_memory_report,
    add_report,
    count,
    flag,
    non_negative,
    positive,
    refer_to_help,
    size,
    with_report_format,
)

RTOL, ATOL = 1e-3, 1e-5
"""The tolerances of `--expect`: relative to the expected value, and absolute."""

OF_THE_MACHINE = {
    "stats": "counts what the machine does",
    "benchmark": "times the machine",
    "kernels": "chooses those of the machine",
    "memory_report": "shows what the machine allocates",
    "sanitize": "watches the machine",
    "profile": "watches the machine",
    "trace": "watches the machine",
}
"""The options that `--evaluate` has no use for, and the use of each."""


@dataclass
class Options:
    """The parsed command line."""

    file: str
    frontend: str | None
    allow_unregistered_dialect: bool
    shape: dict[str, tuple[int | None, ...]]
    dim: dict[str, int]
    input: dict[str, str]
    inputs: list[str]
    random_seed: int | None
    random_weights: bool
    max_input: int | None
    outputs: str | None
    overwrite: bool
    expect: list[str]
    rtol: float
    atol: float
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


def parse_arguments(argv: Sequence[str]) -> Options:
    """Parse `argv`; `UsageError` when it is wrong."""
    parser = ArgumentParser(prog="xrelay-run", description=_description())
    fail = refer_to_help(parser)
    _program(parser.add_argument_group("program"))
    _inputs(parser.add_argument_group("inputs and parameters"))
    _outputs(parser.add_argument_group("outputs"))
    _execution(parser.add_argument_group("compiling and running"))
    _watching(parser.add_argument_group("measuring and debugging"))
    found: Namespace = parser.parse_args(with_report_format(argv))
    options = Options(**vars(found))
    for name, use in OF_THE_MACHINE.items():
        if options.evaluate and getattr(options, name) != parser.get_default(name):
            fail(f"--{name.replace('_', '-')} {use}, but --evaluate does not use it")
    for name in ("profile", "trace"):
        if options.sanitize and getattr(options, name):
            fail(f"--{name} measures kernels, but --sanitize runs other code around them")
    if not options.expect and (options.rtol != RTOL or options.atol != ATOL):
        fail("--rtol and --atol are tolerances of --expect")
    return options


def _description() -> str:
    return (
        "Run an executable and show its outputs; or compile a program to bytecode first, or "
        "evaluate it as it is."
    )


def _program(group: Group) -> None:
    group.add_argument(
        "file",
        help="an executable, IR text of any level, an ONNX model, Relay text, or a module that TVM "
        "saved as JSON; '-' is stdin",
    )
    group.add_argument(
        "-f",
        "--frontend",
        choices=FRONTENDS,
        help="the format of the file (default: that of its extension, or IR text)",
    )
    flag(
        group,
        "--allow-unregistered-dialect",
        help="accept ops of unregistered dialects, and operators of Relay programs that the "
        "dialect does not have",
    )
    group.add_argument("--function", default="main", help="the function to run (default: main)")


def _inputs(group: Group) -> None:
    group.add_argument(
        "--inputs",
        metavar="FILE",
        action="append",
        default=[],
        help="the inputs by name, in an .npz file; one input as NAME=FILE, of .npy or .pb; or a "
        "folder of ONNX's test data, with input_0.pb; repeat for other files",
    )
    group.add_argument(
        "--random-seed",
        metavar="N",
        type=count,
        help="draw inputs that are not in a file at random, with this seed",
    )
    add_binding_options(group)
    group.add_argument(
        "--params",
        metavar="SAFETENSORS",
        help="the weights, and parameters of the function, by name",
    )
    flag(
        group,
        "--random-weights",
        help="draw parameters that no file has at random, with the seed of --random-seed, or 0",
    )
    add_max_input(group)


def _outputs(group: Group) -> None:
    group.add_argument("--outputs", metavar="NPZ", help="the file to write the outputs to")
    flag(
        group,
        "--overwrite",
        help="let outputs replace inputs, and files of another kind",
    )
    group.add_argument(
        "--expect",
        metavar="FILE",
        action="append",
        default=[],
        help="compare the outputs with these, given as after --inputs (in a folder: output_0.pb): "
        "say where and by how much they differ; the exit status is 1 if one does",
    )
    group.add_argument(
        "--rtol",
        metavar="R",
        type=non_negative,
        default=RTOL,
        help=f"the difference allowed relative to the expected value (default: {RTOL})",
    )
    group.add_argument(
        "--atol",
        metavar="A",
        type=non_negative,
        default=ATOL,
        help=f"the difference allowed besides (default: {ATOL})",
    )


def _execution(group: Group) -> None:
    group.add_argument(
        "--pipeline",
        help="the passes that compile the program to bytecode (default: vm, with the function that "
        "is run as the only entry), or that run before --evaluate (default: infer-types)",
    )
    flag(
        group,
        "--evaluate",
        help="evaluate the program op by op instead of compiling it",
    )
    group.add_argument(
        "--kernels",
        choices=("numpy", "native"),
        default="numpy",
        help="what computes: NumPy, or machine code that LLVM compiles where it can (needs "
        "'xrelay[native]'; default: numpy)",
    )
    group.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=size,
        help="the maximum memory of the program: bytes, or 512M, 4G (default: half of what is "
        "available)",
    )
    group.add_argument(
        "--max-instructions",
        metavar="N",
        type=count,
        help="stop with an error after this many instructions, or ops with --evaluate "
        "(default: never)",
    )
    flag(
        group,
        "--verify",
        help="check every byte of the constants of an executable (default: all of small ones, and "
        "samples of others)",
    )


def _watching(group: Group) -> None:
    flag(group, "--stats", help="print counts of instructions and memory")
    of_kernels: Group = group.add_mutually_exclusive_group()
    of_kernels.add_argument(
        "--benchmark",
        metavar="N",
        type=positive,
        help="time N more calls, after some to warm up, and print what the program took before",
    )
    add_memory_report(
        group, "print the memory that was planned and used, for the shapes of the run, to stderr"
    )
    add_report(
        group, PROFILE, "print the time by operator and source line, and allocations, to stderr"
    )
    group.add_argument(
        "--trace",
        metavar="JSON",
        help="write when each operator ran, and the live memory, for ui.perfetto.dev",
    )
    flag(
        group,
        "--poison",
        help="for debugging: fill memory that the program has not written with NaN, not zeros",
    )
    flag(
        of_kernels,
        "--sanitize",
        help="for debugging: report tensors that are read after their bytes were overwritten, and "
        "kernels that write elsewhere, change inputs or do not write all of their outputs",
    )
    flag(group, "--traceback", help="show where errors are raised")
