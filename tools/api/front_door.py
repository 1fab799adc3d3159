"""
The work of `xrelay.compile`, `xrelay.parse`, `xrelay.run_pipeline` and others that compile.

A module that was parsed is accompanied by its `Origin` for as long as it lives: the text that
messages quote, and its weights.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp

from ...runtime.calls.input_bindings import InputBindings
from ...runtime.program.program import Array, Late, Program
from ...runtime.python.callables import Executable
from ...runtime.weights.derived_weights import weights_in
from ...runtime.weights.given_weights import bound_inputs
from ..errors import UsageError
from ..messages import Reporter
from ..pass_run.pipeline import TARGET, build_target
from ..registry import PassInfo, named_pipelines, pass_info, pass_infos
from ..targets.file_target import ChosenTarget, Job
from ..text.printing import PrintOptions, print_module
from .bindings import Dims, Inputs, Shapes, checked_bindings
from .given_params import Params, bind_params, with_values
from .loaded import compile_program, native_kernels
from .python_errors import PythonReporter, as_error, compiling
from .session import Given, Session, is_bytecode
from .shared_options import FRONTENDS, SharedOptions, shared_options, summarize_onnx
from .source import Source, read_source, require_frontend

if TYPE_CHECKING:
    from onnx import ModelProto

    from ...runtime.native.native_executable import NativeExecutable
    from ..opt.summary import Summary


@dataclass
class Origin:
    """The sources that a module was read from, by name, and its weights."""

    sources: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    weights: Mapping[str, Array] | Path | None = None


_ORIGINS: WeakKeyDictionary[ModuleOp, Origin] = WeakKeyDictionary()


def _is_onnx(model: object) -> TypeGuard[ModelProto]:
    """Test whether `model` is an `onnx.ModelProto`, without importing `onnx`."""
    onnx = sys.modules.get("onnx")
    return onnx is not None and isinstance(model, onnx.ModelProto)


def _is_path(model: object) -> bool:
    return isinstance(model, str | os.PathLike)


def _source(model: object, frontend: str | None) -> Source:
    """Return the contents of the file `model`, or an `onnx.ModelProto` as it is."""
    if frontend is not None and frontend not in FRONTENDS:
        raise UsageError(
            f"unknown frontend {frontend!r}; the frontends are: {', '.join(FRONTENDS)}"
        )
    if isinstance(model, str) and "\n" in model:
        first = model.strip().partition("\n")[0]
        raise UsageError(
            f"expected the path of a file, but got a text, which begins {first[:40]!r}"
        )
    if _is_path(model):
        source = read_source(os.fspath(cast(str, model)))
        if frontend is None:
            require_frontend(source, "frontend=")
        return source
    if _is_onnx(model):
        if frontend not in (None, "onnx"):
            raise UsageError(f"frontend={frontend!r} cannot read an ONNX model in memory")
        return Source("<model>", "onnx", model)
    raise UsageError(f"expected a file, a module or an ONNX model, but got {type(model).__name__}")


def _read(
    session: Session, model: object, frontend: str | None, bindings: InputBindings
) -> ModuleOp:
    """Read a module; its origin is known from then on."""
    read = session.read(_source(model, frontend), frontend, bindings)
    _ORIGINS[read.module] = Origin(session.reporter.sources, read.weights)
    return read.module


MACHINE = "machine"
"""The target of programs that the machine runs."""


def parse(
    model: object,
    frontend: str | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    inputs: Inputs | None = None,
) -> ModuleOp:
    """Read a program into a module."""
    reporter = PythonReporter()
    with compiling(reporter):
        bindings = checked_bindings(shapes, dims, inputs)
        return _read(Session(reporter), model, frontend, bindings)


def run_pipeline(module: ModuleOp, pipeline: str, options: SharedOptions) -> ModuleOp:
    """Run a pipeline on `module`, in place; return it."""
    _require("module", module, ModuleOp, "a ModuleOp")
    _require("pipeline", pipeline, str, "a str")
    reporter = _reporter_of(module)
    with compiling(reporter):
        Session(reporter, shared_options(options)).run(module, pipeline)
    return module


def _reporter_of(module: ModuleOp) -> Reporter:
    origin = _ORIGINS.get(module)
    return PythonReporter(sources=dict(origin.sources) if origin is not None else {})


def _require(name: str, given: object, kind: type, what: str) -> None:
    """Raise `UsageError` unless the argument `name` is None or of this kind."""
    if given is not None and not isinstance(given, kind):
        raise UsageError(f"{name} must be {what}, but got {type(given).__name__} {given!r:.80}")


@dataclass(frozen=True)
class _Arguments:
    """The arguments of `xrelay.compile` that all targets have."""

    model: object
    pipeline: str | None
    params: Params | None
    frontend: str | None
    shapes: Shapes | None
    dims: Dims | None
    inputs: Inputs | None
    options: SharedOptions

    @property
    def name(self) -> str:
        """The name of its file, "" if it is in memory."""
        return os.fspath(cast(str, self.model)) if _is_path(self.model) else ""


@contextmanager
def _session(args: _Arguments) -> Generator[tuple[Session, Given]]:
    """Read the program in a session of its own, in which errors are raised as `Error`s."""
    model = args.model
    reporter = _reporter_of(model) if isinstance(model, ModuleOp) else PythonReporter()
    with compiling(reporter):
        _require("pipeline", args.pipeline, str, "a str")
        session = Session(reporter, shared_options(args.options))
        bindings = checked_bindings(args.shapes, args.dims, args.inputs)
        if isinstance(model, ModuleOp):
            module, origin = model.clone(), _ORIGINS.get(model, Origin())
            session.bind(module, bindings)
        else:
            module = _read(session, model, args.frontend, bindings)
            origin = _ORIGINS[module]
        if args.params is not None and not is_bytecode(module):
            known = origin.weights if isinstance(origin.weights, Mapping) else ()
            bind_params(module, args.params, session.context, own=known)
        yield session, Given(module, origin.weights)


def compile_model(
    *args: Any,
    target: str = MACHINE,
    kernels: str = "numpy",
    threads: int | None = None,
    **limits: Any,
) -> Executable | NativeExecutable:
    """Compile a program, and bind its weights."""
    given = _Arguments(*args)
    with _session(given) as (session, program):
        _require("target", target, str, "a str")
        if target != MACHINE:
            from .machine_code import compile_natively

            if kernels != "numpy" or any(limits.values()):
                raise UsageError(
                    "kernels, memory_limit, max_instructions and sanitize are for programs that "
                    f"the machine runs, but the target is '{target}'"
                )
            if given.params is not None:
                program = with_values(program, given.params)
            return compile_natively(session, program, target, given.pipeline, given.name, threads)
        if threads is not None:
            raise UsageError("threads are for target='native', but the target is 'machine'")
        if kernels not in ("numpy", "native"):
            raise UsageError(f"kernels must be 'numpy' or 'native', but is {kernels!r:.80}")
        return _compile(session, program, given, kernels == "native", limits)


def _compile(
    session: Session, given: Given, args: _Arguments, keeps_kernels: bool, limits: Mapping[str, Any]
) -> Executable:
    """Compile a program for the machine."""
    params, own, was_bytecode = args.params, given.weights, is_bytecode(given.module)
    loaded = compile_program(
        session,
        Given(given.module),
        None if args.pipeline == "vm" else args.pipeline,
        reads_memory=not was_bytecode,
        keeps_kernels=keeps_kernels,
    )
    if not is_bytecode(loaded.module):
        raise UsageError(
            f"the pipeline '{args.pipeline}' must end in bytecode, unless the target is 'native'; "
            "run_pipeline runs any passes"
        )
    program = loaded.program
    return Executable(
        program,
        _weights(program, own, params),
        bound=bound_inputs(program, params) if was_bytecode and params is not None else {},
        plans=loaded.plans,
        sources=session.reporter.sources,
        native=native_kernels(loaded, session.context, session.runner.progress),
        pictures=loaded.pictures(args.name),
        **limits,
    )


def lower_model(*args: Any, target: str) -> str:
    """
    Return a program as `xrelay-opt -t` writes it for a target, without files.

    The pipeline is by default the target's own, or `vm` for what shows memory.
    """
    given = _Arguments(*args)
    with _session(given) as (session, program):
        _require("target", target, str, "a str")
        if given.params is not None:
            program = with_values(program, given.params)
        session.reporter.add_source(TARGET, target)
        chosen = ChosenTarget(*build_target(target, session.universe.all_targets))
        runner, context, module = session.runner, session.context, program.module
        runner.steps = session.steps(given.pipeline or chosen.pipeline)
        if chosen.reads_before is not None:
            runner.steps = chosen.shown(runner.steps)
        output, options = StringIO(), PrintOptions()
        if (files := chosen.files) is not None:
            written = files.written(Job(runner, context, program, Path(), Path(), options))
            if not written.is_text:
                raise UsageError(
                    f"the target '{target}' is not text: save what xrelay.compile returns, or "
                    "write it with xrelay-opt -t"
                )
            return b"".join(written.contents).decode()
        runner.run(context, module)
        if chosen.is_default:
            print_module(context, module, output, options)
        else:
            chosen.emit(context, module, output, ())
        return output.getvalue()


def summary_of_program(
    model: object,
    frontend: str | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    inputs: Inputs | None = None,
) -> Summary:
    """Return what a program needs, has and computes."""
    from ..opt.summary import summary_of

    reporter = PythonReporter()
    with compiling(reporter):
        bindings = checked_bindings(shapes, dims, inputs)
        if isinstance(model, ModuleOp):
            return summary_of(model, "module")
        source = _source(model, frontend)
        if (frontend or source.frontend) == "onnx":
            summary, error = summarize_onnx(source, bindings)
            return summary if error is None else replace(summary, error=as_error(error, reporter))
        return summary_of(_read(Session(reporter), model, frontend, bindings), source.name)


def list_passes() -> list[PassInfo]:
    """Describe all passes and pipelines."""
    reporter = PythonReporter()
    with compiling(reporter):
        passes = Session(reporter).universe.all_passes
        pipelines = [pass_info(name, cls) for name, cls in named_pipelines().items()]
        return [*pipelines, *pass_infos(passes)]


def _weights(
    program: Program, own: Mapping[str, Array] | Path | None, params: Params | None
) -> dict[str, Array]:
    """Return the values of late-bound constants: those of `params`, and `own` ones."""
    wanted = [late.name for late in program.late_constants]
    weights: dict[str, Array] = {}
    for source in (own, params) if wanted else ():
        if source is not None and not (source is own and _is_missing(own)):
            weights |= weights_in(source).arrays(wanted)
    missing = [late for late in program.late_constants if late.name not in weights]
    if missing:
        raise UsageError(_missing(missing, own))
    return weights


def _missing(missing: Sequence[Late], own: Mapping[str, Array] | Path | None) -> str:
    first, more = missing[0], f" and {len(missing) - 1} others" if len(missing) > 1 else ""
    where = f"; its weights file '{own}' has none" if isinstance(own, Path) else ""
    if _is_missing(own):
        where = f"; its weights file '{own}' does not exist"
    return f"no value for parameter '{first.name}' ({first.spec}){more}{where}; give params="


def _is_missing(weights: object) -> bool:
    return isinstance(weights, Path) and not weights.exists()
