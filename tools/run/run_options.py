"""The command line of `xrelay-run`, as annotated fields. Imports nothing heavy."""

from argparse import Namespace
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

from ..api.shared_options import Frontend, SharedOptions, shared_options
from ..option_types import (
    EXCLUSIVE,
    BindingOptions,
    Common,
    LoadOptions,
    Parser,
    WatchedPasses,
    count,
    non_negative,
    positive,
    size,
)

if TYPE_CHECKING:
    from ...runtime.memory.limits import Memory

RTOL, ATOL = 1e-3, 1e-5
"""The tolerances of `--expect`: relative to the expected value, and absolute."""

OF_THE_MACHINE = {
    "stats": "counts what the machine does",
    "benchmark": "times the machine",
    "kernels": "chooses those of the machine",
    "memory_report": "shows what the machine allocates",
    "save": "writes a compiled program",
    "sanitize": "watches the machine",
    "profile": "watches the machine",
    "trace": "watches the machine",
}
"""The options that `--evaluate` has no use for, and the use of each."""


class Program:
    """The program to run."""

    file: Annotated[
        str,
        "file  an executable, a library (its code runs: one that you trust), IR text of any level, "
        "an ONNX model, Relay text, or a module that TVM saved as JSON; '-' is stdin",
    ]
    frontend: Annotated[
        Frontend | None,
        "-f --frontend  the format of the file (default: that of its extension, or IR text)",
    ]
    function: Annotated[str, "FUNCTION  the function to run (default: main)"] = "main"


class Inputs:
    """The values that a program needs."""

    inputs: Annotated[
        list[str],
        "FILE  the inputs by name, in an .npz file; one input as NAME=FILE, of .npy or .pb, or as "
        "NAME=VALUE, a number for all elements (n=3) or a list (axes=1,2); or a folder of ONNX's "
        "test data, with input_0.pb; repeat for others",
    ]
    random_seed: Annotated[
        int | None, "N  draw inputs that are not in a file at random, with this seed", count
    ]
    params: Annotated[
        str | None, "SAFETENSORS  the weights, and parameters of the function, by name"
    ]
    random_weights: Annotated[
        bool, "draw parameters that no file has at random, with the seed of --random-seed, or 0"
    ]


class Outputs:
    """The uses of outputs."""

    outputs: Annotated[str | None, "-o --outputs NPZ  the file to write the outputs to"]
    save: Annotated[
        str | None,
        "XRX  the file to write the compiled program to, its weights beside it; xrelay-run and "
        "xrelay.load run it",
    ]
    overwrite: Annotated[bool, "let outputs replace inputs, and files of another kind"]
    expect: Annotated[
        list[str],
        "FILE  compare the outputs with these, given as after --inputs (in a folder: "
        "output_0.pb): say where and by how much they differ; the exit status is 1 if one does",
    ]
    rtol: Annotated[
        float,
        f"R  the difference allowed relative to the expected value (default: {RTOL})",
        non_negative,
    ] = RTOL
    atol: Annotated[float, f"A  the difference allowed besides (default: {ATOL})", non_negative] = (
        ATOL
    )


class Execution:
    """The compilation and the run of a program."""

    pipeline: Annotated[
        str | None,
        "-p --pipeline PIPELINE  the passes that compile the program to bytecode (default: vm, "
        "with the function that is run as the only entry), or that run before --evaluate (default: "
        "infer-types)",
    ]
    evaluate: Annotated[bool, "evaluate the program op by op instead of compiling it"]
    kernels: Annotated[
        Literal["numpy", "native"],
        "what computes: NumPy, or machine code that LLVM compiles where it can (needs "
        "'xrelay[native]'; default: numpy)",
    ] = "numpy"
    threads: Annotated[
        int | None,
        "N  the threads that compute large kernels of a library (default: XRELAY_NUM_THREADS, or "
        "all processors that the process may use)",
        positive,
    ]
    memory_limit: Annotated[
        int | None,
        "SIZE  the maximum memory of the program: bytes, or 500M, 4G, 512MiB (default: half of "
        "what is available)",
        size,
    ]
    max_instructions: Annotated[
        int | None,
        "N  stop with an error after this many instructions, or ops with --evaluate (default: "
        "never)",
        count,
    ]
    verify_constants: Annotated[
        bool,
        "check every byte of the constants of an executable (default: all of small ones, and "
        "samples of others)",
    ]


class Watching:
    """Measurements, and reports on stderr."""

    stats: Annotated[bool, "print counts of instructions and memory"]
    benchmark: Annotated[
        int | None,
        "N  time N more calls, after some to warm up, and print what the program took before",
        *(positive, EXCLUSIVE),
    ]
    memory_report: Annotated[
        Literal["text", "json"] | None,
        "print the memory that was planned and used, for the shapes of the run, to stderr",
    ]
    profile: Annotated[
        Literal["text", "json"] | None,
        "print the time by operator and source line, and allocations, to stderr",
    ]
    trace: Annotated[
        str | None, "JSON  write when each operator ran, and the live memory, for ui.perfetto.dev"
    ]
    poison: Annotated[
        bool, "for debugging: fill memory that the program has not written with NaN, not zeros"
    ]
    sanitize: Annotated[
        bool,
        "for debugging: report tensors that are read after their bytes were overwritten, and "
        "kernels that write elsewhere, change inputs or do not write all of their outputs",
        EXCLUSIVE,
    ]


class Options(
    Program,
    Inputs,
    BindingOptions,
    Outputs,
    Execution,
    LoadOptions,
    WatchedPasses,
    Watching,
    Common,
    Namespace,
):
    """The parsed command line."""

    @property
    def shared(self) -> SharedOptions:
        """The options that a session follows."""
        return shared_options(self)

    @cached_property
    def memory(self) -> "Memory":
        """The memory of the run, and its bound."""
        from ...runtime.memory.limits import Memory

        return Memory(self.memory_limit, self.poison or self.sanitize)


OTHERS = (".npy", ".npz", ".pb", ".xrx", ".so", ".o", ".mlir", ".onnx", ".json", ".safetensors")
"""Extensions that say what a file has."""

DESCRIPTION = (
    "Run an executable and show its outputs; or compile a program to bytecode first, or evaluate "
    "it as it is."
)


def parse_arguments(argv: Sequence[str]) -> Options:
    """Parse `argv`; `UsageError` when it is wrong."""
    parser = Parser("xrelay-run", DESCRIPTION)
    parser.declare("program", Program)
    parser.declare("inputs and parameters", Inputs, BindingOptions)
    parser.declare("outputs", Outputs)
    parser.declare("compiling and running", Execution, SharedOptions, LoadOptions)
    parser.declare("measuring and debugging", Watching)
    parser.declare("watching passes", WatchedPasses)
    parser.declare("common", Common)
    options, fail = parser.parse(argv, Options()), parser.error
    for name, use in OF_THE_MACHINE.items():
        if options.evaluate and getattr(options, name) != parser.get_default(name):
            fail(f"--{name.replace('_', '-')} {use}, but --evaluate does not use it")
    for name in ("profile", "trace"):
        if options.sanitize and getattr(options, name):
            fail(f"--{name} measures kernels, but --sanitize runs other code around them")
    for option, path, extension in (
        ("--outputs", options.outputs, ".npz"),
        ("--save", options.save, ".xrx"),
    ):
        if path is not None and path.endswith(OTHERS) and not path.endswith(extension):
            fail(f"{option} writes {extension} files, but '{path}' says otherwise")
    if not options.expect and (options.rtol != RTOL or options.atol != ATOL):
        fail("--rtol and --atol are tolerances of --expect")
    return options
