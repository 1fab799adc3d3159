"""The command line of `xrelay-opt`."""

import argparse
from collections.abc import Sequence
from typing import Any

from ..api.program_formats import FRONTENDS
from ..api.shared_options import add_shared_options
from ..option_types import (
    Group,
    KeepOne,
    add_binding_options,
    add_max_input,
    add_memory_report,
    count,
    dim,
    flag,
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


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Parse `argv`, without the compiler; raise `CommandLineError` if it is wrong."""
    parser = argparse.ArgumentParser()
    parser.prog = "xrelay-opt"
    refer_to_help(parser)
    parser.description = DESCRIPTION
    _input_and_output(parser.add_argument_group("input and output"))
    _inputs(parser.add_argument_group("inputs of the program"))
    _pipeline(parser.add_argument_group("pipeline"))
    _checking(parser.add_argument_group("checking"))
    _watching(parser.add_argument_group("watching"))
    return parser.parse_args(with_report_format(argv))


def _input_and_output(group: Group) -> None:
    group.add_argument("input_file", nargs="?", help="the file to read (default, or '-': stdin)")
    group.add_argument(
        "-f",
        "--frontend",
        choices=FRONTENDS,
        help="the format of the input (default: that of its extension)",
    )
    group.add_argument(
        "-o",
        "--output-file",
        metavar="FILE",
        help="the file to write if there is no error (default: stdout)",
    )
    flag(
        group,
        "--overwrite",
        help="let outputs replace inputs, files of another kind, and weights of other programs",
    )
    group.add_argument(
        "--params",
        metavar="SAFETENSORS",
        help="the weights of the input, and parameters of its main, which become weights, by name",
    )
    flag(
        group,
        "--random-weights",
        help="for targets that contain weights: draw those that the input lacks at random",
    )
    group.add_argument(
        "-t",
        "--target",
        default="mlir",
        help="the format of the output: mlir (default), relay-text, executable (after -p vm; "
        "executable{embed=true} with the weights in it), linalg for other compilers (see "
        "docs/linalg.md), machine code, native or object, and its c-header (after -p aot; see "
        "docs/native.md), or a picture of the memory plan, memory-plan-svg or memory-plan-html, "
        "taken right before lower-to-bytecode",
    )
    group.add_argument(
        "--save-temps",
        metavar="FOLDER",
        help="with -t native or object: keep what lies between their stages in this folder",
    )
    flag(
        group,
        "--split-input-file",
        help="process the parts between lines '// -----' separately",
    )
    flag(
        group,
        "--no-implicit-module",
        help="the input must be a builtin.module",
    )
    flag(
        group,
        "--print-op-generic",
        "--mlir-print-op-generic",
        help="print in generic form",
    )
    flag(
        group,
        "--print-debuginfo",
        "--mlir-print-debuginfo",
        help="print locations",
    )
    flag(
        group,
        "--print-no-properties",
        help="print properties as if they were attributes",
    )
    group.add_argument(
        "--mlir-elide-elementsattrs-if-larger",
        "--elide-elementsattrs-if-larger",
        dest="elide_above",
        type=count,
        metavar="N",
        help="do not print the elements of constants that have more than N",
    )
    flag(
        group,
        "--print-local-scope",
        "--mlir-print-local-scope",
        help="print devices in full instead of defining aliases for them",
    )
    flag(group, "--syntax-highlight", help="print in colour")
    group.add_argument(
        "-v",
        "--version",
        action=PrintVersion,
        nargs=0,
        help="print the version",
    )


def _inputs(group: Group) -> None:
    add_binding_options(group)
    add_max_input(group)
    group.add_argument(
        "--inputs",
        metavar="FILE",
        action="append",
        default=[],
        help="take the shapes of inputs from the arrays in an .npz file, from NAME=FILE of .npy or "
        ".pb, or from a folder of ONNX's test data; repeat for other files",
    )


def _pipeline(group: Group) -> None:
    flag(
        group,
        "--summary",
        help="instead of the module, print its inputs, outputs, dims, operators and weights, and "
        "everything in an ONNX model that is not supported",
    )
    group.add_argument(
        "-p",
        "--passes",
        default="",
        metavar="PIPELINE",
        help="passes and pipelines by name, separated by commas, with options in braces",
    )
    add_shared_options(group)
    flag(group, "--list-passes", help="print all passes and pipelines, and stop")
    flag(
        group,
        "--dump-pass-pipeline",
        help="print the passes to run, with all options, to stderr",
    )
    group.add_argument(
        "--crash-reproducer",
        "--mlir-pass-pipeline-crash-reproducer",
        metavar="FILE",
        help="on an internal error, or when a pass fails, write a reproducer",
    )
    flag(group, "--run-reproducer", help="run the pipeline that the input, a reproducer, names")


def _checking(group: Group) -> None:
    group.add_argument(
        "--verify-each",
        type=truth,
        default=True,
        metavar="true|false",
        help="verify the module after each pass (default: true)",
    )
    flag(group, "--disable-verify", help="verify nothing at all, not even attributes")
    flag(
        group,
        "--verify-diagnostics",
        help="succeed if the messages are those in expected-… comments",
    )
    flag(group, "--traceback", help="show where errors are raised")
    flag(group, "--shrink", help="succeed only if a ShrinkException is raised")


def _watching(group: Group) -> None:
    for when in ("before", "after"):
        group.add_argument(
            f"--print-ir-{when}",
            f"--mlir-print-ir-{when}",
            default="",
            metavar="PASSES",
            help=f"print the module {when} these passes, to stderr",
        )
        flag(
            group,
            f"--print-ir-{when}-all",
            f"--mlir-print-ir-{when}-all",
            *(["--print-between-passes"] if when == "after" else []),
            help=f"print the module {when} every pass, to stderr",
        )
    flag(
        group, "--remarks", help="report the choices of passes, such as the orders of memory plans"
    )
    flag(
        group,
        "--print-ir-after-change",
        "--mlir-print-ir-after-change",
        help="print the module after passes that changed it, to stderr",
    )
    flag(
        group,
        "--print-ir-after-failure",
        "--mlir-print-ir-after-failure",
        help="print the module after a pass that failed, to stderr",
    )
    add_memory_report(
        group,
        "print the memory that each function uses, planned and at least, to stderr; right before "
        "lower-to-bytecode, or at the end",
    )
    group.add_argument(
        "--plan-dim",
        metavar="DIM=SIZE",
        type=dim,
        action=KeepOne,
        default={},
        help="with --memory-report, and the targets memory-plan-svg and memory-plan-html: show the "
        "plan at this size of a dim that is dynamic (n=3, or x:0=3)",
    )
    flag(
        group,
        "--timing",
        "--mlir-timing",
        "--time-passes",
        help="print the time that each step takes, to stderr",
    )
