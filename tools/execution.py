"""Run a program for `xrelay-run`: provide inputs and parameters, call it, print its outputs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..operators.spelling import did_you_mean
from ..runtime.kernels.memory import Memory
from ..runtime.machine import Machine
from ..runtime.program import Param
from .array_files import open_arrays
from .errors import UsageError
from .executables import Compiled, Executable, Limits
from .inputs_of_run import GivenInputs
from .progress import Progress
from .run_files import Array, Arrays, write_outputs
from .run_options import Options
from .run_report import output_lines

if TYPE_CHECKING:
    from ..runtime.profiling.profiler import Profile

CURE = "--params, or --random-seed and --random-params to draw them"
"""The cure when a weights file lacks something."""

ReadParameters: TypeAlias = Callable[[Path, Sequence[str]], Arrays]
"""Reads those of the parameters with these names that are in a file."""


def limits_of(options: Options) -> Limits:
    """Return the bounds of the run."""
    memory = Memory(options.memory_limit, options.poison or options.sanitize)
    is_measured = options.profile is not None or options.trace is not None
    return Limits(memory, options.max_instructions, options.sanitize, is_measured)


def _params(function: str, executable: Executable) -> Sequence[Param]:
    params = executable.functions.get(function)
    if params is None:
        names = executable.functions
        raise UsageError(
            f"unknown function '{function}'; the program has: "
            f"{', '.join(names) or 'none'}{did_you_mean(function, names)}"
        )
    return params


def _parameters(
    options: Options,
    executable: Executable,
    weights: Path | None,
    memory: Memory,
    read: ReadParameters,
) -> Arrays:
    late = executable.weights
    wanted = [weight.name for weight in late]
    path = Path(options.params) if options.params is not None else weights
    found: Arrays = {}
    if wanted and path is not None and (options.params is not None or path.exists()):
        found = read(path, wanted)
    elif wanted and path is not None and not options.random_params:
        raise UsageError(f"the program's weights file '{path}' does not exist; give {CURE}")
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
    from ..runtime.random_inputs import random_parameters

    return found | random_parameters(missing, options.random_seed, memory)


def _show(profile: Profile, options: Options) -> None:
    """Print the profile to stderr, and write its trace, as `options` say."""
    if options.profile == "json":
        import json

        print(json.dumps(profile.json(), indent=2), file=sys.stderr)
    elif options.profile is not None:
        print(profile, file=sys.stderr)
    if options.trace is not None:
        profile.save_trace(options.trace)


def execute(
    options: Options,
    given: GivenInputs,
    executable: Executable,
    weights: Path | None,
    memory: Memory,
    read: ReadParameters,
    prepared: tuple[str, float],
) -> Sequence[Array]:
    """
    Run the function that `options` name on the inputs that are `given`, show, write and compare its
    outputs, and return its inputs.

    `prepared` are the name and the duration, in nanoseconds, of what was done to the program.
    The file `weights` has the parameters, if no other is given, and `read` reads them. Raises
    `Error`.
    """
    inputs = given.values(options.function, _params(options.function, executable), memory)
    parameters = _parameters(options, executable, weights, memory, read)
    with Progress().during(f"running {options.function}"):
        outputs = executable.run(options.function, inputs, parameters)
    names = executable.output_names(options.function, len(outputs))
    for name, value in zip(names, outputs, strict=True):
        print("\n".join(output_lines(name, value)))
    if options.stats:
        print("\n".join(executable.stats()))
    if isinstance(executable, Compiled) and executable.profile is not None:
        _show(executable.profile, options)
    if options.benchmark is not None and isinstance(executable, Compiled):
        from .benchmark import benchmark

        limit, bound = options.memory_limit, options.max_instructions
        machine = Machine(
            executable.program, parameters, memory_limit=limit, max_instructions=bound
        )
        measured = benchmark(machine, options.function, inputs, options.benchmark, prepared)
        print("\n".join(measured.lines()))
    results = dict(zip(names, outputs, strict=True))
    if options.outputs is not None:
        write_outputs(options.outputs, results)
    if options.expect:
        _compare(options, results)
    return inputs


def _compare(options: Options, outputs: Mapping[str, Any]) -> None:
    """Compare outputs with the expected ones; `UsageError` if they differ."""
    from .comparison import faults

    expected = open_arrays(options.expect, "output")
    found = faults(outputs, expected, options.rtol, options.atol)
    if found:
        raise UsageError("\n".join(["the outputs are not as expected", *found]))
    count = len(expected.named) + len(expected.ordered)
    print(f"as expected: {count} output{'s' * (count != 1)}")
