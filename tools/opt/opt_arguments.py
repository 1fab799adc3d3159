"""The command line of `xrelay-opt`, as annotated fields. Imports nothing heavy."""

import argparse
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from ..api.program_formats import FRONTENDS
from ..api.shared_options import shared_hints
from ..option_types import (
    REPORT,
    Arg,
    BindingOptions,
    KeepOne,
    count,
    declare,
    dim,
    refer_to_help,
    with_report_format,
)

DESCRIPTION = (
    "Read a module, run passes on it, and print it. The exit status is 1 for an error in the "
    "input and 2 for wrong usage. --list-passes describes passes and their options."
)


def truth(text: str) -> bool:
    """Parse the value of a flag such as `--verify-each=false`."""
    known = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in known:
        raise argparse.ArgumentTypeError(f"must be true or false, but is '{text}'")
    return known[text.lower()]


class PrintVersion(argparse.Action):
    """Prints the version, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        from importlib.metadata import version

        print(f"xrelay-opt on xdsl {version('xdsl')}")
        parser.exit()


class Files:
    """The files of a command, and how its output is printed."""

    input_file: Annotated[
        str | None, Arg("the file to read (default, or '-': stdin)", "input_file", nargs="?")
    ]
    frontend: Annotated[
        str | None,
        Arg(
            "the format of the input (default: that of its extension)",
            *("-f", "--frontend"),
            choices=FRONTENDS,
        ),
    ]
    output_file: Annotated[
        str | None,
        Arg(
            "the file to write if there is no error (default: stdout)",
            *("-o", "--output-file"),
            metavar="FILE",
        ),
    ]
    overwrite: Annotated[
        bool, "let outputs replace inputs, files of another kind, and weights of other programs"
    ]
    params: Annotated[
        str | None,
        Arg(
            "the weights of the input, and parameters of its main, which become weights, by name",
            metavar="SAFETENSORS",
        ),
    ]
    random_weights: Annotated[
        bool, "for targets that contain weights: draw those that the input lacks at random"
    ]
    target: Annotated[
        str,
        Arg(
            "the format of the output: mlir (default), relay-text, executable (after -p vm; "
            "executable{embed=true} with the weights in it), linalg for other compilers (see "
            "docs/linalg.md), machine code, native or object, and its c-header (after -p aot; see "
            "docs/native.md), or a picture of the memory plan, memory-plan-svg or "
            "memory-plan-html, taken right before lower-to-bytecode",
            *("-t", "--target"),
            default="mlir",
        ),
    ]
    save_temps: Annotated[
        str | None,
        Arg(
            "with -t native or object: keep what lies between their stages in this folder",
            metavar="FOLDER",
        ),
    ]
    split_input_file: Annotated[bool, "process the parts between lines '// -----' separately"]
    no_implicit_module: Annotated[bool, "the input must be a builtin.module"]
    print_op_generic: Annotated[bool, Arg("print in generic form", in_mlir=True)]
    print_debuginfo: Annotated[bool, Arg("print locations", in_mlir=True)]
    print_no_properties: Annotated[bool, "print properties as if they were attributes"]
    elide_above: Annotated[
        int | None,
        Arg(
            "do not print the elements of constants that have more than N",
            *("--mlir-elide-elementsattrs-if-larger", "--elide-elementsattrs-if-larger"),
            type=count,
            metavar="N",
        ),
    ]
    print_local_scope: Annotated[
        bool, Arg("print devices in full instead of defining aliases for them", in_mlir=True)
    ]
    syntax_highlight: Annotated[bool, "print in colour"]
    version: Annotated[
        None, Arg("print the version", *("-v", "--version"), action=PrintVersion, nargs=0)
    ]


class Inputs(BindingOptions):
    """The inputs of the program."""

    inputs: Annotated[
        list[str],
        Arg(
            "take the shapes of inputs from the arrays in an .npz file, from NAME=FILE of .npy or "
            ".pb, or from a folder of ONNX's test data; repeat for other files",
            metavar="FILE",
            action="append",
            default=[],
        ),
    ]


class Pipeline:
    """The passes to run."""

    summary: Annotated[
        bool,
        "instead of the module, print its inputs, outputs, dims, operators and weights, and "
        "everything in an ONNX model that is not supported",
    ]
    passes: Annotated[
        str,
        Arg(
            "passes and pipelines by name, separated by commas, with options in braces",
            *("-p", "--passes"),
            default="",
            metavar="PIPELINE",
        ),
    ]
    list_passes: Annotated[bool, "print all passes and pipelines, and stop"]
    dump_pass_pipeline: Annotated[bool, "print the passes to run, with all options, to stderr"]
    crash_reproducer: Annotated[
        str | None,
        Arg(
            "on an internal error, or when a pass fails, write a reproducer",
            *("--crash-reproducer", "--mlir-pass-pipeline-crash-reproducer"),
            metavar="FILE",
        ),
    ]
    run_reproducer: Annotated[bool, "run the pipeline that the input, a reproducer, names"]


class Checking:
    """The checks of modules and messages."""

    verify_each: Annotated[
        bool,
        Arg(
            "verify the module after each pass (default: true)",
            type=truth,
            default=True,
            metavar="true|false",
        ),
    ]
    disable_verify: Annotated[bool, "verify nothing at all, not even attributes"]
    verify_diagnostics: Annotated[bool, "succeed if the messages are those in expected-… comments"]
    traceback: Annotated[bool, "show where errors are raised"]
    shrink: Annotated[bool, "succeed only if a ShrinkException is raised"]


_PASSES: dict[str, Any] = {"default": "", "metavar": "PASSES"}


class Watching:
    """The module, its memory and the time of passes, on stderr."""

    print_ir_before: Annotated[
        str, Arg("print the module before these passes, to stderr", in_mlir=True, **_PASSES)
    ]
    print_ir_before_all: Annotated[
        bool, Arg("print the module before every pass, to stderr", in_mlir=True)
    ]
    print_ir_after: Annotated[
        str, Arg("print the module after these passes, to stderr", in_mlir=True, **_PASSES)
    ]
    print_ir_after_all: Annotated[
        bool,
        Arg("print the module after every pass, to stderr", "--print-between-passes", in_mlir=True),
    ]
    remarks: Annotated[bool, "report the choices of passes, such as the orders of memory plans"]
    print_ir_after_change: Annotated[
        bool, Arg("print the module after passes that changed it, to stderr", in_mlir=True)
    ]
    print_ir_after_failure: Annotated[
        bool, Arg("print the module after a pass that failed, to stderr", in_mlir=True)
    ]
    memory_report: Annotated[
        Literal["text", "json"] | None,
        Arg(
            "print the memory that each function uses, planned and at least, to stderr; right "
            "before lower-to-bytecode, or at the end",
            **REPORT,
        ),
    ]
    plan_dim: Annotated[
        dict[str, int],
        Arg(
            "with --memory-report, and the targets memory-plan-svg and memory-plan-html: show the "
            "plan at this size of a dim that is dynamic (n=3, or x:0=3)",
            metavar="DIM=SIZE",
            type=dim,
            action=KeepOne,
            default={},
        ),
    ]
    timing: Annotated[
        bool, Arg("print the time that each step takes, to stderr", "--time-passes", in_mlir=True)
    ]


class Options(Files, Inputs, Pipeline, Checking, Watching, argparse.Namespace):
    """The parsed command line."""

    allow_unregistered_dialect: bool
    """One of those that a session follows."""


def parse_arguments(argv: Sequence[str]) -> Options:
    """Parse `argv`, without the compiler; raise `CommandLineError` if it is wrong."""
    parser = argparse.ArgumentParser(prog="xrelay-opt", description=DESCRIPTION)
    refer_to_help(parser)
    declare(parser, "input and output", Files)
    inputs = {**BindingOptions.__annotations__, **Inputs.__annotations__}
    declare(parser, "inputs of the program", inputs)
    declare(parser, "pipeline", {**Pipeline.__annotations__, **shared_hints()})
    declare(parser, "checking", Checking)
    declare(parser, "watching", Watching)
    return parser.parse_args(with_report_format(argv), Options())
