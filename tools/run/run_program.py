"""Compile a program, or read one to evaluate, and run it: the part of `xrelay-run` with xDSL."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter_ns

from ...runtime.calls.input_bindings import InputBindings
from ...runtime.weights.given_weights import bound_inputs
from ..api.bindings import bindings_of, values_and_files, with_shapes
from ..api.given_params import with_params
from ..api.loaded import compile_program, native_kernels, with_random_weights
from ..api.session import Given, Session, is_bytecode
from ..api.source import read_source
from ..array_files import open_arrays
from ..commands import inform
from ..errors import CommandLineError
from ..messages import Reporter
from .evaluated import Evaluated, functions_of
from .executables import Compiled
from .inputs_of_run import GivenInputs
from .memory_of_run import memory_of_run
from .run_calls import execute
from .run_options import Options


def run_program(options: Options, reporter: Reporter, data: memoryview | None = None) -> None:
    """
    Run a program that is not an executable. Raises `Error`, and what passes raise.

    `data` are its bytes if they were read already.
    """
    if options.verify_constants:
        raise CommandLineError("--verify-constants is for executables")
    pipeline = options.pipeline or ("infer-types" if options.evaluate else None)
    start = perf_counter_ns()
    session = Session(reporter, options.shared)
    session.dump(options)
    program, given = _read(options, session, data)
    was_bytecode = is_bytecode(program.module)
    if options.random_weights:
        # Before other weights are derived from them.
        seed = options.random_seed or 0
        program = with_random_weights(program, partial(inform, "xrelay-run"), seed, options.memory)
    saves = options.save is not None and not was_bytecode
    try:
        loaded = compile_program(
            session,
            program,
            pipeline,
            options.function,
            reads_memory=options.memory_report is not None or saves,
            keeps_kernels=options.kernels == "native",
        )
    finally:
        if options.timing:
            session.runner.timer.print(sys.stderr)
    if options.params is not None and was_bytecode:
        bound = bound_inputs(loaded.program, options.params, options.function)
        given = replace(given, weights=bound)
        loaded = replace(loaded, weights=Path(options.params))
    if options.evaluate:
        executable = Evaluated(loaded, options)
    else:
        native = native_kernels(loaded, session.context, reporter.progress)
        executable = Compiled(loaded.program, options, native)
    prepared = "compile", perf_counter_ns() - start
    inputs = execute(
        options, given, executable, loaded.weights, prepared, plans=loaded.plans if saves else ()
    )
    if options.memory_report and loaded.memory is not None and isinstance(executable, Compiled):
        shapes = [getattr(value, "shape", ()) for value in inputs]
        run_of = memory_of_run(loaded.memory, options.function, shapes, executable)
        print("\n".join(run_of.lines(options.memory_report)), file=sys.stderr)


def _read(options: Options, session: Session, data: memoryview | None) -> tuple[Given, GivenInputs]:
    """
    Return the program and its inputs, whose elements are not read yet.

    A model is converted for the shapes of its inputs. Raises `UsageError` for inputs without a
    value, before the program is compiled.
    """
    source, function = read_source(options.file, data), options.function
    values, files = values_and_files(options.inputs)
    arrays = open_arrays(files, "input")
    bindings = bindings_of(options.shape, options.dim, options.constant)
    constants, run_time = frozenset(bindings.values), InputBindings(values=values)
    frontend = options.frontend or source.frontend
    if frontend == "onnx":
        bindings = replace(bindings, shapes={**run_time.all_shapes, **bindings.shapes})
        bindings = with_shapes(bindings, arrays)
    else:
        run_time = InputBindings(bindings.shapes, bindings.dims, values)
        bindings = InputBindings(values=bindings.values)
    read = session.read(source, frontend, bindings)
    given = GivenInputs(arrays, run_time, constants, options.random_seed)
    if options.params is not None and not is_bytecode(read.module):
        read = with_params(read, options.params, session.context, function)
    params = functions_of(read.module).get(function)
    if params is not None:
        given.require(function, params)
    return read, given
