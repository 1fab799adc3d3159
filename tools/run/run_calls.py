"""Run a program for `xrelay-run`: provide inputs and parameters, call it, print its outputs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from ...operators.spelling import known_names
from ...runtime.program.planned_memory import PlannedMemory
from ...runtime.program.program import Array, Param, TensorSpec, spec_of
from ...runtime.weights.derived_weights import weights_in
from ..array_files import ArrayFiles, open_arrays
from ..commands import inform
from ..errors import FileError, UsageError
from ..output_files import OutputFiles
from ..progress import Progress
from .executables import Arrays, Compiled, Executable, output_lines
from .inputs_of_run import GivenInputs
from .run_options import Options

CURE = "--params, or --random-weights to draw it"
"""The cure when a weight has no value."""

Weights: TypeAlias = Path | Mapping[str, Array] | None
"""The weights of a program: the file that it names, those that came with it, or none."""

ReadParameters: TypeAlias = Callable[[Path | Mapping[str, Array], Sequence[str]], Arrays]
"""Reads those of the weights with these names that are in a file, or among given ones."""


def read_weights(given: Path | Mapping[str, Array], wanted: Sequence[str]) -> Arrays:
    """Read `wanted` weights from a `.safetensors` file, or from those that are `given`."""
    return weights_in(given).arrays(wanted)


def _params(function: str, executable: Executable) -> Sequence[Param]:
    params = executable.functions.get(function)
    if params is None:
        known = known_names(function, executable.functions)
        raise UsageError(f"unknown function '{function}'; the program has: {known}")
    return params


def _parameters(
    options: Options, executable: Executable, given: Weights, read: ReadParameters
) -> Arrays:
    late, arrays = executable.weights, Arrays()
    wanted = [weight.name for weight in late]
    is_missing = isinstance(given, Path) and not given.exists()
    if wanted and given is not None and not is_missing:
        arrays = read(given, wanted)
    missing = [weight for weight in late if weight.name not in arrays]
    if not missing:
        return arrays
    if not options.random_weights:
        file = options.params or given
        where = f"{file} has none" if isinstance(file, Path | str) else "no weights file is named"
        if is_missing:
            where = f"its file '{given}' does not exist"
        raise UsageError(
            f"no value for weight '{missing[0].name}' ({missing[0].spec}): {where}; give {CURE}"
        )
    from ...runtime.calls.random_inputs import random_parameters, random_weights_text

    seed = options.random_seed or 0
    names = [weight.name for weight in missing]
    inform("xrelay-run", random_weights_text(names, seed))
    return arrays | random_parameters(missing, seed, options.memory)


def _show_profile(program: Compiled, options: Options) -> None:
    """Print the profile, if there is one, to stderr, and write its trace, as `options` say."""
    profile = program.profile
    if profile is None:
        return
    if options.profile == "json":
        import json

        print(json.dumps(profile.json(), indent=2), file=sys.stderr)
    elif options.profile is not None:
        print(profile, file=sys.stderr)
    if options.trace is not None:
        profile.save_trace(options.trace, overwrite=options.overwrite)


def execute(
    options: Options,
    given: GivenInputs,
    executable: Executable,
    weights: Weights,
    prepared: tuple[str, float],
    read: ReadParameters = read_weights,
    plans: Sequence[PlannedMemory] = (),
) -> Sequence[Array]:
    """
    Run the function that `options` name on the inputs that are `given`, show, write and compare its
    outputs, and return its inputs.

    `prepared` are the name and the duration, in nanoseconds, of what was done to the program, and
    `plans` the memory that was planned for it.
    The program has `weights`, if no others are given, and `read` reads them. Raises `Error`.
    """
    read_from = [options.file, options.params or "", *options.inputs, *options.expect]
    files = OutputFiles([name for name in read_from if name], options.overwrite)
    for path in (options.outputs, options.trace, options.save):
        if path is not None:
            files.check(path)
    expected = open_arrays(options.expect, "output") if options.expect else None
    inputs = given.values(options.function, _params(options.function, executable), options.memory)
    parameters = _parameters(options, executable, weights, read)
    with Progress().during(f"running {options.function}"):
        outputs = executable.run(options.function, inputs, parameters)
    names = executable.output_names(options.function, len(outputs))
    for name, value in zip(names, outputs, strict=True):
        print("\n".join(output_lines(name, value)))
    if options.stats:
        print("\n".join(executable.stats()))
    if isinstance(executable, Compiled):
        _show_profile(executable, options)
    if options.benchmark is not None:
        from .benchmark import benchmark

        call = executable.caller(parameters).evaluate
        measured = benchmark(call, options.function, inputs, options.benchmark, prepared)
        print("\n".join(measured.lines()))
    if options.save is not None and isinstance(executable, Compiled):
        from ...runtime.python.saving import save

        save(
            executable.program,
            parameters,
            plans,
            options.save,
            embed=False,
            overwrite=files.overwrite,
        )
        inform("xrelay-run", f"the program is in {options.save}")
    results = dict(zip(names, outputs, strict=True))
    if options.outputs is not None:
        _write_outputs(options.outputs, results, files)
    if expected is not None:
        _compare(options, results, expected)
    return inputs


def _write_outputs(path: str, outputs: Mapping[str, Any], files: OutputFiles) -> None:
    """Write tensors to the `.npz` file at `path`; `UsageError` when that fails."""
    for name, value in outputs.items():
        if not isinstance(value, np.ndarray):
            raise UsageError(f"'{name}' is not a tensor, but {path} can only hold tensors")
    from ..array_files import npz_pieces  # imports zipfile

    files.write(path, npz_pieces(outputs))


def _compare(options: Options, outputs: Mapping[str, Any], expected: ArrayFiles) -> None:
    """Compare outputs with the expected ones; `UsageError` if they differ."""

    messages = faults(outputs, expected, options.rtol, options.atol)
    if messages:
        raise UsageError("\n".join(["the outputs are not as expected", *messages]))
    count = len(expected.named) + len(expected.ordered)
    print(f"as expected: {count} output{'s' * (count != 1)}")


def faults(
    outputs: Mapping[str, Any], expected: ArrayFiles, rtol: float, atol: float
) -> Sequence[str]:
    """
    Return a line for each output that is not as `expected`.

    Raises `FileError` for an array that is not one of the outputs.
    """
    messages: list[str] = []
    for name, array in expected.with_names(list(outputs), "output").items():
        if name not in outputs:
            known = known_names(name, outputs)
            raise FileError(array.path, f"{array.what} is not an output; the outputs are: {known}")
        value = outputs[name]
        if not isinstance(value, np.ndarray):
            raise UsageError(f"'{name}' is not a tensor, but {array.path} holds one")
        actual = cast(Array, value)
        fault = _other_type(spec_of(actual), array.spec)
        fault = fault or difference(actual, array.read(), rtol, atol)
        if fault is not None:
            messages.append(f"{name}: {fault}")
    return messages


def _other_type(actual: TensorSpec, expected: TensorSpec) -> str | None:
    return None if actual == expected else f"is {actual}, but {expected} is expected"


def difference(actual: Array, expected: Array, rtol: float, atol: float) -> str | None:
    """
    Describe where and by how much `actual` differs from `expected`; return None if it does not.

    Elements may differ by `atol + rtol * |expected|`; NaN is equal to NaN only.
    """
    if fault := _other_type(spec_of(actual), spec_of(expected)):
        return fault
    with np.errstate(all="ignore"):
        is_close = np.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
        if is_close.all():
            return None
        is_inexact = actual.dtype.kind == "f"
        gap = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        gap[is_close] = -1
        gap[np.isnan(gap)] = np.inf
    at = np.unravel_index(int(gap.argmax()), gap.shape)
    count = int(is_close.size - np.count_nonzero(is_close))
    place = f" at [{', '.join(str(int(i)) for i in at)}]" if at else ""
    got, wanted = actual[at].item(), expected[at].item()
    far = f" (difference {gap[at]:.6g})" if is_inexact else ""
    return (
        f"{count} of {actual.size} elements differ by more than {atol:g} + {rtol:g} * |expected|; "
        f"worst{place}: {_shown(got)}, expected {_shown(wanted)}{far}"
    )


def _shown(number: object) -> str:
    return f"{number:.9g}" if isinstance(number, float) else str(number)
