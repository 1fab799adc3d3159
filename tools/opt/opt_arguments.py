"""The command line of `xrelay-opt`, as annotated fields. Imports nothing heavy."""

import argparse
from collections.abc import Sequence
from typing import Annotated, Literal

from ..api.shared_options import Frontend, SharedOptions
from ..option_types import (
    IN_MLIR,
    BindingOptions,
    Common,
    LoadOptions,
    Parser,
    WatchedPasses,
    count,
    dim,
)

DESCRIPTION = (
    "Read a module, run passes on it, and print it. The exit status is 1 for an error in the "
    "input and 2 for wrong usage. --list-passes names the passes, --help-pass NAME describes one."
)


def truth(text: str) -> bool:
    """Parse the value of a flag such as `--verify-each=false`."""
    known = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in known:
        raise argparse.ArgumentTypeError(f"must be true or false, but is '{text}'")
    return known[text.lower()]


class Files:
    """The files of a command, and how its output is printed."""

    input_file: Annotated[str | None, "input_file?  the file to read (default, or '-': stdin)"]
    frontend: Annotated[
        Frontend | None, "-f --frontend  the format of the input (default: that of its extension)"
    ]
    output: Annotated[
        str | None,
        "-o --output FILE  the file to write; untouched after an error (default: stdout)",
    ]
    overwrite: Annotated[
        bool, "let outputs replace inputs, files of another kind, and weights of other programs"
    ]
    params: Annotated[
        str | None,
        "SAFETENSORS  the weights of the input, and parameters of its main, which become weights, "
        "by name",
    ]
    random_weights: Annotated[
        bool, "for targets that contain weights: draw those that the input lacks at random"
    ]
    random_seed: Annotated[int, "N  the seed of --random-weights (default: 0)", count] = 0
    target: Annotated[
        str | None,
        "-t --target TARGET  the format of the output (default: that of its name, or mlir): mlir, "
        "relay-text (.relay), executable (.xrx; executable{embed=true} with the weights in it), "
        "linalg for other compilers (docs/linalg.md), machine code, native (.so) or object (.o), "
        "and its c-header (.h; docs/native.md), a picture of the memory plan, memory-plan-html or "
        "memory-plan-svg (.html, .svg), or of the program, dot (.dot), or smt2 (.smt2)",
    ]
    save_weights: Annotated[
        str | None,
        "SAFETENSORS  the file to write the weights of the input to (default: one beside the "
        "output, if that needs them and is a file)",
    ]
    save_temps: Annotated[
        str | None,
        "FOLDER  with -t native or object: keep what lies between their stages in this folder",
    ]
    split_input_file: Annotated[bool, "process the parts between lines '// -----' separately"]
    no_implicit_module: Annotated[bool, "the input must be a builtin.module"]
    print_op_generic: Annotated[bool, "print in generic form", IN_MLIR]
    print_debuginfo: Annotated[bool, "print locations", IN_MLIR]
    print_no_properties: Annotated[bool, "print properties as if they were attributes"]
    elide_above: Annotated[
        int | None, "N  do not print the elements of constants that have more than N", count
    ]
    print_local_scope: Annotated[
        bool, "print devices in full instead of defining aliases for them", IN_MLIR
    ]
    syntax_highlight: Annotated[bool, "print in colour"]


class Inputs:
    """The inputs of the program."""

    shapes_of: Annotated[
        list[str],
        "FILE  take the shapes of inputs from the arrays in an .npz file, from NAME=FILE of .npy "
        "or .pb, or from a folder of ONNX's test data; repeat for other files",
    ]


class Pipeline:
    """The passes to run."""

    summary: Annotated[
        bool,
        "instead of the module, print its inputs, outputs, dims, operators and weights, and "
        "everything in an ONNX model that is not supported",
    ]
    pipeline: Annotated[
        str,
        "-p --pipeline PIPELINE  passes and pipelines by name, separated by commas, with options "
        "in braces (default: what the target needs: vm, aot or linalg)",
    ] = ""
    list_passes: Annotated[bool, "print all passes and pipelines, each in a line, and stop"]
    help_pass: Annotated[
        str | None, "NAME  print all about a pass or pipeline, its options too, and stop"
    ]
    show_dialects: Annotated[bool, "print the names of all dialects, and stop"]
    dump_pass_pipeline: Annotated[bool, "print the passes to run, with all options, to stderr"]
    crash_reproducer: Annotated[
        str | None, "FILE  on an internal error, or when a pass fails, write a reproducer"
    ]
    run_reproducer: Annotated[bool, "run the pipeline that the input, a reproducer, names"]


class Checking:
    """The checks of modules and messages."""

    verify_each: Annotated[
        bool, "true|false  verify the module after each pass (default: true)", truth
    ] = True
    disable_verify: Annotated[bool, "verify nothing at all, not even attributes"]
    verify_diagnostics: Annotated[bool, "succeed if the messages are those in expected-… comments"]
    shrink: Annotated[bool, "succeed only if a ShrinkException is raised"]


class Watching:
    """Choices of passes and planned memory, on stderr."""

    remarks: Annotated[bool, "report the choices of passes, such as the orders of memory plans"]
    memory_report: Annotated[
        Literal["text", "json"] | None,
        "print the memory that each function uses, planned and at least, to stderr; right before "
        "lower-to-bytecode, or at the end",
    ]
    plan_dim: Annotated[
        dict[str, int],
        "DIM=SIZE  with --memory-report, and the targets memory-plan-svg and memory-plan-html: "
        "show the plan at this size of a dim that is dynamic (n=3, or x:0=3)",
        dim,
    ]


class Options(
    Files,
    BindingOptions,
    Inputs,
    Pipeline,
    LoadOptions,
    Checking,
    WatchedPasses,
    Watching,
    Common,
    argparse.Namespace,
):
    """The parsed command line."""

    allow_unregistered_dialect: bool
    """One of those that a session follows."""


def parse_arguments(argv: Sequence[str]) -> Options:
    """Parse `argv`, without the compiler; raise `CommandLineError` if it is wrong."""
    parser = Parser("xrelay-opt", DESCRIPTION)
    parser.declare("input and output", Files)
    parser.declare("inputs of the program", BindingOptions, Inputs)
    parser.declare("pipeline", Pipeline, SharedOptions, LoadOptions)
    parser.declare("checking", Checking)
    parser.declare("watching", WatchedPasses, Watching)
    parser.declare("common", Common)
    return parser.parse(argv, Options())
