"""The command line of `xrelay-run`, as annotated fields. Imports nothing heavy."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Annotated, Literal

from ..api.program_formats import FRONTENDS
from ..api.shared_options import SharedOptions, shared_hints, shared_options
from ..option_types import (
    REPORT,
    Arg,
    BindingOptions,
    count,
    declare,
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


class Program:
    """The program to run."""

    file: Annotated[
        str,
        Arg(
            "an executable, IR text of any level, an ONNX model, Relay text, or a module that TVM "
            "saved as JSON; '-' is stdin",
            "file",
        ),
    ]
    frontend: Annotated[
        str | None,
        Arg(
            "the format of the file (default: that of its extension, or IR text)",
            *("-f", "--frontend"),
            choices=FRONTENDS,
        ),
    ]
    function: Annotated[str, Arg("the function to run (default: main)", default="main")]


class Inputs(BindingOptions):
    """The values that a program needs."""

    inputs: Annotated[
        list[str],
        Arg(
            "the inputs by name, in an .npz file; one input as NAME=FILE, of .npy or .pb; or a "
            "folder of ONNX's test data, with input_0.pb; repeat for other files",
            metavar="FILE",
            action="append",
            default=[],
        ),
    ]
    random_seed: Annotated[
        int | None,
        Arg(
            "draw inputs that are not in a file at random, with this seed", metavar="N", type=count
        ),
    ]
    params: Annotated[
        str | None,
        Arg("the weights, and parameters of the function, by name", metavar="SAFETENSORS"),
    ]
    random_weights: Annotated[
        bool, "draw parameters that no file has at random, with the seed of --random-seed, or 0"
    ]


class Outputs:
    """The uses of outputs."""

    outputs: Annotated[str | None, Arg("the file to write the outputs to", metavar="NPZ")]
    overwrite: Annotated[bool, "let outputs replace inputs, and files of another kind"]
    expect: Annotated[
        list[str],
        Arg(
            "compare the outputs with these, given as after --inputs (in a folder: output_0.pb): "
            "say where and by how much they differ; the exit status is 1 if one does",
            metavar="FILE",
            action="append",
            default=[],
        ),
    ]
    rtol: Annotated[
        float,
        Arg(
            f"the difference allowed relative to the expected value (default: {RTOL})",
            metavar="R",
            type=non_negative,
            default=RTOL,
        ),
    ]
    atol: Annotated[
        float,
        Arg(
            f"the difference allowed besides (default: {ATOL})",
            metavar="A",
            type=non_negative,
            default=ATOL,
        ),
    ]


class Execution:
    """The compilation and the run of a program."""

    pipeline: Annotated[
        str | None,
        "the passes that compile the program to bytecode (default: vm, with the function that "
        "is run as the only entry), or that run before --evaluate (default: infer-types)",
    ]
    evaluate: Annotated[bool, "evaluate the program op by op instead of compiling it"]
    kernels: Annotated[
        Literal["numpy", "native"],
        Arg(
            "what computes: NumPy, or machine code that LLVM compiles where it can (needs "
            "'xrelay[native]'; default: numpy)",
            default="numpy",
        ),
    ]
    memory_limit: Annotated[
        int | None,
        Arg(
            "the maximum memory of the program: bytes, or 512M, 4G (default: half of what is "
            "available)",
            metavar="SIZE",
            type=size,
        ),
    ]
    max_instructions: Annotated[
        int | None,
        Arg(
            "stop with an error after this many instructions, or ops with --evaluate "
            "(default: never)",
            metavar="N",
            type=count,
        ),
    ]
    verify: Annotated[
        bool,
        "check every byte of the constants of an executable (default: all of small ones, and "
        "samples of others)",
    ]


class Watching:
    """Measurements, and reports on stderr."""

    stats: Annotated[bool, "print counts of instructions and memory"]
    benchmark: Annotated[
        int | None,
        Arg(
            "time N more calls, after some to warm up, and print what the program took before",
            exclusive=True,
            metavar="N",
            type=positive,
        ),
    ]
    memory_report: Annotated[
        Literal["text", "json"] | None,
        Arg(
            "print the memory that was planned and used, for the shapes of the run, to stderr",
            **REPORT,
        ),
    ]
    profile: Annotated[
        Literal["text", "json"] | None,
        Arg("print the time by operator and source line, and allocations, to stderr", **REPORT),
    ]
    trace: Annotated[
        str | None,
        Arg(
            "write when each operator ran, and the live memory, for ui.perfetto.dev", metavar="JSON"
        ),
    ]
    poison: Annotated[
        bool, "for debugging: fill memory that the program has not written with NaN, not zeros"
    ]
    sanitize: Annotated[
        bool,
        Arg(
            "for debugging: report tensors that are read after their bytes were overwritten, and "
            "kernels that write elsewhere, change inputs or do not write all of their outputs",
            exclusive=True,
        ),
    ]
    traceback: Annotated[bool, "show where errors are raised"]


class Options(Program, Inputs, Outputs, Execution, Watching, Namespace):
    """The parsed command line."""

    @property
    def shared(self) -> SharedOptions:
        """The options that a session follows."""
        return shared_options(self)


DESCRIPTION = (
    "Run an executable and show its outputs; or compile a program to bytecode first, or evaluate "
    "it as it is."
)


def parse_arguments(argv: Sequence[str]) -> Options:
    """Parse `argv`; `UsageError` when it is wrong."""
    parser = ArgumentParser(prog="xrelay-run", description=DESCRIPTION)
    fail = refer_to_help(parser)
    declare(parser, "program", Program)
    declare(
        parser,
        "inputs and parameters",
        {**Inputs.__annotations__, **BindingOptions.__annotations__},
    )
    declare(parser, "outputs", Outputs)
    declare(parser, "compiling and running", {**Execution.__annotations__, **shared_hints()})
    declare(parser, "measuring and debugging", Watching)
    options = parser.parse_args(with_report_format(argv), Options())
    for name, use in OF_THE_MACHINE.items():
        if options.evaluate and getattr(options, name) != parser.get_default(name):
            fail(f"--{name.replace('_', '-')} {use}, but --evaluate does not use it")
    for name in ("profile", "trace"):
        if options.sanitize and getattr(options, name):
            fail(f"--{name} measures kernels, but --sanitize runs other code around them")
    if not options.expect and (options.rtol != RTOL or options.atol != ATOL):
        fail("--rtol and --atol are tolerances of --expect")
    return options
