"""Run an executable or a library: the part of `xrelay-run` that needs no compiler."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns

from ...runtime.calls.input_bindings import InputBindings
from ...runtime.executable import load_weights, read_executable
from ...runtime.program.program import Array
from ...runtime.weights.given_weights import bound_inputs
from ..api.bindings import values_and_files
from ..api.shared_options import SharedOptions
from ..array_files import open_arrays
from ..commands import read_stdin
from ..errors import CommandLineError
from ..option_types import WatchedPasses
from .executables import Arrays, Compiled, NativeProgram
from .inputs_of_run import GivenInputs
from .run_calls import execute
from .run_options import Options

OF_PROGRAMS = (
    *("pipeline", "evaluate", "kernels", *SharedOptions.__annotations__),
    *(*WatchedPasses.__annotations__, "memory_report", "constant", "save"),
)
"""The options about what is not compiled yet."""

WATCHED = (
    *("params", "random_weights", "memory_limit", "max_instructions", "verify_constants", "stats"),
    *("profile", "trace", "poison", "sanitize"),
)
"""The options about what the machine runs, not machine code."""

CURES = {
    "--save": ": it is saved already",
    "--memory-report": ": xrelay-objdump and --stats show its memory",
    "--constant": ": --inputs gives its inputs values",
}
"""The cures for options that executables do not have."""


def run_executable(options: Options, data: memoryview | None = None) -> None:
    """
    Run an executable. Raises `Error`.

    `data` are its bytes if they were read already.
    """
    _check(options, "an executable", OF_PROGRAMS)
    start = perf_counter_ns()
    is_stdin = options.file == "-"
    source = data or (read_stdin() if is_stdin else options.file)
    file = read_executable(source, verify=options.verify_constants)
    prepared = "load", perf_counter_ns() - start
    folder = Path() if is_stdin else Path(options.file).parent
    weights = folder / file.weights_file if file.weights_file else None
    if options.params is not None:
        weights = Path(options.params)

    def read(given: Path | Mapping[str, Array], wanted: Sequence[str]) -> Arrays:
        assert isinstance(given, Path), "an executable names a file"
        partial = options.random_weights
        inputs = {p.name for f in file.program.functions for p in f.params}
        verify = options.verify_constants
        return load_weights(file, given, verify=verify, partial=partial, others=inputs)

    given = _given(options)
    if options.params is not None:
        bound = bound_inputs(file.program, options.params, options.function, file.unused)
        given = replace(given, weights=bound)
    executable = Compiled(file.program, options)
    execute(options, given, executable, weights, prepared, read)


def run_library(options: Options) -> None:
    """Run a library that `xrelay-opt` wrote, which runs its code. Raises `Error`."""
    _check(options, "machine code", (*OF_PROGRAMS, *WATCHED))
    start = perf_counter_ns()
    from ...runtime.native.native_executable import NativeFunctions

    library = NativeFunctions(options.file, options.threads)
    prepared = "load", perf_counter_ns() - start
    executable = NativeProgram(library, library.program.entries, options)
    execute(options, _given(options), executable, None, prepared)


def _given(options: Options) -> GivenInputs:
    values, files = values_and_files(options.inputs)
    bindings = InputBindings(options.shape, options.dim, values)
    return GivenInputs(open_arrays(files, "input"), bindings, seed=options.random_seed)


def _check(options: Options, what: str, names: Sequence[str]) -> None:
    """Raise `CommandLineError` for options that `what` is run without."""
    for name in names:
        if getattr(options, name) not in (None, False, "", "numpy", {}):
            option = f"--{name.replace('_', '-')}"
            cure = CURES.get(option, "")
            raise CommandLineError(f"{option} is for programs, but this is {what}{cure}")
